"""Remembers vectors, so that the same question is not embedded twice."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.around import AroundEmbedder
from zomem_graph.models.vectors import asked, embeddable
from zomem_graph.nodes.ports import Embedder, RemembersQuestions, TokenModel, Vector
from zomem_graph.stores.errors import StoreError

__all__ = ["CachedEmbedder", "VectorCache", "text_hash"]

_QUERIES_KEPT = 1_024


class VectorCache(Protocol):
    """Keeps questions' vectors beyond the process, by embedder and text hash; holds no text."""

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are there, by hash."""
        ...

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep these vectors, by hash."""
        ...


def text_hash(text: str) -> str:
    """Return the key of a question's vector: 32 hex digits of the part that is embedded."""
    return blake2b(embeddable(text).encode(), digest_size=16).hexdigest()


class CachedEmbedder(AroundEmbedder):
    """An embedder that remembers questions: the latest in memory, all of them in a backing if it has one.

    Stored texts are not remembered here: their vectors are kept beside them, and found there by the text's hash.
    """

    def __init__(
        self,
        embedder: Embedder,
        backing: VectorCache | None = None,
        *,
        size: int = _QUERIES_KEPT,
        tokens: TokenModel | None = None,
    ) -> None:
        """Wrap `embedder`; `size` is how many questions stay in memory, `tokens` what goes with it."""
        super().__init__(embedder)
        self._tokens = tokens
        self._backing = backing
        self._size = size
        self._latest: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()

    @property
    def tokens(self) -> TokenModel | None:
        """The token model that goes with the embedder."""
        return self._tokens

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, from memory where it is known."""
        text = asked(text)
        key = text_hash(text)
        with self._lock:
            if (known := self._latest.get(key)) is not None:
                self._latest.move_to_end(key)
                return known
        vector = self._kept(key)
        if vector is None:
            vector = self._embedder.embed_query(text)
            self._keep(key, vector)
        # Several callers share it from now on.
        vector.setflags(write=False)
        with self._lock:
            self._latest[key] = vector
            while len(self._latest) > self._size:
                self._latest.popitem(last=False)
        return vector

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts; a text that stands there twice is embedded once."""
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        rows = self._embedder.embed_documents(list(places))
        return rows[[places[text] for text in texts]] if texts else rows

    def forget_questions(self) -> None:
        """Drop what is held in memory; the backing is its owner's to clear."""
        with self._lock:
            self._latest.clear()
        super().forget_questions()
        if isinstance(self._tokens, RemembersQuestions):
            self._tokens.forget_questions()

    # A cache on a full or read-only disk is no reason to leave a question unanswered.

    def _kept(self, key: str) -> Vector | None:
        with suppress(StoreError):
            if self._backing is not None:
                return self._backing.get_many(self.identity, [key]).get(key)
        return None

    def _keep(self, key: str, vector: Vector) -> None:
        with suppress(StoreError):
            if self._backing is not None:
                self._backing.put_many(self.identity, {key: vector})
