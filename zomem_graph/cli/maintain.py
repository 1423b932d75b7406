"""`zomem maintain`: let time do its work, once or every so often, and take it back."""

from threading import Event
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.changes import DryRun, show_changes, show_report
from zomem_graph.cli.words import seconds_in
from zomem_graph.nodes.care_values import MOST_CHANGES
from zomem_graph.stores.errors import InvalidInput, MaintenanceBusy

__all__ = ["maintain"]

maintain = group(
    "Let time do its work: expire, tiers, merge, loops, summaries, reconcile. Example: zomem maintain --dry-run",
    usage="| undo",
)


@sub_command(maintain, "run")
def _run(
    call: Call,
    dry_run: DryRun = False,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="STEP", help="This step; repeatable.")] = None,
    every: Annotated[
        str | None, typer.Option("--every", metavar="TIME", help="Again and again, such as every 1h; Ctrl-C ends it.")
    ] = None,
    most: Annotated[int, typer.Option("--max-changes", metavar="N", help="The most changes a run.")] = MOST_CHANGES,
    allow_permanent: Annotated[
        bool, typer.Option("--allow-permanent", help="Let a habit of months become permanent.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last run.")] = False,
) -> None:
    """Run maintenance. It archives and never deletes; the last run can be undone."""
    if undo:
        _take_back(call)
        return
    pause = seconds_in("--every", every) if every is not None else 0.0
    if every is not None and pause < 1:
        raise InvalidInput("--every must be a second or more, such as 1h.")
    with call.memory(dry_run=dry_run) as memory:
        while True:
            try:
                report = memory.maintain(
                    dry_run=dry_run, only=only, max_changes=most, allow_permanent=allow_permanent
                )
            except MaintenanceBusy as busy:
                if not pause:
                    raise
                call.notes([str(busy)])
            else:
                show_report(call, report)
            if not pause:
                return
            Event().wait(pause)


@sub_command(maintain, "undo")
def _undo(call: Call) -> None:
    """Take back the last run that changed something; once more goes one run further."""
    _take_back(call)


def _take_back(call: Call) -> None:
    with call.memory() as memory:
        report = memory.maintain_undo()
    call.answer(report, lambda screen: show_changes(screen, report.undone, nothing="nothing could be taken back"))
    call.notes([f"{change.id[:8]} is left as it is: {change.why}" for change in report.left])
