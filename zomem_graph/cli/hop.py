"""`zomem hop`: a search that follows links and shared names."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import TimeZone, text_given
from zomem_graph.nodes.rules.changed import with_since
from zomem_graph.nodes.steps.multihop import Hopped

__all__ = ["hop"]


@command
def hop(
    call: Call,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Any text; - reads standard input.")],
    max_hops: Annotated[int, typer.Option("--max-hops", min=0, max=8, help="How far to follow.")] = 3,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many hits.")] = 5,
    explain: Annotated[bool, typer.Option("--explain", help="Show each hop and each path.")] = False,
    time_zone: TimeZone = None,
) -> None:
    """Find what answers a question over several steps. Example: zomem hop "who owns the server of the shop?"."""
    with call.memory() as memory:
        found = memory.hop(text_given(query), scope=call.scope(memory, time_zone), max_hops=max_hops, limit=limit)
    call.answer(found, lambda screen: _show(screen, found, explain=explain))
    call.notes(found.degraded)


def _show(screen: Screen, found: Hopped, *, explain: bool) -> None:
    if not found.hits:
        screen.note("nothing found")
        return
    rows = [(f"{h.score:.2f}", h.kind, h.id, with_since(h.text, h.metadata)) for h in found.hits]
    screen.table(("score", "kind", "id", "text"), rows)
    if explain:
        for step in found.trace:
            asked = f", asked: {', '.join(step['asked'])}" if step["asked"] else ""
            screen.line(f"hop {step['hop']}: {step['found']} new, confidence {step['confidence']:.2f}{asked}")
        for hit in found.hits:
            if hit.explanation.path:
                screen.line(f"{hit.id[:8]}: {' -> '.join(hit.explanation.path)}")
