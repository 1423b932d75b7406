"""`zomem import`: chats, notes and memories of other programs, with an account of every item."""

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Advance, Screen
from zomem_graph.cli.words import TimeZone
from zomem_graph.importers import SOURCES, ImportReport
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.stores.errors import InvalidInput

__all__ = ["import_"]

_AUTO = "auto"
_NAMES = f"{', '.join(SOURCES)} or {_AUTO}"
_STDIN = "-"
_MOST_LINES = 20
_SUMS = ("stored", "changed", "unchanged", "forgotten", "skipped", "failed")


@command
def import_(
    call: Call,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE PATH",
            help=f"SOURCE is one of {_NAMES}; PATH a file, folder or zip.",
        ),
    ] = None,
    source: Annotated[str | None, typer.Option("--source", help="The same.", hidden=True)] = None,
    path: Annotated[str | None, typer.Option("--path", help="The same.", hidden=True)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be stored; change nothing.")] = False,
    time_zone: TimeZone = None,
) -> None:
    """Bring in chats, notes and memories of other programs. A second import of the same changes nothing."""
    source, path = _placed(words or [], source, path)
    with call.memory(dry_run=dry_run) as memory, _on_disk(path) as place:
        with call.screen.progress("importing", 100) as advance:
            report = memory.import_from(
                source,
                place,
                scope=call.scope(memory, time_zone),
                dry_run=dry_run,
                progress=_in_percent(advance),
            )
        if (report.turns or report.facts) and not dry_run:
            with call.screen.progress("indexing"):
                memory.flush()
    call.answer(report, lambda screen: _show(screen, report))
    call.notes([*_notes(report)])
    if report.failed:
        raise typer.Exit(1)


def _placed(words: list[str], source: str | None, path: str | None) -> tuple[str, str]:
    """Return source and path from options and words; a single word that is no source is a path of any."""
    given = [one for one in (source, *words, path) if one is not None]
    if len(given) == 1 and given[0] in (*SOURCES, _AUTO):
        wants = SOURCES[given[0]].wants if given[0] in SOURCES else "a file, folder or zip"
        raise InvalidInput(f"PATH is missing: {wants}. Write: zomem import {given[0]} PATH.")
    if len(given) == 1 and source is None:
        given = [_AUTO, *given]
    if len(given) != 2:
        raise InvalidInput(f"Write: zomem import SOURCE PATH, with one SOURCE ({_NAMES}) and one PATH.")
    return given[0], given[1]


def _in_percent(advance: Advance) -> Callable[[int, float], None]:
    told = 0

    def progress(_items: int, fraction: float) -> None:
        nonlocal told
        advance(int(fraction * 100) - told)
        told = int(fraction * 100)

    return progress


@contextmanager
def _on_disk(path: str) -> Iterator[Path]:
    """Lend the path; standard input is put into a file first, since an import looks at it twice.

    Its folder is named by what it holds, so that the same input is known again.
    """
    if path != _STDIN:
        yield Path(path)
        return
    if sys.stdin is None:
        raise InvalidInput("standard input is closed. Name a file.")
    with TemporaryDirectory(prefix="zomem-") as folder:
        spooled = Path(folder, "spooled")
        with spooled.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with spooled.open("rb") as file:
            place = Path(folder, file_digest(file, "blake2s").hexdigest()[:16], "standard-input")
        place.parent.mkdir()
        yield spooled.rename(place)


def _show(screen: Screen, report: ImportReport) -> None:
    if report.dry_run:
        screen.table(("of", "text"), [[each["of"], each["text"]] for each in report.preview])
    told = [item for item in report.items if item.outcome in ("failed", "skipped")]
    rows = [[item.outcome, item.title, item.reason] for item in told[:_MOST_LINES]]
    if rows:
        screen.table(("outcome", "what", "why"), rows)
    if len(told) > _MOST_LINES:
        screen.line(f"… and {len(told) - _MOST_LINES} more; --json lists them all")
    sums = [number_of(getattr(report, name), name) for name in _SUMS if getattr(report, name)]
    screen.line(f"{report.source}: {report.found} found" + "".join(f", {part}" for part in sums))
    would = "would be new" if report.dry_run else "new"
    came = f"{number_of(report.turns, 'turns')} and {number_of(report.facts, 'facts')}"
    screen.line(f"{came} {would}, {report.superseded} superseded")


def _notes(report: ImportReport) -> Iterator[str]:
    if report.redacted:
        yield f"{number_of(report.redacted, 'secrets')} taken out"
    for reason, count in report.passed.items():
        yield f"{number_of(count, 'pieces')} left out: {reason}"
    for kind, count in report.ignored.items():
        yield f"{number_of(count, 'files')} not looked at: {kind}"
    for name, count in report.others.items():
        cure = f"zomem import {name} {shlex.quote(report.place)}"
        yield f"{number_of(count, 'files')} of these for another source: {cure}"
    yield from report.warnings[:_MOST_LINES]
    if len(report.warnings) > _MOST_LINES:
        yield f"{len(report.warnings) - _MOST_LINES} more warnings; --json lists them all"
