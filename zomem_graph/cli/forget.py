"""`zomem forget`: erase for good, and prove it. It asks on a terminal and needs --yes anywhere else."""

import sys
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen, one_line
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.values import ErasureReport
from zomem_graph.stores.errors import InvalidInput

__all__ = ["forget"]

_KINDS = ("facts", "turns", "episodes", "loops", "procedures", "summaries")
_LINES = ("captures", "decisions", "extractions", "attempts")
_MOST_SHOWN = 20


@command
def forget(
    call: Call,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="E", help="Somebody or something, and all that names it.")
    ] = None,
    item: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="One thing; may be repeated.")] = None,
    matching: Annotated[
        str | None, typer.Option("--matching", metavar="TEXT", help="All that holds this text, in any letter case.")
    ] = None,
    everything_of: Annotated[
        str | None, typer.Option("--everything-of", metavar="PERSONA", help="All that a persona has.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase for good what a persona has, and prove it; there is no way back.

    A name of several words is found in any letter case, a single word where it is written as a name. What names it
    and is kept, such as a document of a store, is listed.

    Example: zomem forget --entity "Duarte" --dry-run
    """
    if everything_of is not None and call.shared.persona not in (None, everything_of):
        raise typer.BadParameter("names another persona than --persona.", param_hint="--everything-of")
    with call.memory(dry_run=dry_run) as memory:
        wanted: dict[str, Any] = {
            "persona": call.persona(memory) if everything_of is None else everything_of,
            "entity": entity,
            "id": item,
            "matching": matching,
            "everything": everything_of is not None,
        }
        if not (yes or dry_run):
            _ask(call.screen, memory.forget(**wanted, dry_run=True))
        report = memory.forget(**wanted, dry_run=dry_run)
    call.answer(report, lambda screen: _show(screen, report))
    call.notes(report.notes)
    if not (report.clean or dry_run):
        raise typer.Exit(1)


def _ask(screen: Screen, preview: ErasureReport) -> None:
    """Go on only if a person at a terminal says yes to what would go."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInput(
            "Nothing was forgotten: there is nobody to ask. Add --yes, or --dry-run to see what would go."
        )
    for each in preview.listed[:_MOST_SHOWN]:
        screen.note(f"{each['kind']}  {each['id']}  {one_line(each['text'])}")
    if len(preview.listed) > _MOST_SHOWN:
        screen.note(f"... and {len(preview.listed) - _MOST_SHOWN} more")
    if not typer.confirm(f"Erase {_counted(preview)} of {one_line(preview.persona)} for good?", err=True):
        screen.note("nothing was changed")
        raise typer.Exit(1)


def _show(screen: Screen, report: ErasureReport) -> None:
    if report.dry_run:
        screen.table(("kind", "id", "text"), [(each["kind"], each["id"], each["text"]) for each in report.listed])
        screen.note(f"would erase {_counted(report)} of {report.persona}")
        return
    screen.line(f"erased {_counted(report)} of {report.persona}")
    scanned = report.scanned
    screen.line(
        f"looked through {number_of(scanned['files'], 'files')} ({scanned['bytes']:,} bytes): {_proof(report)}"
    )
    for trace in report.traces:
        screen.line(f"still in {trace.place} ({trace.form})")
    for place in report.named:
        screen.line(f"still named in {place}")


def _proof(report: ErasureReport) -> str:
    if not (report.scanned["looked_for"] or report.named or report.traces):
        return "there was nothing to look for"
    if report.clean:
        return "nothing of it is left"
    if report.named and not report.traces:
        return f"it is still named in {number_of(len(report.named), 'places')}"
    return f"{number_of(len(report.traces), 'traces')} left" if report.traces else "not everything could be checked"


def _counted(report: ErasureReport) -> str:
    parts = [number_of(report.counts[kind], kind) for kind in _KINDS if report.counts.get(kind)]
    if lines := sum(report.counts.get(kind, 0) for kind in _LINES):
        parts.append(f"what {number_of(lines, 'lines')} of logs say of it")
    return ", ".join(parts) or "nothing"
