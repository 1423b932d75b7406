"""`zomem search`: what answers a question, best first."""

import sys
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen, one_line
from zomem_graph.cli.words import AsOf, Limit, TimeZone, instant, listed, text_given
from zomem_graph.nodes.rules.changed import with_since
from zomem_graph.nodes.values import Explanation, Hit, Hits
from zomem_graph.stores.errors import InvalidInput

__all__ = ["search"]


@command
def search(
    call: Call,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Any text; - reads standard input.")],
    limit: Limit = 10,
    kinds: Annotated[str | None, typer.Option("--kinds", metavar="KIND,…", help="fact, turn, episode, loop.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Not after.")] = None,
    as_of: AsOf = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="Also what is no longer so.")] = False,
    hyde: Annotated[
        bool | None,
        typer.Option("--hyde/--no-hyde", help="Search with an imagined answer too; else as the settings say."),
    ] = None,
    graph: Annotated[bool, typer.Option("--graph/--no-graph", help="Let linked things raise each other.")] = True,
    exact: Annotated[bool, typer.Option("--exact", help="Compare with every vector, however many.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each hit stands where it does.")] = False,
    time_zone: TimeZone = None,
) -> None:
    """Find what answers a question. Times are words such as yesterday, "last week", 3d or 2026-05-03."""
    asked = text_given(query)
    if not asked.strip():
        raise InvalidInput("the query is empty. Say what to look for.")
    with call.memory(exact_below=sys.maxsize if exact else None) as memory:
        hits = memory.search(
            asked,
            scope=call.scope(memory, time_zone),
            kinds=tuple(listed(kinds)) if kinds is not None else None,
            limit=limit,
            hyde=hyde,
            graph=graph,
            since=instant(since, time_zone),
            until=instant(until, time_zone, edge="end"),
            as_of=instant(as_of, time_zone, edge="end"),
            include_superseded=superseded,
        )
    call.answer(hits, lambda screen: _show(screen, hits, explain=explain))
    call.notes(hits.degraded)


def _show(screen: Screen, hits: Hits, *, explain: bool) -> None:
    if not hits:
        screen.note("nothing found")
    elif explain:
        for hit in hits:
            screen.line("  ".join(map(one_line, _row(hit))))
            screen.line(f"      {_why(hit.explanation)}")
    else:
        screen.table(("score", "kind", "when", "id", "text"), [_row(hit) for hit in hits])
    if explain:
        for others in (others for step in hits.trace for others in step.get("left_out", ())):
            more = ", …" if others["count"] > len(others["ids"]) else ""
            screen.note(f"left out: {others['count']} {others['why']} ({', '.join(others['ids'])}{more})")


def _row(hit: Hit) -> tuple[str, ...]:
    when = f"{hit.created_at.astimezone():%Y-%m-%d %H:%M}"
    state = str(hit.metadata.get("state", "current"))
    kind = hit.kind if state == "current" else f"{hit.kind} ({state})"
    return f"{hit.score:.2f}", kind, when, hit.id, with_since(hit.text, hit.metadata)


def _why(why: Explanation) -> str:
    parts = []
    if why.words_rank is not None:
        parts.append(f"words #{why.words_rank} ({why.words_score:.2f})")
    if why.meaning_rank is not None:
        parts.append(f"meaning #{why.meaning_rank}")
    if why.cosine is not None:
        parts.append(f"cosine {why.cosine:.3f}")
    parts += [f"{name} +{boost:.2f}" for name, boost in why.boosts.items()]
    parts += [name for name, said in (("names the speaker", why.speaker), ("same session", why.session)) if said]
    if why.path:
        parts.append(" -> ".join(why.path))
    return "; ".join([*parts, f"sum {why.raw_score:.3f}", f"{why.age_days:.0f} days old"])
