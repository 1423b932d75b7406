"""List, find and resolve conflicts between facts (spec F83, F84)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import TypedDict

from zomem_graph.nodes.rules.conflict import (
    STRATEGIES,
    deny_each_other,
    differ_in_number,
    may_deny,
    without_numbers,
)
from zomem_graph.nodes.rules.given import choice, if_given, text
from zomem_graph.nodes.rules.keys import same_value
from zomem_graph.nodes.steps.settle import (
    CONTRADICTS,
    SUPERSEDES,
    conflict_between,
    join_values,
    link_between,
    retire,
)
from zomem_graph.nodes.values import FactConflict
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Conflict, Fact
from zomem_graph.stores.unit import Unit

__all__ = [
    "MOST_COMPARED",
    "MOST_STATED",
    "check_strategy",
    "detect_conflicts",
    "entity_of",
    "resolve_conflict",
    "with_facts",
]

MOST_COMPARED = 200  # facts of one entity, the newest
MOST_STATED = 20_000
_MAY_STAND = ("current", "flagged", "superseded", "merged")
_ADDRESS_ENDS = "\x1f"


class _Seen(TypedDict):
    conflict_type: str
    resolution: str
    detector: str
    note: str


_TWO_PERSONAS = _Seen(
    conflict_type="exact",
    resolution="pending",
    detector="personas",
    note="two personas say different things",
)
_DENIAL = _Seen(
    conflict_type="semantic",
    resolution="flagged",
    detector="negation",
    note="one denies the other; both are kept",
)
_NUMBER = _Seen(
    conflict_type="exact",
    resolution="pending",
    detector="number",
    note="the same but for a number or a date",
)


def with_facts(unit: Unit, conflicts: Sequence[Conflict]) -> list[FactConflict]:
    """Return conflicts with both their facts."""
    ids = {one for conflict in conflicts for one in (conflict.fact_id, conflict.conflicting_fact_id)}
    facts = {fact.id: fact for fact in unit.facts.find(sorted(ids))}
    return [
        FactConflict(conflict=one, newer=facts.get(one.fact_id), older=facts.get(one.conflicting_fact_id))
        for one in conflicts
    ]


def detect_conflicts(unit: Unit, personas: Sequence[str], *, now: datetime) -> list[Conflict]:
    """Look through all current facts of these personas for what cannot both hold; record what is new.

    Nothing is retired: denials are flagged; statements that differ in a number only, and slots in which
    two personas say different things, wait as pending.
    """
    stated = unit.conflicts.everything_stated(personas, most=MOST_STATED)
    found: list[Conflict] = []
    for _entity, group in groupby(stated, key=entity_of):
        facts = sorted(group, key=lambda fact: fact.created_at)[-MOST_COMPARED:]
        for conflict in _pairs(facts, now):
            if unit.conflicts.between(conflict.fact_id, conflict.conflicting_fact_id) is None:
                found.append(conflict)
    unit.conflicts.add(found)
    ties = [(one.fact_id, one.conflicting_fact_id) for one in found]
    unit.links.add([link_between(newer, older, CONTRADICTS, now) for newer, older in ties])
    return found


def check_strategy(strategy: str) -> None:
    """Raise InvalidInput for what is no strategy of spec F84."""
    choice("strategy", strategy, STRATEGIES)


def resolve_conflict(unit: Unit, conflict: Conflict, strategy: str, *, keep: str | None, now: datetime) -> Conflict:
    """Decide one conflict: supersede (the newer fact wins, or `keep`), merge, flag or pending.

    Raises InvalidInput for another strategy and UnknownName when one of the facts is gone.
    """
    check_strategy(strategy)
    if strategy in ("flag", "pending"):
        resolution = "flagged" if strategy == "flag" else "pending"
        unit.conflicts.change(conflict.id, resolution=resolution, resolved_at=None)
        return replace(conflict, resolution=resolution, resolved_at=None)
    (pair,) = with_facts(unit, [conflict])
    if pair.newer is None or pair.older is None:
        raise UnknownName("One of the two facts was erased since, so there is nothing left to decide.")
    if strategy == "merge":
        _merge(unit, pair.newer, pair.older, now)
        resolution = "merged"
    else:
        _supersede(unit, pair.newer, pair.older, keep, now)
        resolution = "superseded"
    unit.conflicts.change(conflict.id, resolution=resolution, resolved_at=now)
    return replace(conflict, resolution=resolution, resolved_at=now)


def _supersede(unit: Unit, newer: Fact, older: Fact, keep: str | None, now: datetime) -> None:
    if if_given(text, "keep", keep) not in (None, newer.id, older.id):
        raise InvalidInput(f"keep must be one of the two facts, {newer.id} or {older.id}.")
    winner, loser = (older, newer) if keep == older.id else (newer, older)
    if winner.state not in _MAY_STAND:
        raise InvalidInput(f"{winner.id} is {winner.state} and cannot win. Keep the other one: keep={loser.id!r}.")
    if loser.state == "current":
        retire(unit, [loser.id], by=replace(winner, created_at=now), now=now)
    elif loser.state == "flagged":
        unit.conflicts.set_state(loser.id, "superseded", at=now)
        unit.conflicts.end_at(loser.id, at=loser.created_at, superseded_by=winner.id)
    if winner.state != "current":
        _stand_again(unit, winner, now)
    unit.links.remove(newer.id, older.id, CONTRADICTS)
    unit.links.add([link_between(winner.id, loser.id, SUPERSEDES, now)])


def _stand_again(unit: Unit, fact: Fact, now: datetime) -> None:
    """Make a fact current; whatever is current in its slot by now makes room."""
    holder = unit.facts.current(fact.persona, fact.slot)
    if holder is not None and holder.id != fact.id:
        retire(unit, [holder.id], by=replace(fact, created_at=now), now=now)
    unit.conflicts.revive(fact.id)
    unit.provenance.ended([fact.id], at=None, superseded_by=None, now=now)


def _merge(unit: Unit, newer: Fact, older: Fact, now: datetime) -> None:
    if newer.slot != older.slot:
        raise InvalidInput(
            "Only two values of one entity and key can be merged; these two stand under different keys. "
            "Use the strategy supersede, flag or pending."
        )
    holder = unit.facts.current(newer.persona, newer.slot)
    others = [] if holder is None or holder.id in (newer.id, older.id) else [holder]
    join_values(unit, [older, newer, *others], now=now)
    unit.links.remove(newer.id, older.id, CONTRADICTS)


def _pairs(facts: Sequence[Fact], now: datetime) -> Iterator[Conflict]:
    """Yield what cannot both hold among the facts of one entity, given oldest first."""
    denying = {fact.id for fact in facts if may_deny(_said(fact))}
    bare = {fact.id: without_numbers(fact.value) for fact in facts if fact.key is None}
    for place, newer in enumerate(facts):
        for older in facts[:place]:
            seen = None
            if newer.slot == older.slot:
                if newer.persona != older.persona and not same_value(newer.value, older.value, key=newer.key):
                    seen = _TWO_PERSONAS
            elif {newer.id, older.id} & denying and deny_each_other(_said(older), _said(newer)):
                seen = _DENIAL
            elif (words := bare.get(newer.id)) and words == bare.get(older.id):
                seen = _NUMBER if differ_in_number(older.value, newer.value) else None
            if seen is not None:
                yield conflict_between(newer, older.id, **seen, now=now)


def entity_of(fact: Fact) -> str:
    """Return the part of a fact's address that names what it is about."""
    return fact.slot.split(_ADDRESS_ENDS, 1)[0]


def _said(fact: Fact) -> str:
    return f"{fact.key} {fact.value}" if fact.key else fact.value
