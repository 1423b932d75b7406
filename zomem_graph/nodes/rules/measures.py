"""What many measurements come to: how many, how fast, how often something was found."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, Final

from zomem_graph.stores.errors import InvalidInput

__all__ = ["DECISIONS", "decisions_of", "gate_matrix", "percentile", "timing"]

DECISIONS: Final = ("inject", "skip", "empty")


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that a share (0-1) of all values does not exceed; 0 for none."""
    if not 0 <= share <= 1:
        raise InvalidInput(f"a share lies between 0 and 1, not {share}.")
    if not values:
        return 0.0
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def timing(milliseconds: Iterable[float]) -> dict[str, Any]:
    """Return count, mean, least, median, 95th percentile and most. A clock that jumped back counts as 0."""
    values = sorted(max(0.0, one) for one in milliseconds)
    mean = sum(values) / len(values) if values else 0.0
    return {
        "count": len(values),
        "mean_ms": round(mean, 3),
        "min_ms": round(values[0], 3) if values else 0.0,
        "p50_ms": round(percentile(values, 0.5), 3),
        "p95_ms": round(percentile(values, 0.95), 3),
        "max_ms": round(values[-1], 3) if values else 0.0,
    }


def gate_matrix(decisions: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Return how often each method came to each decision, from (method, decision)."""
    matrix: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(DECISIONS, 0))
    for method, decision in decisions:
        matrix[method][decision] = matrix[method].get(decision, 0) + 1
    return {method: matrix[method] for method in sorted(matrix)}


def decisions_of(matrix: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Return the sums of a gate matrix, the share that injects, and the share of needs that memory met."""
    sums = {name: sum(row.get(name, 0) for row in matrix.values()) for name in DECISIONS}
    total, needed = sum(sums.values()), sums["inject"] + sums["empty"]
    return {
        "total": total,
        **sums,
        "inject_rate": round(sums["inject"] / total, 4) if total else None,
        "hit_rate": round(sums["inject"] / needed, 4) if needed else None,
    }
