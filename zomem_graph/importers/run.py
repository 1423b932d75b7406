"""Brings another program's conversations and notes into memory: read, prepare, write, account for each item.

What is read is written in batches, one transaction each. An item that cannot be stored never takes the
others with it, and an import that was cut short goes on where it was when it is started again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from zomem_graph.importers.documents import DocumentLoader, read_documents
from zomem_graph.importers.parts import Parts
from zomem_graph.importers.places import Place, open_place
from zomem_graph.importers.preparing import ReadyNote, ReadyTalk, prepare_note, prepare_talk
from zomem_graph.importers.records import Note, Passed, Read, Talk
from zomem_graph.importers.report import ImportReport, ItemReport, Tally
from zomem_graph.importers.roots import Roots
from zomem_graph.importers.sources import (
    Source,
    detect,
    left_for,
    looks_like,
    read_source,
    source_named,
    taken_by,
)
from zomem_graph.importers.writing import Target, end_note, write_note, write_talk
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import callback, flag
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.stores.errors import (
    InvalidInput,
    StoreDamaged,
    StoreError,
    StoreLocked,
    StoreReadOnly,
)
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.unit import Unit

__all__ = ["Progress", "import_documents", "import_into"]

Progress = Callable[[int, float], None]
"""Told how many items are done, and which part of the files was read, from 0 to 1."""

_BATCH: Final = 300  # messages or pieces in one transaction, about
_SAMPLED: Final = 50  # items that are compared to tell whether a place was moved
_DOCUMENTS: Final = "documents"


def import_into(
    services: Services,
    source: str,
    path: str | Path,
    *,
    scope: Scope | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file, folder or zip and return what became of each item; `source` is of SOURCES or "auto".

    A second import of the same changes nothing. Raises InvalidInput when nothing can be read there at all,
    and StoreError when the store cannot be written; what was stored until then stays.
    """
    chosen = source_named(source)
    callback("progress", progress)
    with open_place(path) as place:
        chosen = chosen or detect(place)
        target = _Import(services, scope_given(scope), chosen.name, chosen.family, dry_run=flag("dry_run", dry_run))
        target.place_at(place, chosen)
        for done in target.take(read_source(chosen, place), place=str(place.path)):
            if progress is not None:
                progress(done, place.fraction)
        report = target.tally.report(ignored=place.ignored)
        if source_named(source) is None:
            return replace(report, others=left_for(place, chosen))
        if not (report.found - report.skipped - report.failed) and (other := looks_like(place, chosen)):
            raise InvalidInput(f"Nothing of {place.path} could be read as {chosen.name}. {taken_by(place, other)}")
        return report


def import_documents(
    services: Services,
    loader: DocumentLoader,
    *,
    scope: Scope | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import what any LangChain document loader loads; each document stands and falls alone."""
    callback("progress", progress)
    target = _Import(services, scope_given(scope), _DOCUMENTS, _DOCUMENTS, dry_run=flag("dry_run", dry_run))
    for done in target.take(read_documents(loader), place=type(loader).__name__):
        if progress is not None:
            progress(done, 0.0)
    return target.tally.report(ignored={})


class _Undone(Exception):
    """Ends the transaction of a dry run, so that nothing of it stays."""


@dataclass(slots=True)
class _Import:
    """One import under way."""

    services: Services
    scope: Scope
    source: str
    family: str
    dry_run: bool = False
    tally: Tally = field(init=False)
    waiting: list[ReadyTalk | ReadyNote] = field(default_factory=list)
    seen: dict[str, list[str]] = field(default_factory=dict)
    place: Place | None = None
    roots: Roots = field(init=False)
    parts: Parts = field(init=False)
    is_whole: bool = True

    def __post_init__(self) -> None:
        self.roots = Roots(self.scope.persona, self.family)
        self.parts = Parts(self.scope.persona, self.family)

    def place_at(self, place: Place, source: Source) -> None:
        """Give a place the name it is known by, also after it was moved or renamed."""
        stores = self.services.stores
        with stores.read() if self.dry_run else stores.write() as unit:
            self.roots.read(unit)
            name = self.roots.name_of(place)
            if name is None:
                name = self.roots.name_before(unit, place, self._sampled(place, source))
                name = name or self.roots.free_name(place)
                self.roots.put(None if self.dry_run else unit, name, place, now=self.services.clock())
        place.name, self.place = name, place

    def _sampled(self, place: Place, source: Source) -> Iterator[tuple[str, str]]:
        """Yield path and fingerprint of the first items of a place that are known by their paths."""
        if not source.by_path:
            return
        for read in islice(source.read(replace(place, ignored=Counter(), passed=[])), _SAMPLED):
            if not isinstance(read, Passed) and (ready := self._ready(read)).count:
                yield read.id.removeprefix(f"{place.name}/"), ready.digest

    def take(self, reads: Iterable[Read], *, place: str) -> Iterator[int]:
        """Prepare and write what is read; yield after each batch how many items are done."""
        self.tally = Tally(self.source, place, dry_run=self.dry_run)
        for read in reads:
            ready = self._prepared(read)
            if isinstance(ready, ItemReport):
                self.tally.add(ready)
                self.is_whole = self.is_whole and ready.outcome != "failed"
                continue
            if isinstance(ready, ReadyNote):
                self.parts.saw(ready)
            self.waiting.append(ready)
            if sum(one.weight for one in self.waiting) >= _BATCH:
                self._write_waiting()
                yield self.tally.found
        self._write_waiting()
        self._end_lost_parts()
        if not self.dry_run:
            self.services.wake_worker()
        yield self.tally.found

    def _prepared(self, read: Read) -> ReadyTalk | ReadyNote | ItemReport:
        if isinstance(read, Passed):
            if read.kind != "note" or read.outcome != "skipped":
                return _passed_over(read)
            empty = Note(id=read.id, names=(read.title,), sections=(), part_of=read.part_of)
            return prepare_note(empty, reason=read.reason)
        ready = self._ready(read)
        if not ready.count:
            return _nothing_left(read, ready) if isinstance(ready, ReadyTalk) else ready
        before = self.seen.setdefault(ready.item, [])
        if ready.digest in before:
            return _passed_over(_there_twice(read))
        before.append(ready.digest)
        if len(before) == 1:
            return ready
        # Another version, or another program's idea of an id: an item of its own in the same session.
        other = replace(ready, item=content_hash(ready.item, str(len(before))))
        return other if isinstance(other, ReadyTalk) else replace(other, source_id=f"{read.id}#{len(before)}")

    def _ready(self, read: Talk | Note) -> ReadyTalk | ReadyNote:
        if isinstance(read, Talk):
            return prepare_talk(read, source=self.source, options=self.services.options.write)
        return prepare_note(read)

    def _has_left(self, id_: str, path: str) -> bool:
        return self.place is not None and self.roots.has_left(self.place, id_, path)

    def _write_waiting(self) -> None:
        waiting, self.waiting = self.waiting, []
        try:
            reports = self._written(waiting)
        except (StoreLocked, StoreReadOnly, StoreDamaged):
            raise
        except (StoreError, InvalidInput):
            reports = [self._written_alone(ready) for ready in waiting]
        for report in reports:
            self.tally.add(report)

    def _written_alone(self, ready: ReadyTalk | ReadyNote) -> ItemReport:
        """Write one item of a batch that failed; if it is the one, say why."""
        try:
            return self._written([ready])[0]
        except (StoreLocked, StoreReadOnly, StoreDamaged):
            raise
        except (StoreError, InvalidInput) as error:
            return _failed(ready, str(error))

    def _written(self, waiting: Sequence[ReadyTalk | ReadyNote]) -> list[ItemReport]:
        target = self._target()
        return self._within(lambda unit: [_write(unit, ready, target) for ready in waiting]) if waiting else []

    def _end_lost_parts(self) -> None:
        """End what a source said in documents that it no longer has, unless some could not be loaded."""
        target = self._target()
        sources = [*self.parts.now] if self.is_whole else []
        for start in range(0, len(sources), _BATCH):
            for report in self._within(partial(self._ended, sources[start : start + _BATCH], target)):
                self.tally.add(report)

    def _ended(self, sources: Iterable[str], target: Target, unit: Unit) -> list[ItemReport]:
        lost = [
            record
            for source in sources
            for record in self.parts.settle(unit, source, now=target.now, dry_run=self.dry_run)
        ]
        return [report for record in lost if (report := end_note(unit, record, target))]

    def _target(self) -> Target:
        return Target(
            services=self.services,
            scope=self.scope,
            source=self.source,
            family=self.family,
            now=self.services.clock(),
            has_left=self._has_left,
            parts=self.parts,
        )

    def _within(self, write: Callable[[Unit], list[ItemReport]]) -> list[ItemReport]:
        """Return what is written in one transaction; in a dry run nothing of it stays."""
        reports: list[ItemReport] = []
        try:
            with self.services.stores.write() as unit:
                reports = write(unit)
                if self.dry_run:
                    raise _Undone
        except _Undone:
            pass
        return reports


def _write(unit: Unit, ready: ReadyTalk | ReadyNote, target: Target) -> ItemReport:
    if isinstance(ready, ReadyTalk):
        return write_talk(unit, ready, target)
    return write_note(unit, ready, target)


def _there_twice(read: Talk | Note) -> Passed:
    return Passed(
        id=read.id,
        title=read.title,
        kind="conversation" if isinstance(read, Talk) else "note",
        outcome="skipped",
        reason="it is there twice",
    )


def _passed_over(read: Passed) -> ItemReport:
    return ItemReport(
        id=read.id,
        title=read.title,
        kind=read.kind,
        outcome=read.outcome,
        reason=read.reason,
        found=sum(read.skipped.values()),
        passed=dict(read.skipped),
    )


def _nothing_left(read: Talk | Note, ready: ReadyTalk) -> ItemReport:
    return ItemReport(
        id=read.id,
        title=read.title,
        kind="conversation",
        outcome="skipped",
        reason="nothing of it can be stored" if ready.passed else "it is empty",
        found=sum(ready.passed.values()),
        redacted=ready.redacted,
        passed=dict(ready.passed),
        warnings=read.warnings,
    )


def _failed(ready: ReadyTalk | ReadyNote, reason: str) -> ItemReport:
    read = ready.talk if isinstance(ready, ReadyTalk) else ready.note
    return ItemReport(
        id=read.id,
        title=read.title,
        kind="conversation" if isinstance(ready, ReadyTalk) else "note",
        outcome="failed",
        reason=reason,
        found=ready.count + sum(ready.passed.values()),
        passed={**ready.passed, "the whole failed": ready.count},
        warnings=read.warnings,
    )
