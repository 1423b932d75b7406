"""The shape of a graph: what hangs together, what holds it together, what goes round. Numbers in, numbers out.

networkx does the work; it is loaded when one of these is called.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Ends", "Part", "arcs_round", "communities_of", "cut_points", "neighbours_of", "parts_of", "thin_places"]

_SEED = 1
_TRIED = 2_000  # arcs of one knot from which a way back is looked for


@dataclass(frozen=True, slots=True)
class Part:
    """What hangs together, and its hub: the one with the most neighbours."""

    members: frozenset[int]
    hub: int
    neighbours: int


@dataclass(frozen=True, slots=True)
class Ends:
    """How many links lead to something and from it, and how many others it is tied to."""

    inbound: int
    outbound: int
    neighbours: int


def neighbours_of(edges: Iterable[tuple[int, int, float]]) -> "nx.Graph[int]":
    """Return the undirected graph of some (source, target, weight); links of one pair add up, self-links are none."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    for source, target, weight in edges:
        if source == target:
            continue
        known = graph.get_edge_data(source, target)
        graph.add_edge(source, target, weight=weight + (known["weight"] if known else 0.0))
    return graph


def parts_of(graph: "nx.Graph[int]") -> list[Part]:
    """Return the connected components, largest first; of equal ones the one with the lowest number first."""
    import networkx as nx

    parts = [_part(graph, members) for members in nx.connected_components(graph)]
    return sorted(parts, key=lambda part: (-len(part.members), min(part.members)))


def thin_places(graph: "nx.Graph[int]", edges: Iterable[tuple[int, int]]) -> dict[int, Ends]:
    """Return the ends of everything that has links."""
    inbound: dict[int, int] = {}
    outbound: dict[int, int] = {}
    for source, target in edges:
        if source != target:
            outbound[source] = outbound.get(source, 0) + 1
            inbound[target] = inbound.get(target, 0) + 1
    return {num: Ends(inbound.get(num, 0), outbound.get(num, 0), len(graph.adj[num])) for num in graph}


def cut_points(graph: "nx.Graph[int]") -> list[tuple[int, int]]:
    """Return (number, neighbours) of what a part would fall asunder without, the most tied first (spec F33)."""
    import networkx as nx

    found = ((num, len(graph.adj[num])) for num in nx.articulation_points(graph))
    return sorted(set(found), key=lambda one: (-one[1], one[0]))


def communities_of(graph: "nx.Graph[int]", *, resolution: float, least: int) -> list[Part]:
    """Return the clusters Louvain finds, largest first; the same graph gives the same clusters (spec F34)."""
    import networkx as nx

    ordered: nx.Graph[int] = nx.Graph()  # the order of the rows must not matter
    ordered.add_nodes_from(sorted(graph))
    ordered.add_weighted_edges_from(
        sorted((min(a, b), max(a, b), data["weight"] or 1e-9) for a, b, data in graph.edges(data=True))
    )
    found: Any = nx.community.louvain_communities(ordered, resolution=resolution, threshold=1e-6, seed=_SEED)
    parts = [_part(graph, members) for members in found if len(members) >= least]
    return sorted(parts, key=lambda part: (-len(part.members), min(part.members)))


def arcs_round(arcs: Mapping[tuple[str, str], Any], *, most: int) -> Iterator[tuple[str, ...]]:
    """Yield the ways round in a directed graph, each once and none longer than it must be (spec F31).

    Within each strongly connected part the shortest way back is taken from the end of each arc, so every arc
    that can be gone round is in one that is yielded, unless there are more than `most`.
    """
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(sorted(pair for pair in arcs if pair[0] != pair[1]))
    knots = sorted(sorted(members) for members in nx.strongly_connected_components(graph) if len(members) > 1)
    return islice((way for knot in knots for way in _ways(graph.subgraph(knot))), most)


def _ways(knot: "nx.DiGraph[str]") -> Iterator[tuple[str, ...]]:
    import networkx as nx

    seen: set[tuple[str, ...]] = set()
    covered: set[tuple[str, str]] = set()
    for source, target in islice(sorted(knot.edges), _TRIED):
        if (source, target) in covered:
            continue
        back: Sequence[str] = nx.bidirectional_shortest_path(knot, target, source)
        way = [source, *back[:-1]]
        covered.update(zip(way, [*way[1:], way[0]], strict=True))
        first = way.index(min(way))
        turned = (*way[first:], *way[:first])
        if turned not in seen:
            seen.add(turned)
            yield turned


def _part(graph: "nx.Graph[int]", members: Iterable[int]) -> Part:
    inside = frozenset(members)
    hub = min(inside, key=lambda num: (-len(graph.adj[num]), num))
    return Part(inside, hub, len(graph.adj[hub]))
