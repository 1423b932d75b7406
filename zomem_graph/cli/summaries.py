"""`zomem summaries`: what happened, in short."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import Limit
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.stores.summary_records import Summary

__all__ = ["summaries"]

summaries = group("What happened, in short, latest first. Example: zomem summaries run --dry-run")


@sub_command(summaries, "list")
def _list(
    call: Call,
    level: Annotated[
        int | None, typer.Option("--level", metavar="N", help="1 sums up episodes, 2 and above summaries.", min=1)
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="ID", help="Those made from this episode or summary.")
    ] = None,
    limit: Limit = 20,
) -> None:
    """List summaries."""
    with call.memory() as memory:
        found = memory.summaries.list(level=level, source=source, limit=limit, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_all(screen, found, nothing="no summaries"))


@sub_command(summaries, "show")
def _show(
    call: Call,
    summary: Annotated[str, typer.Argument(metavar="ID", help="The id or its first characters.")],
) -> None:
    """Show one summary and what it was made from."""
    with call.memory() as memory:
        found = memory.summaries.show(summary, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_one(screen, found))


@sub_command(summaries, "run")
def _run(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000, help="The most to write.")] = 10,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what rules would say; write nothing.")] = False,
) -> None:
    """Sum up what is due, of every persona: more than 20 episodes, the oldest first."""
    with call.memory(dry_run=dry_run) as memory:
        done = memory.summaries.run(limit=limit, dry_run=dry_run)
    call.answer(done, lambda screen: _show_all(screen, done.written, nothing="nothing is due"))
    changed = [f"{done.changed} changed meanwhile and wait for the next run"] if done.changed else []
    call.notes([*done.degraded, *changed])


def _show_all(screen: Screen, found: Sequence[Summary], *, nothing: str) -> None:
    if not found:
        screen.note(nothing)
        return
    rows = [
        (
            one.id[:8],
            str(one.level),
            f"{one.first_at.astimezone():%Y-%m-%d} to {one.last_at.astimezone():%Y-%m-%d}",
            number_of(one.episodes, "episodes"),
            f"-{one.ratio:.0%}",
            one.summary,
        )
        for one in found
    ]
    screen.table(("id", "level", "when", "of", "tokens", "summary"), rows)


def _show_one(screen: Screen, summary: Summary) -> None:
    named = {
        "id": summary.id,
        "level": summary.level,
        "when": f"{summary.first_at.astimezone():%Y-%m-%d} to {summary.last_at.astimezone():%Y-%m-%d}",
        "summary": summary.summary,
        "decisions": "; ".join(summary.key_decisions),
        "outcomes": "; ".join(summary.key_outcomes),
        "tokens": f"{summary.tokens} in place of {summary.original_tokens}",
        "written by": summary.method,
        "persona": summary.persona,
        "sources": ", ".join(source[:8] for source in summary.sources),
    }
    screen.pairs({name: value for name, value in named.items() if value != ""})
