"""Writes what an import read, through the same steps as everything else, and remembers what became of it.

Each item has a record: a fingerprint of its content and of each part, with the id it was stored under. What
has the same fingerprint is left alone, whatever happened to it here since; what an edit took out leaves
default recall as superseded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from zomem_graph.importers.parts import Parts
from zomem_graph.importers.preparing import Piece, ReadyNote, ReadyTalk
from zomem_graph.importers.report import ItemReport, Outcome
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.align import Mark, first_new
from zomem_graph.nodes.rules.erasing import fact_marks
from zomem_graph.nodes.rules.given import is_large
from zomem_graph.nodes.rules.keys import slot
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.observe import append_turns, without_forgotten
from zomem_graph.nodes.steps.remember import Stored, add_facts, store_facts
from zomem_graph.nodes.steps.wikilinks import carry_links
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.records import Fact, ImportRecord, Link
from zomem_graph.stores.unit import Unit

__all__ = ["Target", "end_note", "write_note", "write_talk"]

_TRUST = "import"
_NOT_STORED = ""  # instead of an id: forgotten, or here already from elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where an import writes: for whom, under which source, and when.

    `has_left` says of a note, by its id and path, whether its file is not there any more.
    """

    services: Services
    scope: Scope
    source: str
    family: str
    now: datetime
    has_left: Callable[[str, str], bool]
    parts: Parts


def write_talk(unit: Unit, ready: ReadyTalk, target: Target) -> ItemReport:
    """Store what is new of a conversation; end the turns that are no longer part of it."""
    record = unit.imports.find(target.scope.persona, target.family, ready.item)
    if record is not None and _nothing_new(record, ready):
        return _report(ready, "conversation", "unchanged", known=len(ready.messages))
    before = dict(_pairs(record))
    fresh = [(digest, said) for digest, said in ready.messages if digest not in before]
    if record is None and ready.talk.part == 1:
        fresh = fresh[_known_from_elsewhere(unit, ready, target) :]
    stored = _append(unit, fresh, ready, target)
    gone = _gone(before, (digest for digest, _said in ready.messages))
    ended = [item.id for item in unit.items.find(gone) if item.state == "current"]
    unit.items.end(ended, state="superseded", at=target.now)
    known = {digest: _NOT_STORED for digest, _said in ready.messages} | before | stored
    _save(unit, ready, target, [(digest, known[digest]) for digest, _said in ready.messages])
    new = sum(1 for id_ in stored.values() if id_)
    return _report(
        ready,
        "conversation",
        _outcome(record, new=new, forgotten=len(stored) - new),
        new=new,
        known=len(ready.messages) - len(stored),
        forgotten=len(stored) - new,
        superseded=len(ended),
        preview=[_shown(said.speaker, said.content) for digest, said in fresh if stored[digest]],
    )


def _nothing_new(record: ImportRecord, ready: ReadyTalk) -> bool:
    """Return whether a conversation is as it was, or an earlier state of it from an older export."""
    if record.digest == ready.digest:
        return True
    before = [digest for digest, _id in _pairs(record)]
    return [digest for digest, _said in ready.messages] == before[: len(ready.messages)]


def _known_from_elsewhere(unit: Unit, ready: ReadyTalk, target: Target) -> int:
    """Return how many messages the session holds already, because the conversation was observed live."""
    marks = unit.turns.marks(target.scope.persona, ready.session)
    if not marks:
        return 0
    ours = [Mark(said.digest, said.message_id, said.at) for _digest, said in ready.messages]
    return first_new([Mark(*mark) for mark in marks], ours)


def _append(unit: Unit, fresh: Sequence[tuple[str, Said]], ready: ReadyTalk, target: Target) -> dict[str, str]:
    """Return the id of each new message by fingerprint; what was erased once is not stored again."""
    scope = target.scope if ready.talk.thread is None else _in_thread(target.scope, ready.talk.thread)
    said = [message for _digest, message in fresh]
    kept = without_forgotten(unit, said, persona=scope.persona, session=ready.session, read_again=True)
    turns = append_turns(unit, kept, scope=scope, session=ready.session, now=target.now, trust=_TRUST)
    ids = {id(message): turn.id for message, turn in zip(kept, turns, strict=True)}
    return {digest: ids.get(id(message), _NOT_STORED) for digest, message in fresh}


def _in_thread(scope: Scope, thread: str) -> Scope:
    return Scope(persona=scope.persona, thread=thread, executor=scope.executor, time_zone=scope.time_zone)


def write_note(unit: Unit, ready: ReadyNote, target: Target) -> ItemReport:
    """Store what is new of a note; end the facts that are no longer part of it."""
    record = unit.imports.find(target.scope.persona, target.family, ready.item)
    if not ready.pieces:
        return _emptied(unit, ready, record, target)
    retitled: frozenset[str] = frozenset()
    if record is None and (record := _moved(unit, ready, target)) is not None:
        retitled = _settle(unit, record, ready, target)
    if record is not None and record.digest == ready.digest and not retitled:
        return _report(ready, "note", "unchanged", known=len(ready.pieces))
    before = {digest: id_ for digest, id_ in _pairs(record) if id_ not in retitled}
    old = unit.facts.find([id_ for id_ in before.values() if id_])
    gone = retitled.union(_gone(before, (piece.digest for piece in ready.pieces)))
    # Ended before the new ones come, so that an edit is never weighed as one statement against another.
    ended = [fact for fact in unit.facts.find([*gone]) if fact.state == "current"]
    _end(unit, ended, target)
    fresh = [piece for piece in ready.pieces if piece.digest not in before]
    entity = None if retitled else next((fact.entity for fact in old), None)
    stored = _store(unit, fresh, ready, target, entity=entity)
    _follow(unit, ended, list(stored.values()), target)
    ids = {digest: one.fact.id for digest, one in stored.items() if one.outcome != "forgotten"}
    known = {piece.digest: _NOT_STORED for piece in fresh} | before | ids
    _save(unit, ready, target, [(piece.digest, known[piece.digest]) for piece in ready.pieces])
    new = sum(one.outcome not in ("forgotten", "unchanged") for one in stored.values())
    forgotten = len(fresh) - len(ids)
    return _report(
        ready,
        "note",
        _outcome(record, new=new, forgotten=forgotten),
        new=new,
        known=len(ready.pieces) - new - forgotten,
        forgotten=forgotten,
        superseded=len(ended) + sum(len(one.replaced) for one in stored.values()),
        preview=[_shown(f"{one.fact.entity} {one.fact.key}", one.fact.value) for one in stored.values()],
    )


def _emptied(unit: Unit, ready: ReadyNote, record: ImportRecord | None, target: Target) -> ItemReport:
    """End what a note said once and says no more; skip one that never said anything."""
    old = unit.facts.find([id_ for _digest, id_ in _pairs(record) if id_])
    if record is None or not record.parts:
        return _report(ready, "note", "skipped", reason=ready.reason)
    ended = [fact for fact in old if fact.state == "current"]
    _end(unit, ended, target)
    _follow(unit, ended, [], target)
    _save(unit, ready, target, [])
    return _report(ready, "note", "changed", reason=ready.reason, superseded=len(ended))


def end_note(unit: Unit, record: ImportRecord, target: Target) -> ItemReport | None:
    """End what a note said that its source no longer has; None when nothing of it stood any more."""
    ended = [fact for fact in _facts_of(unit, record) if fact.state == "current"]
    _end(unit, ended, target)
    _follow(unit, ended, [], target)
    unit.imports.save(replace(record, digest="", parts=[], last_at=target.now))
    if not ended:
        return None
    return ItemReport(
        id=ended[0].source.split(":", 2)[-1],
        title=ended[0].entity,
        kind="note",
        outcome="changed",
        reason="its source no longer has it",
        superseded=len(ended),
    )


def _store(
    unit: Unit, fresh: Sequence[Piece], ready: ReadyNote, target: Target, *, entity: str | None
) -> dict[str, Stored]:
    """Return what became of each new piece by fingerprint; what was forgotten under any name is left out."""
    kept = [piece for piece in fresh if not _is_forgotten(unit, piece, ready, target)]
    names = ready.names if entity is None else (entity,)
    entity, is_free = _name_for(unit, ready, kept, target, names=names)
    facts = [_fact(piece, ready, entity, target) for piece in kept]
    if is_free:
        stored = add_facts(unit, target.services, facts, now=target.now, mentions=ready.mentions)
    else:
        stored = store_facts(unit, target.services, facts, now=target.now)
        ids = [one.fact.id for one in stored if one.outcome != "forgotten"]
        unit.imports.mention(target.scope.persona, ids, ready.mentions)
    return {piece.digest: one for piece, one in zip(kept, stored, strict=True)}


def _is_forgotten(unit: Unit, piece: Piece, ready: ReadyNote, target: Target) -> bool:
    """Return whether this was erased once, under whichever name the note went then."""
    graves = unit.tombstones
    if not graves.any:
        return False
    marks: list[tuple[str, str]] = []
    for name in ready.names:
        fact = _fact(piece, ready, name, target)
        marks += fact_marks(slot(name, piece.key, piece.value, many=False), piece.value, fact.sentence)
    persona = target.scope.persona
    return graves.of(persona, marks) is not None


def _moved(unit: Unit, ready: ReadyNote, target: Target) -> ImportRecord | None:
    """Return the record of a note of this very text whose file, or part of a source, is not there any more."""
    lost = target.parts.lost(unit, ready.note.part_of)
    if not lost and "path" not in ready.metadata:
        return None
    for record in unit.imports.alike(target.scope.persona, target.family, ready.digest):
        if record.item in lost:
            return unit.imports.rename(record, ready.item)
        for fact in _facts_of(unit, record)[:1]:
            id_, path = fact.source.split(":", 2)[-1], fact.metadata.get("path")
            if isinstance(path, str) and content_hash(id_) == record.item and target.has_left(id_, path):
                return unit.imports.rename(record, ready.item)
    return None


def _settle(unit: Unit, record: ImportRecord, ready: ReadyNote, target: Target) -> frozenset[str]:
    """Say of the facts of a moved note where it is now; return those that go by a title it no longer has."""
    current = [fact for fact in _facts_of(unit, record) if fact.state == "current"]
    for fact in current:
        both = {**fact.metadata, **ready.metadata}
        metadata = ready.metadata if is_large(both) else both
        unit.facts.change(fact.id, source=_source_of(ready, target), metadata=metadata)
    return frozenset(fact.id for fact in current if fact.entity not in ready.names)


def _facts_of(unit: Unit, record: ImportRecord) -> list[Fact]:
    return unit.facts.find([id_ for _digest, id_ in _pairs(record) if id_])


def _name_for(
    unit: Unit, ready: ReadyNote, pieces: Sequence[Piece], target: Target, *, names: Sequence[str]
) -> tuple[str, bool]:
    """Return the first name under which only this note stands, and whether nothing at all stands there."""
    own = {_source_of(ready, target)}
    for name in (*names, f"{names[-1]} {ready.item[:6]}"):
        slots = [slot(name, piece.key, piece.value, many=False) for piece in pieces]
        holders = unit.imports.holders(target.scope.persona, slots)
        if holders <= own:
            return name, not holders
    return name, False


def _fact(piece: Piece, ready: ReadyNote, entity: str, target: Target) -> NewFact:
    text = piece.value if piece.sentence else None
    if text is None and not piece.path:
        text = f"{entity}: {piece.value}"
    return NewFact(
        entity=entity,
        key=piece.key,
        value=piece.value,
        persona=target.scope.persona,
        category=ready.note.category,
        source=_source_of(ready, target),
        text=text,
        metadata={**ready.metadata, **({"headings": list(piece.path)} if piece.path else {})},
        many=False,
        trust=_TRUST,
        on_conflict="supersede",
    ).checked(target.services.options.write)


def _source_of(ready: ReadyNote, target: Target) -> str:
    return f"import:{target.source}:{ready.source_id}"


def _end(unit: Unit, facts: Sequence[Fact], target: Target) -> None:
    ids = [fact.id for fact in facts]
    unit.facts.end(ids, state="superseded", at=target.now)
    unit.items.end(ids, state="superseded", at=target.now)


def _follow(unit: Unit, ended: Sequence[Fact], stored: Sequence[Stored], target: Target) -> None:
    """Say of each ended fact which new one stands in its place, where there is one with the same key."""
    by_key = {one.fact.key: one.fact for one in stored if one.fact.state == "current"}
    links: list[Link] = []
    for fact in ended:
        successor = by_key.get(fact.key)
        if successor is not None:
            unit.facts.change(fact.id, superseded_by=successor.id)
            carry_links(unit, [fact.id], by=successor)
            links.append(
                Link(
                    source_id=successor.id,
                    target_id=fact.id,
                    relation="supersedes",
                    weight=1.0,
                    created_at=target.now,
                )
            )
        by = None if successor is None else successor.id
        unit.provenance.ended([fact.id], at=target.now, superseded_by=by, now=target.now)
    unit.links.add(links)


def _pairs(record: ImportRecord | None) -> list[tuple[str, str]]:
    return [] if record is None else [(part[0], part[1]) for part in record.parts]


def _gone(before: Mapping[str, str], now: Any) -> list[str]:
    """Return the ids that stood for parts which are there no more."""
    here = set(now)
    return [id_ for digest, id_ in before.items() if id_ and digest not in here]


def _save(unit: Unit, ready: ReadyTalk | ReadyNote, target: Target, parts: Sequence[tuple[str, str]]) -> None:
    unit.imports.save(
        ImportRecord(
            persona=target.scope.persona,
            source=target.family,
            item=ready.item,
            digest=ready.digest,
            parts=[[digest, id_] for digest, id_ in parts],
            first_at=target.now,
            last_at=target.now,
        )
    )


def _outcome(record: ImportRecord | None, *, new: int, forgotten: int) -> Outcome:
    if record is not None:
        return "changed"
    if new:
        return "stored"
    return "forgotten" if forgotten else "unchanged"


def _report(
    ready: ReadyTalk | ReadyNote, kind: Literal["conversation", "note"], outcome: Outcome, **counts: Any
) -> ItemReport:
    read = ready.talk if isinstance(ready, ReadyTalk) else ready.note
    return ItemReport(
        id=read.id,
        title=read.title,
        kind=kind,
        outcome=outcome,
        found=ready.count + sum(ready.passed.values()),
        redacted=ready.redacted,
        passed=dict(ready.passed),
        warnings=read.warnings,
        **counts,
    )


def _shown(name: str, text: str) -> dict[str, str]:
    return {"of": name, "text": text[:200]}
