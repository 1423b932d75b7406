"""A suite's document: its figures, and whether they reach the marks they are held to."""

from collections.abc import Mapping
from typing import Any

__all__ = ["Mark", "judged"]

Mark = int | float | bool | None | tuple[float | None, float | None]
"""The value a figure must have, or (lowest, highest) with None for no bound."""


def judged(
    suite: str, *, n: int, seed: int, figures: Mapping[str, Any], marks: Mapping[str, Mark], **more: Any
) -> dict[str, Any]:
    """Return a suite's document: whether every mark is met, which are not, and all figures."""
    missed = [name for name, mark in marks.items() if not _meets(figures[name], mark)]
    return {"suite": suite, "passed": not missed, "n": n, "seed": seed, "missed": missed, **figures, **more}


def _meets(figure: Any, mark: Mark) -> bool:
    if not isinstance(mark, tuple):
        return bool(figure == mark)
    low, high = mark
    return figure is not None and (low is None or figure >= low) and (high is None or figure <= high)
