"""Checking the Chroma index against the database, making it anew, and clearing what nobody asks for.

The database holds every vector, so nothing here computes one and nothing can be lost by it. All of it
runs under the folder lock.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.chroma_client import IndexDamaged, orphan_folders, wipe_free_pages
from zomem_graph.stores.chroma_handle import ChromaHandle, Loaded, Opened, prefix_of, put, same_direction
from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import IndexUnavailable
from zomem_graph.stores.index_feed import (
    MOST_TRIES,
    Feed,
    Space,
    StoredVector,
    VectorSource,
    bring_back,
    read_vector,
    set_aside,
)
from zomem_graph.stores.index_meta import EVERYTHING, Edition, IndexMeta, Refusal
from zomem_graph.stores.vector_index import CollectionReport, IndexReport, Progress, Pruned, Rebuilt

__all__ = ["ChromaUpkeep"]

_PAGE = 500  # vectors read or compared at a time
_WAIT_SECONDS = 30.0
_NOTE_FILE = "NOTE.txt"
_NOTE = """This folder was the vector index of a zomem home. It was damaged, or belonged to another
database, so a new index was made from the database and this one was moved here.
Nothing reads it any more. The next rebuild deletes it; move it elsewhere to keep it.
"""


class ChromaUpkeep:
    """Verify, rebuild and prune over one handle."""

    def __init__(self, handle: ChromaHandle, database: Database) -> None:
        self._handle = handle
        self._database = database
        self._feed = Feed(database)

    def verify(self) -> IndexReport:
        """Compare the whole index with the database; mark collections that lack or misstate vectors."""
        with self._locked():
            with self._reading() as (meta, source):
                spaces, editions = source.spaces(), meta.editions()
                names, waiting, faults = sorted({*spaces, *editions}), source.waiting(), meta.faults()
                try:
                    strays = self._strays(self._handle.reopen(), editions)
                    reports = [
                        self._compare(name, spaces.get(name), editions.get(name), source, waiting) for name in names
                    ]
                except IndexDamaged as error:
                    strays = []
                    reports = [CollectionReport(collection=name, expected=0, fault=str(error)) for name in names]
                finally:
                    self._handle.close()  # what was loaded here was not probed
            self._note(reports, faults)
            return IndexReport(tuple(reports), tuple(strays))

    def rebuild(self, collections: Sequence[str] | None, *, progress: Progress | None) -> Rebuilt:
        """Make collections anew, one after the other, each behind its own switch."""
        with self._locked():
            moved = self._usable_folder()
            with self._reading() as (meta, source):
                spaces = source.spaces()
                known = {*spaces, *meta.editions(), *meta.faults()}
                names = sorted(known if collections is None or moved else known & set(collections))
                total = sum(source.count(spaces[name]) for name in names if name in spaces)
        done = 0
        for name in names:
            with self._locked():
                for count in self._rebuild_one(name, spaces.get(name) or self._space(name)):
                    done += count
                    if progress:
                        progress(done, max(done, total))
        self.prune_orphans()
        self._erase_traces(moved)
        return Rebuilt(tuple(names), done, moved)

    def prune_orphans(self) -> Pruned:
        """Remove vectors, collections and folders that nothing in the database asks for.

        What a process left behind that died half way is among them; then the index counts as fed to its end.
        """
        with self._locked():
            self._up_to_date()
            with self._reading() as (meta, source):
                spaces, editions = source.spaces(), meta.editions()
                faults, waiting = meta.faults(), source.waiting()
                orphans: dict[str, list[str]] = {}
                for name in editions.keys() - faults.keys():
                    orphans[name] = self._orphans(name, editions[name], spaces.get(name), source, waiting)
            vectors = self._remove({name: ids for name, ids in orphans.items() if ids}, editions)
            opened = self._handle.current()
            strays = self._strays(opened, editions)
            for place in strays:
                opened.client.drop(place)
            self._end_what_died()
            return Pruned(vectors, len(strays), self._sweep())

    def _end_what_died(self) -> None:
        if not self._feed.unfinished():
            return
        generation, store = self._feed.announce()
        self._handle.begin(store, generation)
        with self._database.write() as connection:
            IndexMeta(connection, self._database.dialect).set_fed(generation)
        self._handle.end(generation)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._handle.prepare()
        with self._handle.lock.held(wait_seconds=_WAIT_SECONDS):
            yield

    @contextmanager
    def _reading(self) -> Iterator[tuple[IndexMeta, VectorSource]]:
        with self._database.read() as connection:
            yield IndexMeta(connection, self._database.dialect), VectorSource(connection)

    def _space(self, name: str) -> Space | None:
        with self._reading() as (_meta, source):
            return source.spaces().get(name)

    def _up_to_date(self) -> Opened:
        """Return the open client, opened anew when another process fed the index since."""
        with self._reading() as (meta, _source):
            generation = meta.generation()
        opened = self._handle.current()
        return opened if opened.generation == generation else self._handle.reopen()

    def _compare(
        self, name: str, space: Space | None, edition: Edition | None, source: VectorSource, waiting: set[str]
    ) -> CollectionReport:
        expected = source.ids(space) if space else set()
        found: set[str] = set()
        wrong: list[str] = []
        fault = None
        try:
            for page in self._pages(name, edition):
                stored = source.find(dict(page))
                for item_id, vector in page:
                    found.add(item_id)
                    if item_id in expected and not _agrees(vector, stored.get(item_id)):
                        wrong.append(item_id)
        except IndexDamaged as error:
            fault = str(error)
        return CollectionReport(
            collection=name,
            expected=len(expected),
            missing=tuple(sorted(expected - found - waiting)) if fault is None else (),
            orphaned=tuple(sorted(found - expected - waiting)),
            wrong=tuple(item_id for item_id in wrong if item_id not in waiting),
            fault=fault,
        )

    def _pages(self, name: str, edition: Edition | None) -> Iterator[list[tuple[str, NDArray[np.float32]]]]:
        """Yield a collection's ids and vectors; nothing when it was never fed."""
        if edition is None:
            return
        collection = self._handle.touch(name, edition, applied=0, probe=False).collection
        offset = 0
        while page := collection.page(limit=_PAGE, offset=offset):
            offset += len(page)
            yield page

    def _note(self, reports: Sequence[CollectionReport], faults: Mapping[str, str]) -> None:
        for report in reports:
            if report.missing or report.wrong or report.fault:
                self._handle.mark(report.collection, report.fault or _said_of(report))
        sound = [report.collection for report in reports if report.sound and report.collection in faults]
        if sound:
            with self._database.write() as connection:
                IndexMeta(connection, self._database.dialect).clear_faults(sound)

    def _strays(self, opened: Opened, editions: Mapping[str, Edition]) -> list[str]:
        """Return collections of this store, by their names inside Chroma, that serve no more."""
        if not opened.store:
            return []
        serving = {self._handle.physical(opened, name, edition) for name, edition in editions.items()}
        return [place for place in opened.client.names(prefix_of(opened.store)) if place not in serving]

    def _usable_folder(self) -> Path | None:
        """Open the index; when it cannot be trusted as a whole, begin a new one and return where it went."""
        with self._reading() as (meta, _source):
            whole = EVERYTHING in meta.faults()
        if not whole:
            try:
                self._handle.reopen()
            except IndexDamaged:
                whole = True
        if not whole:
            return None
        self._handle.close()
        moved = self._move_away()
        generation, store = self._feed.announce()
        self._handle.stamp(store, generation)
        with self._database.write() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            for name in {*VectorSource(connection).spaces(), *meta.editions()}:
                meta.set_fault(name, f"Collection {name} waits for its rebuild.")
            meta.clear_faults([EVERYTHING])
        return moved

    def _move_away(self) -> Path | None:
        folder = self._handle.folder
        if folder is None:
            return None
        target = _beside(folder)
        try:
            if folder.exists() and (folder.is_file() or any(folder.iterdir())):
                if target.is_dir():
                    shutil.rmtree(target)
                folder.replace(target)
                if target.is_dir():
                    (target / _NOTE_FILE).write_text(_NOTE, "ascii")
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"{folder} cannot be moved away ({error}). Remove it, then try again.") from error
        return target

    def _erase_traces(self, moved: Path | None) -> None:
        """Leave nothing of vectors erased before: in free pages, nor in a folder moved away earlier."""
        folder = self._handle.folder
        if folder is None:
            return
        with self._locked():
            self._handle.close()
            wipe_free_pages(folder)
            earlier = _beside(folder)
            if moved is None and (earlier / _NOTE_FILE).exists():
                shutil.rmtree(earlier, ignore_errors=True)

    def _rebuild_one(self, name: str, space: Space | None) -> Iterator[int]:
        """Fill a new edition from the database, then switch to it; yield how many vectors went in."""
        self._up_to_date()
        generation, store = self._feed.announce()
        complete = None
        try:
            self._handle.begin(store, generation)
            with self._reading() as (meta, _source):
                before, applied = meta.editions([name]).get(name), meta.applied()
            edition = Edition(generation)
            filled = _Filled()
            if space is not None:
                loaded = self._handle.make(name, edition, applied=applied)
                for page in self._stored_pages(space):
                    filled.add(page, loaded)
                    yield len(page)
                self._switch(name, edition, filled, generation)
                self._handle.switch(name, loaded)
            else:
                self._switch(name, None, filled, generation)
            if before is not None:
                opened = self._handle.current()
                with suppress(IndexDamaged):  # then it is a stray, for prune_orphans
                    opened.client.drop(self._handle.physical(opened, name, before))
            complete = generation
        finally:
            self._handle.end(complete)

    def _stored_pages(self, space: Space) -> Iterator[list[StoredVector]]:
        after = -1
        while True:
            with self._reading() as (_meta, source):
                page = source.page(space, after=after, size=_PAGE)
            if not page:
                return
            after = page[-1].num
            yield page

    def _switch(self, name: str, edition: Edition | None, filled: "_Filled", generation: int) -> None:
        """Record the new edition, and what was refused on the way, in one transaction."""
        with self._database.write() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            if edition is None:
                meta.forget_editions([name])
            else:
                meta.set_editions({name: edition})
            meta.clear_faults([name])
            meta.clear_refusals(r.item_id for r in meta.refusals() if r.collection == name)
            meta.set_refusals(
                Refusal(item_id=item_id, collection=name, reason=reason, tries=MOST_TRIES, aside=True)
                for item_id, reason in filled.refused.items()
            )
            set_aside(connection, filled.refused, up_to=filled.highest)
            bring_back(connection, filled.restored)
            meta.set_fed(generation)

    def _orphans(
        self, name: str, edition: Edition, space: Space | None, source: VectorSource, waiting: set[str]
    ) -> list[str]:
        expected = source.ids(space) if space else set()
        orphans: list[str] = []
        try:
            collection = self._handle.touch(name, edition, applied=0, probe=False).collection
            offset = 0
            while page := collection.ids(limit=_PAGE, offset=offset):
                offset += len(page)
                orphans.extend(item_id for item_id in page if item_id not in expected and item_id not in waiting)
        except IndexDamaged as error:
            self._handle.mark(name, str(error))
        return orphans

    def _remove(self, orphans: Mapping[str, Sequence[str]], editions: Mapping[str, Edition]) -> int:
        if not orphans:
            return 0
        generation, store = self._feed.announce()
        complete = None
        try:
            self._handle.begin(store, generation)
            changed: dict[str, Edition] = {}
            for name, ids in orphans.items():
                before = editions[name]
                self._handle.touch(name, before, applied=0, probe=False).collection.remove(ids)
                changed[name] = Edition(before.number, before.changes + len(ids))
            with self._database.write() as connection:
                meta = IndexMeta(connection, self._database.dialect)
                meta.set_editions(changed)
                meta.set_fed(generation)
            complete = generation
        finally:
            self._handle.end(complete)
        return sum(len(ids) for ids in orphans.values())

    def _sweep(self) -> int:
        """Remove folders of vectors that no collection owns; also drops what was loaded unprobed."""
        self._handle.close()
        folder = self._handle.folder
        if folder is None or not folder.is_dir():
            return 0
        orphans = orphan_folders(folder)
        for path in orphans:
            shutil.rmtree(path, ignore_errors=True)
        return len(orphans)


@dataclass(slots=True)
class _Filled:
    """What went into a new edition: refused vectors with the reason, and items no longer set aside."""

    refused: dict[str, str] = field(default_factory=dict)
    restored: list[str] = field(default_factory=list)
    highest: int = 0

    def add(self, page: Sequence[StoredVector], loaded: Loaded) -> None:
        """Put one page of stored vectors in."""
        refused = put(loaded, [(stored.item_id, stored.embedding) for stored in page])
        self.refused |= refused
        self.restored += [s.item_id for s in page if s.vec_seq is None and s.item_id not in refused]
        self.highest = max([self.highest, *(stored.vec_seq or 0 for stored in page)])


def _beside(folder: Path) -> Path:
    """Return where an unusable folder is moved."""
    return folder.with_name(f"{folder.name}-damaged")


def _agrees(vector: NDArray[np.float32], stored: StoredVector | None) -> bool:
    if stored is None:
        return False
    expected = read_vector(stored.embedding)
    return not isinstance(expected, str) and same_direction(vector, expected)


def _said_of(report: CollectionReport) -> str:
    return (
        f"Collection {report.collection} lacks {len(report.missing)} vectors and holds {len(report.wrong)} "
        f"that differ from the database, of {report.expected}."
    )
