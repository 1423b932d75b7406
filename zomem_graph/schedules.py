"""Jobs that run by the clock, as lines of a cron table: printed by default, written only to a path that was given.

Ours stand in one block between two marks, so that a table with other people's jobs keeps them, and installing again
changes nothing. Nothing here asks for more rights than its caller has.
"""

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zomem_graph.stores.errors import InvalidInput, StoreReadOnly

__all__ = ["Job", "cron_block", "program", "remove_cron", "write_cron"]

_FIELD = r"(?:\*|\d+(?:-\d+)?)(?:/\d+)?(?:,(?:\*|\d+(?:-\d+)?)(?:/\d+)?)*"
_WHEN = re.compile(rf"{_FIELD}(?: {_FIELD}){{4}}")
_OWNER = re.compile(r"[a-z_][a-z0-9_-]{0,31}\$?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job: when it runs (five fields of cron), what it calls after `zomem`, and what that is for."""

    when: str
    arguments: tuple[str, ...]
    about: str


def program() -> tuple[str, ...]:
    """Return how to call `zomem` from where nothing is on the path."""
    beside = Path(sys.executable).with_name("zomem")
    return (str(beside),) if beside.exists() else (sys.executable, "-m", "zomem_graph")


def cron_block(
    jobs: Sequence[Job],
    *,
    title: str,
    owner: str | None = None,
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> str:
    """Return the lines of a cron table for these jobs, between two marks.

    `owner` is the user column that files in /etc/cron.d have and personal tables have not. `environment` goes before
    each command, `log` takes what it says. Raises InvalidInput for what cron would misread.
    """
    if owner is not None and not _OWNER.fullmatch(owner):
        raise InvalidInput(f"{owner!r:.40} is no name of a user.")
    before = [f"{name}={_quoted(value)}" for name, value in (environment or {}).items()]
    after = "" if log is None else f" >>{_quoted(str(log))} 2>&1"
    lines = [_begin(title)]
    for job in jobs:
        if not _WHEN.fullmatch(job.when):
            raise InvalidInput(f"{job.when!r:.60} is no time of cron: it has five fields, such as 30 0 * * *.")
        command = " ".join([*before, *(_quoted(part) for part in (*program(), *job.arguments))])
        who = "" if owner is None else f"{owner} "
        lines += [f"# {job.about}", f"{job.when} {who}{command}{after}"]
    return "\n".join([*lines, _end(title), ""])


def write_cron(path: Path, block: str, *, title: str) -> bool:
    """Put a block into a cron table, in place of the one before; return whether the file changed."""
    said = _read(path)
    kept = _without(said, title)
    return _write(path, said, f"{kept}{block}" if not kept or kept.endswith("\n") else f"{kept}\n{block}")


def remove_cron(path: Path, *, title: str) -> bool:
    """Take a block out of a cron table; return whether it was there."""
    said = _read(path)
    return _write(path, said, _without(said, title))


def _begin(title: str) -> str:
    return f"# begin {title} (zomem writes these lines)"


def _end(title: str) -> str:
    return f"# end {title}"


def _quoted(text: str) -> str:
    """Return a word for the shell of cron, where a percent sign would end the line."""
    if "\n" in text or "\r" in text or "\x00" in text:
        raise InvalidInput(f"{text!r:.60} holds an end of line, which no cron table can.")
    return shlex.quote(text).replace("%", r"\%")


def _without(said: str, title: str) -> str:
    begin = said.find(_begin(title))
    end = said.find(_end(title), begin)
    if begin < 0 or end < 0:
        return said
    rest = said[end + len(_end(title)) :]
    return said[:begin] + rest.removeprefix("\n")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as a cron table: {error}.") from error


def _write(path: Path, before: str, after: str) -> bool:
    if before == after:
        return False
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(after, "utf-8")
        part.chmod(path.stat().st_mode if path.exists() else 0o644)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreReadOnly(f"{path} cannot be written ({error.strerror}). Choose a path of yours.") from error
    return True
