"""Opens the database and lends one short transaction at a time.

Reads use a plain BEGIN and never wait for a writer; writes use BEGIN IMMEDIATE (SQLite) so that two
writers queue instead of failing. Everything that differs between databases is in the dialect.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, OperationalError

from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.errors import Closed, StoreDamaged, StoreError, StoreLocked, StoreReadOnly
from zomem_graph.stores.sqlite import SqliteDialect

__all__ = ["Database"]


_HASTY_SECONDS = 1.0


class Database:
    """One database, by URL; safe to share between threads, one connection a transaction."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._closed = False
        self.dialect: Dialect = _dialect_of(url)
        self._engine = self.dialect.create_engine(url)
        self._reader = self._engine.execution_options(read=True)
        self._hasty = self._engine.execution_options(wait_seconds=_HASTY_SECONDS)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lend a connection in a read transaction: one snapshot, no lock."""
        self._check_open()
        with self._said_clearly(), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *, hasty: bool = False) -> Iterator[Connection]:
        """Lend a connection in a write transaction; commit at the end, roll back on an error.

        A `hasty` one gives up after a second of waiting for another writer: for notes beside an answer.
        """
        engine = self._hasty if hasty else self._engine
        with self._said_clearly(), engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Give all connections back to the system; reads and writes raise Closed from now on."""
        self._closed = True
        self._engine.dispose()

    @property
    def place(self) -> str:
        """Return the URL without a password, for messages."""
        return self._engine.url.render_as_string(hide_password=True)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("This memory was closed. Open it again with Memory.open(home).")

    @contextmanager
    def _said_clearly(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._named(error) from error

    def _named(self, error: DBAPIError) -> StoreError:
        said = str(error.orig).lower()
        place = self.place
        if "locked" in said or "busy" in said or "lock timeout" in said:
            return StoreLocked(f"{place} is held by another process for too long. Try again, or stop that process.")
        if "readonly" in said or "read-only" in said or "unable to open" in said:
            return StoreReadOnly(
                f"{place} cannot be opened for writing ({error.orig}). Check the folder's permissions."
            )
        if "full" in said or "disk i/o" in said or "no space" in said:
            return StoreReadOnly(f"{place} cannot be written ({error.orig}). Free some space on the disk.")
        if "malformed" in said or "not a database" in said or "corrupt" in said:
            return StoreDamaged(
                f"{place} is damaged ({error.orig}). Restore a copy from the backups folder beside it, "
                "or move the file away and import again."
            )
        if "no such table" in said:
            return StoreDamaged(
                f"{place} lacks its tables ({error.orig}): it was replaced while it was open, or is no memory. "
                "Open the memory again, or restore a copy from the backups folder beside it."
            )
        if isinstance(error, OperationalError):
            return StoreError(f"{place} cannot be used: {error.orig}")
        return StoreError(f"{place} refused a statement: {error.orig}")


def _dialect_of(url: str) -> Dialect:
    if url.startswith("sqlite"):
        return SqliteDialect()
    scheme = url.split(":", 1)[0]
    raise StoreError(f"The database {scheme!r} is not supported. Use sqlite:///path.")
