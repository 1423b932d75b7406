"""`zomem graph`: what is tied to what, walked, measured and drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Branch, Screen
from zomem_graph.cli.shared import path_in
from zomem_graph.cli.tying import Relation, Source, Target, Weight, link_words, unlink_words
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.rules.graph import Community, Cycle, Lineage, Neighbourhood, Suggestion, Thing
from zomem_graph.nodes.rules.graph_text import arrow, connection_lines, cycle_line, gap_lines, named
from zomem_graph.nodes.values import plain
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Link
from zomem_graph.subjects.graph import ExportFormat

__all__ = ["graph"]

graph = group("What is tied to what. Example: zomem graph find-connections --from project.site --to system.zo")

Who = Annotated[str | None, typer.Argument(metavar="WHAT", help="An entity, entity.key, or an id.")]
Entity = Annotated[str | None, typer.Option("--entity", metavar="E", help="The same by name.")]
Id = Annotated[str | None, typer.Option("--id", metavar="ID", help="The same by id or its first characters.")]
What = Annotated[str, typer.Argument(metavar="WHAT", help="An entity, entity.key, or an id.")]
MaxDepth = Annotated[int, typer.Option("--max-depth", metavar="N", min=0, max=100, help="The most hops.")]
Kept = Annotated[
    list[str] | None, typer.Option("--relation", metavar="R", help="Only this one and its inverse; repeatable.")
]
Most = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=10_000, help="The most to list.")]


@sub_command(graph, "show")
def _show(
    call: Call,
    what: Who = None,
    entity: Entity = None,
    id_: Id = None,
    depth: Annotated[int, typer.Option("--depth", metavar="N", min=1, max=10, help="How many hops.")] = 1,
    superseded: Annotated[bool, typer.Option("--superseded", help="Past values too.")] = False,
) -> None:
    """Show what is tied to a thing: links that begin there, then those that lead there, by weight.

    Example: zomem graph show --entity project.site --depth 2
    """
    asked = _one_of(what, entity, id_)
    with call.memory() as memory:
        scope = call.note_stranger(memory, call.scope(memory))
        found = memory.graph.show(asked, depth=depth, include_superseded=superseded, scope=scope)
    call.answer(found, lambda screen: _show_around(screen, found))
    call.notes([f"{found.left_out} more links are not shown"] if found.left_out else [])


@sub_command(graph, "link")
def _link(call: Call, source: Source, target: Target, relation: Relation = "related", weight: Weight = 1.0) -> None:
    """Tie two things together; the same link is replaced. `zomem graph relations` lists what it may say."""
    link_words(call, source, target, relation, weight)


@sub_command(graph, "unlink")
def _unlink(
    call: Call,
    source: Source,
    target: Target,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="R", help="Only this one; else all of them.")
    ] = None,
) -> None:
    """Untie two things, one relation or all of them."""
    unlink_words(call, source, target, relation)


@sub_command(graph, "find-connections")
def _find_connections(
    call: Call,
    start: Annotated[str, typer.Option("--from", metavar="E", help="Where the way begins.")],
    end: Annotated[str, typer.Option("--to", metavar="E", help="Where it ends.")],
    max_depth: MaxDepth = 5,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when there is no way.")] = False,
) -> None:
    """Find a shortest way between two entities, over links in both directions.

    Example: zomem graph find-connections --from user --to decision.hosting --max-depth 3
    """
    with call.memory() as memory:
        found = memory.graph.find_connections(start, end, max_depth=max_depth, scope=call.scope(memory))
    document = {**plain(found), "found": found.found, "hops": found.hops}
    call.answer(document, lambda screen: _lines(screen, connection_lines(found)))
    if strict and not found.found:
        raise typer.Exit(1)


@sub_command(graph, "knowledge-gaps")
def _knowledge_gaps(call: Call, limit: Most = 10) -> None:
    """Show where the graph is thin: orphans, dead ends, weak links, clusters."""
    with call.memory() as memory:
        gaps = memory.graph.knowledge_gaps(limit=limit, scope=call.scope(memory))
    document = {**plain(gaps), "orphan_count": gaps.orphan_count, "linked_share": round(gaps.linked_share, 4)}
    call.answer(document, lambda screen: _lines(screen, gap_lines(gaps)))


@sub_command(graph, "ancestors")
def _ancestors(call: Call, what: What, max_depth: MaxDepth = 10, relation: Kept = None) -> None:
    """Show what something needs, comes from, is caused by or is a part of."""
    with call.memory() as memory:
        found = memory.graph.ancestors(what, max_depth=max_depth, relations=relation or (), scope=call.scope(memory))
    call.answer(found, lambda screen: _show_lineage(screen, found))


@sub_command(graph, "descendants")
def _descendants(call: Call, what: What, max_depth: MaxDepth = 10, relation: Kept = None) -> None:
    """Show what needs something, comes from it, is caused by it or is a part of it."""
    with call.memory() as memory:
        found = memory.graph.descendants(
            what, max_depth=max_depth, relations=relation or (), scope=call.scope(memory)
        )
    call.answer(found, lambda screen: _show_lineage(screen, found))


@sub_command(graph, "cycles")
def _cycles(call: Call, limit: Most = 100) -> None:
    """Show where entities lead back to themselves over directed relations."""
    with call.memory() as memory:
        found = memory.graph.cycles(limit=limit, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_cycles(screen, found))


@sub_command(graph, "infer")
def _infer(
    call: Call,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="Whose companions.")],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=200, help="The most to list.")] = 10,
    least: Annotated[int, typer.Option("--least", metavar="N", min=1, help="Together at least so often.")] = 2,
    write: Annotated[bool, typer.Option("--write", help="Link those that are not linked yet.")] = False,
) -> None:
    """Suggest links to what comes up together with an entity; nothing is written without --write."""
    with call.memory() as memory:
        scope = call.scope(memory)
        found = memory.graph.infer(entity, limit=limit, least=least, write=write, scope=scope)
    call.answer(found, lambda screen: _show_suggestions(screen, found))


@sub_command(graph, "articulation")
def _articulation(call: Call, limit: Most = 100) -> None:
    """Show the things without which something would be cut off from the rest."""
    with call.memory() as memory:
        found = memory.graph.articulation_points(limit=limit, scope=call.scope(memory))
    rows = [(str(one.links), one.thing.label, one.thing.text, one.thing.id[:8]) for one in found]
    call.answer(found, lambda screen: _table(screen, ("links", "thing", "says", "id"), rows, "nothing"))


@sub_command(graph, "communities")
def _communities(
    call: Call,
    limit: Most = 50,
    least: Annotated[int, typer.Option("--least", metavar="N", min=1, help="The smallest that counts.")] = 3,
    resolution: Annotated[
        float, typer.Option("--resolution", metavar="X", help="More than 1: smaller ones; less: larger ones.")
    ] = 1.0,
) -> None:
    """Show what is linked most closely among itself, largest first."""
    with call.memory() as memory:
        scope = call.scope(memory)
        found = memory.graph.communities(resolution=resolution, least=least, limit=limit, scope=scope)
    call.answer(found, lambda screen: _show_communities(screen, found))


@sub_command(graph, "relations")
def _relations(call: Call) -> None:
    """List the published relations; any other is kept too, with a warning."""
    with call.memory() as memory:
        known = memory.graph.relations.values()
    rows = [(one.name, one.inverse if one.directed else "", one.category, one.about) for one in known]
    document = [{**plain(one), "directed": one.directed} for one in known]
    columns = ("relation", "inverse", "category", "A relation B says")
    call.answer(document, lambda screen: screen.table(columns, rows))


@sub_command(graph, "export")
def _export(
    call: Call,
    what: Who = None,
    entity: Entity = None,
    id_: Id = None,
    format_: Annotated[ExportFormat, typer.Option("--format", help="How it is drawn.")] = "dot",
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", parser=path_in, help="Write it there; else to standard output."),
    ] = None,
    depth: Annotated[int, typer.Option("--depth", metavar="N", min=1, max=10, help="How many hops.")] = 2,
    most: Annotated[int, typer.Option("--most", metavar="N", min=1, max=10_000, help="The most things.")] = 300,
) -> None:
    """Draw what lies around an entity, or everything that is linked.

    Example: zomem graph export --entity project.site --format html --output site.html
    """
    asked = _one_of(what, entity, id_) if (what, entity, id_) != (None, None, None) else None
    with call.memory() as memory:
        text = memory.graph.export(asked, format=format_, depth=depth, most=most, scope=call.scope(memory))
    if output is not None:
        _write(output, text)
    document: dict[str, Any] = {"format": format_, "output": str(output) if output else None}
    shown = f"wrote {output} ({len(text.encode()):,} bytes)"
    call.answer(
        document if output else {**document, "text": text},
        lambda screen: screen.line(shown) if output else screen.line(text.removesuffix("\n")),
    )


def _one_of(*given: str | None) -> str:
    named_once = [each for each in given if each is not None]
    if len(named_once) != 1:
        raise typer.BadParameter("must be given once. Write: zomem graph show --entity E", param_hint="WHAT")
    return named_once[0]


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise InvalidInput(f"{output} cannot be written: {error.strerror}.") from error


def _lines(screen: Screen, lines: Any) -> None:
    for line in lines:
        screen.line(line)


def _table(screen: Screen, columns: Sequence[str], rows: Sequence[Sequence[str]], nothing: str) -> None:
    if rows:
        screen.table(columns, rows)
    else:
        screen.note(nothing)


def _show_around(screen: Screen, found: Neighbourhood) -> None:
    """Show each thing of the centre with its links, and behind each link what lies there, nearer things first."""
    things = {thing.id: thing for thing in found.things}
    known: set[str] = {thing.id for thing in found.centre}
    left = list(found.links)
    trees = [_Tree(thing, "") for thing in found.centre]
    layer = trees
    while layer:
        layer = [leaf for tree in layer for leaf in tree.grow(left, things) if leaf.is_new(known)]
    for tree in trees:
        screen.tree(tree.branch())
    if not found.links:
        screen.note("no links")


class _Tree:
    """A thing on the screen and what hangs on it."""

    def __init__(self, thing: Thing, said: str) -> None:
        self._thing, self._said = thing, said
        self._leaves: list[_Tree] = []

    def grow(self, left: list[Link], things: dict[str, Thing]) -> "list[_Tree]":
        """Hang on what links lead to, outbound first; each link is taken from those that are left."""
        own = self._thing.id
        outbound = [(link, link.target_id) for link in left if link.source_id == own]
        inbound = [(link, link.source_id) for link in left if link.target_id == own]
        for link, end in (*outbound, *inbound):
            left.remove(link)
            said = f"{arrow(link, forward=link.source_id == own)} ({link.weight:g}) "
            self._leaves.append(_Tree(things[end], said))
        return self._leaves

    def is_new(self, known: set[str]) -> bool:
        """Return whether this thing is on the screen for the first time; from now on it is known."""
        new = self._thing.id not in known
        known.add(self._thing.id)
        return new

    def branch(self) -> Branch:
        """Return it as the screen takes it."""
        text = f"{self._said}{named(self._thing)} {self._thing.id[:8]}"
        return Branch(text, tuple(leaf.branch() for leaf in self._leaves))


def _show_lineage(screen: Screen, found: Lineage) -> None:
    behind: dict[str, list[str]] = {}
    by_id = {one.thing.id: one for one in found.found}
    for one in found.found:
        behind.setdefault(one.path[-2], []).append(one.thing.id)

    def branch(id_: str) -> Branch:
        one = by_id[id_]
        return Branch(f"-->{one.relation} {named(one.thing)}", tuple(map(branch, behind.get(id_, ()))))

    for thing in found.of:
        screen.tree(Branch(named(thing), tuple(map(branch, behind.get(thing.id, ())))))
    if not found.found:
        screen.note(f"no {found.direction}")
    if found.cut:
        screen.note("note: there is more further on")


def _show_cycles(screen: Screen, found: Sequence[Cycle]) -> None:
    for cycle in found:
        screen.line(cycle_line(cycle))
    if not found:
        screen.note("no cycles")


def _show_suggestions(screen: Screen, found: Sequence[Suggestion]) -> None:
    rows = [
        (
            one.other,
            str(one.shared),
            f"{one.confidence:.2f}",
            f"{one.lift:.1f}",
            "written" if one.written else "linked" if one.linked else "" if one.target_id else "no fact of its own",
        )
        for one in found
    ]
    columns = ("together with", "times", "confidence", "lift", "tied")
    _table(screen, columns, rows, "nothing comes up together with it more often than by chance")


def _show_communities(screen: Screen, found: Sequence[Community]) -> None:
    for number, one in enumerate(found, 1):
        screen.line(f"{number}. {number_of(one.size, 'things')} around {named(one.hub)}: {', '.join(one.entities)}")
    if not found:
        screen.note("no communities")
