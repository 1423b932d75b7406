"""`zomem capture`: what a conversation teaches; `capture stats`: what has come of it so far."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.shared import not_empty
from zomem_graph.cli.words import TimeZone, conversation_in, messages_of, session_name
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.values import CaptureReport

__all__ = ["capture"]

capture = group("Learn from a conversation: its turns, and the facts in them.", usage="| COMMAND [ARGS]...")

_UNREAD = ("status", "persona", "session", "turns", "attempts")
_SUMS = ("turns", "known", "facts", "unchanged", "superseded", "skipped", "redacted", "queued", "loops", "links")


@sub_command(capture, "file")
def _capture_file(
    call: Call,
    file: Annotated[str | None, typer.Argument(metavar="FILE|-", help="A file, or - for standard input.")] = None,
    also: Annotated[
        str | None, typer.Option("--input", metavar="FILE", parser=not_empty, help="The same.", hidden=True)
    ] = None,
    source: Annotated[str, typer.Option("--source", help="A label for where it comes from.")] = "cli",
    session: Annotated[str | None, typer.Option("--session", help="Name of the session; else the file's.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be learned; change nothing.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Let the chat model read it now, if there is one.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", metavar="PROVIDER:MODEL", help="Reads in place of the one that is set.")
    ] = None,
    time_zone: TimeZone = None,
) -> None:
    """Learn from a conversation. A dry run asks the chat model too when --wait or --model is given."""
    word = file or also
    if word is None:
        raise typer.BadParameter("missing. Give a file, or - for standard input.", param_hint="FILE")
    conversation = conversation_in(word)
    reports: list[CaptureReport] = []
    with call.memory(dry_run=dry_run) as memory:
        scope = call.scope(memory, time_zone)
        with call.screen.progress("capturing", len(conversation.sessions)) as advance:
            for each in conversation.sessions:
                name = session_name(conversation, each, session)
                reports.append(
                    memory.capture(
                        messages_of(each),
                        scope=scope,
                        source=source,
                        session=name,
                        dry_run=dry_run,
                        inline=wait,
                        model=model,
                        read_again=True,
                    )
                )
                advance(1)
    document = _together(reports)
    call.answer(document, lambda screen: _show(screen, document, dry_run=dry_run))
    call.notes([*document["degraded"], *(f"skipped {line}" for line in conversation.skipped)])


@sub_command(capture, "stats")
def _capture_stats(call: Call) -> None:
    """Count what captures have brought, and say what no chat model has read yet and why."""
    with call.memory() as memory:
        stats = memory.capture_stats()
    call.answer(stats, lambda screen: _show_stats(screen, stats))


@sub_command(capture, "retry")
def _capture_retry(call: Call) -> None:
    """Let the chat model read now what waits or failed."""
    with call.memory() as memory:
        retried = memory.capture_retry()
        report = memory.capture_waiting()
    document = {"retried": retried, "facts": report.facts, "still_waiting": report.queued}
    call.answer(document, lambda screen: screen.pairs(document))
    call.notes(report.degraded)


def _show_stats(screen: Screen, stats: dict[str, Any]) -> None:
    counted = {name: value for name, value in stats.items() if isinstance(value, int)}
    queue = ", ".join(f"{count} {status}" for status, count in stats["extraction_queue"].items()) or "empty"
    screen.pairs({**counted, "extraction queue": queue})
    if stats["unread"]:
        rows = [[*(str(each[name]) for name in _UNREAD), each["error"] or "not read yet"] for each in stats["unread"]]
        screen.table(("status", "persona", "session", "turns", "tries", "why"), rows)


def _together(reports: Sequence[CaptureReport]) -> dict[str, Any]:
    """Return one report for all sessions."""
    parts = [asdict(report) for report in reports]
    because: dict[str, int] = {}
    for part in parts:
        for reason, count in part["skipped_because"].items():
            because[reason] = because.get(reason, 0) + count
    return {
        **{name: sum(part[name] for part in parts) for name in _SUMS},
        "model": reports[-1].model,
        "fact_ids": [each for part in parts for each in part["fact_ids"]],
        "turn_ids": [each for part in parts for each in part["turn_ids"]],
        "preview": [each for part in parts for each in part["preview"]],
        "skipped_because": because,
        "degraded": list(dict.fromkeys(line for part in parts for line in part["degraded"])),
    }


def _show(screen: Screen, document: dict[str, Any], *, dry_run: bool) -> None:
    if dry_run:
        facts = [each for each in document["preview"] if "loop" not in each]
        loops = [each for each in document["preview"] if "loop" in each]
        rows = [[str(each[name] or "") for name in ("entity", "key", "value", "quote")] for each in facts]
        screen.table(("entity", "key", "value", "said"), rows)
        for each in loops:
            screen.line(f"left open ({each['kind']}): {each['loop']}")
        counted = f"{number_of(document['turns'], 'turns')} and {number_of(document['facts'], 'facts')}"
        screen.note(f"would store {counted}; nothing was changed")
        return
    told = [name for name in _SUMS if name != "known" and (document[name] or name in ("turns", "facts"))]
    screen.line(", ".join(number_of(document[name], name) for name in told))
    if document["known"] and not document["turns"]:
        screen.note("all of it was kept before; capture learns from what is new to it, not from what observe kept")
