"""How maintenance shows what it changed: every move with its reason."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call
from zomem_graph.cli.screen import Screen
from zomem_graph.nodes.care_values import Change, MaintenanceReport

__all__ = ["DryRun", "show_changes", "show_report"]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done and why; change nothing.")]

_SHOWN = 200


def show_report(call: Call, report: MaintenanceReport) -> None:
    """Answer with a report of maintenance."""
    call.answer(report, lambda screen: _show(screen, report))
    call.notes(report.degraded)


def show_changes(screen: Screen, changes: Sequence[Change], *, nothing: str) -> None:
    """Show changes, one a row; say `nothing` when there are none."""
    if not changes:
        screen.note(nothing)
        return
    rows = [(one.id[:8], one.kind, one.persona, _move(one), one.text, one.why) for one in changes[:_SHOWN]]
    more = f"and {len(changes) - _SHOWN:,} more; --json has all" if len(changes) > _SHOWN else ""
    screen.table(("id", "kind", "persona", "what", "text", "why"), rows, below=more)


def _show(screen: Screen, report: MaintenanceReport) -> None:
    show_changes(screen, report.changes, nothing="nothing would change" if report.dry_run else "nothing to change")
    for step in report.steps:
        for name, count in step.counts.items():
            screen.line(f"{name}: {count:,}")


def _move(change: Change) -> str:
    if change.move in ("promoted", "demoted"):
        return f"{change.move} {change.before.get('tier')} to {change.after.get('tier')}"
    return change.move
