"""One table of vectors for every engine: each text is embedded once, before any clock runs.

A text has one vector whoever asks and however: a peer that embeds its questions as if they were stored texts,
or the other way round, is not punished for it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from benchmarks.peers.workload import Workload
from zomem_graph.nodes.ports import Embedder, Vector, lift_of

__all__ = ["ForLangChain", "Recorded", "load", "record", "save"]

_BATCH = 512


@dataclass(frozen=True, slots=True)
class Recorded:
    """An embedder that looks texts up; unknown ones are a KeyError. What it says of its space is the embedder's."""

    identity: str
    width: int
    spread: float
    usual: float
    lift: float
    rows: dict[str, int]
    table: NDArray[np.float32]

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        vector: Vector = self.table[self.rows[text]]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts."""
        return self.table[[self.rows[text] for text in texts]]


class ForLangChain(Embeddings):
    """The same table for whoever takes LangChain's embeddings."""

    def __init__(self, vectors: Recorded) -> None:
        self._vectors = vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        vector: list[float] = self._vectors.embed_query(text).tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of stored texts."""
        vectors: list[list[float]] = self._vectors.embed_documents(texts).tolist()
        return vectors


def record(workload: Workload, embedder: Embedder, cache: Path) -> Recorded:
    """Embed everything that is stored or asked; `cache` is a folder that spares what was embedded before.

    Made-up turns get mixtures of two vectors of real ones, so that they lie where texts lie.
    """
    known = _Known(cache, embedder)
    stored = [text for fact in workload.facts if not fact.drawn for text in (fact.said, fact.text)]
    asked = [question.text for question in workload.questions]
    real = known.vectors([*dict.fromkeys(stored)], questions=False)
    questions = known.vectors([text for text in dict.fromkeys(asked) if text not in real], questions=True)
    chance = np.random.default_rng(1)
    told = np.stack(list(real.values()))
    drawn = {
        text: vector
        for fact in workload.facts
        if fact.drawn
        for vector in [_mixed(told, chance)]
        for text in (fact.said, fact.text)
    }
    vectors = {**drawn, **questions, **real}
    rows = {text: row for row, text in enumerate(vectors)}
    table = np.stack(list(vectors.values()))
    return Recorded(
        embedder.identity, table.shape[1], embedder.spread, embedder.usual, lift_of(embedder), rows, table
    )


def save(vectors: Recorded, path: Path) -> None:
    """Write the table into one file, for the processes of the engines."""
    space = np.array([vectors.spread, vectors.usual, vectors.lift])
    texts = np.frombuffer(json.dumps(list(vectors.rows)).encode(), np.uint8)
    np.savez(path, table=vectors.table, texts=texts, space=space, name=vectors.identity)


def load(path: Path) -> Recorded:
    """Read a table that `save` wrote."""
    with np.load(path) as held:
        table, texts = held["table"], json.loads(held["texts"].tobytes())
        spread, usual, lift = map(float, held["space"])
        name = str(held["name"])
    return Recorded(name, table.shape[1], spread, usual, lift, {text: row for row, text in enumerate(texts)}, table)


def _mixed(told: NDArray[np.float32], chance: np.random.Generator) -> Vector:
    one, other = told[chance.integers(len(told), size=2)]
    mixed = one + np.float32(0.8) * other
    unit: Vector = mixed / np.linalg.norm(mixed)
    return unit


class _Known:
    """Vectors by a hash of their text, in one file an embedder; no text is kept."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._path = folder / f"{embedder.identity.replace(':', '-')}.npz"
        self._vectors: dict[str, Vector] = {}
        if self._path.is_file():
            with np.load(self._path) as held:
                self._vectors = dict(zip(held["hashes"].tolist(), held["table"], strict=True))

    def vectors(self, texts: Sequence[str], *, questions: bool) -> dict[str, Vector]:
        """Return the vector of each text; what is new is embedded and kept."""
        keys = {text: blake2b(f"{questions}{text}".encode(), digest_size=16).hexdigest() for text in texts}
        missing = [text for text in texts if keys[text] not in self._vectors]
        for start in range(0, len(missing), _BATCH):
            part = missing[start : start + _BATCH]
            self._keep([keys[text] for text in part], self._embed(part, questions))
        return {text: self._vectors[key] for text, key in keys.items()}

    def _embed(self, texts: Sequence[str], questions: bool) -> Iterable[Vector]:
        if questions:
            return [self._embedder.embed_query(text) for text in texts]
        return self._embedder.embed_documents(texts)

    def _keep(self, keys: Sequence[str], vectors: Iterable[Vector]) -> None:
        self._vectors.update(zip(keys, vectors, strict=True))
        np.savez(self._path, hashes=np.array(list(self._vectors)), table=np.stack(list(self._vectors.values())))
