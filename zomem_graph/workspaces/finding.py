"""Which files of a workspace are worth reading (spec F45): found by name and size, nothing is opened here."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from zomem_graph.stores.errors import InvalidInput

__all__ = ["Artifact", "Found", "find_artifacts"]

_CONVERSATIONS: Final = "con_*"
_ENDINGS: Final = frozenset({".md", ".txt", ".json"})
_SMALLEST, _LARGEST = 200, 500_000  # bytes
_SKIPPED_FOLDERS: Final = frozenset(
    {"browser_agent", "email_attachment", "lib64", "node_modules", "read_webpage", "site-packages", "venv"}
)
_SKIPPED_FILES: Final = frozenset(
    {"composer.json", "jsconfig.json", "package-lock.json", "package.json", "pipfile.lock.json", "tsconfig.json"}
)
_PACKAGES: Final = (".dist-info", ".egg-info")
_LOCKS: Final = ("-lock.json", ".lock.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One file of a conversation's folder. `name` is its path in that folder, with forward slashes."""

    conversation: str
    name: str
    path: Path
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The files worth reading, newest first, and how many were passed over for which reason."""

    artifacts: tuple[Artifact, ...]
    passed: dict[str, int]


def find_artifacts(roots: Sequence[str | Path], *, since: datetime | None = None) -> Found:
    """Look through folders of conversations for files that changed since a time, any time for None.

    A root holds folders named `con_…`, or is itself the folder of one conversation. Links are not followed.
    Raises InvalidInput when a root is no folder.
    """
    passed: Counter[str] = Counter()
    artifacts = [
        found
        for folder in dict.fromkeys(folder for root in roots for folder in _conversations(Path(root).expanduser()))
        for found in _in_folder(folder, passed)
        if since is None or found.modified >= since or _counted(passed, "older than asked for")
    ]
    newest_first = sorted(artifacts, key=lambda each: (-each.modified.timestamp(), str(each.path)))
    return Found(artifacts=tuple(newest_first), passed=dict(passed))


def _conversations(root: Path) -> list[Path]:
    if not root.is_dir():
        raise InvalidInput(f"{root} is no folder. Name one that holds {_CONVERSATIONS} folders, or one of these.")
    inside = sorted(each for each in root.glob(_CONVERSATIONS) if each.is_dir() and not each.is_symlink())
    return [each.absolute() for each in inside or [root]]


def _in_folder(folder: Path, passed: Counter[str]) -> Iterator[Artifact]:
    for here, folders, files in os.walk(folder):
        kept = [each for each in folders if not _is_skipped(each)]
        passed["in a folder that is skipped"] += len(folders) - len(kept)
        folders[:] = kept
        for file in files:
            path = Path(here, file)
            reason, artifact = _judged(path, folder)
            if artifact is not None:
                yield artifact
            else:
                passed[reason] += 1
    passed += Counter()  # drops what is zero


def _judged(path: Path, folder: Path) -> tuple[str, Artifact | None]:
    name = path.name.lower()
    if name.startswith("."):
        return "hidden", None
    if path.suffix.lower() not in _ENDINGS:
        return "not .md, .txt or .json", None
    if name in _SKIPPED_FILES or name.endswith(_LOCKS):
        return "a package or lock file", None
    if path.is_symlink():
        return "a link", None
    try:
        state = path.stat()
    except OSError:
        return "cannot be read", None
    if not _SMALLEST <= state.st_size <= _LARGEST:
        return "smaller than 200 bytes" if state.st_size < _SMALLEST else "larger than 500 KB", None
    return "", Artifact(
        conversation=folder.name,
        name=path.relative_to(folder).as_posix(),
        path=path,
        size=state.st_size,
        modified=datetime.fromtimestamp(state.st_mtime, UTC),
    )


def _is_skipped(folder: str) -> bool:
    return folder.startswith(".") or folder.lower() in _SKIPPED_FOLDERS or folder.lower().endswith(_PACKAGES)


def _counted(passed: Counter[str], reason: str) -> bool:
    passed[reason] += 1
    return False
