"""Carry out what was judged of a new fact: one current value a slot, every other value where it belongs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from zomem_graph.nodes.rules.conflict import Judgement, merged_value
from zomem_graph.nodes.rules.entities import entities, entity_key
from zomem_graph.nodes.rules.keys import same_value
from zomem_graph.nodes.rules.tiers import wall_clock_expiry
from zomem_graph.nodes.scope import SHARED
from zomem_graph.nodes.steps.wikilinks import carry_links
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.records import Conflict, Fact, Link, Origin
from zomem_graph.stores.unit import Unit

__all__ = [
    "CONTRADICTS",
    "OSCILLATION",
    "SUPERSEDES",
    "Settled",
    "conflict_between",
    "item_of",
    "join_values",
    "link_between",
    "more_private",
    "oscillation",
    "retire",
    "settle",
    "make_current",
]

SUPERSEDES = "supersedes"
CONTRADICTS = "contradicts"
OSCILLATION = "oscillation"
_WAITING = ("flagged", "pending")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The fact as it stands now, and what it took the place of.

    `outcome` is new or changed when it became current, else late, past, flagged, merged or unchanged.
    """

    fact: Fact
    outcome: str
    replaced: tuple[str, ...] = ()


def settle(unit: Unit, fact: Fact, judged: Sequence[Judgement], *, origin: Origin, now: datetime) -> Settled:
    """Store a judged fact within one transaction, with its conflicts, links and origin."""
    behind = next((one for one in judged if one.outcome in ("late", "past")), None)
    if behind is not None:
        return _file_behind(unit, fact, behind, origin, now)
    in_slot = next((one for one in judged if one.place == "slot"), None)
    if in_slot is not None and in_slot.outcome in _WAITING:
        return _set_aside(unit, fact, in_slot, origin, now)
    if in_slot is not None and in_slot.outcome == "merged":
        return _merge(unit, fact, in_slot, origin, now)
    replaced = [one.rival_id for one in judged if one.outcome == "superseded"]
    retire(unit, replaced, by=fact, now=now)
    _add(unit, fact, origin)
    unit.links.add([link_between(fact.id, old, SUPERSEDES, now) for old in replaced])
    doubted = [one for one in judged if one.outcome in _WAITING]
    unit.links.add([link_between(fact.id, one.rival_id, CONTRADICTS, now) for one in doubted])
    unit.conflicts.add([_conflict(fact, one, now) for one in judged])
    return Settled(fact=fact, outcome="changed" if replaced else "new", replaced=tuple(replaced))


def retire(unit: Unit, ids: Sequence[str], *, by: Fact, now: datetime, state: str = "superseded") -> None:
    """Let facts end where another one begins; their confidence is halved (spec F38)."""
    at = by.created_at
    unit.facts.end(ids, state=state, at=at, superseded_by=by.id)
    unit.items.end(ids, state=state, at=at)
    unit.conflicts.halve_confidence(ids)
    unit.provenance.ended(ids, at=at, superseded_by=by.id, now=now)
    carry_links(unit, ids, by=by)


def make_current(unit: Unit, fact: Fact, *, now: datetime) -> Fact:
    """Make a value that waited or ended the current one of its slot from now on; return it as it stands.

    Whatever is current in the slot makes room. What never held begins to hold now, and its origins tell when it was
    said; what held before is stored anew, so that the past stays as it was.
    """
    holder = unit.facts.current(fact.persona, fact.slot)
    if holder is not None and same_value(holder.value, fact.value, key=fact.key):
        return holder
    held = fact.ended_at is not None and fact.ended_at > fact.created_at
    again = replace(
        fact,
        id=new_id() if held else fact.id,
        confidence=min(1.0, fact.confidence * 2) if held else fact.confidence,  # halved when it was retired
        state="current",
        created_at=now,
        ended_at=None,
        expires_at=wall_clock_expiry(fact.tier, now),
        superseded_by=None,
        kept_since=None,
    )
    if holder is not None:
        retire(unit, [holder.id], by=again, now=now)
    if held:
        unit.facts.add([again])
        unit.items.add([item_of(again)])
        unit.provenance.add([_holding(origin, again) for origin in unit.provenance.of([fact.id])])
        carry_links(unit, [fact.id], by=again)
    else:
        unit.conflicts.revive(fact.id, since=now)
        unit.facts.change(fact.id, expires_at=again.expires_at, kept_since=None)
        unit.items.set_expiry(fact.id, again.expires_at)
        unit.provenance.ended([fact.id], at=None, superseded_by=None, now=now)
    return again


def more_private(one: Fact, other: Fact) -> str:
    """Return whose it is to decide between two facts: the persona of the side that is not shared."""
    return other.persona if one.persona == SHARED else one.persona


def join_values(unit: Unit, parts: Sequence[Fact], *, persona: str, now: datetime) -> Fact:
    """Make one current fact of several values of a slot, in this persona; its own parts stay as merged (spec F84).

    Parts of another persona are read and left as they are.
    """
    own = [part for part in parts if part.persona == persona]
    newest = own[-1]
    value = merged_value([part.value for part in parts], key=newest.key)
    joined = replace(
        newest,
        id=new_id(),
        value=value,
        text=f"{newest.entity} {newest.key}: {value}" if newest.key else f"{newest.entity}: {value}",
        importance=max(part.importance for part in parts),
        confidence=max(part.confidence for part in parts),
        state="current",
        created_at=max(now, newest.created_at),
        ended_at=None,
        superseded_by=None,
        turn_id=None,
        quote=None,
    )
    for part in own:
        retire(unit, [part.id], by=joined, now=now, state="merged")
        if part.state != "current":
            unit.conflicts.set_state(part.id, "merged", at=now)
            unit.conflicts.end_at(part.id, at=part.ended_at or now, superseded_by=joined.id)
    _add(unit, joined, _origin_of_join(joined, now))
    unit.links.add([link_between(joined.id, part.id, SUPERSEDES, now) for part in own])
    return joined


def oscillation(
    unit: Unit, fact: Fact, gone: Sequence[tuple[str, str]], *, times: int, hours: float, now: datetime
) -> str | None:
    """Mark a value that came and went too often within some hours, and say so (spec row 71).

    `gone` are (id, value) of what the slot had and lost in that time. None when it is no swing.
    """
    before = sorted({id_ for id_, value in gone if id_ != fact.id and same_value(value, fact.value, key=fact.key)})
    if len(before) < times:
        return None
    said = f"{fact.entity} {fact.key or ''}".strip()
    note = (
        f"{said!r:.80} came back to this value {len(before)} times within {hours:g} hours; "
        "something may be changing it back and forth"
    )
    if len(before) % times == 0:
        swing = Judgement(
            rival_id=before[-1],
            place="slot",
            outcome="flagged",
            conflict_type="temporal",
            detector=OSCILLATION,
            note=note,
        )
        unit.conflicts.add([_conflict(fact, swing, now)])
    return note


def conflict_between(
    newer: Fact,
    older_id: str,
    *,
    conflict_type: str,
    resolution: str,
    detector: str,
    note: str,
    now: datetime,
    persona: str,
    score: float | None = None,
) -> Conflict:
    """Return the record of a conflict; it is resolved unless it is left for somebody of this persona to decide."""
    return Conflict(
        id=new_id(),
        persona=persona,
        fact_id=newer.id,
        conflicting_fact_id=older_id,
        conflict_type=conflict_type,
        resolution=resolution,
        detector=detector,
        score=score,
        note=note,
        created_at=now,
        resolved_at=None if resolution in _WAITING else now,
    )


def link_between(source: str, target: str, relation: str, now: datetime) -> Link:
    """Return a link of full weight from one fact to another."""
    return Link(source_id=source, target_id=target, relation=relation, weight=1.0, created_at=now)


def item_of(fact: Fact) -> NewItem:
    """Return the searchable side of a fact."""
    named = dict.fromkeys([entity_key(fact.entity), *entities(fact.text), *entities(fact.value)])
    return NewItem(
        id=fact.id,
        kind="fact",
        persona=fact.persona,
        text=fact.text,
        title=f"{fact.entity} {fact.key or ''}",
        created_at=fact.created_at,
        expires_at=fact.expires_at,
        entities=[name for name in named if name],
    )


def _file_behind(unit: Unit, fact: Fact, judged: Judgement, origin: Origin, now: datetime) -> Settled:
    """Put a value that is not the newest into its place in the history of the slot."""
    history = [one for one in unit.conflicts.history(fact.persona, fact.slot) if one.state != "retracted"]
    earlier = [one for one in history if one.created_at <= fact.created_at]
    later = [one for one in history if one.created_at > fact.created_at]
    before = earlier[-1] if earlier else None
    if judged.outcome == "late" and before is not None and same_value(before.value, fact.value, key=fact.key):
        return Settled(fact=before, outcome="unchanged")
    by = later[0].id if later else judged.rival_id
    ended = later[0].created_at if later and judged.outcome == "late" else fact.created_at
    if judged.place == "opposite":
        ended = max(fact.created_at, unit.facts.find([judged.rival_id])[0].created_at)
    elif judged.outcome == "late" and before is not None and (before.ended_at or ended) > fact.created_at:
        unit.conflicts.end_at(before.id, at=fact.created_at, superseded_by=fact.id)
        unit.provenance.ended([before.id], at=fact.created_at, superseded_by=fact.id, now=now)
    filed = _ended(fact, state="superseded", at=ended, by=by)
    _add(unit, filed, replace(origin, effective_until=ended, superseded_by=by, superseded_at=now))
    unit.links.add([link_between(by, filed.id, SUPERSEDES, now)])
    unit.conflicts.add([_conflict(filed, judged, now, resolution="superseded")])
    return Settled(fact=filed, outcome=judged.outcome)


def _set_aside(unit: Unit, fact: Fact, judged: Judgement, origin: Origin, now: datetime) -> Settled:
    """Keep the newcomer out of recall until somebody decides; the current value stays. Said again, it waits once."""
    for known in unit.conflicts.history(fact.persona, fact.slot):
        if known.state == "flagged" and same_value(known.value, fact.value, key=fact.key):
            unit.provenance.add([replace(origin, fact_id=known.id)])
            return Settled(fact=known, outcome="unchanged")
    waiting = _ended(fact, state="flagged", at=fact.created_at, by=None)
    _add(unit, waiting, origin)
    unit.links.add([link_between(fact.id, judged.rival_id, CONTRADICTS, now)])
    unit.conflicts.add([_conflict(fact, judged, now)])
    return Settled(fact=waiting, outcome="flagged")


def _merge(unit: Unit, fact: Fact, judged: Judgement, origin: Origin, now: datetime) -> Settled:
    (old,) = unit.facts.find([judged.rival_id])
    if same_value(merged_value([old.value, fact.value], key=fact.key), old.value, key=fact.key):
        return Settled(fact=old, outcome="unchanged")
    part = _ended(fact, state="merged", at=fact.created_at, by=None)
    _add(unit, part, origin)
    joined = join_values(unit, [old, part], persona=fact.persona, now=now)
    unit.conflicts.add([_conflict(fact, judged, now)])
    return Settled(fact=joined, outcome="merged", replaced=(old.id,))


def _add(unit: Unit, fact: Fact, origin: Origin) -> None:
    unit.facts.add([fact])
    unit.items.add([item_of(fact)])
    unit.provenance.add([origin])
    if fact.state != "current":
        unit.items.end([fact.id], state=fact.state, at=fact.ended_at or fact.created_at)


def _ended(fact: Fact, *, state: str, at: datetime, by: str | None) -> Fact:
    return replace(fact, state=state, ended_at=at, superseded_by=by)


def _conflict(fact: Fact, judged: Judgement, now: datetime, *, resolution: str | None = None) -> Conflict:
    return conflict_between(
        fact,
        judged.rival_id,
        conflict_type=judged.conflict_type,
        resolution=resolution or judged.outcome,
        detector=judged.detector,
        note=judged.note,
        now=now,
        persona=fact.persona,
    )


def _holding(origin: Origin, fact: Fact) -> Origin:
    """Return an origin as that of a fact that holds."""
    return replace(origin, id=new_id(), fact_id=fact.id, effective_until=None, superseded_by=None, superseded_at=None)


def _origin_of_join(joined: Fact, now: datetime) -> Origin:
    return Origin(
        id=new_id(),
        fact_id=joined.id,
        persona=joined.persona,
        source=joined.source,
        turn_id="",
        capture_method="merge",
        captured_at=now,
        effective_from=joined.created_at,
        effective_until=None,
        superseded_by=None,
        superseded_at=None,
        quote=None,
    )
