"""The jobs of `schedules` as systemd timers: the same times, one service and one timer a job.

Every file begins with a line that says whose it is; only such files are ever changed or removed.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from zomem_graph.schedules import Job, program
from zomem_graph.stores.errors import InvalidInput, StoreReadOnly

__all__ = ["on_calendar", "remove_timers", "timer_files", "write_timers", "unit_word"]

_OURS = "# zomem writes this file"
_DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_PART = re.compile(r"(\*|\d+)(?:-(\d+))?(?:/(\d+))?")
_SAFE = re.compile(r"[^a-z0-9]+")


def timer_files(jobs: Sequence[Job], *, title: str, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the text of each file by its name, such as zomem-flush.timer. Raises InvalidInput."""
    files: dict[str, str] = {}
    for number, job in enumerate(jobs, start=1):
        name = f"{_name(title)}-{number}"
        files[f"{name}.service"] = _service(job, environment or {})
        files[f"{name}.timer"] = _timer(job)
    return files


def on_calendar(when: str) -> str:
    """Return five fields of cron as systemd says them: "30 0 * * 0" is "Sun *-*-* 0:30:00"."""
    fields = when.split()
    if len(fields) != 5:
        raise InvalidInput(f"{when!r:.60} is no time of cron: it has five fields, such as 30 0 * * *.")
    minute, hour, day, month = (
        _translated(field, when, start) for field, start in zip(fields, (0, 0, 1, 1), strict=False)
    )
    days = "" if fields[4] == "*" else f"{','.join(_weekday(part, when) for part in fields[4].split(','))} "
    return f"{days}*-{month}-{day} {hour}:{minute}:00"


def write_timers(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Write the files into a folder; return the names of those that changed."""
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder. Make it first; a user's own is ~/.config/systemd/user.")
    changed = []
    for name, text in files.items():
        path = folder / name
        if path.exists() and not _is_ours(path):
            raise InvalidInput(f"{path} is there and not ours. Move it away, or choose another folder.")
        if not path.exists() or path.read_text("utf-8") != text:
            _write(path, text)
            changed.append(name)
    return changed


def remove_timers(folder: Path, *, title: str) -> list[str]:
    """Remove the files of a title from a folder; return their names."""
    found = sorted(
        path
        for path in folder.glob(f"{_name(title)}-*")
        if path.suffix in (".service", ".timer") and path.is_file() and _is_ours(path)
    )
    for path in found:
        try:
            path.unlink()
        except OSError as error:
            raise StoreReadOnly(f"{path} cannot be removed ({error.strerror}).") from error
    return [path.name for path in found]


def _service(job: Job, environment: Mapping[str, str]) -> str:
    command = " ".join(unit_word(part, command=True) for part in (*program(), *job.arguments))
    variables = [f"Environment={unit_word(f'{name}={value}')}" for name, value in environment.items()]
    return "\n".join(
        [
            _OURS,
            "[Unit]",
            f"Description=zomem: {job.about}",
            "",
            "[Service]",
            "Type=oneshot",
            *variables,
            f"ExecStart={command}",
            "NoNewPrivileges=true",
            "PrivateTmp=true",
            "UMask=0077",
            "",
        ]
    )


def _timer(job: Job) -> str:
    return "\n".join(
        [
            _OURS,
            "[Unit]",
            f"Description=zomem: {job.about}",
            "",
            "[Timer]",
            f"OnCalendar={on_calendar(job.when)}",
            "Persistent=true",
            "",
            "[Install]",
            "WantedBy=timers.target",
            "",
        ]
    )


def _translated(field: str, when: str, start: int) -> str:
    return ",".join(_range(part, when, start) for part in field.split(","))


def _range(part: str, when: str, start: int) -> str:
    found = _PART.fullmatch(part)
    if found is None:
        raise InvalidInput(f"{when!r:.60} is no time of cron that a timer can say.")
    first, last, step = found.groups()
    if step is not None:
        return f"{start if first == '*' else first}{f'..{last}' if last else ''}/{step}"
    return first if last is None else f"{first}..{last}"


def _weekday(part: str, when: str) -> str:
    found = _PART.fullmatch(part)
    ends = [] if found is None else [each for each in found.groups()[:2] if each is not None]
    if found is None or found[3] or not all(each.isdigit() and int(each) < len(_DAYS) for each in ends):
        raise InvalidInput(f"{when!r:.60} names a day of the week that a timer cannot say.")
    return "..".join(_DAYS[int(each)] for each in ends)


def unit_word(text: str, *, command: bool = False) -> str:
    """Return a word as a unit of systemd holds it; in a command line a dollar sign stands for a variable."""
    if any(sign in text for sign in "\n\r\0"):
        raise InvalidInput(f"{text!r:.60} holds an end of line, which no unit can.")
    inside = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    inside = inside.replace("$", "$$") if command else inside
    return f'"{inside}"' if inside != text or " " in text or "'" in text or not text else text


def _name(title: str) -> str:
    return _SAFE.sub("-", title.lower()).strip("-")


def _is_ours(path: Path) -> bool:
    try:
        return path.read_text("utf-8", "replace").startswith(_OURS)
    except OSError:
        return False


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreReadOnly(f"{path} cannot be written ({error.strerror}). Choose a folder of yours.") from error
