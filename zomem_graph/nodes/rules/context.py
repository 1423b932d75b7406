"""When a prompt is getting full, and what memory may still put into it (spec F76-F78)."""

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

__all__ = ["REARM", "Alarms", "Level", "is_much", "level_of", "room", "rung"]

Level = Literal["ok", "warning", "critical"]

REARM: Final = 0.05
"""How far below its threshold the use must fall before an alarm may ring again."""
_MUCH: Final = 0.3
_EXACT: Final = 1e-9  # 0.7 of 10 must not be 6.999…


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarms:
    """Which alarms have rung and may not ring again yet."""

    warning: bool = False
    critical: bool = False


def level_of(used: int, *, max_tokens: int, warn_at: float, critical_at: float) -> Level:
    """Return how full a prompt is."""
    if used >= max_tokens * critical_at - _EXACT:
        return "critical"
    return "warning" if used >= max_tokens * warn_at - _EXACT else "ok"


def room(used: int, *, max_tokens: int, critical_at: float) -> int:
    """Return how many tokens memory may still take: up to the critical line, 0 beyond it (spec F77)."""
    return max(0, int(max_tokens * critical_at + _EXACT) - used)


def rung(
    before: Alarms, used: int, *, max_tokens: int, warn_at: float, critical_at: float
) -> tuple[Alarms, Level | None]:
    """Return the alarms after a change of use, and the one that rings now, if any.

    Each rings once when its threshold is reached, and again only after the use was well below it.
    """
    level = level_of(used, max_tokens=max_tokens, warn_at=warn_at, critical_at=critical_at)
    after = Alarms(
        warning=level != "ok" or (before.warning and used >= max_tokens * (warn_at - REARM)),
        critical=level == "critical" or (before.critical and used >= max_tokens * (critical_at - REARM)),
    )
    if after.critical and not before.critical:
        return after, "critical"
    if after.warning and not before.warning:
        return after, "warning"
    return after, None


def is_much(dropped: int, total: int) -> bool:
    """Return whether so much found no place that a checkpoint is due: 30 % of it (spec F78)."""
    return 0 < dropped >= ceil(total * _MUCH - _EXACT)
