"""How much each memory speaks to a message that goes on with earlier work (spec F62).

Facts and turns count by match, shared words and recency; episodes and open loops by their place, recency
and, for loops, priority. All scores lie in [0, 1].
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zomem_graph.stores.words import search_text

__all__ = ["Shared", "episode_parts", "fact_parts", "is_imported", "loop_parts", "recency", "shared_words"]

IMPORTED_ENTITIES: Final = ("chatgpt.", "obsidian.", "markdown.")
"""Entities of imported archives, which would drown recent work."""
_ROOT: Final = 4
_ENDING: Final = 3


@dataclass(frozen=True, slots=True)
class Shared:
    """How many of the words asked for a text holds."""

    asked: int
    held: int

    @property
    def share(self) -> float:
        """The part of the words asked for that the text holds."""
        return self.held / self.asked if self.asked else 0.0

    @property
    def enough(self) -> bool:
        """Whether a fact with it belongs to the topic: two words of three or more, else one."""
        return self.held >= (2 if self.asked >= 3 else 1)


def shared_words(asked: Collection[str], text: str) -> Shared:
    """Return how many of the words a text holds; endings make no difference."""
    words = set(search_text(text[:4_000]).split())
    by_root: dict[str, list[str]] = {}
    for word in words:
        by_root.setdefault(word[:_ROOT], []).append(word)
    held = sum(word in words or _has_alike(by_root, word) for word in asked)
    return Shared(len(asked), held)


def recency(age_days: float, *, window_days: float) -> float:
    """Return 1 for now, falling evenly to 0 at the end of the window."""
    return min(1.0, max(0.0, 1.0 - age_days / window_days))


def fact_parts(hybrid: float, shared: Shared, recent: float) -> dict[str, float]:
    """Return the parts of a fact's or a turn's score: 0.6 match, 0.3 shared words, 0.1 recency."""
    return {"match": 0.6 * hybrid, "shared words": 0.3 * shared.share, "recency": 0.1 * recent}


def episode_parts(place: int, recent: float) -> dict[str, float]:
    """Return the parts of an episode's score: 0.7 by its place from 0, 0.3 recency."""
    return {"place": 0.7 / (1 + place), "recency": 0.3 * recent}


def loop_parts(place: int, priority: float, recent: float) -> dict[str, float]:
    """Return the parts of an open loop's score: 0.6 by its place from 0, 0.25 priority, 0.15 recency."""
    return {"place": 0.6 / (1 + place), "priority": 0.25 * priority, "recency": 0.15 * recent}


def is_imported(*, trust: str, entity: str | None) -> bool:
    """Return whether something comes from an imported archive."""
    return trust == "import" or (entity or "").lower().startswith(IMPORTED_ENTITIES)


def _has_alike(by_root: Mapping[str, Sequence[str]], asked: str) -> bool:
    return any(_alike(asked, word) for word in by_root.get(asked[:_ROOT], ()))


def _alike(a: str, b: str) -> bool:
    """Say whether two words differ in their endings only: review, reviews, reviewing."""
    root = max(_ROOT, max(len(a), len(b)) - _ENDING)
    return len(a) >= root and len(b) >= root and a[:root] == b[:root]
