"""One hop in ranking: the best items lend a part of their score to items that share a rare entity.

What is lent counts the more, the more of the question the receiver covers that the sender leaves open;
this is what finds the second half of a two-part question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

__all__ = ["HopOptions", "Lent", "lend", "spread"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HopOptions:
    """How far a good hit reaches. `share` is lambda for notes and facts, `turn_share` for chat turns."""

    seeds: int = 10
    most: int = 40
    share: float = 0.5
    turn_share: float = 0.15
    base_gain: float = 0.5
    cover_gain: float = 3.0


@dataclass(frozen=True, slots=True)
class Lent:
    """What one item got, from whom, and by which entity."""

    value: float
    sender: int
    entity: str


def lend(
    senders: Sequence[tuple[int, float]],
    *,
    entities_of: Mapping[int, Sequence[str]],
    sharing: Mapping[str, Sequence[int]],
    stems_of: Mapping[int, frozenset[str]],
    rarity: Mapping[str, float],
    total: int,
    options: HopOptions,
) -> dict[int, Lent]:
    """Return the most each item is lent by any of the senders, given as (number, activation in [0, 1]).

    `rarity` is the weight of each stem of the question; `total` how many items there are.
    """
    weight = sum(rarity.values())
    got: dict[int, Lent] = {}
    for sender, activation in senders:
        open_stems = rarity.keys() - stems_of.get(sender, frozenset())
        for entity in entities_of.get(sender, ()):
            receivers = sharing.get(entity, ())
            if not receivers or activation <= 0:
                continue
            worth = activation * log(max(2, total) / len(receivers)) / sqrt(len(receivers))
            for receiver in receivers:
                if receiver == sender:
                    continue
                covered = sum(rarity[one] for one in open_stems & stems_of.get(receiver, frozenset()))
                gain = options.base_gain + (options.cover_gain * covered / weight if weight > 0 else 0.0)
                if receiver not in got or worth * gain > got[receiver].value:
                    got[receiver] = Lent(worth * gain, sender, entity)
    return got


def spread(
    activation: Mapping[int, float], lent: Mapping[int, Lent], shares: Mapping[int, float]
) -> dict[int, float]:
    """Return activation plus each item's share of what it was lent; newcomers start just below the pool."""
    most = max((one.value for one in lent.values()), default=0.0)
    if most <= 0:
        return dict(activation)
    numbers = dict.fromkeys([*activation, *lent])
    return {
        num: activation.get(num, _OUTSIDE)
        + shares.get(num, 0.0) * (lent[num].value / most if num in lent else 0.0)
        for num in numbers
    }


_OUTSIDE = -0.05  # the activation of an item that no leg found
