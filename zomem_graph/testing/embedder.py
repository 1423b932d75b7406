"""An embedder without a model: texts that share words or parts of words are near each other."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.ports import Vector

__all__ = ["SmallEmbedder"]

_WORDS = re.compile(r"\w+")
_CHARACTERS_READ = 8_000  # models read no further either


class SmallEmbedder:
    """Hashes words, pairs of words and character trigrams into a few signed numbers.

    The same text gives the same vector in every process. It knows nothing of meaning: "car" and
    "automobile" are strangers to it, "car" and "cars" are not. Another `name` makes another space of
    the same width.
    """

    def __init__(self, width: int = 64, *, name: str = "small") -> None:
        """Make vectors of `width` numbers under the identity "testing:name"."""
        self.identity = f"testing:{name}"
        self.width = width
        # Measured on 1,500 chat turns: 0.69 for 64 numbers, 0.54 for 128.
        self.spread = 5.5 / width**0.5
        self.usual = 0.0

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        vector = np.zeros(self.width, np.float32)
        salt = crc32(self.identity.encode())
        for gram, weight in _grams(text):
            hashed = crc32(gram.encode("utf-8", "replace"), salt)
            vector[hashed % self.width] += weight if hashed & 0x10000 else -weight
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            vector[0] = length = 1.0
        return vector / np.float32(length)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts."""
        rows = [self.embed_query(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.width), np.float32)


def _grams(text: str) -> Iterator[tuple[str, float]]:
    words = _WORDS.findall(text[:_CHARACTERS_READ].casefold())
    for word in words:
        # Short words are mostly the ones that every sentence has.
        weight = min(len(word), 6) / 6
        yield word, weight
        framed = f"<{word}>"
        for start in range(len(framed) - 2):
            yield framed[start : start + 3], weight / 3
    for left, right in pairwise(words):
        yield f"{left} {right}", 0.3
