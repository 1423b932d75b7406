"""Store facts: what belongs to one slot has one current value, and everything knows where it came from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.conflict import judge
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.erasing import fact_marks, source_marks
from zomem_graph.nodes.rules.keys import is_many, normal, same_value, slot
from zomem_graph.nodes.rules.tiers import (
    CATEGORIES,
    WALL_CLOCK_TIERS,
    lived_tier,
    tier_note,
    wall_clock_expiry,
)
from zomem_graph.nodes.rules.trust import rightful_category
from zomem_graph.nodes.steps.fading import still_standing
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.rivals import LONGEST_STATEMENT, not_over, rivals_of, statement_of
from zomem_graph.nodes.steps.said_again import confirm, tell_anew
from zomem_graph.nodes.steps.settle import item_of, oscillation, settle
from zomem_graph.nodes.steps.wikilinks import tie_wikilinks
from zomem_graph.stores.conflicts import Stated
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.records import Fact, Origin, Tombstone
from zomem_graph.stores.unit import Unit

__all__ = ["Stored", "add_facts", "as_they_stand", "stays_forgotten", "store_facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What became of one new fact.

    `outcome` is new, unchanged, changed (it took the place of `replaced`), merged, late or past (filed
    behind the current value), flagged (waits for a decision) or forgotten (erased before, so not stored;
    `fact` is only what was offered).
    """

    fact: Fact
    outcome: str
    replaced: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def store_facts(unit: Unit, services: Services, new: Sequence[NewFact], *, now: datetime) -> list[Stored]:
    """Store checked facts within one transaction, in order; later ones may supersede earlier ones."""
    stored = [_store_one(unit, services.options.write, fact, now) for fact in new]
    for given, one in zip(new, stored, strict=True):
        names = [key for name in given.mentions if (key := entity_key(name[:LONGEST_STATEMENT]))]
        if names and one.outcome != "forgotten":
            unit.imports.mention(given.persona, [one.fact.id], names)
    tie_wikilinks(unit, [each.fact for each in stored if each.outcome in ("new", "changed", "merged")], now=now)
    return stored


def as_they_stand(unit: Unit, stored: Sequence[Stored]) -> list[Stored]:
    """Return what was stored in one batch as the whole of it left the facts: a later value may end an earlier one."""
    found = {fact.id: fact for fact in unit.facts.find([one.fact.id for one in stored])} if len(stored) > 1 else {}
    return [replace(one, fact=found.get(one.fact.id, one.fact)) for one in stored]


def add_facts(
    unit: Unit, services: Services, new: Sequence[NewFact], *, now: datetime, mentions: Sequence[str] = ()
) -> list[Stored]:
    """Store checked facts whose slots are known to be free, all at once: none is weighed against another.

    What was forgotten stays so. `mentions` are entities, in their normal form, that they name beyond their text.
    """
    stored: list[Stored] = []
    origins: list[Origin] = []
    for one in new:
        many = is_many(one.key, many=one.many, extra=services.options.write.many_keys)
        address = slot(one.entity, one.key, one.value, many=many)
        at = now if one.at is None else min(one.at, now)
        fact = _fact(one, address, many, at, now)
        if _forgotten(unit, one, address) is not None:
            stored.append(Stored(fact=replace(fact, state="forgotten"), outcome="forgotten"))
            continue
        stored.append(Stored(fact=fact, outcome="new", notes=_notes(one)))
        origins.append(_origin(one, fact, now, at))
    items = [item_of(each.fact) for each in stored if each.outcome == "new"]
    unit.facts.add([each.fact for each in stored if each.outcome == "new"])
    unit.items.add([replace(item, entities=[*item.entities, *mentions]) for item in items])
    unit.provenance.add(origins)
    tie_wikilinks(unit, [each.fact for each in stored if each.outcome == "new"], now=now)
    return stored


def stays_forgotten(unit: Unit, options: WriteOptions, new: NewFact) -> bool:
    """Return whether a fact that is read out of a file or log was erased before, and was not said again since."""
    if not unit.tombstones.any:
        return False
    many = is_many(new.key, many=new.many, extra=options.many_keys)
    address = slot(new.entity, new.key, new.value, many=many)
    return _forgotten(unit, new, address) is not None and not _stands(unit, new, address)


def _stands(unit: Unit, new: NewFact, address: str) -> bool:
    standing = unit.facts.current(new.persona, address)
    return standing is not None and same_value(standing.value, new.value, key=new.key)


def _store_one(unit: Unit, options: WriteOptions, new: NewFact, now: datetime) -> Stored:
    many = is_many(new.key, many=new.many, extra=options.many_keys)
    address = slot(new.entity, new.key, new.value, many=many)
    at = now if new.at is None else min(new.at, now)
    fact = _fact(new, address, many, at, now)
    notes = _notes(new)
    if (grave := _forgotten(unit, new, address)) is not None:
        said = f"{fact.text!r:.80} was forgotten on {grave.created_at:%Y-%m-%d}"
        if new.repeats_a_source and not _stands(unit, new, address):
            offered = replace(fact, state="forgotten")
            return Stored(fact=offered, outcome="forgotten", notes=(f"{said} and is not stored again",))
        notes += (f"{said}; it is stored again because it was asked for",)
    current = still_standing(unit, unit.facts.current(new.persona, address), now=now)
    if current is not None and (many or same_value(current.value, new.value, key=new.key)):
        unit.provenance.add([_origin(new, current, now, at)])
        confirm(unit, current, fact, confidence=new.confidence, importance=new.importance, now=now)
        (standing,) = unit.facts.find([current.id])
        known, untaken = tell_anew(unit, standing, fact, details=new.details, now=now)
        return Stored(fact=known, outcome="unchanged", notes=(*notes, *untaken))
    if (other := not_over(unit, new, current, many=many, now=now)) is not None:
        said = f"{new.ends!r:.80} is over, and what stands is another: {other.text!r:.80}"
        return Stored(fact=other, outcome="unchanged", notes=(*notes, said))
    window = timedelta(hours=options.toggle_hours)
    around = unit.conflicts.around(new.persona, address, since=at - window)
    if (untrue := _retracted(unit, new, around, at=at, now=now)) is not None:
        said = (
            f"{untrue.text!r:.80} was retracted and is said here as it was before; say it again with `zomem remember`"
        )
        return Stored(fact=untrue, outcome="unchanged", notes=(*notes, said))
    strategy: Any = new.on_conflict or options.on_conflict
    rivals = rivals_of(unit, new, current, around, many=many, now=now)
    judged = judge(statement_of(new, at), rivals, strategy=strategy)
    settled = settle(unit, fact, judged, origin=_origin(new, fact, now, at), now=now)
    if settled.outcome == "unchanged":
        known, untaken = tell_anew(unit, settled.fact, fact, details=new.details, now=now)
        return Stored(fact=known, outcome="unchanged", notes=(*notes, *untaken))
    if settled.fact.state == "current":
        gone = [(one.id, one.value) for one in around if one.state != "current" and one.at >= at - window]
        gone += [] if current is None else [(current.id, current.value)]
        swing = oscillation(unit, fact, gone, times=options.toggles, hours=options.toggle_hours, now=now)
        notes += (swing,) if swing is not None else ()
    return Stored(fact=settled.fact, outcome=settled.outcome, replaced=settled.replaced, notes=notes)


def _forgotten(unit: Unit, new: NewFact, address: str) -> Tombstone | None:
    """Return the tombstone of a fact that was erased by address, sentence or source id, and not said since."""
    graves = unit.tombstones
    if not graves.any:
        return None
    marks = [mark for mark in fact_marks(address, new.value, new.sentence) if mark[0] != "value"]
    if new.repeats_a_source:
        marks += source_marks(new.metadata.get("source_id"))
    grave = graves.of(new.persona, marks)
    return None if grave is None or grave.was_said_since(new.said_at) else grave


def _retracted(unit: Unit, new: NewFact, around: Sequence[Stated], *, at: datetime, now: datetime) -> Fact | None:
    """Return the fact that was never true and that a text only says again; None when it is a statement of its own.

    Said before the retraction it is the old statement. In the same words it is too, unless it has a time of its
    own after that: a conversation that is read again in another session has none, or its old one.
    """
    if not new.repeats_a_source:
        return None
    ids = [one.id for one in around if one.state == "retracted" and same_value(one.value, new.value)]
    for fact in unit.facts.find(ids):
        since = fact.metadata.get("retracted_at")
        if not isinstance(since, str):
            continue
        if at <= datetime.fromisoformat(since):
            return fact
        quotes = {fact.quote, *(origin.quote for origin in unit.provenance.of([fact.id]))}
        if at >= now and normal(new.quote or "") in {normal(quote or "") for quote in quotes}:
            return fact
    return None


def _origin(new: NewFact, fact: Fact, now: datetime, at: datetime) -> Origin:
    return Origin(
        id=new_id(),
        fact_id=fact.id,
        persona=new.persona,
        source=new.source,
        turn_id=new.turn_id or "",
        capture_method=new.learned_by,
        captured_at=now,
        effective_from=at,
        effective_until=None,
        superseded_by=None,
        superseded_at=None,
        quote=new.quote,
    )


def _fact(new: NewFact, address: str, many: bool, at: datetime, now: datetime) -> Fact:
    tier = lived_tier(new.tier)
    return Fact(
        id=new_id(),
        persona=new.persona,
        entity=new.entity,
        key=new.key,
        value=new.value,
        text=new.sentence,
        category=rightful_category(new.category, new.said_by),
        tier=tier,
        importance=new.weight,
        confidence=new.sureness,
        source=new.source,
        trust=new.said_by,
        state="current",
        slot=address,
        many=many,
        created_at=at,
        ended_at=None,
        expires_at=wall_clock_expiry(tier, at),
        last_accessed=None,
        access_count=0,
        superseded_by=None,
        turn_id=new.turn_id,
        quote=new.quote,
        metadata=dict(new.metadata),
        kept_since=now if at < now and tier not in WALL_CLOCK_TIERS else None,
    )


def _notes(new: NewFact) -> tuple[str, ...]:
    notes = []
    if rightful_category(new.category, new.said_by) != new.category:
        notes.append(f"what {new.said_by} said makes no {new.category!r:.40}; it is kept as 'other'")
    if new.category not in CATEGORIES:
        notes.append(f"unknown category {new.category!r:.40} is kept; known: {', '.join(CATEGORIES)}")
    if (note := tier_note(new.tier)) is not None:
        notes.append(note)
    return tuple(notes)
