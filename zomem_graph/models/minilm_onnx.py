"""all-MiniLM-L6-v2 as a small ONNX file, made from its published weights without torch.

Matrices are stored as float16 and computed with as float32: half the size, and a text's vector does not
depend on the batch it is in, as it does with 8-bit weights.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.onnx_writer import FLOAT, OnnxGraph
from zomem_graph.stores.errors import ModelError

__all__ = ["reference_states", "read_safetensors", "write_minilm"]

Weights = Mapping[str, NDArray[np.float32]]
Floats = NDArray[np.float32]

_HEADS = 12
_EPSILON = 1e-12  # of the layer norms, as in the model's config.json
_MASKED = -1e9  # added to the score of padding: exp() of it is exactly 0


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return the float32 tensors of a safetensors file by name; raise ModelError when it is none."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    try:
        header: dict[str, Any] = json.loads(data[8 : 8 + length])
        return {
            name: np.frombuffer(data, "<f4", offset=8 + length + begin, count=(end - begin) // 4).reshape(
                about["shape"]
            )
            for name, about in header.items()
            if name != "__metadata__" and about["dtype"] == "F32"
            for begin, end in [about["data_offsets"]]
        }
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is no safetensors file: {error}. Fetch it again.") from error


def write_minilm(weights: Weights, path: Path) -> None:
    """Write the model file: input_ids, attention_mask, token_type_ids to last_hidden_state.

    Raises ModelError when a tensor is missing.
    """
    try:
        _Writer(weights).write(path)
    except KeyError as error:
        raise ModelError(f"These are not the weights of all-MiniLM-L6-v2: {error} is missing.") from error


class _Writer:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._graph = OnnxGraph("all-MiniLM-L6-v2")
        self._width = weights["embeddings.word_embeddings.weight"].shape[1]

    def write(self, path: Path) -> None:
        graph, node, free = self._graph, self._graph.node, ("batch", "length")
        ids, mask, types = (
            graph.input(name, np.int64, free) for name in ("input_ids", "attention_mask", "token_type_ids")
        )
        states = self._embeddings(ids, types)
        unmasked = node("Cast", mask, to=FLOAT)
        hidden = node("Sub", self._number("one", 1.0), unmasked)
        bias = node("Mul", hidden, self._number("masked", _MASKED))
        bias = node("Unsqueeze", bias, graph.constant("axes_1_2", np.array([1, 2])))
        for number in range(_layers(self._weights)):
            last = number == _layers(self._weights) - 1
            states = self._layer(f"encoder.layer.{number}", states, bias, named="last_hidden_state" if last else None)
        graph.output(states, np.float32, (*free, self._width))
        graph.write(path)

    def _embeddings(self, ids: str, types: str) -> str:
        graph, node = self._graph, self._graph.node
        length = node("Gather", node("Shape", ids), graph.constant("second", np.array([1])))
        begin = graph.constant("zero", np.array([0]))
        table = self._half("embeddings.position_embeddings.weight", transposed=False)
        positions = node("Slice", table, begin, length, begin)
        parts = [
            node("Gather", self._half(f"embeddings.{name}_embeddings.weight", transposed=False), rows)
            for name, rows in (("word", ids), ("token_type", types))
        ]
        words, kinds, places = (node("Cast", part, to=FLOAT) for part in (*parts, positions))
        summed = node("Add", node("Add", words, kinds), places)
        return self._norm("embeddings.LayerNorm", summed)

    def _layer(self, name: str, states: str, bias: str, *, named: str | None) -> str:
        node = self._graph.node
        attended = self._attention(f"{name}.attention", states, bias)
        states = self._norm(f"{name}.attention.output.LayerNorm", node("Add", attended, states))
        inner = self._gelu(self._linear(f"{name}.intermediate.dense", states))
        outer = self._linear(f"{name}.output.dense", inner)
        return self._norm(f"{name}.output.LayerNorm", node("Add", outer, states), named=named)

    def _attention(self, name: str, states: str, bias: str) -> str:
        graph, node, size = self._graph, self._graph.node, self._width // _HEADS
        apart = graph.constant("heads_apart", np.array([0, 0, _HEADS, size]))
        query, key, value = (
            node(
                "Transpose", node("Reshape", self._linear(f"{name}.self.{part}", states), apart),
                perm=perm,
            )
            for part, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )  # fmt: skip
        scale = self._number("scale", 1.0 / math.sqrt(size))
        scores = node("Add", node("Mul", node("MatMul", query, key), scale), bias)
        mixed = node("MatMul", node("Softmax", scores, axis=-1), value)
        joined = node(
            "Reshape",
            node("Transpose", mixed, perm=[0, 2, 1, 3]),
            graph.constant("heads_together", np.array([0, 0, self._width])),
        )
        return self._linear(f"{name}.output.dense", joined)

    def _gelu(self, states: str) -> str:
        node = self._graph.node
        share = node("Erf", node("Div", states, self._number("root_two", math.sqrt(2.0))))
        share = node("Add", share, self._number("one", 1.0))
        return node("Mul", node("Mul", states, share), self._number("half", 0.5))

    def _linear(self, name: str, states: str) -> str:
        node = self._graph.node
        matrix = node("Cast", self._half(f"{name}.weight", transposed=True), to=FLOAT)
        return node("Add", node("MatMul", states, matrix), self._plain(f"{name}.bias"))

    def _norm(self, name: str, states: str, *, named: str | None = None) -> str:
        weight, bias = self._plain(f"{name}.weight"), self._plain(f"{name}.bias")
        return self._graph.node("LayerNormalization", states, weight, bias, named=named, axis=-1, epsilon=_EPSILON)

    def _half(self, name: str, *, transposed: bool) -> str:
        values = self._weights[name]
        values = values.T if transposed else values
        return self._graph.constant(name, np.ascontiguousarray(values).astype(np.float16))

    def _plain(self, name: str) -> str:
        return self._graph.constant(name, np.ascontiguousarray(self._weights[name], dtype=np.float32))

    def _number(self, name: str, value: float) -> str:
        return self._graph.constant(name, np.array(value, np.float32))


def reference_states(weights: Weights, ids: NDArray[np.int64]) -> Floats:
    """Return the last hidden state of one text, shape (tokens, width), computed by NumPy alone.

    Slow and plain: what the written file is checked against.
    """
    states = weights["embeddings.word_embeddings.weight"][ids]
    states = states + weights["embeddings.token_type_embeddings.weight"][0]
    states = states + weights["embeddings.position_embeddings.weight"][: len(ids)]
    states = _normed(weights, "embeddings.LayerNorm", states)
    for number in range(_layers(weights)):
        name = f"encoder.layer.{number}"
        mixed = _attended(weights, f"{name}.attention.self", states)
        mixed = _projected(weights, f"{name}.attention.output.dense", mixed)
        states = _normed(weights, f"{name}.attention.output.LayerNorm", mixed + states)
        inner = _projected(weights, f"{name}.intermediate.dense", states)
        inner = inner * (0.5 + 0.5 * np.vectorize(math.erf, otypes=[np.float32])(inner / math.sqrt(2.0)))
        outer = _projected(weights, f"{name}.output.dense", inner)
        states = _normed(weights, f"{name}.output.LayerNorm", outer + states)
    return states


def _attended(weights: Weights, name: str, states: Floats) -> Floats:
    heads = [
        _projected(weights, f"{name}.{part}", states).reshape(len(states), _HEADS, -1).transpose(1, 0, 2)
        for part in ("query", "key", "value")
    ]
    query, key, value = heads
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[2])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ value
    return np.asarray(mixed.transpose(1, 0, 2).reshape(states.shape), np.float32)


def _projected(weights: Weights, name: str, states: Floats) -> Floats:
    return np.asarray(states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"], np.float32)


def _normed(weights: Weights, name: str, states: Floats) -> Floats:
    centred = states - states.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
    return np.asarray(centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"], np.float32)


def _layers(weights: Weights) -> int:
    return len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
