"""Make links of what facts point to, and let links stay when a value changes."""

from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import datetime

from zomem_graph.nodes.rules.keys import address, normal, slot
from zomem_graph.nodes.rules.relations import STAYING
from zomem_graph.nodes.rules.wikilinks import wikilinks
from zomem_graph.nodes.scope import SHARED
from zomem_graph.stores.graph import STUB, Sight
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.records import Fact, Link
from zomem_graph.stores.unit import Unit

__all__ = ["carry_links", "tie_wikilinks"]

_RELATION = "wikilink"
_KEY = "stub"


def tie_wikilinks(unit: Unit, facts: Sequence[Fact], *, now: datetime) -> int:
    """Link each new fact to what its text names in [[double brackets]]; return how many links that made.

    An entity nobody knows yet gets a stub: it is in the graph but in no search, and the first fact about it
    takes its place and its links.
    """
    current = [fact for fact in facts if fact.state == "current"]
    _fill_stubs(unit, current)
    links = [link for fact in current for link in _links_of(unit, fact, now)]
    unit.links.add(links)
    return len(links)


def carry_links(unit: Unit, ids: Sequence[str], *, by: Fact) -> None:
    """Let what took the place of facts in a slot be tied as they were; the old links stay with the old values.

    What a link says of the old value only (its wording, its conversation, what it superseded) is not carried.
    """
    links = unit.links.touching(ids)
    if not links:
        return
    old = {fact.id for fact in unit.facts.find(ids) if fact.slot == by.slot and fact.persona == by.persona}
    unit.links.add(_moved(links, old, by.id))


def _moved(links: Sequence[Link], old: Set[str], new: str) -> list[Link]:
    moved: dict[tuple[str, str, str], Link] = {}
    for link in links:
        worded = link.relation == _RELATION and link.source_id in old  # the new text has its own
        if link.relation in STAYING or worded or old.isdisjoint((link.source_id, link.target_id)):
            continue
        source = new if link.source_id in old else link.source_id
        target = new if link.target_id in old else link.target_id
        if source != target:
            moved.setdefault((source, target, link.relation), replace(link, source_id=source, target_id=target))
    return list(moved.values())


def _fill_stubs(unit: Unit, facts: Sequence[Fact]) -> None:
    """Let the first facts about entities that were only named so far take over the links to them."""
    first: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        first.setdefault((fact.persona, _stub_slot(fact.entity)), fact)
    for persona in {fact.persona for fact in facts}:
        slots = [place for whose, place in first if whose == persona]
        for stub in unit.facts.find(unit.graph.stubs(persona, slots)):
            unit.links.add(_moved(unit.links.touching([stub.id]), {stub.id}, first[persona, stub.slot].id))
            unit.links.purge([stub.id])
            unit.facts.purge([stub.id])
            unit.items.purge([stub.id])


def _links_of(unit: Unit, fact: Fact, now: datetime) -> list[Link]:
    names = wikilinks(fact.value) or wikilinks(fact.text)
    found: dict[str, Link] = {}
    own = address(fact.entity)
    for name in names:
        if address(name) == own or address(_last(name)) == own or not normal(name):
            continue
        target = _known(unit, fact, name, now) or _stub(unit, fact, _last(name))
        link = Link(source_id=fact.id, target_id=target, relation=_RELATION, weight=1.0, created_at=now)
        found.setdefault(target, link)
    return list(found.values())


def _known(unit: Unit, fact: Fact, name: str, now: datetime) -> str | None:
    """Return the oldest fact of the entity that is named, by its whole name or the last part of a path."""
    sight = Sight(personas=tuple(dict.fromkeys((fact.persona, SHARED))), now=now)
    for called in dict.fromkeys((name, _last(name))):
        found = unit.graph.at(address(called), sight, most=1)
        if found:
            return found[0]
    return None


def _stub(unit: Unit, fact: Fact, entity: str) -> str:
    """Return the id of a new stub of an entity."""
    stub = replace(
        fact,
        id=new_id(),
        entity=entity,
        key=_KEY,
        value="",
        text=entity,
        category="reference",
        tier="permanent",
        importance=0.5,
        confidence=1.0,
        state=STUB,
        slot=_stub_slot(entity),
        many=False,
        expires_at=None,
        quote=None,
        metadata={},
    )
    unit.facts.add([stub])
    unit.items.add(
        [
            NewItem(
                id=stub.id,
                kind="fact",
                persona=stub.persona,
                text=entity,
                created_at=stub.created_at,
            )
        ]
    )
    unit.items.end([stub.id], state=STUB, at=stub.created_at)
    return stub.id


def _last(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2].strip() or name


def _stub_slot(entity: str) -> str:
    return slot(entity, _KEY, "", many=False)
