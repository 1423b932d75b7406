"""`zomem briefing`: what to know before a session begins."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.words import TimeZone
from zomem_graph.nodes.values import plain

__all__ = ["briefing"]


@command
def briefing(
    call: Call,
    domain: Annotated[str | None, typer.Argument(metavar="[DOMAIN]", help="What it is to be about.")] = None,
    time_zone: TimeZone = None,
) -> None:
    """Show conventions, what is under way, open and new, what the team knows, and what to begin with.

    Example: zomem briefing "web site"
    """
    with call.memory() as memory:
        found = memory.briefing(domain=domain, scope=call.note_stranger(memory, call.scope(memory, time_zone)))
    if call.shared.as_json:
        call.screen.document(plain(found))
    elif not found.text:
        call.screen.note("there is nothing to say yet")
    else:
        call.screen.line(found.text)
        if found.priority:
            call.screen.line(f"\nFirst of all: {found.priority}")
    call.notes(found.degraded)
