"""PostgreSQL's own ways: transactions, one writer at a time, full text. Figures and limits: docs/postgres.md.

Writers queue as they do on SQLite, by an advisory lock that ends with the transaction: so outbox numbers
commit in the order in which they were given, and what a write has read is still true when it commits.
"""

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, TableClause, event, make_url, text
from sqlalchemy import create_engine as sqlalchemy_engine
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.sql.dml import Insert

from zomem_graph.stores import postgres_words
from zomem_graph.stores.dialect import WordsHit, WordsQuery
from zomem_graph.stores.errors import StoreDamaged, StoreError, StoreLocked, StoreReadOnly
from zomem_graph.stores.lock import Lock
from zomem_graph.stores.postgres_lock import DatabaseLock

__all__ = ["PostgresDialect", "postgres_url"]

_DRIVER = "postgresql+psycopg"
_OLDEST = 130_000  # server_version_num: 13 is the first that takes words apart as we need it
_WAIT_SECONDS = 10  # for another writer
_PASSING = frozenset({"55P03", "40001", "40P01"})  # lock timeout, serialisation, deadlock
_UNWRITABLE = {
    "25006": "it takes no writes: connect to the primary server",
    "42501": "grant this user the right to create and write tables in its schema",
    "53100": "free some space on the server's disk",
    "58030": "look at the server's disk",
}
_DAMAGED = frozenset({"XX001", "XX002"})
_CONNECTING: tuple[tuple[str, str], ...] = (
    ("password authentication failed", "Check the user and the password in ZOMEM_DATABASE_URL."),
    ("no password supplied", "Put user and password into ZOMEM_DATABASE_URL, or into ~/.pgpass."),
    ("no pg_hba.conf entry", "Let this user in from this address in the server's pg_hba.conf."),
    ("does not exist", "Make it on the server: createdb --encoding=UTF8 NAME (or createuser NAME)."),
    ("too many clients", "Raise max_connections on the server, or stop some clients."),
    ("remaining connection slots", "Raise max_connections on the server, or stop some clients."),
)
# Compiling a statement takes longer than any of ours runs; a lock is waited for as long as on SQLite.
_SESSION = f"set jit = off; set lock_timeout = '{_WAIT_SECONDS}s'; set idle_in_transaction_session_timeout = '60s'"
# In one round trip: how long to wait, and the lock of this schema, which ends with the transaction.
_QUEUE = """select set_config('lock_timeout', %(wait)s, true), pg_advisory_xact_lock(
    hashtextextended('zomem write ' || current_schema(), 0))"""


def postgres_url(url: str) -> URL:
    """Return the URL with our driver named; raise StoreError for another driver, or when ours is missing."""
    parts = make_url(url)
    if parts.drivername not in ("postgres", "postgresql", _DRIVER):
        raise StoreError(f"The driver {parts.drivername!r} is not supported. Use {_DRIVER}://user@host/database.")
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f'PostgreSQL needs the package psycopg ({error}). Install it: pip install "zomem-graph[postgres]".'
        ) from error
    return parts.set(drivername=_DRIVER)


class PostgresDialect:
    """A schema of a PostgreSQL database (UTF-8, version 13 or newer); full text by BM25 over tables of ours."""

    name = "postgresql"

    def create_engine(self, url: str) -> Engine:
        """Return an engine with at most 15 connections, each tried before it is used."""
        engine = sqlalchemy_engine(
            postgres_url(url),
            pool_size=5,
            max_overflow=10,
            pool_pre_ping=True,
            pool_recycle=1800,
            connect_args={"connect_timeout": 3, "client_encoding": "utf8", "application_name": "zomem-graph"},
        )
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
        _leave_to_parent(engine)
        return engine

    def reader(self, engine: Engine) -> Engine:
        """Return the same engine for reads: one snapshot, never a write."""
        return engine.execution_options(read=True, isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def check(self, connection: Connection) -> None:
        """Raise StoreError for a server or a database that cannot hold a memory."""
        row = connection.exec_driver_sql(
            "select current_setting('server_version_num')::int, current_setting('server_version'),"
            " current_setting('server_encoding'), current_schema()"
        ).one()
        if row[0] < _OLDEST:
            raise StoreError(f"PostgreSQL {row[1]} is too old. Use version 13 or newer.")
        if row[2] != "UTF8":
            raise StoreError(
                f"The database keeps text as {row[2]}, which cannot hold every language. "
                "Make another one: createdb --encoding=UTF8 --template=template0 NAME."
            )
        if row[3] is None:
            raise StoreError("None of the schemas in the search path exists. Make it: create schema NAME.")

    def lock(self, engine: Engine, file: Path, place: str) -> Lock:
        """Return a lock of the database, for all machines that share it."""
        return DatabaseLock(engine, place)

    def create_fulltext(self, connection: Connection) -> None:
        """Make the tables, functions and triggers of the full text; safe to repeat."""
        postgres_words.create(connection)

    def drop_fulltext(self, connection: Connection) -> None:
        """Remove them again."""
        postgres_words.drop(connection)

    def rebuild_fulltext(self, connection: Connection) -> None:
        """Fill the full text again from `items`."""
        connection.exec_driver_sql("set local statement_timeout = 0")
        postgres_words.drop(connection)
        postgres_words.create(connection)
        postgres_words.fill(connection)

    def scrub_fulltext(self, connection: Connection) -> None:
        """Do nothing: a deleted word is a deleted row like any other, for `compact` to take away."""

    def fulltext_fault(self, connection: Connection) -> str | None:
        """Return where the full text and `items` differ, or None."""
        return postgres_words.fault(connection)

    def search_words(self, connection: Connection, query: WordsQuery) -> list[WordsHit]:
        """Return the best items by BM25, with the scores that SQLite gives; an empty query gives an empty list."""
        return postgres_words.search(connection, query)

    def document_frequencies(self, connection: Connection, stems: Sequence[str]) -> dict[str, int]:
        """Return in how many items each stem occurs; stems that occur nowhere are left out."""
        return postgres_words.frequencies(connection, stems)

    def insert_new(self, table: TableClause) -> Insert:
        """Return INSERT … ON CONFLICT DO NOTHING."""
        from sqlalchemy.dialects.postgresql import insert  # 70 ms, which SQLite's users need not pay

        return insert(table).on_conflict_do_nothing()

    def upsert(self, table: TableClause, keys: Iterable[str], changed: Iterable[str]) -> Insert:
        """Return INSERT … ON CONFLICT DO UPDATE."""
        from sqlalchemy.dialects.postgresql import insert

        statement = insert(table)
        return statement.on_conflict_do_update(
            index_elements=list(keys), set_={name: statement.excluded[name] for name in changed}
        )

    def database_fault(self, connection: Connection) -> str | None:
        """Return which indexes the server calls invalid. Its own pages are for its owner's tools (pg_amcheck)."""
        rows = connection.exec_driver_sql(
            "select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid"
            " where c.relnamespace = current_schema()::regnamespace and not (i.indisvalid and i.indisready)"
        )
        invalid = [row[0] for row in rows]
        return f"invalid indexes: {', '.join(sorted(invalid))}; run REINDEX" if invalid else None

    def compact(self, engine: Engine, place: str) -> list[str]:
        """Rewrite our tables without their dead rows (VACUUM FULL); return what could not be done."""
        try:
            with engine.execution_options(isolation_level="AUTOCOMMIT", read=True).connect() as connection:
                tables = connection.execute(text(_OUR_TABLES)).scalars().all()
                for table in tables:
                    connection.exec_driver_sql(f'vacuum (full) "{table}"')
        except DBAPIError as error:
            return [
                f"{place} could not be rewritten without its dead rows ({error.orig}); as the owner of the tables "
                "run VACUUM FULL, or forget the same again when nobody uses it"
            ]
        return []

    def contents(self, connection: Connection) -> Iterator[tuple[str, bytes]]:
        """Yield every row of every table of ours, as (table, bytes)."""
        for table in connection.execute(text(_OUR_TABLES)).scalars().all():
            with connection.execution_options(yield_per=500).exec_driver_sql(f'select * from "{table}"') as rows:
                for row in rows:
                    yield f"table {table}", b"\n".join(_bytes_of(value) for value in row if value is not None)

    def named(self, error: DBAPIError, place: str) -> StoreError:
        """Return what a failure of the server means and what to do; never says a password."""
        code, said = getattr(error.orig, "sqlstate", None) or "", " ".join(str(error.orig).split())
        if code in _PASSING:
            return StoreLocked(f"{place} is held by another process for too long. Try again, or stop that process.")
        if code in _UNWRITABLE:
            return StoreReadOnly(f"{place} cannot be written ({said}): {_UNWRITABLE[code]}.")
        if code in _DAMAGED:
            return StoreDamaged(f"{place} is damaged ({said}). Restore the server's backup (pg_restore).")
        if code in ("42P01", "42703"):
            return StoreDamaged(
                f"{place} has another schema than when it was opened ({said}): another process ran "
                "`zomem migrate` or replaced it. Open the memory again, which brings it up to date; "
                "if that does not help it is no memory: restore the server's backup."
            )
        if code == "57014":
            return StoreError(f"{place} cut a statement short ({said}). Ask for less, or raise statement_timeout.")
        if isinstance(error, OperationalError) or error.connection_invalidated or code.startswith(("08", "57P")):
            for words, cure in _CONNECTING:
                if words in said:
                    return StoreError(f"{place} cannot be opened: {said}. {cure}")
            return StoreError(
                f"{place} cannot be reached ({said}). Is the server running there? Start it, or correct "
                "ZOMEM_DATABASE_URL, and try again; what was committed is kept."
            )
        return StoreError(f"{place} refused a statement: {said}")


_OUR_TABLES = """select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
    and pg_get_userbyid(relowner) = current_user order by relname"""


def _bytes_of(value: Any) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode("utf-8", "surrogatepass")


def _on_connect(connection: Any, _record: Any) -> None:
    connection.autocommit = True
    connection.execute(_SESSION)
    connection.autocommit = False


def _on_begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("read"):
        seconds = min(float(options.get("wait_seconds", _WAIT_SECONDS)), float(_WAIT_SECONDS))
        connection.exec_driver_sql(_QUEUE, {"wait": f"{int(seconds * 1000)}ms"})


def _leave_to_parent(engine: Engine) -> None:
    """Have a forked child open connections of its own: two processes on one socket garble both."""
    known = weakref.ref(engine)

    def leave() -> None:
        if (mine := known()) is not None:
            mine.dispose(close=False)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=leave)
