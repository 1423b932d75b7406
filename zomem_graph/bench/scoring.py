"""What a ranking is worth, and how sure a mean is; the definitions are in docs/benchmarks.md."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MEASURES", "difference", "latency", "mean", "score_ranking"]

Floats = NDArray[np.float64]
_RESAMPLES = 1_000
_SEED = 20_260_101


def _recall_at(k: int) -> Callable[[Sequence[int | None]], float]:
    return lambda ranks: sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def _all_at(k: int) -> Callable[[Sequence[int | None]], float]:
    return lambda ranks: float(all(rank is not None and rank <= k for rank in ranks))


def _reciprocal(ranks: Sequence[int | None]) -> float:
    found = [rank for rank in ranks if rank is not None]
    return 1.0 / min(found) if found else 0.0


def _gain_at_10(ranks: Sequence[int | None]) -> float:
    """Return nDCG@10 with gains of 0 and 1."""
    gained = sum(1.0 / np.log2(rank + 1) for rank in ranks if rank is not None and rank <= 10)
    best = sum(1.0 / np.log2(place + 1) for place in range(1, min(len(ranks), 10) + 1))
    return float(gained / best)


# Name -> what it makes of the ranks of a question's gold units, counted from 1, None where not found.
MEASURES: Mapping[str, Callable[[Sequence[int | None]], float]] = {
    "recall@5": _recall_at(5),
    "recall@10": _recall_at(10),
    "recall@20": _recall_at(20),
    "all@5": _all_at(5),
    "all@10": _all_at(10),
    "mrr": _reciprocal,
    "ndcg@10": _gain_at_10,
}


def score_ranking(ranked: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Return every measure of one question's ranking, best unit first."""
    place = {unit: number for number, unit in reversed(list(enumerate(ranked, 1)))}
    ranks = [place.get(unit) for unit in gold]
    return {name: measure(ranks) for name, measure in MEASURES.items()}


def mean(values: Sequence[float], groups: Sequence[str]) -> dict[str, Any]:
    """Return mean, n and the 95 % bootstrap interval.

    Where there are several groups (conversations), whole groups are drawn first and questions within them,
    because the questions of one conversation are not independent.
    """
    observed = np.asarray(values, dtype=np.float64)
    if observed.size == 0:
        return {"mean": None, "n": 0, "interval": None}
    low, high = np.percentile(_means_of_resamples(observed, groups), [2.5, 97.5])
    return {
        "mean": round(float(observed.mean()), 4),
        "n": int(observed.size),
        "interval": [round(float(low), 4), round(float(high), 4)],
    }


def difference(values: Sequence[float], other: Sequence[float], groups: Sequence[str]) -> dict[str, Any]:
    """Return the mean paired difference, question by question, with its interval."""
    return mean([a - b for a, b in zip(values, other, strict=True)], groups)


def latency(seconds: Sequence[float]) -> dict[str, Any]:
    """Return median, p95 and largest in milliseconds, and n."""
    if not seconds:
        return {"p50_ms": None, "p95_ms": None, "max_ms": None, "n": 0}
    p50, p95, most = (1_000 * float(value) for value in np.percentile(seconds, [50, 95, 100]))
    return {"p50_ms": round(p50, 3), "p95_ms": round(p95, 3), "max_ms": round(most, 3), "n": len(seconds)}


def _means_of_resamples(values: Floats, groups: Sequence[str]) -> Floats:
    chance = np.random.default_rng(_SEED)
    names = np.asarray(groups)
    members = [values[names == name] for name in dict.fromkeys(groups)]
    if len(members) == 1:
        alone: Floats = values[chance.integers(0, values.size, (_RESAMPLES, values.size))].mean(axis=1)
        return alone
    # The sum and size of each group's own resamples, of which every round picks some at random.
    sums = np.stack([each[chance.integers(0, each.size, (_RESAMPLES, each.size))].sum(axis=1) for each in members])
    sizes = np.array([each.size for each in members])
    drawn = chance.integers(0, len(members), (_RESAMPLES, len(members)))
    rounds = chance.integers(0, _RESAMPLES, (_RESAMPLES, len(members)))
    means: Floats = sums[drawn, rounds].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means
