"""`zomem conversations`: capture what agents left in their workspaces (spec F45)."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.shared import not_empty, path_in
from zomem_graph.cli.words import TimeZone, instant
from zomem_graph.daily_report import as_markdown, daily_document, subject_of, write_report
from zomem_graph.mail import check_mail, send_text
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.subjects.conversations import WorkspaceReport
from zomem_graph.workspaces.finding import Found

__all__ = ["conversations"]

_SUMS = ("captured", "unchanged", "skipped", "failed", "turns", "facts", "superseded", "loops", "redacted", "queued")
_MOST_LINES = 20


@command
def conversations(
    call: Call,
    root: Annotated[
        list[str] | None,
        typer.Option(
            "--root",
            metavar="DIR",
            parser=not_empty,
            help="Holds con_… folders, or is one; repeatable; else ZO_CAPTURE_ROOTS.",
        ),
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Changed since; else 24h.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole backlog, however old.")] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Only list the files that would be read.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Only count what was captured so far.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be learned; change nothing.")] = False,
    report_to: Annotated[
        Path | None,
        typer.Option("--report", metavar="DIR", parser=path_in, help="Write the day's report there, .md and .json."),
    ] = None,
    mail: Annotated[
        bool, typer.Option("--mail", help="Mail the report; needs ZO_REPORT_SMTP and ZO_REPORT_TO.")
    ] = False,
    time_zone: TimeZone = None,
) -> None:
    """Learn from the files that agents left in their workspaces; each is read once, and again when it changed.

    Example: zomem conversations --root ~/workspaces --since 24h --dry-run
    """
    if since is not None and everything:
        raise InvalidInput("--since and --all cannot both be meant.")
    begin = instant(since, time_zone)
    with call.memory(dry_run=dry_run or list_only or stats) as memory:
        subject = memory.conversations
        if mail:
            check_mail(memory.settings)
        if stats:
            counted = subject.stats()
            call.answer(counted, lambda screen: screen.pairs(counted))
            return
        if list_only:
            found = subject.find(root, since=begin, everything=everything)
            call.answer(found, lambda screen: _show_found(screen, found))
            return
        with call.screen.progress("capturing"):
            report = subject.capture(
                root, since=begin, everything=everything, scope=call.scope(memory, time_zone), dry_run=dry_run
            )
        document = daily_document(report, memory.stats(), at=datetime.now().astimezone())
        settings = memory.settings
    if report_to is not None and not dry_run:
        write_report(report_to, document)
    if mail and not dry_run:
        send_text(settings, subject=subject_of(document), text=as_markdown(document))
    call.answer(report, lambda screen: _show(screen, report))
    call.notes(
        [
            *report.degraded,
            *(f"{number_of(count, 'files')} not read: {reason}" for reason, count in report.passed.items()),
        ]
    )
    if report.failed:
        raise typer.Exit(1)


def _show_found(screen: Screen, found: Found) -> None:
    rows = [(_when(each.modified), str(each.size), each.conversation, each.name) for each in found.artifacts]
    screen.table(("changed", "bytes", "conversation", "file"), rows)
    for reason, count in found.passed.items():
        screen.note(f"note: {number_of(count, 'files')} not read: {reason}")


def _show(screen: Screen, report: WorkspaceReport) -> None:
    told = [each for each in report.files if each.outcome != "unchanged"]
    rows = [
        (each.outcome, each.conversation, each.name, number_of(each.facts, "facts"), each.reason)
        for each in told[:_MOST_LINES]
    ]
    if rows:
        screen.table(("outcome", "conversation", "file", "learned", "why"), rows)
    if len(told) > _MOST_LINES:
        screen.line(f"… and {len(told) - _MOST_LINES} more; --json lists them all")
    sums = [number_of(getattr(report, name), name) for name in _SUMS if getattr(report, name)]
    would = " (nothing was changed)" if report.dry_run else ""
    screen.line(f"{number_of(report.conversations, 'conversations')}: {', '.join(sums) or 'nothing new'}{would}")


def _when(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
