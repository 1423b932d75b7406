"""Late interaction: each telling word of a question looks for its nearest word in each item.

late_i = sum over tokens t of w_t * max over tokens u of item i of cos(t, u): word matching in context, which
knows no stemming and no exact spelling. Rare tokens weigh more.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["late_scores", "most_similar", "token_weights"]

Floats = NDArray[np.float64]

_LEAST_WEIGHT = 0.2  # of a token that stands in every item, before the weights are scaled to 1


def token_weights(pieces: Sequence[int], frequencies: Mapping[int, int], *, total: int) -> Floats:
    """Return a weight a token, together 1: ln(N / (1 + items that hold it)), at least 0.2."""
    found = np.array([frequencies.get(piece, 0) for piece in pieces], np.float64)
    weights = np.maximum(_LEAST_WEIGHT, np.log(max(1, total) / (1.0 + found)))
    scaled: Floats = weights / weights.sum() if weights.size else weights
    return scaled


def most_similar(
    question: NDArray[np.float32],
    vectors: NDArray[np.int8],
    scales: NDArray[np.float16],
    counts: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return for each token of the question its greatest cosine with a token of each item.

    `question` has unit rows. The tokens of the items follow one another: `counts[i]`, at least 1, belong
    to item i; each vector is its scale times its small numbers. Shape (tokens, items).
    """
    if counts.size == 0 or len(question) == 0:
        return np.empty((len(question), counts.size), np.float32)
    cosines = question @ vectors.astype(np.float32).T
    cosines *= scales.astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    most: NDArray[np.float32] = np.maximum.reduceat(cosines, starts, axis=1)
    return most


def late_scores(similarities: NDArray[np.float32], weights: Floats) -> Floats:
    """Return late_i of each item, between -1 and 1."""
    scores: Floats = weights @ similarities.astype(np.float64)
    return scores
