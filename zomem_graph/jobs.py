"""What memory needs done by the clock (spec F46, F141), for cron tables and systemd timers alike."""

from collections.abc import Sequence
from pathlib import Path

from zomem_graph.schedules import Job

__all__ = ["memory_jobs"]


def memory_jobs(
    home: Path,
    *,
    persona: str | None = None,
    roots: Sequence[Path] = (),
    reports: Path | None = None,
    mail: bool = False,
) -> Sequence[Job]:
    """Return the jobs of one memory: upkeep every hour, and each morning a look through its workspaces, if any.

    `reports` is the folder of the daily reports, HOME/reports when left out; `mail` sends them too.
    """
    start = ("--home", str(home.absolute()), *(("--persona", persona) if persona else ()))
    report = str((reports or home / "reports").absolute())
    folders = (word for root in roots for word in ("--root", str(root.absolute())))
    daily = ("conversations", "--since", "24h", *folders, "--report", report, *(("--mail",) if mail else ()))
    jobs = [Job(when="17 * * * *", arguments=(*start, "maintain"), about="let time do its work")]
    if roots:
        jobs.append(Job(when="0 4 * * *", arguments=(*start, *daily), about="learn from the last day's workspaces"))
    return tuple(jobs)
