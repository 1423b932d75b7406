"""What every embedder does to its text and to its vectors, so that all of them keep one promise."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zomem_graph.stores.errors import ModelError

__all__ = ["LONGEST_TEXT", "asked", "batches", "embeddable", "unit_rows"]

# Characters of a text that are embedded (spec F2); the rest is left to full text search.
LONGEST_TEXT = 8_000
# The same for scripts whose characters take several tokens each: 8,191 tokens are the least that a
# common provider accepts, and three bytes make about one token there.
_LONGEST_BYTES = 16_000


# Bytes of a question that are embedded: its ends, for there the question stands in a long message.
_LONGEST_QUESTION = 1_600


def embeddable(text: str, *, longest: int = _LONGEST_BYTES) -> str:
    """Return the part of a text that is embedded: never empty, valid UTF-8, at most 8,000 characters."""
    cut = text[:LONGEST_TEXT].replace("\x00", " ").encode("utf-8", "replace")[:longest]
    whole = cut.decode("utf-8", "ignore")
    return whole if whole.strip() else "(empty)"


def asked(text: str) -> str:
    """Return the part of a question that is embedded: of a long one its beginning and its end."""
    whole = text.encode("utf-8", "replace")
    if len(whole) <= _LONGEST_QUESTION:
        return text
    half = _LONGEST_QUESTION // 2
    return f"{whole[:half].decode('utf-8', 'ignore')} … {whole[-half:].decode('utf-8', 'ignore')}"


def unit_rows(vectors: ArrayLike, *, count: int, who: str) -> NDArray[np.float32]:
    """Return `count` unit vectors as float32 rows; raises ModelError when they are no such thing."""
    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{who} returned no list of vectors ({error}). Check the model.") from error
    if count == 0:
        return rows.reshape(0, rows.shape[-1] if rows.ndim == 2 else 0)
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        raise ModelError(f"{who} returned vectors of shape {rows.shape} for {count} texts. Check the model.")
    if not np.isfinite(rows).all():
        raise ModelError(f"{who} returned a vector with numbers that are not finite. Check the model.")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    # A text without a direction goes to the first axis: one odd text must not hold up its batch.
    rows = np.where(lengths > 0, rows, np.eye(1, rows.shape[1], dtype=np.float32))
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def batches(texts: Sequence[str], *, count: int, size: int) -> list[list[str]]:
    """Split texts, in order, into batches of at most `count` texts and about `size` bytes."""
    result: list[list[str]] = []
    room = 0
    for text in texts:
        weight = len(text.encode("utf-8"))
        if not result or len(result[-1]) >= count or weight > room:
            result.append([])
            room = size
        result[-1].append(text)
        room -= weight
    return result
