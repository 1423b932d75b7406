"""Remembers vectors, so that the same question is not embedded twice."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.vectors import embeddable
from zomem_graph.nodes.ports import Embedder, Vector

__all__ = ["CachedEmbedder", "VectorCache", "text_hash"]

_QUERIES_KEPT = 1_024


class VectorCache(Protocol):
    """Keeps vectors beyond the process, by embedder and text hash; holds no text."""

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are there, by hash."""
        ...

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep these vectors, by hash."""
        ...


def text_hash(text: str, *, role: Literal["query", "document"]) -> str:
    """Return the key of a text's vector: 32 hex digits of the part that is embedded, and its role.

    The role belongs to it: some models (e5) embed a question and a stored text differently.
    """
    return blake2b(f"{role}\n{embeddable(text)}".encode(), digest_size=16).hexdigest()


class CachedEmbedder:
    """An embedder that keeps the latest questions' vectors, and all vectors when given a backing."""

    def __init__(
        self, embedder: Embedder, backing: VectorCache | None = None, *, size: int = _QUERIES_KEPT
    ) -> None:
        """Wrap `embedder`; `size` is how many questions stay in memory."""
        self._embedder = embedder
        self._backing = backing
        self._size = size
        self._latest: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()

    @property
    def identity(self) -> str:
        """The identity of the embedder inside."""
        return self._embedder.identity

    @property
    def width(self) -> int:
        """The width of the embedder inside."""
        return self._embedder.width

    @property
    def spread(self) -> float:
        """The spread of the embedder inside."""
        return self._embedder.spread

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, from memory where it is known."""
        key = text_hash(text, role="query")
        with self._lock:
            if (known := self._latest.get(key)) is not None:
                self._latest.move_to_end(key)
                return known
        kept = self._kept([key]).get(key)
        vector = self._embedder.embed_query(text) if kept is None else kept
        if kept is None and self._backing is not None:
            self._backing.put_many(self.identity, {key: vector})
        # Several callers share it from now on.
        vector.setflags(write=False)
        with self._lock:
            self._latest[key] = vector
            while len(self._latest) > self._size:
                self._latest.popitem(last=False)
        return vector

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts; each distinct text is embedded at most once."""
        keys = [text_hash(text, role="document") for text in texts]
        known = dict(self._kept(list(dict.fromkeys(keys))))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            rows = self._embedder.embed_documents(list(missing.values()))
            fresh: dict[str, Vector] = dict(zip(missing, rows, strict=True))
            if self._backing is not None:
                self._backing.put_many(self.identity, fresh)
            known |= fresh
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.width), np.float32)

    def forget_questions(self) -> None:
        """Drop what is held in memory; the backing is its owner's to clear."""
        with self._lock:
            self._latest.clear()

    def _kept(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        return self._backing.get_many(self.identity, keys) if self._backing is not None else {}
