"""One hop in ranking: the best items lend a part of their score to what shares a rare name or a link with them.

What is lent counts the more, the more of the question the receiver covers that the sender leaves open;
this is what finds the second half of a two-part question. A link covers what its relation says.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.rules.option_kinds import Options
from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import terms

__all__ = [
    "OUTSIDE",
    "Gain",
    "HopOptions",
    "Lent",
    "Tie",
    "by_stems",
    "by_tokens",
    "lend",
    "share_told",
    "spread",
    "tie_worth",
]

# How much a receiver covers that its sender leaves open: (sender, receiver) to a factor.
Gain = Callable[[int, int], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class HopOptions(Options):
    """How far a good hit reaches. `share` is lambda for notes and facts, `turn_share` for chat turns.

    What is lent counts `base_gain` + `cover_gain` * what the receiver covers and the sender lacks; measured
    by tokens the base is `late_base_gain`. A name or a thing that ties more than `most` items ties none. A link of
    weight 1 counts `links` times what a name does that only two share; 0 leaves links out. A fact's value of at most
    `value_words` words may name what other facts are about, in any letter case; 0 looks at names that texts show.
    """

    seeds: int = 10
    most: int = 40
    links: float = 1.0
    value_words: int = 8
    share: float = 0.5
    turn_share: float = 0.15
    base_gain: float = 0.5
    cover_gain: float = 3.0
    late_base_gain: float = 0.2


@dataclass(frozen=True, slots=True)
class Lent:
    """What one item got, from whom, and by which entity or relation."""

    value: float
    sender: int
    by: str


@dataclass(frozen=True, slots=True)
class Tie:
    """A link of a sender: to which item, by which relation, its worth, and how much more for what it says."""

    receiver: int
    relation: str
    worth: float
    said: float = 0.0


def tie_worth(weight: float, degree: int, total: int) -> float:
    """Return what a link is worth among `degree` of its item: as much as a name that all of them share."""
    return max(0.0, weight) * log(max(_SMALL, total) / (degree + 1)) / sqrt(degree + 1)


def share_told(relation: str, rarity: Mapping[str, float]) -> float:
    """Return which share of the question's stems a relation says, by their rarity: "caused_by" says "caused"."""
    weight = sum(rarity.values())
    told = {stem(term) for term in terms(relation.replace("_", " "))}
    return sum(rarity[one] for one in told & rarity.keys()) / weight if weight > 0 else 0.0


def lend(
    senders: Sequence[tuple[int, float]],
    *,
    entities_of: Mapping[int, Sequence[str]],
    sharing: Mapping[str, Sequence[int]],
    gain: Gain,
    total: int,
    ties: Mapping[int, Sequence[Tie]] | None = None,
) -> dict[int, Lent]:
    """Return the most each item is lent by any of the senders, given as (number, activation in [0, 1]).

    `total` is how many items there are; `ties` are the links of the senders.
    """
    got: dict[int, Lent] = {}
    for sender, activation in senders:
        if activation <= 0:
            continue
        ways = [(tie.receiver, tie.worth, tie.said, tie.relation) for tie in (ties or {}).get(sender, ())]
        for entity in entities_of.get(sender, ()):
            receivers = sharing.get(entity, ())
            named = len(receivers) + (sender not in receivers)
            worth = log(max(2, total) / named) / sqrt(named)
            ways += [(receiver, worth, 0.0, entity) for receiver in receivers]
        for receiver, worth, said, by in ways:
            if receiver == sender:
                continue
            value = activation * worth * (gain(sender, receiver) + said)
            if receiver not in got or value > got[receiver].value:
                got[receiver] = Lent(value, sender, by)
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
        num: activation.get(num, OUTSIDE) + shares.get(num, 0.0) * (lent[num].value / most if num in lent else 0.0)
        for num in numbers
    }


_SMALL = 100  # items below which a store is too small to say how rare something is
OUTSIDE = -0.05  # the activation of an item that no leg found
