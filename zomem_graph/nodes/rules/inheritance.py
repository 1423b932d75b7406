"""Who may read whom, and for how much it counts: pools and parents become weights and paths.

Each hop costs a fifth. A pool peer and a parent are one hop away, a grandparent two, a parent's pool peer
one more than the parent. A parent's other children are strangers, unless a pool joins them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["HOP_WEIGHT", "OWN", "SHARED_PATH", "Access", "access", "longest_line", "ring"]

HOP_WEIGHT: Final = 0.8
"""What a hop leaves of the weight of a hit (spec F88)."""
OWN: Final = "own"
SHARED_PATH: Final = "shared"


@dataclass(frozen=True, slots=True)
class Access:
    """How a persona is reached: `path` is own, shared, pool:NAME, inherited:depth-N or inherited-via:PARENT@POOL."""

    weight: float
    path: str


def access(persona: str, shared: str, kin: Iterable[tuple[int, str, str | None, str | None]]) -> dict[str, Access]:
    """Return every readable persona with its best access, one's own first, then "shared", then by weight.

    `kin` are (generations up, ancestor, None, None), and (generations up, ancestor, pool, peer in it).
    """
    found = {shared: Access(1.0, SHARED_PATH)}
    found[persona] = Access(1.0, OWN)
    ways: dict[str, Access] = {}
    for depth, ancestor, pool, peer in sorted(kin, key=lambda one: (one[0] + (one[2] is not None), *map(str, one))):
        if pool is None or peer is None:
            reached, hops, path = ancestor, depth, f"inherited:depth-{depth}"
        else:
            reached, hops = peer, depth + 1
            path = f"pool:{pool}" if depth == 0 else f"inherited-via:{ancestor}@{pool}"
        if reached not in found and reached not in ways:
            ways[reached] = Access(HOP_WEIGHT**hops, path)
    return {persona: found[persona], **found, **ways}


def ring(child: str, parent: str, lines: Iterable[tuple[str, str]]) -> list[str]:
    """Return the ring that this new line would close, from the child back to itself; empty when there is none."""
    if child == parent:
        return [child, child]
    parents = _parents(lines)
    came_from: dict[str, str] = {parent: child}
    waiting = [parent]
    while waiting:
        one = waiting.pop()
        for above in parents.get(one, ()):
            if above == child:
                way = [child, one]
                while way[-1] != child:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if above not in came_from:
                came_from[above] = one
                waiting.append(above)
    return []


def longest_line(lines: Iterable[tuple[str, str]]) -> int:
    """Return how many generations the longest line of parents has; the lines hold no ring."""
    parents = _parents(lines)
    heights: dict[str, int] = {}
    for start in parents:
        waiting = [start]
        while waiting:
            one = waiting[-1]
            missing = [above for above in parents.get(one, ()) if above not in heights]
            if missing:
                waiting += missing
            else:
                heights[waiting.pop()] = 1 + max((heights[above] for above in parents.get(one, ())), default=-1)
    return max(heights.values(), default=0)


def _parents(lines: Iterable[tuple[str, str]]) -> Mapping[str, list[str]]:
    parents: dict[str, list[str]] = {}
    for child, parent in lines:
        parents.setdefault(child, []).append(parent)
    return parents
