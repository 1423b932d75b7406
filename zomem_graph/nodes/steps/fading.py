"""What the fold of `rules.fading` says of stored facts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime

from zomem_graph.nodes.rules.fading import Fading, Fate, Life, Use, fate
from zomem_graph.nodes.rules.tiers import LIFETIMES, TIERS, WALL_CLOCK_TIERS, lived_tier, wall_clock_expiry
from zomem_graph.nodes.steps.lapse import end_by_clock, give_back
from zomem_graph.nodes.steps.upkeep import holding_together
from zomem_graph.stores.records import Access, Fact
from zomem_graph.stores.unit import Unit

__all__ = ["fates", "given_tier", "kept_since", "leave", "life_of", "longer_lived", "over", "renew", "still_standing"]

_SHORTEST = min(life for tier, life in LIFETIMES.items() if life is not None and tier not in WALL_CLOCK_TIERS)
"""No life that counts days of use ends before it is so old by the calendar."""


def fates(
    unit: Unit,
    facts: Sequence[Fact],
    *,
    now: datetime,
    rules: Fading | None = None,
    protected: Collection[str] = (),
    active_days: Sequence[date] | None = None,
) -> Mapping[str, Fate]:
    """Return how each of these facts stands now, by id; two reads, or one where the active days are known."""
    if not facts:
        return {}
    days = unit.care.active_days() if active_days is None else active_days
    used = unit.care.uses_of([fact.id for fact in facts])
    return {
        fact.id: _fold(fact, used.get(fact.id, ()), days, now, rules=rules, protected=fact.id in protected)
        for fact in facts
    }


def over(unit: Unit, facts: Sequence[Fact], *, now: datetime) -> Mapping[str, Fate]:
    """Return which of these current facts have had their time, by id, whether that is written down yet or not.

    Nothing is read for facts that are too young for it. Those of a vault are its own affair (spec F133).
    """
    old = [fact for fact in facts if _may_be_over(fact, now)]
    if not old:
        return {}
    days, used = unit.care.active_days(), unit.care.uses_of([fact.id for fact in old])
    found: dict[str, Fate] = {}
    bridges: Collection[str] | None = None
    for fact in old:
        free, held = (_fold(fact, used.get(fact.id, ()), days, now, protected=spared) for spared in (False, True))
        if free.ended_at != held.ended_at and bridges is None:
            bridges = holding_together(unit)  # dear, and hardly ever what decides
        fate = held if bridges is not None and fact.id in bridges else free
        if fate.ended_at is not None:
            found[fact.id] = fate
    apart = unit.vault.of([*found]) if found else {}
    return {id_: fate for id_, fate in found.items() if id_ not in apart}


def _fold(
    fact: Fact,
    used: Sequence[Access],
    days: Sequence[date],
    now: datetime,
    *,
    rules: Fading | None = None,
    protected: bool = False,
) -> Fate:
    uses = [Use(use.at, turn=use.turn_key) for use in used]
    return fate(life_of(fact, protected=protected), uses, days, now, rules=rules)


def _may_be_over(fact: Fact, now: datetime) -> bool:
    """Return whether a fact can have ended by now, as far as can be told without its uses."""
    if fact.expires_at is not None:
        return fact.expires_at <= now
    return LIFETIMES.get(given_tier(fact)) is not None and now - kept_since(fact) >= _SHORTEST


def life_of(fact: Fact, *, protected: bool = False) -> Life:
    """Return what fading needs to know of a fact; its fate is told from the tier it was given, not the one it has."""
    return Life(as_of=kept_since(fact), tier=given_tier(fact), importance=fact.importance, protected=protected)


def given_tier(fact: Fact) -> str:
    """Return the tier a fact had before maintenance moved it; the usual one for one that nobody knows."""
    return lived_tier(fact.given_tier or fact.tier)


def longer_lived(one: str, other: str) -> str:
    """Return the tier that lives longer."""
    return min(one, other, key=TIERS.index)


def kept_since(fact: Fact) -> datetime:
    """Return from when a fact's age counts: when it came in or was last said again, never when it happened.

    What is of a session lives by the clock of the session, even when it is read later.
    """
    by_clock = given_tier(fact) in WALL_CLOCK_TIERS and fact.kept_since is None
    return fact.created_at if by_clock or fact.kept_since is None else fact.kept_since


def still_standing(unit: Unit, fact: Fact | None, *, now: datetime) -> Fact | None:
    """Return what stands in a slot: a current fact, or what it had taken the place of once its time was over.

    It leaves now, as of when it ended, and not when maintenance next comes by.
    """
    while fact is not None:
        if fact.expires_at is not None and fact.expires_at <= now:
            fact = end_by_clock(unit, fact, now)
            continue
        ended = over(unit, [fact], now=now).get(fact.id)
        if ended is None:
            return fact
        leave(unit, [(fact, ended)], now=now)
        fact = unit.facts.current(fact.persona, fact.slot)
    return None


def leave(unit: Unit, ended: Sequence[tuple[Fact, Fate]], *, now: datetime) -> None:
    """Take facts whose time is over out of recall, each as of when it ended."""
    for state in ("expired", "archived"):
        over = {fact.id: one.ended_at or one.moves[-1].at for fact, one in ended if one.moves[-1].kind == state}
        unit.facts.end_each(over, state=state)
        unit.items.end([*over], state=state, at=over)
    for fact, found in ended:
        if found.moves[-1].kind == "expired":
            give_back(unit, fact, now)
        if found.tier is not None and found.tier != fact.tier:
            unit.facts.change(fact.id, tier=found.tier, given_tier=given_tier(fact))


def renew(unit: Unit, fact: Fact, *, now: datetime) -> None:
    """Begin a fact's life anew, in the tier it was given or the higher one it has come to."""
    tier = longer_lived(given_tier(fact), fates(unit, [fact], now=now)[fact.id].tier or fact.tier)
    expires = wall_clock_expiry(tier, now)
    unit.facts.change(fact.id, tier=tier, given_tier=None, kept_since=now, expires_at=expires)
    if expires != fact.expires_at:
        unit.items.set_expiry(fact.id, expires)
