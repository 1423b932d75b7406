"""How a trace says what was found and is not in the answer."""

from collections.abc import Sequence
from typing import Any

__all__ = ["left_out"]

_MOST_NAMED = 5


def left_out(why: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the line of a trace for these: why, how many, and the ids of the best five; none when there are none."""
    return [{"why": why, "count": len(ids), "ids": list(ids[:_MOST_NAMED])}] if ids else []
