"""From the evidence to `Hit.score`: how likely the best hit helps, in [0, 1].

Three questions that mean the same in every store: how much of what is asked the best hits cover
(weighted by rarity), how good the best match of words is, and how near the nearest meaning is in the
embedder's own spread. Where tokens are compared, how well the best hit meets them takes the place of the
first. The weights were fitted on half questions of a conversation, half questions of others with the
names swapped in (docs/benchmarks.md); each conversation was judged without itself.
"""

from dataclasses import dataclass
from math import exp

__all__ = ["Evidence", "chance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for an answer being there.

    `coverage`: share of the question's rarity that one of the best hits covers, 0-1. `words`: BM25 of
    the best match over the question's rarity, about 0-1.2. `nearness`: (cosine - usual) / spread of the
    nearest meaning, about 0-1.2; None without vectors. `late`: the best late score, 0-1; None where too few
    texts have tokens to go by it. `lift`: what the embedder makes them too high by, in log-odds.
    """

    coverage: float
    words: float
    nearness: float | None
    late: float | None = None
    lift: float = 0.0


def chance(evidence: Evidence) -> float:
    """Return the probability that what was found answers the question, at even odds beforehand."""
    if evidence.nearness is None:
        logit = -3.4 + 2.6 * evidence.coverage + 4.3 * evidence.words
    elif evidence.late is not None:
        # Tokens see what coverage sees, and more: beside them it says nothing.
        logit = -8.44 + 4.87 * evidence.words + 4.41 * evidence.nearness + 5.14 * evidence.late
    else:
        logit = -6.78 + 1.81 * evidence.coverage + 4.24 * evidence.words + 5.17 * evidence.nearness
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, logit - evidence.lift))))
