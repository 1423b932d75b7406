"""Say where a fact came from: every saying behind it, and the chain of values it stands in."""

from collections.abc import Collection

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.ending import may_read, may_see
from zomem_graph.nodes.values import ProvenanceReport, Said
from zomem_graph.stores.errors import UnknownName
from zomem_graph.stores.records import Conflict, Fact
from zomem_graph.stores.unit import Unit

__all__ = ["trace_fact"]

_LONGEST_CHAIN = 1_000


def trace_fact(services: Services, fact_id: str, scope: Scope | None) -> ProvenanceReport:
    """Return where a fact came from, down to turn and quote. Raises UnknownName (spec F85)."""
    with services.stores.read() as unit:
        item = may_see(unit, fact_id, scope, strict=services.strict_scope)
        readers = may_read(unit, scope, strict=services.strict_scope)
        if item.kind != "fact":
            raise UnknownName(f"{fact_id!r:.80} is a {item.kind}; only facts come from something else.")
        (fact,) = unit.facts.find([fact_id])
        origins = unit.provenance.of([fact_id])
        turns = {turn.id: turn for turn in unit.turns.find([one.turn_id for one in origins if one.turn_id])}
        return ProvenanceReport(
            fact=fact,
            said=tuple(Said(origin=one, turn=turns.get(one.turn_id)) for one in origins),
            chain=_chain(unit, fact, readers),
            conflicts=_conflicts(unit, fact, readers),
        )


def _conflicts(unit: Unit, fact: Fact, readers: Collection[str] | None) -> tuple[Conflict, ...]:
    """Return the conflicts that a fact takes part in, without those whose other side is not for these readers."""
    found = unit.conflicts.of_facts([fact.id])
    ids = {id_ for one in found for id_ in (one.fact_id, one.conflicting_fact_id)}
    hidden = {one.id for one in unit.facts.find([*ids]) if readers is not None and one.persona not in readers}
    return tuple(one for one in found if hidden.isdisjoint((one.fact_id, one.conflicting_fact_id)))


def _chain(unit: Unit, fact: Fact, readers: Collection[str] | None) -> tuple[Fact, ...]:
    """Return the values before and after a fact that may be read, following who took whose place, oldest first."""
    known = {fact.id: fact}
    waiting = [fact]
    while waiting and len(known) < _LONGEST_CHAIN:
        one = waiting.pop()
        after = unit.facts.find([one.superseded_by]) if one.superseded_by is not None else []
        for near in (*after, *unit.conflicts.ousted_by(one.id)):
            if near.id not in known and (readers is None or near.persona in readers):
                known[near.id] = near
                waiting.append(near)
    return tuple(sorted(known.values(), key=lambda one: (one.created_at, one.ended_at is None, one.id)))
