"""What an import did, item by item: nothing that was found goes missing without a reason."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = ["ImportReport", "ItemReport", "Outcome", "Tally"]

_MOST_SHOWN = 20  # of a dry run (spec F103)

Outcome = Literal["stored", "changed", "unchanged", "forgotten", "skipped", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """What became of one conversation or note.

    `found` counts its messages or pieces. `new` of them were stored, `known` were there already, `forgotten`
    were erased once and stay so, and `passed` says how many were left out for which reason: these add up.
    `superseded` counts what the edit took out of recall.
    """

    id: str
    title: str
    kind: str
    outcome: Outcome
    reason: str = ""
    found: int = 0
    new: int = 0
    known: int = 0
    forgotten: int = 0
    superseded: int = 0
    redacted: int = 0
    passed: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    preview: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did: `found` items, and how many of them had which outcome; these add up.

    `turns` and `facts` are new ones; `superseded` were replaced or taken out by an edit; `redacted` secrets
    were cut out. `passed` counts messages and pieces left out, by reason; `ignored` counts files of other
    kinds, and `others` those of them that another source takes, by its name ("auto" takes one). `preview` shows
    the first of what a dry run would store.
    """

    source: str
    place: str
    dry_run: bool = False
    found: int = 0
    stored: int = 0
    changed: int = 0
    unchanged: int = 0
    forgotten: int = 0
    skipped: int = 0
    failed: int = 0
    turns: int = 0
    facts: int = 0
    superseded: int = 0
    redacted: int = 0
    passed: Mapping[str, int] = field(default_factory=dict)
    ignored: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    items: tuple[ItemReport, ...] = ()
    preview: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()


class Tally:
    """Adds up what became of the items."""

    def __init__(self, source: str, place: str, *, dry_run: bool) -> None:
        self._source = source
        self._place = place
        self._dry_run = dry_run
        self._items: list[ItemReport] = []
        self._preview: list[Mapping[str, Any]] = []

    def add(self, item: ItemReport) -> None:
        """Count one item; keep what it would store only for the first few of a dry run."""
        room = _MOST_SHOWN - len(self._preview) if self._dry_run else 0
        self._preview += item.preview[:room]
        self._items.append(replace(item, preview=()))

    @property
    def found(self) -> int:
        """Return how many items there were so far."""
        return len(self._items)

    def report(self, *, ignored: Mapping[str, int]) -> ImportReport:
        """Return the sums."""
        outcomes = Counter(item.outcome for item in self._items)
        passed: Counter[str] = Counter()
        for item in self._items:
            passed.update(item.passed)
        return ImportReport(
            source=self._source,
            place=self._place,
            dry_run=self._dry_run,
            found=len(self._items),
            stored=outcomes["stored"],
            changed=outcomes["changed"],
            unchanged=outcomes["unchanged"],
            forgotten=outcomes["forgotten"],
            skipped=outcomes["skipped"],
            failed=outcomes["failed"],
            turns=sum(item.new for item in self._items if item.kind == "conversation"),
            facts=sum(item.new for item in self._items if item.kind == "note"),
            superseded=sum(item.superseded for item in self._items),
            redacted=sum(item.redacted for item in self._items),
            passed=dict(passed),
            ignored=dict(ignored),
            items=tuple(self._items),
            preview=tuple(self._preview),
            warnings=tuple(f"{item.title}: {line}" for item in self._items for line in item.warnings),
        )
