"""Which two statements about one thing are near enough to ask whether both can hold (spec F83)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.rules.option_kinds import Options, span
from zomem_graph.stores.records import Fact

__all__ = ["ConflictOptions", "near_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictOptions(Options):
    """How far a look for conflicts goes.

    Two statements are compared where their nearness, (cosine - usual) / (1 - usual), lies in the band: below it
    they speak of different things, above it they say the same. A chat model is asked about the `most_asked`
    nearest pairs not asked before, `at_once` side by side, each within `deadline_seconds`. `by_meaning` records
    the nearest without a model, as pending; nearness alone cannot tell a port from a backup port, so it is off.
    """

    nearest: float = 0.95
    farthest: float = 0.3
    most_asked: int = 40
    at_once: int = 8
    deadline_seconds: float = span(10.0, "seconds")
    max_tokens: int = 100
    by_meaning: bool = False


def near_pairs(
    facts: Sequence[Fact],
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    usual: float,
    options: ConflictOptions,
    known: Collection[frozenset[str]] = (),
) -> list[tuple[float, Fact, Fact]]:
    """Return (nearness, newer, older) of the pairs in the band, nearest first; facts of one thing, oldest first.

    Values of one list-like key, or of one slot, are never a pair, nor are pairs that are `known`.
    """
    placed = [fact for fact in facts if fact.id in vectors]
    if len(placed) < 2:
        return []
    matrix = np.stack([vectors[fact.id] for fact in placed])
    nearness = (matrix @ matrix.T - usual) / max(1e-6, 1.0 - usual)
    found = []
    for newer in range(1, len(placed)):
        for older in range(newer):
            near = float(nearness[newer, older])
            pair = placed[newer], placed[older]
            if options.farthest <= near <= options.nearest and _may_clash(*pair, known):
                found.append((near, *pair))
    return sorted(found, key=lambda one: (-one[0], one[1].id, one[2].id))


def _may_clash(newer: Fact, older: Fact, known: Collection[frozenset[str]]) -> bool:
    listed = newer.many and older.many and newer.key == older.key
    return not listed and newer.slot != older.slot and frozenset((newer.id, older.id)) not in known
