"""The open Chroma of one process: when to open it, when it is stale, when it is not to be trusted.

An embedded Chroma reads each collection once, at its first use, and never again, so a handle shows the
index as it was when each collection was loaded. All that loads or writes runs under the folder lock.
"""

import os
import platform
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.chroma_client import (
    ChromaClient,
    ChromaCollection,
    IndexDamaged,
    VectorRefused,
    damaged_collections,
    load_chroma,
)
from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import IndexUnavailable, StoreError
from zomem_graph.stores.index_feed import VectorSource, parts_of, read_vector, readable
from zomem_graph.stores.index_meta import EVERYTHING, Edition, IndexMeta
from zomem_graph.stores.lock import Lock

__all__ = ["CURE", "STAMP", "ChromaHandle", "Loaded", "Opened", "prefix_of", "put", "same_direction"]

CURE = "Run `zomem repair` (memory.repair()) to rebuild it from the database; nothing is lost."

_T = TypeVar("_T")
STAMP = "zomem.stamp"  # whose index a folder holds, and how new it is
# Collections loaded at once. Each keeps about five files open, and past a bound of its own (a fifth of the
# allowed files) Chroma drops and reloads collections when it likes, without our lock.
_MOST_LOADED = 64
_FILES_EACH = 16  # allowed of the process's open files for each loaded collection
_PART = 64  # vectors tried together; one by one when any of them is refused
_SAMPLE = 4  # vectors looked at in each of three places when a collection is loaded


@dataclass(slots=True)
class Loaded:
    """One collection as this process has it in memory: what of it, and up to which outbox number."""

    collection: ChromaCollection
    edition: Edition
    seen: int
    empty: bool


@dataclass(slots=True)
class Opened:
    """One open client and what it has loaded. `generation` is None while it may lag or lead."""

    client: ChromaClient
    generation: int | None
    store: str
    file: tuple[int, int] | None
    torn: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, Loaded] = field(default_factory=dict)


class ChromaHandle:
    """Opens, reopens and closes the client; loads collections and checks them."""

    def __init__(self, folder: Path | None, url: str | None, database: Database, lock: Lock) -> None:
        self._folder = folder
        self._url = url
        self._database = database
        self._lock = lock
        self._opened: Opened | None = None
        self._process = os.getpid()
        self._warned_children = False

    @property
    def lock(self) -> Lock:
        """Return the lock of the index; whoever loads or writes holds it."""
        self._leave_to_parent()
        return self._lock

    @property
    def remote(self) -> bool:
        """Return whether the index is on a server, where every client sees every write at once."""
        return self._url is not None

    @property
    def folder(self) -> Path | None:
        """Return the folder of an embedded index."""
        return None if self.remote else self._folder

    def opened(self) -> Opened | None:
        """Return what this process has open, if anything."""
        self._leave_to_parent()
        return self._opened

    def prepare(self) -> None:
        """Load Chroma before a lock is held; raise IndexUnavailable in a child that cannot use it."""
        load_chroma(remote=self.remote)

    def current(self) -> Opened:
        """Return the open client, opening it when there is none or its folder was replaced."""
        opened = self.opened()
        if opened is None or opened.file != self._file():
            opened = self.reopen()
        return opened

    def reopen(self) -> Opened:
        """Close and open: whatever is loaded next is as the disk has it."""
        self.close()
        self.prepare()
        self._warn_children()
        try:
            self._opened = self._open()
        except IndexDamaged as error:
            self.mark(EVERYTHING, str(error))
            raise IndexDamaged(f"{error} {CURE}") from error
        return self._opened

    def close(self) -> None:
        """Close the client of this process, if there is one."""
        opened, self._opened = self.opened(), None
        if opened is not None:
            opened.client.close()

    def physical(self, opened: Opened, name: str, edition: Edition) -> str:
        """Return the name a collection has inside Chroma: the store's, so that stores can share a server."""
        return f"{prefix_of(opened.store)}{name}-{edition.number}"

    def touch(self, name: str, edition: Edition, *, applied: int, probe: bool = True) -> Loaded:
        """Return a collection, loaded and probed; raise IndexDamaged when it is not what it should be."""
        opened = self._with_room(name)
        loaded = opened.loaded.get(name)
        if loaded is not None and loaded.edition.number == edition.number:
            return loaded
        place = self.physical(opened, name, edition)
        if place in opened.torn:
            raise IndexDamaged(f"Collection {name} is damaged: {opened.torn[place]}.")
        collection = opened.client.find(place)
        if collection is None:
            raise IndexDamaged(f"Collection {name} is gone from the index.")
        count = collection.count()
        if count and probe:
            self._probe(name, collection, count)
        opened.loaded[name] = Loaded(collection, edition, applied, empty=not count and not self.remote)
        return opened.loaded[name]

    def make(self, name: str, edition: Edition, *, applied: int) -> Loaded:
        """Return a new edition of a collection; the one that serves stays until `switch`."""
        opened = self._with_room(name)
        place = self.physical(opened, name, edition)
        opened.loaded[place] = Loaded(opened.client.make(place), edition, applied, empty=True)
        return opened.loaded[place]

    def switch(self, name: str, loaded: Loaded) -> None:
        """Have a new edition serve from now on."""
        opened = self.current()
        opened.loaded.pop(loaded.collection.name, None)
        opened.loaded[name] = loaded

    def retried(self, name: str, attempt: Callable[[], _T]) -> _T:
        """Run; when the index seems damaged reopen it and run once more, then mark it and raise."""
        try:
            return attempt()
        except IndexDamaged:
            self.reopen()
        try:
            return attempt()
        except IndexDamaged as error:
            self.mark(name, str(error))
            raise IndexDamaged(f"{error} {CURE}") from error

    def mark(self, name: str, reason: str) -> None:
        """Have every process distrust a collection until it is rebuilt."""
        with suppress(StoreError):  # then the next one to notice marks it
            with self._database.write() as connection:
                IndexMeta(connection, self._database.dialect).set_fault(name, reason)

    def begin(self, store: str, generation: int) -> None:
        """Prepare for a committed generation: from here the index may be ahead of what is settled."""
        opened = self.current()
        opened.generation = None
        opened.store = store
        self.stamp(store, generation)

    def stamp(self, store: str, generation: int) -> None:
        """Write beside the index whose it is and how new, so that a replaced one is noticed."""
        if self.folder is None:
            return
        new = self.folder / f"{STAMP}.new"
        try:
            new.write_text(f"{store} {generation}\n", "ascii")
            new.chmod(0o600)
            os.replace(new, self.folder / STAMP)
        except OSError as error:
            raise IndexUnavailable(f"{self.folder} cannot be written ({error}). Check its permissions.") from error

    def settled(self, editions: Mapping[str, Edition], *, applied: int) -> None:
        """Take note that what this process has loaded now holds these editions."""
        opened = self.opened()
        for name, edition in editions.items():
            loaded = opened.loaded.get(name) if opened else None
            if loaded is not None and loaded.edition.number == edition.number:
                loaded.edition, loaded.seen = edition, applied

    def end(self, generation: int | None) -> None:
        """Say which generation the open client is at; None makes the next feeder reopen it."""
        opened = self.opened()
        if opened is not None:
            opened.generation = generation

    def _leave_to_parent(self) -> None:
        """Let go of what a fork inherited: the client, and a lock that belongs to the parent."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        opened, self._opened = self._opened, None
        self._lock = self._lock.fresh()
        if opened is not None:
            opened.client.abandon()

    def _warn_children(self) -> None:
        """Have even a child that never uses the index let go of it, or it would hang when it exits."""
        if not self._warned_children and hasattr(os, "register_at_fork"):
            self._warned_children = True
            myself = weakref.WeakMethod(self._leave_to_parent)  # or no handle would ever be freed
            os.register_at_fork(after_in_child=lambda: (leave := myself()) and leave())

    def _open(self) -> Opened:
        with self._database.read() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            store, generation, fed = meta.store_id(), meta.generation(), meta.fed()
        if self._url is not None:
            return Opened(ChromaClient.on_server(self._url), generation, store, None)
        if self._folder is None:
            raise IndexUnavailable("There is neither a folder nor a server for the index. Open the memory with one.")
        if self._folder.exists() and not self._folder.is_dir():
            raise IndexDamaged(f"{self._folder} is a file and not the folder of the index.")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"{self._folder} cannot be made ({error}). Check its permissions.") from error
        self.check_place()
        self._check_stamp(self._folder, store, fed=fed, generation=generation)
        torn = damaged_collections(self._folder)
        client = ChromaClient.in_folder(self._folder)
        return Opened(client, generation, store, self._file(), torn)

    def check_place(self) -> None:
        """Refuse an index in a folder here when the database's index is in one elsewhere: each would miss changes."""
        if self.folder is None or not self._database.shared:
            return
        with self._database.read() as connection:
            place = IndexMeta(connection, self._database.dialect).place()
        if place is None:
            place = self._claim()
        elif place != self._place and self._is_current(self.folder):
            place = self._claim(anew=True)  # the folder or its machine has another name now
        if place != self._place:
            raise IndexUnavailable(
                f"The index of this database is in {place}; here the stored vectors are compared one by one. For "
                "several homes on one database start a Chroma server and set ZOMEM_CHROMA_URL in each. If that home "
                "is gone, run `zomem repair` here."
            )

    def take_over(self) -> None:
        """Have the index be in the folder here from now on."""
        if self.folder is not None and self._database.shared:
            self._claim(anew=True)

    def _claim(self, *, anew: bool = False) -> str:
        with self._database.write() as connection:
            return IndexMeta(connection, self._database.dialect).claim(self._place, anew=anew)

    @property
    def _place(self) -> str:
        return f"{platform.node()}:{self._folder.resolve() if self._folder else None}"

    def _is_current(self, folder: Path) -> bool:
        """Return whether the folder holds this database's index as it was fed last."""
        with self._database.read() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            store, generation, fed = meta.store_id(), meta.generation(), meta.fed()
        return bool(fed) and _stamped(folder, store, fed=fed, generation=generation)

    def _check_stamp(self, folder: Path, store: str, *, fed: int, generation: int) -> None:
        """Refuse a folder of another store, an older copy of ours, and one newer than the database."""
        if not fed:
            return
        if not _stamped(folder, store, fed=fed, generation=generation):
            raise IndexDamaged(
                f"The index in {folder} does not belong to this database as it is now: one of them was "
                "removed, replaced or restored."
            )

    def _file(self) -> tuple[int, int] | None:
        """Return which file the index is in, so that a replaced folder is noticed."""
        if self.folder is None:
            return None
        try:
            status = (self.folder / "chroma.sqlite3").stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_dev, status.st_ino)

    def _with_room(self, name: str) -> Opened:
        """Return the open client, opened anew when it has loaded as much as it may."""
        opened = self.current()
        if not self.remote and name not in opened.loaded and len(opened.loaded) >= most_loaded():
            generation = opened.generation
            opened = self.reopen()
            opened.generation = generation
        return opened

    def _probe(self, name: str, collection: ChromaCollection, count: int) -> None:
        """Compare a few vectors with the database, and ask for one of them; this also loads the index."""
        offsets = sorted({0, count // 2, max(0, count - _SAMPLE)})
        sample = dict(pair for offset in offsets for pair in collection.page(limit=_SAMPLE, offset=offset))
        with self._database.read() as connection:
            applied = IndexMeta(connection, self._database.dialect).applied()
            stored = VectorSource(connection).find(sample)
        for item_id, vector in sample.items():
            known = stored.get(item_id)
            if known is None or known.collection != name or known.vec_seq is None or known.vec_seq > applied:
                continue  # the database is ahead of the index here
            expected = read_vector(known.embedding)
            if isinstance(expected, str) or not same_direction(vector, expected):
                raise IndexDamaged(f"Collection {name} holds another vector for {item_id} than the database.")
        asked = next(reversed(sample.values()))
        found = collection.query(asked, 1)
        if np.any(asked) and (not found or found[0][1] < 0.999):
            raise IndexDamaged(f"Collection {name} does not find one of its own vectors.")


def _stamped(folder: Path, store: str, *, fed: int, generation: int) -> bool:
    """Return whether a folder is stamped as this store's, no older than what was fed and no newer than the store."""
    try:
        whose, number = (folder / STAMP).read_text("ascii").split()
        return whose == store and fed <= int(number) <= generation
    except (OSError, ValueError):
        return False


def put(loaded: Loaded, stored: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Put stored vectors into a collection; return those that cannot go in with the reason."""
    vectors, refused = readable(stored)
    for part in parts_of(vectors, _PART):
        try:
            _upsert(loaded, part)
        except VectorRefused:
            for one in part:
                try:
                    _upsert(loaded, [one])
                except VectorRefused as error:
                    refused[one[0]] = str(error)
    return refused


def _upsert(loaded: Loaded, vectors: Sequence[tuple[str, NDArray[np.float32]]]) -> None:
    loaded.collection.upsert([item_id for item_id, _vector in vectors], [vector for _id, vector in vectors])
    loaded.empty = False


def prefix_of(store: str) -> str:
    """Return how the names of a store's collections begin inside Chroma."""
    return f"z{store}-"


def most_loaded() -> int:
    """Return how many collections may be loaded at once under this process's limit of open files."""
    try:
        import resource
    except ImportError:  # Windows has no such limit to ask for
        return _MOST_LOADED
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(4, min(_MOST_LOADED, soft // _FILES_EACH)) if soft > 0 else _MOST_LOADED


def same_direction(left: NDArray[np.float32], right: NDArray[np.float32]) -> bool:
    """Return whether two vectors are the same but for length and rounding."""
    if left.shape != right.shape:
        return False
    norms = float(np.linalg.norm(left)), float(np.linalg.norm(right))
    if not all(norms):
        return norms[0] == norms[1]
    return bool(np.abs(left / norms[0] - right / norms[1]).max() < 1e-4)
