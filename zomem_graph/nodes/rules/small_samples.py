"""What a few successes say: a share that one lucky run cannot make perfect, and how far off it may be."""

from math import sqrt
from typing import Final

__all__ = ["expected_share", "share_interval"]

PRIOR: Final = 2.0
"""How many runs the guess before any run is worth."""
_Z: Final = 1.96


def expected_share(successes: float, runs: float, *, before: float = 0.5, prior: float = PRIOR) -> float:
    """Return the mean of the Beta distribution after these runs; `before` is the guess without any."""
    return (successes + prior * before) / (runs + prior)


def share_interval(successes: float, runs: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson's); (0, 1) without a run."""
    if runs <= 0:
        return 0.0, 1.0
    share, spread = successes / runs, _Z * _Z / runs
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / runs + spread / (4 * runs)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
