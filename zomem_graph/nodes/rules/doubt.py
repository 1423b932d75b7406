"""Which evidence is too near the floor to decide alone."""

from math import inf, log

__all__ = ["in_doubt"]


def in_doubt(best: float, floor: float, *, width: float) -> bool:
    """Return whether two chances are less than `width` log-odds apart; none and certainty are never in doubt."""
    return abs(_log_odds(best) - _log_odds(floor)) < width


def _log_odds(chance: float) -> float:
    if chance <= 0.0 or chance >= 1.0:
        return -inf if chance <= 0.0 else inf
    return log(chance / (1.0 - chance))
