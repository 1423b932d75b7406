"""SQLite's own ways: pragmas, transactions, FTS5. Figures and reasons: docs/substrate.md."""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, TableClause, bindparam, event, make_url, text
from sqlalchemy import create_engine as sqlalchemy_engine
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.sql.dml import Insert

from zomem_graph.stores.columns import UtcTime
from zomem_graph.stores.dialect import WordsHit, WordsQuery
from zomem_graph.stores.errors import StoreDamaged, StoreError, StoreLocked, StoreReadOnly
from zomem_graph.stores.lock import FolderLock, Lock
from zomem_graph.stores.words import match_scoped, scope_choices

__all__ = ["SqliteDialect"]

_PRAGMAS = (
    "synchronous=normal",
    "foreign_keys=on",
    "temp_store=memory",
    "cache_size=-64000",
    "secure_delete=on",
)
_WAIT_SECONDS = 10.0  # for another writer; `?timeout=` in the URL says otherwise
_PATIENCE = 30.0  # seconds for writers of other processes to end
_TRIES, _PAUSE = 20, 0.1  # for readers to let go of the log
# What SQLite says of its surroundings: busy, locked, read-only, disk error, disk full, cannot open.
_PASSING_CODES = {5, 6, 8, 10, 13, 14}
_BUSY_CODES = {5, 6}
_COLUMNS = ("words_scope", "words_self", "words_prev", "words_next", "words_date", "words_title")
_FTS = f"""create virtual table if not exists items_fts using fts5(
    {", ".join(_COLUMNS)}, content='items', content_rowid='num',
    tokenize='porter unicode61 remove_diacritics 2')"""


_FREQUENCIES = text("select term, doc from items_fts_vocab where term in :stems").bindparams(
    bindparam("stems", expanding=True)
)
_VOCABULARY = "create virtual table if not exists items_fts_vocab using fts5vocab(items_fts, 'row')"


def _trigger_bodies() -> dict[str, str]:
    names = ", ".join(_COLUMNS)
    old = ", ".join(f"old.{c}" for c in _COLUMNS)
    new = ", ".join(f"new.{c}" for c in _COLUMNS)
    forget = f"insert into items_fts(items_fts, rowid, {names}) values('delete', old.num, {old});"
    learn = f"insert into items_fts(rowid, {names}) values(new.num, {new});"
    return {
        "items_fts_insert": f"after insert on items begin {learn} end",
        "items_fts_delete": f"after delete on items begin {forget} end",
        "items_fts_update": f"after update of {names} on items begin {forget} {learn} end",
    }


class SqliteDialect:
    """One file in WAL mode; full text by FTS5 over `items` as external content."""

    name = "sqlite"

    def create_engine(self, url: str) -> Engine:
        """Return an engine whose reads never block and whose writes queue."""
        parts = make_url(url)
        seconds = float(str(parts.query.get("timeout", _WAIT_SECONDS)))
        engine = sqlalchemy_engine(url, pool_use_lifo=True)
        event.listen(engine, "connect", partial(_on_connect, seconds))
        event.listen(engine, "begin", partial(_on_begin, seconds))
        if parts.database not in (None, "", ":memory:"):
            _WatchedFile(os.path.abspath(str(parts.database))).listen_to(engine)
        return engine

    def reader(self, engine: Engine) -> Engine:
        """Return the same engine for reads: a plain BEGIN, which waits for nobody."""
        return engine.execution_options(read=True)

    def check(self, connection: Connection) -> None:
        """Do nothing: every SQLite file will do."""

    def lock(self, engine: Engine, file: Path, place: str) -> Lock:
        """Return a lock on the file beside the database."""
        return FolderLock(file)

    def create_fulltext(self, connection: Connection) -> None:
        """Make the FTS5 table and its three triggers; safe to repeat."""
        connection.exec_driver_sql(_FTS)
        connection.exec_driver_sql(_VOCABULARY)
        for name, body in _trigger_bodies().items():
            connection.exec_driver_sql(f"create trigger if not exists {name} {body}")

    def drop_fulltext(self, connection: Connection) -> None:
        """Remove the FTS5 table and its triggers."""
        for name in _trigger_bodies():
            connection.exec_driver_sql(f"drop trigger if exists {name}")
        connection.exec_driver_sql("drop table if exists items_fts_vocab")
        connection.exec_driver_sql("drop table if exists items_fts")

    def rebuild_fulltext(self, connection: Connection) -> None:
        """Fill the FTS5 table again from `items`."""
        self.drop_fulltext(connection)
        self.create_fulltext(connection)
        connection.exec_driver_sql("insert into items_fts(items_fts) values('rebuild')")

    def scrub_fulltext(self, connection: Connection) -> None:
        """Write the FTS5 table anew: a deleted word stays in its segments until they are merged."""
        self.rebuild_fulltext(connection)

    def fulltext_fault(self, connection: Connection) -> str | None:
        """Run FTS5's own check against the content table; None when it agrees."""
        triggers = {
            row[0] for row in connection.exec_driver_sql("select name from sqlite_master where type='trigger'")
        }
        missing = sorted(set(_trigger_bodies()) - triggers)
        if missing:
            return f"triggers missing: {', '.join(missing)}"
        try:
            connection.exec_driver_sql("insert into items_fts(items_fts, rank) values('integrity-check', 1)")
        except DBAPIError as error:
            if getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in _PASSING_CODES:
                raise  # it could not be checked, which says nothing about it
            return str(error.orig)
        return None

    def search_words(self, connection: Connection, query: WordsQuery) -> list[WordsHit]:
        """Return the best items by BM25; an empty query gives an empty list."""
        match = _match(query)
        if match is None:
            return []
        where, values = _time_filter(query)
        weights = ", ".join(repr(float(w)) for w in (0.0, *query.weights))
        # `order by bm25()` measured 1-5 times faster than `order by rank`
        statement = f"""select f.rowid, -bm25(items_fts, {weights}) as score from items_fts f {where}
            items_fts match :match order by score desc limit :limit"""
        rows = connection.execute(text(statement), {"match": match, "limit": query.limit, **values})
        return [WordsHit(num, score) for num, score in rows.all()]

    def document_frequencies(self, connection: Connection, stems: Sequence[str]) -> dict[str, int]:
        """Return in how many items each stem occurs; stems that occur nowhere are left out."""
        return {row[0]: row[1] for row in connection.execute(_FREQUENCIES, {"stems": list(stems)}).all()}

    def insert_new(self, table: TableClause) -> Insert:
        """Return INSERT … ON CONFLICT DO NOTHING."""
        return insert(table).on_conflict_do_nothing()

    def upsert(self, table: TableClause, keys: Iterable[str], changed: Iterable[str]) -> Insert:
        """Return INSERT … ON CONFLICT DO UPDATE."""
        statement = insert(table)
        return statement.on_conflict_do_update(
            index_elements=list(keys), set_={name: statement.excluded[name] for name in changed}
        )

    def database_fault(self, connection: Connection) -> str | None:
        """Run `pragma quick_check`."""
        said = connection.exec_driver_sql("pragma quick_check(1)").scalar()
        return None if said == "ok" else str(said)

    def compact(self, engine: Engine, place: str) -> list[str]:
        """Rewrite the file without its free pages and empty its log.

        A reader that keeps the log is waited for two seconds.
        """
        file = str(engine.url.database)
        try:
            with closing(sqlite3.connect(file, isolation_level=None, timeout=_PATIENCE)) as connection:
                connection.execute("pragma secure_delete=on")
                connection.execute("pragma temp_store=memory")
                connection.execute("vacuum")
                connection.execute("pragma busy_timeout=0")
                for _ in range(_TRIES):
                    busy, *_pages = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
                    if not busy:
                        return []
                    time.sleep(_PAUSE)
        except sqlite3.Error as error:
            return [f"{file} could not be rewritten ({error}); forget the same again when nobody uses it"]
        return [f"{file}-wal is held by a reader; forget the same again when nobody uses it"]

    def contents(self, connection: Connection) -> Iterator[tuple[str, bytes]]:
        """Yield nothing: the rows are in a file, which is read byte by byte."""
        return iter(())

    def named(self, error: DBAPIError, place: str) -> StoreError:
        """Return what a failure of SQLite means, and what to do about it."""
        said = str(error.orig).lower()
        if "locked" in said or "busy" in said:
            return StoreLocked(f"{place} is held by another process for too long. Try again, or stop that process.")
        if "readonly" in said or "read-only" in said or "unable to open" in said:
            return StoreReadOnly(
                f"{place} cannot be opened for writing ({error.orig}), which reading needs too. Check the folder's "
                "permissions, and that its disk is not mounted read-only."
            )
        if "full" in said or "disk i/o" in said or "no space" in said:
            return StoreReadOnly(f"{place} cannot be written ({error.orig}). Free some space on the disk.")
        if "malformed" in said or "not a database" in said or "corrupt" in said:
            return StoreDamaged(
                f"{place} is damaged ({error.orig}). Restore your copy, or one from the backups folder beside it "
                "if there is one, or move the file away and import again."
            )
        if "no such table" in said or "no such column" in said or "has no column" in said:
            return StoreDamaged(
                f"{place} has another schema than when it was opened ({error.orig}): another process ran "
                "`zomem migrate` or replaced the file. Open the memory again, which brings it up to date; "
                "if that does not help it is no memory: restore a copy, or choose another home with --home."
            )
        if isinstance(error, OperationalError):
            return StoreError(f"{place} cannot be used: {error.orig}")
        return StoreError(f"{place} refused a statement: {error.orig}")


def _match(query: WordsQuery) -> str | None:
    """Return the MATCH expression: inside the scope, any of the terms; None when nothing is asked."""
    if not query.terms or not query.personas or not query.kinds:
        return None
    scope: list[str | tuple[str, ...]] = [scope_choices(query.personas, query.kinds, live_only=query.live_only)]
    if query.within is not None:
        scope.append(query.within)
    return match_scoped(query.terms, _COLUMNS[1:], scope, scope_column=_COLUMNS[0])


def _time_filter(query: WordsQuery) -> tuple[str, dict[str, Any]]:
    if query.since is None and query.until is None:
        return "where", {}
    seconds = UtcTime()
    values: dict[str, Any] = {}
    clauses = []
    for name, sign, at in (("since", ">=", query.since), ("until", "<", query.until)):
        if at is not None:
            values[name] = seconds.process_bind_param(at, None)  # type: ignore[arg-type]  # dialect is unused
            clauses.append(f"i.created_at {sign} :{name}")
    return f"join items i on i.num = f.rowid where {' and '.join(clauses)} and", values


def _on_connect(seconds: float, connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin by itself
    connection.execute(f"pragma busy_timeout={int(seconds * 1000)}")
    _use_log(connection, seconds)
    for pragma in _PRAGMAS:
        connection.execute(f"pragma {pragma}")
    connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows ASCII only


def _use_log(connection: Any, seconds: float) -> None:
    """Switch to the write-ahead log. Of several that open a new file at once SQLite refuses some, unasked to wait."""
    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute("pragma journal_mode=wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY_CODES or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _on_begin(seconds: float, connection: Connection) -> None:
    options = connection.get_execution_options()
    wait = options.get("wait_seconds")
    if options.get("read"):
        connection.exec_driver_sql("BEGIN")
    elif wait is None or wait >= seconds:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        driver: Any = connection.connection.driver_connection
        driver.execute(f"pragma busy_timeout={int(wait * 1000)}")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        finally:
            driver.execute(f"pragma busy_timeout={int(seconds * 1000)}")


class _WatchedFile:
    """The file of a database. One that was removed under us would take everything and keep nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen = False

    def listen_to(self, engine: Engine) -> None:
        """Look at the file before each connection is made or used."""
        event.listen(engine, "do_connect", self._before_connect)
        event.listen(engine, "connect", self._after_connect)
        event.listen(engine, "checkout", self._before_use)

    def _before_connect(self, *_: Any) -> None:
        if self._seen:
            self._identity()  # SQLite would make a new file in its place

    def _after_connect(self, _connection: Any, record: Any) -> None:
        self._seen = True
        record.info["file"] = self._identity()

    def _before_use(self, _connection: Any, record: Any, _proxy: Any) -> None:
        if self._identity() != record.info.get("file"):
            raise DisconnectionError(f"{self._path} was replaced")  # the pool opens the new one

    def _identity(self) -> tuple[int, int]:
        try:
            status = os.stat(self._path)
        except OSError as error:
            raise StoreReadOnly(
                f"{self._path} is gone ({error.strerror}): its folder was removed, moved or unmounted while it was "
                "open. Put it back, or open the memory again to begin a new one."
            ) from error
        return (status.st_dev, status.st_ino)
