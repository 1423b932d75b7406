"""The documents of one source, when a loader makes several of it: which there were, and which are gone."""

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from zomem_graph.importers.preparing import ReadyNote
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.records import ImportRecord
from zomem_graph.stores.unit import Unit

__all__ = ["Parts"]

_PARTS: Final = " parts"  # behind a family: its records list the documents of each source


@dataclass(slots=True)
class Parts:
    """What each source of an import was made of the last time, and what it is made of now."""

    persona: str
    family: str
    now: dict[str, dict[str, str]] = field(default_factory=dict)
    before: dict[str, frozenset[str]] = field(default_factory=dict)

    def saw(self, ready: ReadyNote) -> None:
        """Remember a document of a source, with its fingerprint."""
        if ready.note.part_of:
            self.now.setdefault(ready.note.part_of, {})[ready.item] = ready.digest

    def lost(self, unit: Unit, source: str) -> Set[str]:
        """Return the documents that a source had the last time and has not shown yet."""
        if not source:
            return frozenset()
        if source not in self.before:
            record = unit.imports.find(self.persona, self.family + _PARTS, content_hash(source))
            # One that was alone there is known by its source and needs no list.
            before = [content_hash(source)] if record is None else [item for item, _nothing in record.parts]
            self.before[source] = frozenset(before)
        return self.before[source] - self.now.get(source, {}).keys()

    def settle(self, unit: Unit, source: str, *, now: datetime, dry_run: bool) -> Iterator[ImportRecord]:
        """Record what a source is made of now; yield the records of the documents that are gone."""
        items = self.now[source]
        for item in sorted(self.lost(unit, source)):
            record = unit.imports.find(self.persona, self.family, item)
            # In a dry run a document that goes by another name now was not renamed.
            if record is not None and not (dry_run and record.digest in items.values()):
                yield record
        if self.before[source] != items.keys():
            unit.imports.save(
                ImportRecord(
                    persona=self.persona,
                    source=self.family + _PARTS,
                    item=content_hash(source),
                    digest=content_hash(*sorted(items)),
                    parts=[[item, ""] for item in sorted(items)],
                    first_at=now,
                    last_at=now,
                )
            )
