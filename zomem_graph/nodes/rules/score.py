"""From fused scores to `Hit.score`: how likely a hit helps, in [0, 1].

The best hit's chance comes from two questions that mean the same in every store: how far its cosine
stands out from the ordinary candidate (in the embedder's own spread), and how good its words are for
the number of words asked. The others are scaled down from it by their place in the ranking.
"""

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.rules.fusion import Signals, relative

__all__ = ["probabilities"]

_BIAS, _WORDS, _MEANING = -2.2, 0.9, 1.6


def probabilities(signals: Signals, scores: NDArray[np.float64], *, terms_asked: int) -> NDArray[np.float64]:
    """Return one chance a candidate, the best first by score."""
    if scores.size == 0:
        return np.empty(0)
    best = int(np.argmax(scores))
    words = float(signals.bm25[best]) / max(1.0, float(terms_asked)) ** 0.5
    meaning = _standing_out(signals, best)
    top = 1.0 / (1.0 + np.exp(-(_BIAS + _WORDS * words + _MEANING * meaning)))
    return np.asarray(top * relative(scores))


def _standing_out(signals: Signals, best: int) -> float:
    known = ~np.isnan(signals.cosine)
    if known.sum() < 2 or np.isnan(signals.cosine[best]):
        return 0.0
    return float(signals.cosine[best] - np.median(signals.cosine[known])) / signals.spread
