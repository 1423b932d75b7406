"""The current facts that a new one meets: what stands in its slot, under its opposite, and what it may deny."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from zomem_graph.nodes.rules.conflict import Place, Rival, Statement, may_deny
from zomem_graph.nodes.rules.keys import normal, opposite_slots, same_value, slot
from zomem_graph.nodes.steps.fading import over, still_standing
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.stores.conflicts import Stated
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit

__all__ = ["LONGEST_STATEMENT", "not_over", "rivals_of", "statement_of"]

LONGEST_STATEMENT = 300
"""Characters; a longer value is a text and is not compared by its wording."""
_OVER = "no longer"  # how rules say that a value is over
_USER = "user"  # as whom rules keep a speaker without a name
_NAME_OF_USER = slot(_USER, "name", "", many=False)


def _other_names(unit: Unit, new: NewFact) -> tuple[str, ...]:
    """Return under which other name the same person is kept: who said "my name is Ana" is both user and Ana."""
    told = unit.facts.current(new.persona, _NAME_OF_USER)
    if told is None or normal(new.key or "") == "name":
        return ()
    entity = normal(new.entity)
    if entity == _USER:
        return (told.value,)
    return (_USER,) if entity == normal(told.value) else ()


def not_over(unit: Unit, new: NewFact, current: Fact | None, *, many: bool, now: datetime) -> Fact | None:
    """Return the current value that stays when it is said that another one is over; None when the one meant ends."""
    if many or new.ends is None or normal(new.ends) not in normal(new.value):
        return None
    slots = [slot(name, new.key, new.value, many=False) for name in _other_names(unit, new)]
    told = [current, *(still_standing(unit, unit.facts.current(new.persona, one), now=now) for one in slots)]
    standing = [one for one in told if one is not None]
    over = set(normal(new.ends).split())
    if any(over <= (known := set(normal(one.value).split())) or known <= over for one in standing):
        return None
    return standing[0] if standing else None


def rivals_of(
    unit: Unit, new: NewFact, current: Fact | None, around: Sequence[Stated], *, many: bool, now: datetime
) -> list[Rival]:
    """Return the current facts a new one meets: in its slot, under its opposite, and those it may deny.

    Also in the slots of the other name of the same person, where memory knows that it is the same.
    """
    rivals = [] if current is None else [_rival(current, "slot")]
    twins = [replace(new, entity=name) for name in _other_names(unit, new)]
    for twin in twins if not many else ():
        address = slot(twin.entity, twin.key, twin.value, many=False)
        told = still_standing(unit, unit.facts.current(new.persona, address), now=now)
        if told is not None and not same_value(told.value, new.value, key=new.key):
            rivals.append(_rival(told, "slot"))
    for other in dict.fromkeys(address for one in (new, *twins) for address in _slots_ended(one)):
        opposed = still_standing(unit, unit.facts.current(new.persona, other), now=now)
        if opposed is not None:
            rivals.append(_rival(opposed, "opposite"))
    if len(new.value) > LONGEST_STATEMENT:
        return rivals
    met = {rival.id for rival in rivals}
    denies = may_deny(_said(new.key, new.value))
    denied = [
        Rival(id=one.id, place="entity", value=one.value, said=said, at=one.at)
        for one in around
        if one.state == "current" and one.id not in met and (may_deny(said := _said(one.key, one.value)) or denies)
    ]
    standing = _standing(unit, [one.id for one in denied], now)
    return rivals + [one for one in denied if one.id in standing]


def _standing(unit: Unit, ids: Sequence[str], now: datetime) -> set[str]:
    """Return which of these facts stand now, whatever was written down of their end."""
    current = [fact for fact in unit.facts.find(ids) if fact.state == "current"]
    return {fact.id for fact in current}.difference(over(unit, current, now=now))


def _slots_ended(new: NewFact) -> tuple[str, ...]:
    """Return the slots of other values that this fact ends: its opposite, what it says is over, that it was over."""
    ended = (f"{_OVER} {new.value}",) if new.ends is None else (new.ends,)
    over = [slot(new.entity, new.key, value, many=True) for value in ended]
    return (*opposite_slots(new.entity, new.key, new.value), *over)


def _rival(fact: Fact, place: Place) -> Rival:
    said = _said(fact.key, fact.value)
    return Rival(id=fact.id, place=place, value=fact.value, said=said, at=fact.created_at)


def statement_of(new: NewFact, at: datetime) -> Statement:
    """Return a new fact as what is said of its slot, to weigh against its rivals."""
    return Statement(value=new.value, said=_said(new.key, new.value), at=at, quote=new.quote)


def _said(key: str | None, value: str) -> str:
    return f"{key} {value}" if key else value
