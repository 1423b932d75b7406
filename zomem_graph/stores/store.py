"""All stores of one home behind one door: open it, take a unit of work, close it."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock as ThreadLock
from typing import TYPE_CHECKING

from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import Closed, InvalidInput, StoreDamaged, StoreError, StoreReadOnly
from zomem_graph.stores.lock import FolderLock, Lock
from zomem_graph.stores.metrics import Ledger, Note
from zomem_graph.stores.schema import prepare
from zomem_graph.stores.unit import Unit

if TYPE_CHECKING:
    from zomem_graph.stores.chroma_index import ChromaIndex

__all__ = ["Home", "Stores"]


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one memory and the places inside it."""

    root: Path
    database_file: Path
    checkpoint_folder: Path | None = None

    @property
    def checkpoints(self) -> Path:
        """Where saved states of tasks are."""
        return self.checkpoint_folder or self.root / "checkpoints"

    @property
    def chroma(self) -> Path:
        """Where the vector index lives; it may be thrown away."""
        return self.root / "chroma"

    @property
    def call_log(self) -> Path:
        """Where the calls of models are written down; a full one moves aside as `….1`."""
        return self.root / "model-calls.jsonl"

    @property
    def backups(self) -> Path:
        """Where copies from before migrations and maintenance go."""
        return self.root / "backups"

    @property
    def personas(self) -> Path:
        """Where the persona files are."""
        return self.root / "personas"

    @property
    def models(self) -> Path:
        """Where fetched model files are."""
        return self.root / "models"

    @property
    def lock_file(self) -> Path:
        """The file whose system lock serialises migrations and the index."""
        return self.root / "zomem.lock"

    @property
    def maintenance_lock_file(self) -> Path:
        """The file whose system lock lets one run of maintenance through."""
        return self.root / "maintenance.lock"

    def make(self, *, with_database: bool = True) -> None:
        """Create the folder and the empty file, readable by their owner only; raise StoreReadOnly with the cure."""
        if not _is_text(str(self.root)):
            raise InvalidInput(
                f"{str(self.root)!r} cannot be used as a home: its name is no UTF-8 text. "
                "Choose another folder with --home or ZOMEM_HOME."
            )
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            if with_database:
                self.database_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if with_database and not self.database_file.exists():
                os.close(os.open(self.database_file, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StoreReadOnly(
                f"{str(self.root)!r} cannot be used as a home: {_why(error)}. "
                "Choose another folder with --home or ZOMEM_HOME."
            ) from error


def _is_text(name: str) -> bool:
    """Return whether a name can be written as UTF-8; a file's name may be any bytes, a database's address not."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _why(error: OSError) -> str:
    """Return in plain words why a folder cannot be made or written."""
    place = repr(error.filename) if error.filename else "it"
    match error.errno:
        case errno.EEXIST | errno.ENOTDIR:
            return f"{place} is a file or lies in one, not in a folder"
        case errno.EACCES | errno.EPERM:
            return f"you have no permission to write {place}"
        case errno.EROFS:
            return f"{place} is on a disk that is read only"
        case errno.ENOSPC:
            return "the disk is full"
        case errno.ENOENT:
            return f"{place} cannot be made there"
        case errno.ENAMETOOLONG:
            return "its name is too long"
        case _:
            return error.strerror or str(error)


class Stores:
    """The database, the vector index and the lock of one home."""

    def __init__(
        self, home: Home, database: Database, lock: Lock, index_lock: Lock, *, chroma_url: str | None = None
    ) -> None:
        self.home = home
        self.database = database
        self.lock = lock
        self.index_lock = index_lock
        self.ledger = Ledger()
        self._trimmed = False
        self._chroma_url = chroma_url
        self._index: ChromaIndex | None = None
        self._closed = False
        self._turn = ThreadLock()
        # Python computes one search at a time whatever we do; side by side on one file they only take the pages out
        # of each other's caches (docs/benchmarks.md, Ways in). A server answers others while one waits.
        self.in_turn: AbstractContextManager[object] = nullcontext() if database.shared else ThreadLock()

    @classmethod
    def open(
        cls,
        home: Home,
        *,
        database_url: str | None = None,
        chroma_url: str | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> "Stores":
        """Open or create a home; bring its schema up to date under the lock."""
        if database_url is None:
            _refuse_what_is_no_file(home)
            _refuse_an_empty_database(home)
        home.make(with_database=database_url is None)
        database = Database(database_url or f"sqlite:///{home.database_file}")
        lock = database.lock(home.lock_file)
        try:
            prepare(database, lock=lock, backups=home.backups, now=now())
        except StoreError:
            database.close()
            raise
        # An index in a folder is used by this machine alone, whoever else uses the database.
        alone = isinstance(lock, FolderLock) or chroma_url is not None
        feeding = lock if alone else FolderLock(home.lock_file)
        return cls(home, database, lock, feeding, chroma_url=chroma_url)

    def check_open(self) -> None:
        """Raise Closed when these were closed."""
        if self._closed:
            raise Closed("This memory was closed. Open it again with Memory.open(home).")

    @property
    def index(self) -> "ChromaIndex":
        """The vector index, made when it is first asked for. Raises Closed."""
        from zomem_graph.stores.chroma_index import ChromaIndex

        with self._turn:
            self.check_open()
            if self._index is None:
                folder = None if self._chroma_url else self.home.chroma
                self._index = ChromaIndex(folder, self._chroma_url, self.database, self.index_lock)
            return self._index

    @contextmanager
    def read(self) -> Iterator[Unit]:
        """Lend a unit of work that only reads: one snapshot of everything."""
        with self.database.read() as connection:
            yield Unit(connection, self.database.dialect)

    @contextmanager
    def write(self, *, hasty: bool = False) -> Iterator[Unit]:
        """Lend a unit of work that commits at its end or changes nothing; a hasty one hardly waits for others.

        What was done and measured since the last write goes with it.
        """
        notes: list[Note] = []
        saved = False
        try:
            with self.database.write(hasty=hasty) as connection:
                unit = Unit(connection, self.database.dialect)
                yield unit
                notes = self.ledger.take()
                if notes:
                    self._save(unit, notes)
            saved = True
        finally:
            if not saved:
                self.ledger.give_back(notes)

    def _save(self, unit: Unit, notes: list[Note]) -> None:
        """Save what was done since the last write along with this one."""
        unit.metrics.add(notes)
        if not self._trimmed:
            unit.metrics.trim()
            self._trimmed = True

    def maintenance_lock(self) -> FolderLock:
        """Return a lock of one's own for a run of maintenance, which writers and the index do not wait for."""
        return FolderLock(self.home.maintenance_lock_file, across_threads=True)

    def close(self) -> None:
        """Release the index and the database."""
        with self._turn:
            self._closed = True
            index = self._index
        if index is not None:
            index.close()
        self.database.close()


def _refuse_what_is_no_file(home: Home) -> None:
    """Raise StoreDamaged with the cure where a folder, or anything else, stands in the place of a file of ours."""
    log = home.database_file.with_name(f"{home.database_file.name}-wal")
    for file in (home.database_file, log, home.lock_file, home.maintenance_lock_file):
        if file.exists() and not file.is_file():
            what = "a folder" if file.is_dir() else "no plain file"
            raise StoreDamaged(
                f"{file} is {what}, and a file of the memory belongs there. Move it away, "
                "or choose another folder with --home or ZOMEM_HOME."
            )


def _refuse_an_empty_database(home: Home) -> None:
    """Never begin anew beside an index that says there was a memory: raise StoreDamaged with the cure."""
    file = home.database_file
    empty = not file.exists() or (file.stat().st_size == 0 and not _has_a_log(file))
    if not empty or file.parent != home.root:
        return
    from zomem_graph.stores.chroma_handle import STAMP

    if (home.chroma / STAMP).exists():
        raise StoreDamaged(
            f"{file} is {'empty' if file.exists() else 'gone'}, but the index beside it is of a memory that was not. "
            f"Put the file back, from {home.backups} or another copy; if it was in another database, set "
            f"ZOMEM_DATABASE_URL; to begin anew, remove {home.chroma} as well."
        )


def _has_a_log(file: Path) -> bool:
    """Return whether SQLite's write-ahead log may still hold everything."""
    log = file.with_name(f"{file.name}-wal")
    return log.exists() and log.stat().st_size > 0
