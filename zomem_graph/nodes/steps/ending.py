"""End what is known, one thing at a time, and tie or untie two things; each checks who asks."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import name_of, number, shown
from zomem_graph.nodes.rules.relations import relation_note
from zomem_graph.nodes.scope import SHARED, Scope, scope_given
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.conflicts import give_way
from zomem_graph.nodes.steps.episodes import unlearn
from zomem_graph.nodes.steps.lapse import give_back
from zomem_graph.nodes.steps.summaries import drop_summaries
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Fact, Item, Link
from zomem_graph.stores.unit import Unit

__all__ = [
    "check_tie",
    "delete_one",
    "link_many",
    "link_two",
    "may_change",
    "may_read",
    "may_see",
    "retract_one",
    "unlink_two",
]

_LONGEST_REASON = 2_000
_LONGEST_RELATION = 100
_STANDS = ("current", "superseded", "merged", "expired", "archived", "flagged")


def may_change(unit: Unit, item_id: str, scope: Scope | None, *, strict: bool) -> Item:
    """Return one thing by id; raise UnknownName when it is not there or not the scope's to change.

    What a pool or a parent lends is for reading. Without a scope it is asked by whoever owns the memory, who may
    change everybody's; a `strict` memory is not changed, nor looked into, in nobody's name.
    """
    item = may_see(unit, item_id, scope, strict=strict)
    if scope is not None and item.persona not in writable(scope):
        raise UnknownName(
            f"{item_id!r:.80} belongs to {item.persona!r:.80}, whom {scope.persona!r:.80} reads but does not change."
        )
    return item


def may_see(unit: Unit, item_id: str, scope: Scope | None, *, strict: bool) -> Item:
    """Return one thing by id; raise UnknownName when it is not there or out of the scope's reach."""
    reach = None if scope is None else readable(unit, scope_given(scope))
    found = unit.items.find([item_id]) if isinstance(item_id, str) else []
    if not found or (reach is not None and found[0].persona not in reach):
        whose = f" in what {scope.persona!r:.80} can reach" if scope is not None else ""
        raise UnknownName(f"Nothing{whose} has the id {shown(item_id)}. Find ids with `zomem search`.")
    if strict and scope is None and found[0].persona != SHARED:
        raise InvalidInput(
            "This memory was opened with strict_scope=True, and this is a persona's. Say whose it is: "
            'scope=Scope(persona="…").'
        )
    return found[0]


def may_read(unit: Unit, scope: Scope | None, *, strict: bool) -> Collection[str] | None:
    """Return the personas within reach of a scope; None for everybody's, which is for whoever owns the memory."""
    if scope is None:
        return (SHARED,) if strict else None
    return readable(unit, scope_given(scope))


def delete_one(services: Services, item_id: str, scope: Scope | None) -> None:
    """Take one current thing out of recall; it stays in the archive. Raises UnknownName.

    A value of the same slot that waited for a decision against it stands in its place.
    """
    now = services.clock()
    with services.stores.write() as unit:
        item = may_change(unit, item_id, scope, strict=services.strict_scope)
        if item.state != "current":
            raise UnknownName(f"Nothing current has the id {item_id!r:.80}. Find ids with `zomem search`.")
        unit.items.end([item_id], state="deleted", at=now)
        unit.facts.end([item_id], state="deleted", at=now)
        unit.loops.end([item_id], status="superseded", at=now, resolution="deleted")
        unit.provenance.ended([item_id], at=now, superseded_by=None, now=now)
        for fact in unit.facts.find([item_id]):
            give_back(unit, fact, now)
            give_way(unit, [fact.id], now=now)
        _leave_summaries(unit, item)
    services.wake_worker()


def retract_one(services: Services, item_id: str, reason: str, scope: Scope | None) -> Fact | None:
    """Say that something was never true: out of recall and of the past, kept for audit.

    What it had taken the place of stands again, else what waited for a decision against it. Returns the fact as it
    is now, None for what is no fact.
    """
    if not isinstance(reason, str) or not reason.strip() or len(reason) > _LONGEST_REASON:
        raise InvalidInput(f"reason must be a text of 1 to {_LONGEST_REASON:,} characters: why was it wrong?")
    now = services.clock()
    with services.stores.write() as unit:
        item = may_change(unit, item_id, scope, strict=services.strict_scope)
        if item.state not in _STANDS:
            raise UnknownName(f"{item_id!r:.80} is {item.state} already.")
        facts = unit.facts.find([item_id])
        unit.items.end([item_id], state="retracted", at=now)
        unit.conflicts.set_state(item_id, "retracted", at=now)
        unit.loops.end([item_id], status="superseded", at=now, resolution="retracted")
        _leave_summaries(unit, item)
        if facts:
            _retract_fact(unit, facts[0], reason, now)
            give_way(unit, [facts[0].id], now=now)
            unlearn(unit, facts[0], now=now, zone=UTC if scope is None else scope.zone)
        found = unit.facts.find([item_id])
    services.wake_worker()
    return found[0] if found else None


def _leave_summaries(unit: Unit, item: Item) -> None:
    """Let no summary go on telling what an episode told that is out of memory."""
    if item.kind in ("episode", "summary"):
        drop_summaries(unit, [item.id])
    if item.kind == "summary":
        unit.summaries.purge([item.id])


def link_two(
    services: Services, source_id: str, target_id: str, *, relation: str, weight: float, scope: Scope | None
) -> tuple[Link, tuple[str, ...]]:
    """Tie two things together; the same triple is replaced (spec F26). Returns notes for the caller too."""
    relation = check_tie(relation, weight)
    now = services.clock()
    with services.stores.write() as unit:
        ends = [may_change(unit, one, scope, strict=services.strict_scope) for one in (source_id, target_id)]
        _check_ends(ends)
        link = Link(
            source_id=source_id,
            target_id=target_id,
            relation=relation,
            weight=float(weight),
            created_at=now,
        )
        unit.links.add([link])
    note = relation_note(relation)
    return link, () if note is None else (note,)


def link_many(services: Services, new: Sequence[Mapping[str, Any]], *, scope: Scope | None) -> list[Link]:
    """Tie many pairs in one transaction, all or none; each is given by the names of `Memory.link`."""
    now = services.clock()
    links = [_link_of(one, number, now) for number, one in enumerate(new)]
    with services.stores.write() as unit:
        ids = list(dict.fromkeys(end for link in links for end in (link.source_id, link.target_id)))
        found = {item.id: item for item in unit.items.find(ids)}
        nobody = (SHARED,) if services.strict_scope else None
        mine = nobody if scope is None else writable(scope_given(scope))
        for id_ in ids:
            if id_ not in found or (mine is not None and found[id_].persona not in mine):
                may_change(unit, id_, scope, strict=services.strict_scope)  # says what is wrong
        for link in links:
            _check_ends([found[link.source_id], found[link.target_id]])
        unit.links.add(links)
    return links


def _link_of(given: Mapping[str, Any], number: int, now: datetime) -> Link:
    known = {"source_id", "target_id", "relation", "weight"}
    if not isinstance(given, Mapping) or not {"source_id", "target_id"} <= given.keys() <= known:
        raise InvalidInput(f"Link {number} must have source_id and target_id, and may have relation and weight.")
    weight = given.get("weight", 1.0)
    relation = check_tie(given.get("relation", "related"), weight)
    ends = {name: given[name] for name in ("source_id", "target_id")}
    if not all(isinstance(end, str) for end in ends.values()):
        raise InvalidInput(f"The ends of link {number} must be ids.")
    return Link(**ends, relation=relation, weight=float(weight), created_at=now)


def check_tie(relation: str, weight: float) -> str:
    """Return the name of a relation as it is kept; raise InvalidInput when it or the weight is no use."""
    number("weight", weight, least=0)
    return _relation(relation)


def unlink_two(
    services: Services, source_id: str, target_id: str, *, relation: str | None, scope: Scope | None
) -> int:
    """Untie two things, one relation or all; return how many links went. Raises UnknownName for none."""
    with services.stores.write() as unit:
        for one in (source_id, target_id):
            may_change(unit, one, scope, strict=services.strict_scope)
        gone = unit.links.remove(source_id, target_id, None if relation is None else _relation(relation))
    if not gone:
        named = f" {relation!r:.60}" if relation is not None else ""
        raise UnknownName(f"There is no link{named} from {source_id!r:.80} to {target_id!r:.80}.")
    return gone


def _retract_fact(unit: Unit, fact: Fact, reason: str, now: datetime) -> None:
    """Note why, and close the gap that a false value leaves in the history of its slot."""
    why = {**fact.metadata, "retracted": reason, "retracted_at": now.isoformat()}
    unit.facts.change(fact.id, metadata=why)
    unit.provenance.ended([fact.id], at=fact.created_at, superseded_by=None, now=now)
    for last in {one.slot: one for one in unit.conflicts.ousted_by(fact.id)}.values():
        if fact.state == "current" and unit.facts.current(last.persona, last.slot) is None:
            unit.conflicts.revive(last.id)
            unit.facts.change(last.id, confidence=min(1.0, last.confidence * 2))
            unit.provenance.ended([last.id], at=None, superseded_by=None, now=now)
        elif fact.ended_at is not None and fact.superseded_by is not None:
            unit.conflicts.end_at(last.id, at=fact.ended_at, superseded_by=fact.superseded_by)
            unit.provenance.ended([last.id], at=fact.ended_at, superseded_by=fact.superseded_by, now=now)


def _check_ends(ends: Sequence[Item]) -> None:
    source, target = ends
    if source.id == target.id:
        raise InvalidInput("A thing cannot be linked to itself.")
    if len({source.persona, target.persona} - {SHARED}) > 1:
        raise InvalidInput("The two belong to different personas, so a link would show one to the other.")


def _relation(relation: str) -> str:
    return name_of("relation", relation, most=_LONGEST_RELATION).strip()
