"""One hop in ranking: the best items lend a part of their score to items that share a rare entity.

What is lent counts the more, the more of the question the receiver covers that the sender leaves open;
this is what finds the second half of a two-part question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.rules.option_kinds import Options

__all__ = ["Gain", "HopOptions", "Lent", "by_stems", "by_tokens", "lend", "spread"]

# How much a receiver covers that its sender leaves open: (sender, receiver) to a factor.
Gain = Callable[[int, int], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class HopOptions(Options):
    """How far a good hit reaches. `share` is lambda for notes and facts, `turn_share` for chat turns.

    What is lent counts `base_gain` + `cover_gain` * what the receiver covers and the sender lacks; measured
    by tokens the base is `late_base_gain`.
    """

    seeds: int = 10
    most: int = 40
    share: float = 0.5
    turn_share: float = 0.15
    base_gain: float = 0.5
    cover_gain: float = 3.0
    late_base_gain: float = 0.2


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
    gain: Gain,
    total: int,
) -> dict[int, Lent]:
    """Return the most each item is lent by any of the senders, given as (number, activation in [0, 1]).

    `total` is how many items there are.
    """
    got: dict[int, Lent] = {}
    for sender, activation in senders:
        for entity in entities_of.get(sender, ()):
            receivers = sharing.get(entity, ())
            if not receivers or activation <= 0:
                continue
            worth = activation * log(max(2, total) / len(receivers)) / sqrt(len(receivers))
            for receiver in receivers:
                if receiver == sender:
                    continue
                value = worth * gain(sender, receiver)
                if receiver not in got or value > got[receiver].value:
                    got[receiver] = Lent(value, sender, entity)
    return got


def by_stems(stems_of: Mapping[int, frozenset[str]], rarity: Mapping[str, float], options: HopOptions) -> Gain:
    """Measure what is covered by the question's stems; `rarity` is the weight of each."""
    weight = sum(rarity.values())

    def gain(sender: int, receiver: int) -> float:
        missing = rarity.keys() - stems_of.get(sender, frozenset())
        covered = sum(rarity[one] for one in missing & stems_of.get(receiver, frozenset()))
        return options.base_gain + (options.cover_gain * covered / weight if weight > 0 else 0.0)

    return gain


def by_tokens(
    similarities: NDArray[np.float32],
    columns: Mapping[int, int],
    weights: NDArray[np.float64],
    options: HopOptions,
    *,
    otherwise: Gain,
) -> Gain:
    """Measure what is covered by the question's tokens; between items that have none, `otherwise`.

    `similarities` has a row for each token of the question and a column, by `columns`, for each item.
    """
    covered: dict[int, NDArray[np.float64]] = {}

    def gain(sender: int, receiver: int) -> float:
        if sender not in columns or receiver not in columns:
            return otherwise(sender, receiver)
        if sender not in covered:
            more = np.maximum(similarities - similarities[:, [columns[sender]]], 0.0)
            covered[sender] = weights @ more
        return options.late_base_gain + options.cover_gain * float(covered[sender][columns[receiver]])

    return gain


def spread(
    activation: Mapping[int, float], lent: Mapping[int, Lent], shares: Mapping[int, float]
) -> dict[int, float]:
    """Return activation plus each item's share of what it was lent; newcomers start just below the pool."""
    most = max((one.value for one in lent.values()), default=0.0)
    if most <= 0:
        return dict(activation)
    numbers = dict.fromkeys([*activation, *lent])
    return {
        num: activation.get(num, _OUTSIDE) + shares.get(num, 0.0) * (lent[num].value / most if num in lent else 0.0)
        for num in numbers
    }


_OUTSIDE = -0.05  # the activation of an item that no leg found
