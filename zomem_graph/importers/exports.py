"""The entries of export files, one at a time, with everything that can go wrong told once and for all."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from zomem_graph.importers.json_stream import BrokenJson, JsonValues, TooLarge
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Passed
from zomem_graph.stores.errors import InvalidInput

__all__ = ["Entry", "entries"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of an export's list: its value, and its place in words for messages."""

    value: Any
    file: File
    number: int

    @property
    def where(self) -> str:
        """Say which one it is."""
        return f"number {self.number} of {self.file.name}"


def entries(
    place: Place,
    files: Collection[File],
    *,
    lists: Collection[str],
    kind: Literal["conversation", "note", "file"],
) -> Iterator[Entry | Passed]:
    """Yield what the files hold; what is no object, too large or cut off is passed over."""
    for file in files:
        number = 0
        try:
            with place.reading(file) as stream:
                for value in JsonValues(stream, lists=lists):
                    number += 1
                    entry = Entry(value, file, number)
                    yield entry if isinstance(value, dict) else _unusable(entry, kind)
        except BrokenJson as error:
            rest = f"; the {number} before it were read, the rest is lost" if number else ""
            yield _failed(file.name, file.name, "file", f"{error}{rest}")
        except (InvalidInput, OSError) as error:
            yield _failed(file.name, file.name, "file", str(getattr(error, "strerror", None) or error))


def _unusable(entry: Entry, kind: Literal["conversation", "note", "file"]) -> Passed:
    value = entry.value
    reason = f"is {value.reason}" if isinstance(value, TooLarge) else "is no object"
    return _failed(f"{entry.file.name}#{entry.number}", entry.where, kind, reason)


def _failed(name: str, title: str, kind: Any, reason: str) -> Passed:
    return Passed(id=name, title=title, kind=kind, outcome="failed", reason=reason)
