"""The jobs of a vault as a cron table (spec F125): summarise, consolidate, look, probe."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from zomem_graph.schedules import Job, cron_block, remove_cron, write_cron
from zomem_graph.vault.core import Vault

__all__ = ["install", "table", "uninstall"]

_TITLE: Final = "zomem vault"
_JOBS: Final = (
    ("0 23 * * *", "summarize", "tell the day"),
    ("30 0 * * *", "consolidate", "decay, prune, index, MEMORY.md, health"),
    ("0 */6 * * *", "health-check", "look at disk, facts and figures"),
)
_PROBES: Final = {"daily": "0 3 * * *", "weekly": "0 3 * * 0", "monthly": "0 3 1 * *"}


def table(vault: Vault, *, owner: str | None = None, config: Path | None = None, more: Sequence[str] = ()) -> str:
    """Return the cron table of a vault.

    `owner` is the user column that files in /etc/cron.d have; `more` are further options of every job.
    """
    asked = (
        *("--data-path", str(vault.place.root.absolute())),
        *("--home", str(vault.memory.settings.home.absolute())),
        *(("--config", str(config.absolute())) if config is not None else ()),
        *more,
    )
    probe = (_PROBES[vault.options.canary_check_interval], "quality-probe", "ask for the canaries")
    jobs = [Job(when=when, arguments=("vault", word, *asked), about=about) for when, word, about in (*_JOBS, probe)]
    return cron_block(jobs, title=_TITLE, owner=owner)


def install(path: Path, block: str) -> bool:
    """Put a table into a file, in place of the one before; return whether it changed."""
    return write_cron(path, block, title=_TITLE)


def uninstall(path: Path) -> bool:
    """Take the table out of a file; return whether it was there."""
    return remove_cron(path, title=_TITLE)
