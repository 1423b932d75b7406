"""Writes a model file of the shape of all-MiniLM-L6-v2, small enough to be made by a test."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ["[UNK]", "red", "green", "blue"]
INT64, FLOAT = 7, 1


def write_minilm_like(path: Path) -> NDArray[np.float32]:
    """Write model and tokenizer.json; each token's state is its row of the table that is returned."""
    path.parent.mkdir(parents=True)
    table = np.random.default_rng(0).standard_normal((len(WORDS), 384), dtype=np.float32)
    path.write_bytes(_model(table))
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(path.with_name("tokenizer.json")))
    return table


def _model(table: NDArray[np.float32]) -> bytes:
    """ONNX is protobuf: each part below is (field number, value); the numbers are those of onnx.proto."""
    weights = [
        (1, table.shape[0]), (1, table.shape[1]), (2, FLOAT), (8, b"table"), (9, table.tobytes()),
    ]  # fmt: skip
    gather = [(1, b"table"), (1, b"input_ids"), (2, b"last_hidden_state"), (4, b"Gather")]
    graph = [
        (1, _message(gather)),
        (2, b"graph"),
        (5, _message(weights)),
        (11, _tensor(b"input_ids", INT64, [b"batch", b"length"])),
        (12, _tensor(b"last_hidden_state", FLOAT, [b"batch", b"length", table.shape[1]])),
    ]
    return _message([(1, 8), (7, _message(graph)), (8, _message([(2, 13)]))])


def _tensor(name: bytes, kind: int, shape: Sequence[bytes | int]) -> bytes:
    sizes = [(1, _message([(1 if isinstance(size, int) else 2, size)])) for size in shape]
    return _message([(1, name), (2, _message([(1, _message([(1, kind), (2, _message(sizes))]))]))])


def _message(fields: Sequence[tuple[int, bytes | int]]) -> bytes:
    return b"".join(
        _number(field << 3) + _number(value)
        if isinstance(value, int)
        else _number(field << 3 | 2) + _number(len(value)) + value
        for field, value in fields
    )


def _number(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _number(rest) if rest else bytes([low])
