"""What somebody should know before the first message of a session: a few lines and one priority (spec F149)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import terms

__all__ = ["Point", "about", "first_of_all", "told"]

_NAMES: Final = {
    "convention": "Conventions",
    "task": "Under way",
    "loop": "Open",
    "episode": "Lately",
    "summary": "Before that",
    "inherited": "From the team",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One thing of a briefing; `weight` says how pressing it is among its kind."""

    kind: str
    id: str
    text: str
    at: datetime
    weight: float = 0.0
    outcome: str = ""


def about(points: Sequence[Point], domain: str | None) -> list[Point]:
    """Return the points that share a word with a domain; all of them without one."""
    if domain is None:
        return list(points)
    wanted = {stem(word) for word in terms(domain)}
    return [point for point in points if not wanted.isdisjoint(stem(word) for word in terms(point.text, limit=500))]


def first_of_all(points: Sequence[Point]) -> Point | None:
    """Return what to begin with: a task under way, else the most pressing open loop, else what failed last."""
    tasks = [point for point in points if point.kind == "task"]
    loops = sorted((one for one in points if one.kind == "loop"), key=lambda one: (-one.weight, one.at))
    failed = [point for point in points if point.kind == "episode" and point.outcome in ("failure", "ongoing")]
    return next(iter([*tasks, *loops, *failed]), None)


def told(points: Sequence[Point]) -> str:
    """Return the points as plain text, a heading and a line for each; "" for none."""
    lines = []
    for kind, name in _NAMES.items():
        of_kind = [point for point in points if point.kind == kind]
        if of_kind:
            lines.append(f"{name}:")
            lines += [f"- {' '.join(point.text.split())}" for point in of_kind]
    return "\n".join(lines)
