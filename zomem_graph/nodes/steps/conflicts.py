"""List, find and resolve conflicts between facts (spec F83, F84)."""

from collections.abc import Collection, Iterator, Sequence
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
    OSCILLATION,
    SUPERSEDES,
    conflict_between,
    join_values,
    link_between,
    make_current,
    more_private,
    retire,
)
from zomem_graph.nodes.values import FactConflict
from zomem_graph.stores.conflicts import OPEN
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Conflict, Fact
from zomem_graph.stores.unit import Unit

__all__ = [
    "MOST_COMPARED",
    "MOST_STATED",
    "check_strategy",
    "detect_conflicts",
    "entity_of",
    "give_way",
    "resolve_conflict",
    "with_facts",
]

MOST_COMPARED = 200  # facts of one entity, the newest
MOST_STATED = 20_000
_STANDING = ("current", "flagged")
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

    Between two personas only the side that is not shared is changed. Raises InvalidInput for another strategy and
    for what cannot be decided so, UnknownName when one of the facts is gone; then nothing was changed.
    """
    check_strategy(strategy)
    (pair,) = with_facts(unit, [conflict])
    if pair.newer is None or pair.older is None:
        raise UnknownName("One of the two facts was erased since, so there is nothing left to decide.")
    if strategy == "supersede":
        decided = replace(conflict, resolution="superseded", resolved_at=now)
        if keep is not None or conflict.detector != OSCILLATION:  # that a value swings is only taken note of
            decided = _supersede(unit, decided, pair.newer, pair.older, keep, now)
    else:
        _check_waiting(unit, conflict, pair.newer, pair.older)
        if strategy == "merge":
            _merge(unit, pair.newer, pair.older, now)
            decided = replace(conflict, resolution="merged", resolved_at=now)
        else:
            waits = "flagged" if strategy == "flag" else "pending"
            decided = replace(conflict, resolution=waits, resolved_at=None)
    changed = ("resolution", "resolved_at", "fact_id", "conflicting_fact_id")
    unit.conflicts.change(conflict.id, **{name: getattr(decided, name) for name in changed})
    return decided


def give_way(unit: Unit, gone: Collection[str], *, now: datetime) -> None:
    """Let what waited for a decision against facts that are gone wait against what stands now, else stand itself.

    `gone` are the ids of facts that were retracted or deleted, or have ended and are about to be erased.
    """
    ended = frozenset(gone)
    for conflict in unit.conflicts.of_facts([*ended]):  # the newest first: of several it is the one to stand
        for waiting in unit.facts.find([*({conflict.fact_id, conflict.conflicting_fact_id} - ended)]):
            if waiting.state != "flagged" or conflict.resolution not in OPEN:
                continue
            standing = unit.facts.current(waiting.persona, waiting.slot)
            if standing is None:
                make_current(unit, waiting, now=now)
                unit.conflicts.change(conflict.id, resolution="superseded", resolved_at=now)
            else:
                older, newer = sorted((standing, waiting), key=lambda fact: fact.created_at)
                unit.conflicts.change(conflict.id, fact_id=newer.id, conflicting_fact_id=older.id)


def _check_waiting(unit: Unit, conflict: Conflict, *sides: Fact) -> None:
    if not unit.conflicts.can_wait(conflict.id):
        said = " and ".join(f"{fact.id} is {fact.state}" for fact in sides)
        raise InvalidInput(
            f"Nothing waits between the two: {said}. Use the strategy supersede, with keep=ID for the one to stand."
        )


def _supersede(unit: Unit, conflict: Conflict, newer: Fact, older: Fact, keep: str | None, now: datetime) -> Conflict:
    """Let one side stand and the other end; return the conflict with the facts as they stand."""
    if if_given(text, "keep", keep) not in (None, newer.id, older.id):
        raise InvalidInput(f"keep must be one of the two facts, {newer.id} or {older.id}.")
    winner, loser = (older, newer) if keep == older.id else (newer, older)
    theirs = _left_alone(newer, older)
    if winner.state not in (_STANDING if keep is None or winner is theirs else _MAY_STAND):
        raise InvalidInput(f"{winner.id} is {winner.state} and cannot win. Keep the other one: keep={loser.id!r}.")
    stands = winner is theirs or winner.state == "current"
    standing = winner if stands else make_current(unit, winner, now=now)
    unit.links.remove(newer.id, older.id, CONTRADICTS)
    if loser is not theirs:
        _end(unit, loser.id, by=standing, now=now)
    if theirs is None:
        unit.links.add([link_between(standing.id, loser.id, SUPERSEDES, now)])
    if winner is newer:
        return replace(conflict, fact_id=standing.id)
    return replace(conflict, conflicting_fact_id=standing.id)


def _end(unit: Unit, loser_id: str, *, by: Fact, now: datetime) -> None:
    """End the side that lost; one that loses to another persona's fact ends without a successor in its slot."""
    (loser,) = unit.facts.find([loser_id])  # it may have made room by now
    own = loser.persona == by.persona
    if loser.state == "flagged":
        unit.conflicts.set_state(loser.id, "superseded", at=now)
        unit.conflicts.end_at(loser.id, at=loser.created_at, superseded_by=by.id if own else None)
    elif loser.state == "current" and own:
        retire(unit, [loser.id], by=replace(by, created_at=now), now=now)
    elif loser.state == "current":
        unit.facts.end([loser.id], state="superseded", at=now)
        unit.items.end([loser.id], state="superseded", at=now)
        unit.conflicts.halve_confidence([loser.id])
        unit.provenance.ended([loser.id], at=now, superseded_by=None, now=now)


def _left_alone(newer: Fact, older: Fact) -> Fact | None:
    """Return the side that a decision between two personas leaves as it is; None within one persona."""
    if newer.persona == older.persona:
        return None
    return older if newer.persona == more_private(newer, older) else newer


def _merge(unit: Unit, newer: Fact, older: Fact, now: datetime) -> None:
    if newer.slot != older.slot:
        raise InvalidInput(
            "Only two values of one entity and key can be merged; these two stand under different keys. "
            "Use the strategy supersede, flag or pending."
        )
    persona = more_private(newer, older)
    holder = unit.facts.current(persona, newer.slot)
    sides = [one for one in (older, newer) if one.state in _STANDING]
    if holder is not None and holder.id not in {one.id for one in sides}:
        sides.insert(0, holder)
    if len(sides) < 2 or all(one.persona != persona for one in sides):
        raise InvalidInput("Only one of the two stands, so there is nothing to merge. Use the strategy supersede.")
    join_values(unit, sides, persona=persona, now=now)
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
                yield conflict_between(newer, older.id, **seen, now=now, persona=more_private(newer, older))


def entity_of(fact: Fact) -> str:
    """Return the part of a fact's address that names what it is about."""
    return fact.slot.split(_ADDRESS_ENDS, 1)[0]


def _said(fact: Fact) -> str:
    return f"{fact.key} {fact.value}" if fact.key else fact.value
