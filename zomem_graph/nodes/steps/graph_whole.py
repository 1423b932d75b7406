"""Look at the whole graph of a scope: its gaps, clusters and cycles, what holds it together, what might be tied."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.graph import (
    Bridge,
    Cluster,
    Community,
    Cycle,
    EntityTie,
    Gap,
    KnowledgeGaps,
    Neighbourhood,
    Suggestion,
    Thing,
)
from zomem_graph.nodes.rules.graph_shape import (
    Part,
    arcs_round,
    communities_of,
    cut_points,
    neighbours_of,
    parts_of,
    thin_places,
)
from zomem_graph.nodes.rules.relations import RELATION_TYPES, upward
from zomem_graph.nodes.steps.graph import things_of
from zomem_graph.stores.graph import STUB, Edge, FactEnd, Sight
from zomem_graph.stores.unit import Unit

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["bridges", "communities", "cycles", "everything", "find_gaps", "suggest"]

_SEPARATOR = "\x1f"
_NOBODY = frozenset({"user", "assistant", "project", "human", "system"})
_LISTED = 12  # things of a community that are named
_RIVALS = 200  # entities weighed for a suggestion


def find_gaps(unit: Unit, sight: Sight, *, limit: int) -> KnowledgeGaps:
    """Return where the graph of the current facts is thin; lists hold at most `limit` (spec F29)."""
    facts, edges = unit.graph.facts(sight), unit.graph.edges(sight)
    known = {one.num: one for one in facts if one.state != STUB}
    graph = neighbours_of((edge.source, edge.target, edge.weight) for edge in edges)
    ends = thin_places(graph, ((edge.source, edge.target) for edge in edges))
    linked = [num for num in known if num in ends]
    dead = sorted((num for num in linked if not ends[num].outbound), key=lambda num: (-ends[num].inbound, num))
    weak = [num for num in linked if ends[num].neighbours == 1]
    parts = parts_of(graph)
    tied = {_entity(known[num]) for num in linked}
    alone = [num for num in known if num not in ends]
    near = [num for num in alone if _entity(known[num]) in tied]
    wanted = [one.num for one in facts if one.state == STUB and one.num in ends]
    shown = [*dead[:limit], *weak[:limit], *near[:limit], *wanted[:limit], *(part.hub for part in parts[:limit])]
    things = _numbered(unit, shown, sight)
    return KnowledgeGaps(
        total=len(known),
        linked=len(linked),
        dead_end_count=len(dead),
        dead_ends=tuple(Gap(thing=things[n], inbound=ends[n].inbound, outbound=0) for n in dead[:limit]),
        weak_count=len(weak),
        weak=tuple(Gap(thing=things[n], inbound=ends[n].inbound, outbound=ends[n].outbound) for n in weak[:limit]),
        cluster_count=len(parts),
        clusters=tuple(_cluster(part, known, things) for part in parts[:limit]),
        connectable=len(near),
        orphans=tuple(things[n] for n in near[:limit]),
        wanted_count=len(wanted),
        wanted=tuple(things[n] for n in wanted[:limit]),
    )


def cycles(unit: Unit, sight: Sight, *, most: int) -> tuple[Cycle, ...]:
    """Return where entities lead back to themselves over relations that say what comes first (spec F31)."""
    slots = {one.num: _entity(one) for one in unit.graph.facts(sight)}
    arcs: dict[tuple[str, str], Edge] = {}
    for edge in unit.graph.edges(sight):
        up = upward(edge.relation)
        if up is None or edge.source not in slots or edge.target not in slots:
            continue
        source, target = slots[edge.source], slots[edge.target]
        later, first = (source, target) if up == "target" else (target, source)
        if (later, first) not in arcs or edge.weight > arcs[later, first].weight:
            arcs[later, first] = edge
    ways = list(arcs_round(arcs, most=most))
    used = {pair: arcs[pair] for way in ways for pair in _pairs(way)}
    things = _numbered(unit, [num for edge in used.values() for num in (edge.source, edge.target)], sight)
    return tuple(_cycle(way, used, things, slots) for way in ways)


def bridges(unit: Unit, sight: Sight, *, most: int) -> tuple[Bridge, ...]:
    """Return the things without which something would be cut off, the most tied first (spec F33)."""
    found = cut_points(_whole(unit, sight))[:most]
    things = _numbered(unit, [num for num, _links in found], sight)
    return tuple(Bridge(thing=things[num], links=links) for num, links in found if num in things)


def communities(unit: Unit, sight: Sight, *, resolution: float, least: int, most: int) -> tuple[Community, ...]:
    """Return the clusters of things that are linked most closely, largest first (spec F34)."""
    graph = _whole(unit, sight)
    parts = communities_of(graph, resolution=resolution, least=least)[:most]
    named = {part.hub: sorted(part.members, key=lambda num: (-len(graph.adj[num]), num))[:_LISTED] for part in parts}
    things = _numbered(unit, [num for nums in named.values() for num in nums], sight)
    return tuple(_community(part, [things[num] for num in named[part.hub] if num in things]) for part in parts)


def everything(unit: Unit, sight: Sight, *, most: int) -> Neighbourhood:
    """Return all that is linked, the most tied things first, at most so many."""
    edges = unit.graph.edges(sight)
    ties: dict[int, int] = {}
    for edge in edges:
        for num in (edge.source, edge.target):
            ties[num] = ties.get(num, 0) + 1
    kept = sorted(ties, key=lambda num: (-ties[num], num))[:most]
    things = _numbered(unit, kept, sight)
    ids = {thing.id for thing in things.values()}
    links = [link for link in unit.graph.around(list(ids), sight) if {link.source_id, link.target_id} <= ids]
    return Neighbourhood(
        centre=(),
        things=tuple(things[num] for num in kept if num in things),
        links=tuple(links),
        left_out=len(edges) - len(links),
    )


def suggest(unit: Unit, entity: str, sight: Sight, *, limit: int, least: int) -> tuple[Suggestion, ...]:
    """Return which entities come up together with one more often than by chance, surest first (spec F32)."""
    key = entity_key(entity)
    together = unit.graph.together(key, sight, least=least, most=_RIVALS)
    counts = unit.graph.mention_counts([key, *together], sight)
    total = unit.graph.count(sight)
    found: list[Suggestion] = []
    for other, shared in together.items():
        lift = shared * total / (counts[key] * counts[other])
        if other not in _NOBODY and lift > 1.0:
            sure = round(shared / (min(counts[key], counts[other]) + 1), 3)
            found.append(Suggestion(entity=entity, other=other, shared=shared, confidence=sure, lift=round(lift, 2)))
    best = sorted(found, key=lambda one: (-one.confidence, -one.lift, one.other))[:limit]
    own = _facts_about(unit, key, sight)
    tied = {end for link in unit.graph.around([*own], sight) for end in (link.source_id, link.target_id)}
    return tuple(_with_facts(one, own, _facts_about(unit, one.other, sight), tied) for one in best)


def _facts_about(unit: Unit, key: str, sight: Sight) -> dict[str, str]:
    """Return the facts of the entity with this normal form, oldest first, each with the name as written."""
    found = unit.graph.facts_mentioning(key, sight, most=_RIVALS)
    return {id_: entity for id_, entity in found if entity_key(entity) == key}


def _with_facts(one: Suggestion, own: dict[str, str], theirs: dict[str, str], tied: Set[str]) -> Suggestion:
    return replace(
        one,
        entity=next(iter(own.values()), one.entity),
        other=next(iter(theirs.values()), one.other),
        linked=not tied.isdisjoint(theirs),
        source_id=next(iter(own), None),
        target_id=next(iter(theirs), None),
    )


def _whole(unit: Unit, sight: Sight) -> "nx.Graph[int]":
    return neighbours_of((edge.source, edge.target, edge.weight) for edge in unit.graph.edges(sight))


def _numbered(unit: Unit, nums: Iterable[int], sight: Sight) -> dict[int, Thing]:
    ids = unit.items.ids_of(list(dict.fromkeys(nums)))
    things = things_of(unit, list(ids.values()), sight)
    return {num: things[id_] for num, id_ in ids.items() if id_ in things}


def _entity(fact: FactEnd) -> str:
    return fact.slot.partition(_SEPARATOR)[0]


def _cluster(part: Part, known: dict[int, FactEnd], things: dict[int, Thing]) -> Cluster:
    facts = sum(num in known for num in part.members)
    return Cluster(size=len(part.members), facts=facts, hub=things[part.hub], links=part.neighbours)


def _community(part: Part, things: Sequence[Thing]) -> Community:
    names = dict.fromkeys(thing.entity or thing.label for thing in things)
    return Community(size=len(part.members), hub=things[0], entities=tuple(names), things=tuple(things))


def _cycle(
    way: Sequence[str], arcs: dict[tuple[str, str], Edge], things: dict[int, Thing], slots: dict[int, str]
) -> Cycle:
    ties: list[EntityTie] = []
    for pair in _pairs(way):
        edge = arcs[pair]
        turned = slots[edge.source] != pair[0]
        near, far = (edge.target, edge.source) if turned else (edge.source, edge.target)
        ties.append(
            EntityTie(
                source=things[near].entity or pair[0],
                target=things[far].entity or pair[1],
                relation=RELATION_TYPES[edge.relation].inverse if turned else edge.relation,
                source_id=things[near].id,
                target_id=things[far].id,
            )
        )
    return Cycle(entities=tuple(tie.source for tie in ties), ties=tuple(ties))


def _pairs(way: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(way, [*way[1:], way[0]], strict=True))
