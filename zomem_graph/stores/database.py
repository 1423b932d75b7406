"""Opens the database and lends one short transaction at a time.

Reads never wait for a writer; writers queue instead of failing. Everything that differs between databases
is in the dialect.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.errors import Closed, StoreError, StoreLocked
from zomem_graph.stores.lock import Lock
from zomem_graph.stores.postgres import PostgresDialect
from zomem_graph.stores.sqlite import SqliteDialect

__all__ = ["Database"]


_HASTY_SECONDS = 0.25
_SECRETS = frozenset({"password", "passfile", "sslpassword", "token"})


class Database:
    """One database, by URL; safe to share between threads, one connection a transaction."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._closed = False
        self.dialect: Dialect = _dialect_of(url)
        self._engine = self.dialect.create_engine(url)
        self._reader = self.dialect.reader(self._engine)
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
        self._check_open()
        engine = self._hasty if hasty else self._engine
        with self._said_clearly(), engine.begin() as connection:
            yield connection

    def compact(self) -> list[str]:
        """Rewrite the tables without what was deleted from them; return what could not be done."""
        return self.dialect.compact(self._engine, self.place)

    def lock(self, file: Path) -> Lock:
        """Return the lock of who may change this database's schema or feed its index: on SQLite a file beside it."""
        return self.dialect.lock(self._engine, file, self.place)

    def close(self) -> None:
        """Give all connections back to the system; reads and writes raise Closed from now on."""
        self._closed = True
        self._engine.dispose()

    @property
    def shared(self) -> bool:
        """Return whether other machines may use the same database."""
        return self.dialect.name != "sqlite"

    @property
    def place(self) -> str:
        """Return the URL without a password, for messages."""
        url = self._engine.url
        secret = [name for name in url.query if name.lower() in _SECRETS]
        return url.difference_update_query(secret).render_as_string(hide_password=True)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("This memory was closed. Open it again with Memory.open(home).")

    @contextmanager
    def _said_clearly(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self.dialect.named(error, self.place) from error
        except PoolTimeout as error:
            raise StoreLocked(f"All connections to {self.place} are in use. Ask fewer things at once.") from error


def _dialect_of(url: str) -> Dialect:
    scheme = url.split(":", 1)[0]
    if scheme.startswith("sqlite"):
        return SqliteDialect()
    if scheme.startswith("postgres"):
        return PostgresDialect()
    raise StoreError(
        f"The database {scheme!r} is not supported. Use sqlite:///path or postgresql+psycopg://user@host/database."
    )
