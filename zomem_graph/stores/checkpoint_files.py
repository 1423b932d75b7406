"""Saved states of a task: HOME/checkpoints/ckpt-XXXXXXXX.json, one file each, readable by their owner only.

A file is whole or not there. What cannot be read is passed over in lists and named when it is asked for.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from zomem_graph.stores.errors import StoreDamaged, StoreReadOnly

__all__ = ["Checkpoint", "list_checkpoints", "new_checkpoint_id", "remove_checkpoints", "save_checkpoint"]

_NAME = re.compile(r"ckpt-[0-9a-f]{8}\.json")
_LARGEST = 16_000_000  # bytes; a checkpoint is a few pages
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a task stands, and what memory showed and left out at that moment (spec F78).

    `kind` is "task" when somebody saved it and "budget" when the prompt was getting full. `facts`,
    `open_loops` and `pending_episodes` are dicts with an id and a text. `token_estimate` is what the facts
    cost, `compressed_from` how many there were.
    """

    id: str
    kind: Literal["task", "budget"]
    persona: str
    thread: str | None
    created_at: datetime
    intent: str
    state: str = ""
    expected_outcome: str = ""
    working_files: Sequence[str] = ()
    facts: Sequence[Mapping[str, Any]] = ()
    open_loops: Sequence[Mapping[str, Any]] = ()
    pending_episodes: Sequence[Mapping[str, Any]] = ()
    token_estimate: int = 0
    compressed_from: int = 0
    compression_ratio: float = 0.0
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The state of the task in a few lines, for a prompt."""
        lines = [
            f"Task: {self.intent}",
            f"State: {self.state}" if self.state else "",
            f"Expected: {self.expected_outcome}" if self.expected_outcome else "",
            f"Files: {', '.join(self.working_files)}" if self.working_files else "",
        ]
        return "\n".join(line for line in lines if line)


def new_checkpoint_id() -> str:
    """Return "ckpt-" and eight hexadecimal digits (spec T15)."""
    return f"ckpt-{uuid4().hex[:8]}"


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint whole and return where; raise StoreReadOnly with the cure."""
    place = folder / f"{checkpoint.id}.json"
    document = {"version": _VERSION, **asdict(checkpoint), "created_at": checkpoint.created_at.isoformat()}
    text = json.dumps(document, indent=2, default=str)  # ASCII, so that any text can be written
    beside = folder / f".{checkpoint.id}.{os.getpid()}.new"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except OSError as error:
        raise StoreReadOnly(f"{place} cannot be written ({error}). Check the rights of {folder}.") from error
    return place


def list_checkpoints(folder: Path, *, strict: bool = False) -> list[Checkpoint]:
    """Return all checkpoints, newest first; with `strict` raise StoreDamaged for one that cannot be read."""
    found = [one for path in _files(folder) if (one := _read(path, strict=strict)) is not None]
    return sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)


def remove_checkpoints(folder: Path, ids: Sequence[str]) -> list[str]:
    """Remove checkpoints and return what could not be removed."""
    left = []
    for one in ids:
        try:
            (folder / f"{one}.json").unlink(missing_ok=True)
        except OSError as error:
            left.append(f"{folder / one}.json could not be removed ({error})")
    return left


def _files(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if _NAME.fullmatch(name):
            yield folder / name


def _read(path: Path, *, strict: bool) -> Checkpoint | None:
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_LARGEST))
        named = {one.name: data[one.name] for one in fields(Checkpoint) if one.name in data}
        return Checkpoint(**{**named, "created_at": _aware(named["created_at"]), "id": path.stem})
    except FileNotFoundError:
        return None  # gone since it was listed
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        if strict:
            raise StoreDamaged(f"{path} cannot be read ({error}). Move it away or restore it from a copy.") from error
        return None


def _aware(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return at
