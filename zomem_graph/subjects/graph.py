"""`memory.graph`: what is tied to what, walked, measured and drawn (spec F26-F35)."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import choice, flag, listed, name_of, names, number, of_kind, whole
from zomem_graph.nodes.rules.graph import (
    Bridge,
    Community,
    Connection,
    Cycle,
    KnowledgeGaps,
    Lineage,
    Neighbourhood,
    Suggestion,
)
from zomem_graph.nodes.rules.graph_export import dot, drawing_of, mermaid
from zomem_graph.nodes.rules.graph_picture import picture
from zomem_graph.nodes.rules.graph_text import connection_lines, cycle_line, gap_lines
from zomem_graph.nodes.rules.relations import RELATION_TYPES, RelationType, relation_note
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.ending import check_tie, link_many, link_two, unlink_two
from zomem_graph.nodes.steps.graph import connect, lineage, neighbourhood, one_of, resolve, sight_of
from zomem_graph.nodes.steps.graph_whole import bridges, communities, cycles, everything, find_gaps, suggest
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Link

__all__ = ["FORMATS", "ExportFormat", "KnowledgeGraph"]

ExportFormat = Literal["dot", "mermaid", "html"]
FORMATS = get_args(ExportFormat)

_RELATED = "related_to"
_MOST = 10_000


class KnowledgeGraph:
    """What is tied to what; every verb sees only what the scope may see and ties only what is its own or shared.

    A thing is named by its id, by the first characters of it, by an entity (all its facts), or by entity.key.
    """

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    @property
    def relations(self) -> Mapping[str, RelationType]:
        """Return the published relations by name, each with its inverse and its direction (spec F27)."""
        return RELATION_TYPES

    def link(
        self,
        source: str,
        target: str,
        relation: str = "related",
        weight: float = 1.0,
        *,
        scope: Scope | None = None,
    ) -> Link:
        """Tie two things together; the same triple is replaced. An unknown relation warns and is kept."""
        check_tie(relation, weight)
        ends = [self._one(name, scope) for name in (source, target)]
        tied, notes = link_two(self._memory, ends[0], ends[1], relation=relation, weight=weight, scope=scope)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return tied

    def link_many(self, links: Iterable[Mapping[str, Any]], *, scope: Scope | None = None) -> Sequence[Link]:
        """Tie many pairs in one transaction, all or none: dicts with source_id, target_id, relation and weight."""
        tied = link_many(self._memory, listed("links", links, of="dicts"), scope=scope)
        for note in dict.fromkeys(relation_note(link.relation) for link in tied):
            if note is not None:
                warnings.warn(note, stacklevel=2)
        return tied

    def unlink(self, source: str, target: str, relation: str | None = None, *, scope: Scope | None = None) -> int:
        """Untie two things, one relation or all of them; return how many links went."""
        ends = [self._one(name, scope) for name in (source, target)]
        return unlink_two(self._memory, ends[0], ends[1], relation=relation, scope=scope)

    def show(
        self,
        what: str,
        *,
        depth: int = 1,
        most: int = 200,
        include_superseded: bool = False,
        scope: Scope | None = None,
    ) -> Neighbourhood:
        """Return what lies within some hops of a thing or an entity, the heaviest links first (spec F26)."""
        depth = whole("depth", depth, least=1, most=10)
        most = whole("most", most, least=1, most=_MOST)
        include_superseded = flag("include_superseded", include_superseded)
        with self._memory.stores.read() as unit:
            sight = sight_of(unit, self._memory, scope, past=include_superseded)
            return neighbourhood(unit, resolve(unit, what, sight), depth=depth, most=most, sight=sight)

    def find_connections(self, start: str, end: str, *, max_depth: int = 5, scope: Scope | None = None) -> Connection:
        """Return a shortest way between two entities or things, over links in both directions (spec F28)."""
        max_depth = whole("max_depth", max_depth, least=0, most=100)
        with self._memory.stores.read() as unit:
            sight = sight_of(unit, self._memory, scope)
            ends = [(name, resolve(unit, name, sight)) for name in (start, end)]
            return connect(unit, ends[0], ends[1], max_depth=max_depth, sight=sight)

    def knowledge_gaps(self, *, limit: int = 10, scope: Scope | None = None) -> KnowledgeGaps:
        """Return where the graph is thin: orphans, dead ends, weak links, clusters (spec F29)."""
        limit = whole("limit", limit, least=1, most=_MOST)
        with self._memory.stores.read() as unit:
            return find_gaps(unit, sight_of(unit, self._memory, scope), limit=limit)

    def ancestors(
        self,
        what: str,
        *,
        max_depth: int = 10,
        relations: Sequence[str] = (),
        limit: int = 1_000,
        scope: Scope | None = None,
    ) -> Lineage:
        """Return what something needs, comes from, is caused by or is a part of, nearest first (spec F30).

        `relations` keeps to these and their inverses. One that is not published counts only when it is named,
        as if its source came from its target.
        """
        return self._lineage(what, True, max_depth, relations, limit, scope)

    def descendants(
        self,
        what: str,
        *,
        max_depth: int = 10,
        relations: Sequence[str] = (),
        limit: int = 1_000,
        scope: Scope | None = None,
    ) -> Lineage:
        """Return what needs something, comes from it, is caused by it or is a part of it, nearest first."""
        return self._lineage(what, False, max_depth, relations, limit, scope)

    def cycles(self, *, limit: int = 100, scope: Scope | None = None) -> tuple[Cycle, ...]:
        """Return where entities lead back to themselves over directed relations (spec F31)."""
        limit = whole("limit", limit, least=1, most=_MOST)
        with self._memory.stores.read() as unit:
            return cycles(unit, sight_of(unit, self._memory, scope), most=limit)

    def infer(
        self, entity: str, *, limit: int = 10, least: int = 2, write: bool = False, scope: Scope | None = None
    ) -> tuple[Suggestion, ...]:
        """Return which entities come up together with one, in turns, facts, episodes and loops (spec F32).

        Nothing is written unless asked: `write` ties those with a fact on both sides that are not tied yet, by
        "related_to" with the confidence as weight.
        """
        name_of("entity", entity)
        write = flag("write", write)
        limit = whole("limit", limit, least=1, most=200)
        least = whole("least", least, least=1, most=_MOST)
        with self._memory.stores.read() as unit:
            found = suggest(unit, entity.strip(), sight_of(unit, self._memory, scope), limit=limit, least=least)
        return tuple(self._written(one, scope) for one in found) if write else found

    def articulation_points(self, *, limit: int = 100, scope: Scope | None = None) -> tuple[Bridge, ...]:
        """Return the things without which something would be cut off from the rest (spec F33)."""
        limit = whole("limit", limit, least=1, most=_MOST)
        with self._memory.stores.read() as unit:
            return bridges(unit, sight_of(unit, self._memory, scope), most=limit)

    def communities(
        self, *, resolution: float = 1.0, least: int = 3, limit: int = 50, scope: Scope | None = None
    ) -> tuple[Community, ...]:
        """Return what is linked most closely among itself, largest first (Louvain, spec F34)."""
        least = whole("least", least, least=1, most=_MOST)
        limit = whole("limit", limit, least=1, most=_MOST)
        resolution = number("resolution", resolution, above=0, most=100)
        with self._memory.stores.read() as unit:
            sight = sight_of(unit, self._memory, scope)
            return communities(unit, sight, resolution=float(resolution), least=least, most=limit)

    def export(
        self,
        what: str | None = None,
        *,
        format: ExportFormat = "dot",  # noqa: A002  # the name users know
        depth: int = 2,
        most: int = 300,
        scope: Scope | None = None,
    ) -> str:
        """Return a drawing of what lies around a thing or an entity, or of everything that is linked (spec F35).

        "dot" for Graphviz, "mermaid" for Markdown pages, "html" for one page to open in a browser.
        """
        choice("format", format, FORMATS)
        depth = whole("depth", depth, least=1, most=10)
        most = whole("most", most, least=1, most=_MOST)
        with self._memory.stores.read() as unit:
            sight = sight_of(unit, self._memory, scope)
            if what is None:
                around = everything(unit, sight, most=most)
            else:
                centre = resolve(unit, what, sight)
                around = neighbourhood(unit, centre, depth=depth, most=most, sight=sight, between=True)
        drawing = drawing_of(around)
        if format == "html":
            return picture(drawing, title=f"Around {what}" if what is not None else "Knowledge graph")
        return dot(drawing) if format == "dot" else mermaid(drawing)

    def text(self, found: Connection | KnowledgeGaps | Cycle) -> str:
        """Return a way, the gaps or a cycle in plain words, as `zomem graph` prints them."""
        if isinstance(found, Cycle):
            return cycle_line(found)
        if isinstance(found, Connection):
            return "\n".join(connection_lines(found))
        return "\n".join(gap_lines(of_kind("found", found, KnowledgeGaps)))

    def _one(self, name: str, scope: Scope | None) -> str:
        """Return the id of one end; without a scope any whole id will do, as with `memory.link`."""
        with self._memory.stores.read() as unit:
            if scope is None and isinstance(name, str) and unit.items.find([name]):
                return name
            return one_of(unit, name, sight_of(unit, self._memory, scope)).id

    def _lineage(
        self,
        what: str,
        ancestors: bool,
        max_depth: int,
        relations: Sequence[str],
        limit: int,
        scope: Scope | None,
    ) -> Lineage:
        max_depth = whole("max_depth", max_depth, least=0, most=100)
        limit = whole("limit", limit, least=1, most=_MOST)
        wanted = names("relations", relations, such_as='["depends_on"]')
        with self._memory.stores.read() as unit:
            sight = sight_of(unit, self._memory, scope)
            return lineage(
                unit,
                resolve(unit, what, sight),
                ancestors=ancestors,
                max_depth=max_depth,
                relations=frozenset(wanted),
                most=limit,
                sight=sight,
            )

    def _written(self, one: Suggestion, scope: Scope | None) -> Suggestion:
        if one.linked or one.source_id is None or one.target_id is None:
            return one
        try:
            link_two(
                self._memory,
                one.source_id,
                one.target_id,
                relation=_RELATED,
                weight=one.confidence,
                scope=scope_given(scope),
            )
        except InvalidInput:  # what a pool lends is for reading
            return one
        return replace(one, written=True, linked=True)
