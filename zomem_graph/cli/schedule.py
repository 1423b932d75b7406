"""`zomem schedule`: what memory needs done by the clock, shown, or written where a path says so."""

from pathlib import Path
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.shared import not_empty, path_in
from zomem_graph.jobs import memory_jobs
from zomem_graph.mail import check_mail
from zomem_graph.schedules import Job, cron_block, remove_cron, write_cron
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.timers import on_calendar, remove_timers, timer_files, write_timers

__all__ = ["schedule"]

schedule = group(
    "Upkeep by the clock. Nothing is written without a path. Example: zomem schedule install --cron FILE",
    usage="COMMAND [ARGS]...",
)

Cron = Annotated[
    Path | None,
    typer.Option("--cron", metavar="FILE", parser=path_in, help="A cron table; other people's lines stay."),
]
Systemd = Annotated[
    Path | None,
    typer.Option(
        "--systemd", metavar="DIR", parser=path_in, help="A folder of units, such as ~/.config/systemd/user."
    ),
]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="The user column of files in /etc/cron.d.")]
Reports = Annotated[
    Path | None,
    typer.Option("--reports", metavar="DIR", parser=path_in, help="Where daily reports go; else HOME/reports."),
]
Roots = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        metavar="DIR",
        parser=not_empty,
        help="Workspaces for the daily capture; repeatable; else ZO_CAPTURE_ROOTS.",
    ),
]
Mail = Annotated[
    bool, typer.Option("--mail", help="Mail the daily report too; needs ZO_REPORT_SMTP and ZO_REPORT_TO.")
]


@sub_command(schedule, "show")
def _show(call: Call, user: User = None, root: Roots = None, reports: Reports = None, mail: Mail = False) -> None:
    """Show the lines of a cron table; nothing is written.

    Example: zomem schedule show
    """
    settings = Settings.load(call.shared.home)
    jobs = _jobs(call, settings, root, reports, mail=mail)
    block = cron_block(jobs, title=_title(settings), owner=user)
    document = {
        "table": block,
        "jobs": [
            {"when": job.when, "on_calendar": on_calendar(job.when), "arguments": job.arguments, "about": job.about}
            for job in jobs
        ],
    }
    call.answer(document, lambda screen: screen.line(block.rstrip("\n")))


@sub_command(schedule, "install")
def _install(
    call: Call,
    cron: Cron = None,
    systemd: Systemd = None,
    user: User = None,
    root: Roots = None,
    reports: Reports = None,
    mail: Mail = False,
) -> None:
    """Write the lines into a cron table, or timers into a folder of systemd; again changes nothing.

    Example: zomem schedule install --systemd ~/.config/systemd/user
    """
    _one_place(cron, systemd)
    settings = Settings.load(call.shared.home)
    jobs = _jobs(call, settings, root, reports, mail=mail)
    if cron is not None:
        block = cron_block(jobs, title=_title(settings), owner=user)
        changed = [str(cron)] if write_cron(cron, block, title=_title(settings)) else []
    else:
        changed = write_timers(systemd or Path(), timer_files(jobs, title=_title(settings)))
    document = {"place": str(cron or systemd), "changed": changed}
    call.answer(document, lambda screen: _say(screen, changed, "written", "up to date"))
    if systemd is not None and changed:
        timers = " ".join(name for name in changed if name.endswith(".timer"))
        call.screen.note(f"start them with: systemctl --user daemon-reload && systemctl --user enable --now {timers}")


@sub_command(schedule, "remove")
def _remove(call: Call, cron: Cron = None, systemd: Systemd = None) -> None:
    """Take our lines out of a cron table, or our timers out of a folder.

    Example: zomem schedule remove --cron FILE
    """
    _one_place(cron, systemd)
    title = _title(Settings.load(call.shared.home))
    if cron is not None:
        removed = [str(cron)] if remove_cron(cron, title=title) else []
    else:
        removed = remove_timers(systemd or Path(), title=title)
    document = {"place": str(cron or systemd), "removed": removed}
    call.answer(document, lambda screen: _say(screen, removed, "removed", "nothing of ours was there"))


def _jobs(call: Call, settings: Settings, roots: list[str] | None, reports: Path | None, *, mail: bool) -> list[Job]:
    chosen = [Path(root).expanduser() for root in roots or ()] or [*settings.capture_folders]
    if mail:
        check_mail(settings)
        if settings.sources["report_smtp"] != "zomem.yaml":
            call.screen.note(f"note: jobs see no variables of yours; put report_smtp into {settings.home}/zomem.yaml")
    if not chosen:
        call.screen.note("note: no daily capture without --root DIR or ZO_CAPTURE_ROOTS")
    return [*memory_jobs(settings.home, persona=call.shared.persona, roots=chosen, reports=reports, mail=mail)]


def _title(settings: Settings) -> str:
    return f"zomem {settings.home.absolute()}"


def _one_place(cron: Path | None, systemd: Path | None) -> None:
    if (cron is None) == (systemd is None):
        raise InvalidInput("Name one place: --cron FILE or --systemd DIR.")


def _say(screen: Screen, names: list[str], done: str, else_: str) -> None:
    screen.line(f"{done}: {', '.join(names)}" if names else else_)
