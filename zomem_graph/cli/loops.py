"""`zomem loops`: what is unfinished, listed, opened, put to sleep and taken up again."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import Limit, TimeZone, text_given
from zomem_graph.stores.records import Loop

__all__ = ["loops", "show_loops"]

loops = group(
    "What is unfinished, last spoken of first. Example: zomem loops snooze 1f2e3d4c --until 2027-03-01",
    usage="| COMMAND [ARGS]...",
)

LoopId = Annotated[str, typer.Argument(metavar="ID", help="The id or its first characters, as `zomem loops` shows.")]
About = Annotated[str | None, typer.Option("--entity", metavar="E", help="What it is about.")]
Kind = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help="bug, incident, approval, commitment or task.")
]


@sub_command(loops, "list")
def _list(
    call: Call,
    status: Annotated[
        str, typer.Option("--status", metavar="STATUS", help="open, stale, snoozed, resolved or superseded.")
    ] = "open",
    entity: About = None,
    kind: Kind = None,
    limit: Limit = 20,
) -> None:
    """List loops of one status."""
    with call.memory() as memory:
        scope = call.scope(memory)
        found = memory.loops.list(status=status, entity=entity, kind=kind, limit=limit, scope=scope)
        note = None if found else memory.personas.note(scope)
    call.answer(found, lambda screen: show_loops(screen, found, nothing=f"no loop is {status}"))
    call.notes([note] if note is not None else [])


@sub_command(loops, "show")
def _show(call: Call, loop: LoopId) -> None:
    """Show one loop in any status."""
    with call.memory() as memory:
        found = memory.loops.show(loop, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_one(screen, found))


@sub_command(loops, "create")
def _create(
    call: Call,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What is to be done; - reads standard input.")],
    summary: Annotated[str, typer.Option("--summary", help="More about it.")] = "",
    entity: About = None,
    kind: Kind = None,
    owner: Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Who is to do it.")] = None,
    time_zone: TimeZone = None,
) -> None:
    """Open a loop; one that is open under this title is refreshed.

    Example: zomem loops create "Fix the login"
    """
    with call.memory() as memory:
        loop = memory.loops.create(
            text_given(title),
            summary=summary,
            entity=entity,
            kind=kind,
            owner=owner,
            source="cli",
            scope=call.scope(memory, time_zone),
        )
    call.answer(loop, lambda screen: show_loops(screen, [loop]))


@sub_command(loops, "snooze")
def _snooze(
    call: Call,
    loop: LoopId,
    until: Annotated[str, typer.Option("--until", metavar="TIME", help='Such as 2027-03-01 or "in 2 hours".')],
    time_zone: TimeZone = None,
) -> None:
    """Keep a loop out of lists and recall until a time.

    Example: zomem loops snooze 1f2e3d4c --until "in 3 days"
    """
    with call.memory() as memory:
        found = memory.loops.snooze(loop, until, scope=call.scope(memory, time_zone))
    call.answer(found, lambda screen: show_loops(screen, [found]))


@sub_command(loops, "wake")
def _wake(call: Call, loop: LoopId) -> None:
    """Bring a snoozed loop back now."""
    with call.memory() as memory:
        found = memory.loops.snooze(loop, None, scope=call.scope(memory))
    call.answer(found, lambda screen: show_loops(screen, [found]))


@sub_command(loops, "reopen")
def _reopen(call: Call, loop: LoopId) -> None:
    """Open a closed or stale loop again."""
    with call.memory() as memory:
        found = memory.loops.reopen(loop, scope=call.scope(memory))
    call.answer(found, lambda screen: show_loops(screen, [found]))


def show_loops(screen: Screen, found: Sequence[Loop], *, nothing: str = "nothing found") -> None:
    """Show loops, one a row; say `nothing` when there are none."""
    if not found:
        screen.note(nothing)
        return
    rows = [
        (
            loop.id[:8],
            loop.kind,
            _state(loop),
            f"{loop.updated_at.astimezone():%Y-%m-%d}",
            loop.owner or "",
            loop.title,
        )
        for loop in found
    ]
    screen.table(("id", "kind", "status", "spoken of", "owner", "title"), rows)


def _state(loop: Loop) -> str:
    if loop.snoozed_until is None or loop.status != "open":
        return loop.status
    return f"{loop.status}, sleeps until {loop.snoozed_until.astimezone():%Y-%m-%d %H:%M}"


def _show_one(screen: Screen, loop: Loop) -> None:
    named = {
        "id": loop.id,
        "title": loop.title,
        "summary": loop.summary,
        "kind": loop.kind,
        "status": _state(loop),
        "priority": f"{loop.priority:.2f}",
        "entity": loop.entity,
        "owner": loop.owner,
        "persona": loop.persona,
        "source": loop.source,
        "begun": f"{loop.created_at.astimezone():%Y-%m-%d %H:%M}",
        "closed by": loop.resolution,
    }
    screen.pairs({name: value for name, value in named.items() if value})
