"""`zomem trends`: how often an entity's episodes went well, over time."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import TimeZone
from zomem_graph.nodes.rules.trends import Granularity, Trend, sparkline
from zomem_graph.nodes.values import plain

__all__ = ["trends"]


@command
def trends(
    call: Call,
    entity: Annotated[str | None, typer.Argument(metavar="ENTITY", help="Whose episodes.")] = None,
    entity_named: Annotated[str | None, typer.Option("--entity", metavar="E", help="The same by name.")] = None,
    granularity: Annotated[Granularity, typer.Option("--granularity", help="How long a period is.")] = "week",
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="Not before.")] = "90d",
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Not after.")] = None,
    time_zone: TimeZone = None,
) -> None:
    """Count how an entity's episodes ended, period by period, oldest first.

    Example: zomem trends project.site --granularity month --since "180 days ago"
    """
    asked = entity_named if entity_named is not None else entity
    if asked is None or (entity is not None and entity_named is not None):
        raise typer.BadParameter("must be given once. Write: zomem trends ENTITY.", param_hint="ENTITY")
    with call.memory() as memory:
        scope = call.scope(memory, time_zone)
        found = memory.episodes.trends(asked, granularity=granularity, since=since, until=until, scope=scope)
        note = None if found else memory.personas.note(scope)
    document = [{**plain(one), "rate": one.rate, "finished_rate": one.finished_rate} for one in found]
    call.answer(document, lambda screen: _show(screen, found, asked, granularity))
    call.notes([note] if note is not None else [])


def _show(screen: Screen, found: Sequence[Trend], entity: str, granularity: Granularity) -> None:
    if not found:
        screen.note(f"no episodes of {entity} in that time")
        return
    rows = [
        (
            one.period,
            str(one.total),
            str(one.succeeded),
            str(one.failed),
            _percent(one.rate),
            _percent(one.finished_rate),
        )
        for one in found
    ]
    line = (
        f"{entity}, {granularity} by {granularity}, of what is finished: {sparkline(found, granularity=granularity)}"
    )
    screen.table(("period", "total", "went well", "failed", "of all", "of finished"), rows, below=line)


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.0%}"
