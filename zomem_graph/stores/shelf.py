"""What a step down takes away is put on a shelf, and the step up brings it back.

A shelf is a table beside the others, `shelf_0011_loops` for rows of `loops` that schema 0011 had. It holds only
what would be gone: rows of a table or of a kind that the older schema does not know, values of columns it does
not have. At the newest schema there is none.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import (
    Connection,
    TableClause,
    column,
    delete,
    exists,
    func,
    inspect,
    literal_column,
    select,
    table,
    text,
)
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.outbox import collection_name

__all__ = ["columns_by_table", "put_aside", "put_back", "weed_out"]

_SHELF = re.compile(r"shelf_(\d{4})_(\w+)")
_NOT_OURS = re.compile(r"(alembic_|sqlite_|shelf_|items_fts)\w*")
_COUNTED = ("num", "seq")  # columns the database counts by itself
_ITEMS = "items"
_MADE = "shelf_made"
_STAYED = "shelf_stayed"


@dataclass(frozen=True, slots=True)
class _Table:
    """A table as the database has it now."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def clause(self) -> TableClause:
        """The table with its columns, for statements."""
        return table(self.name, *(column(name) for name in self.columns))


def put_aside(connection: Connection, version: str) -> None:
    """Copy every table before a step down; `weed_out` then takes away what is still there after it."""
    for one in _tables(connection):
        connection.execute(text(f'create table "{_shelf(version, one.name)}" as select * from "{one.name}"'))


def weed_out(connection: Connection, version: str) -> None:
    """Keep on the shelf only what the step down has taken away."""
    there = {one.name: one for one in _tables(connection)}
    for shelf, name in _shelves(connection, version):
        now = there.get(name)
        source = shelf.clause
        if now is not None and set(shelf.columns) <= set(now.columns):
            connection.execute(delete(source).where(_same(source, now)))
        elif now is not None:
            # Rows that stay are here for their values alone: one that the older version deletes stays deleted.
            connection.execute(text(f'alter table "{shelf.name}" add column {_STAYED} integer'))
            marked = table(shelf.name, *(column(name) for name in (*shelf.columns, _STAYED)))
            connection.execute(marked.update().where(_same(marked, now)).values({_STAYED: 1}))
        left = connection.execute(select(func.count()).select_from(shelf.clause)).scalar_one()
        if not left:
            connection.execute(text(f'drop table "{shelf.name}"'))


def columns_by_table(connection: Connection) -> dict[str, frozenset[str]]:
    """Return our tables as they are now, each with its columns."""
    return {one.name: frozenset(one.columns) for one in _tables(connection)}


def put_back(connection: Connection, dialect: Dialect, *, before: Mapping[str, Collection[str]]) -> None:
    """Bring back what is on the shelves and has a place now; what came in meanwhile stays as it is.

    `before` are the tables with their columns as they were before the step up. What the step has put into a
    table of its own making counts for less than what the table had held.
    """
    for shelf, name in _shelves(connection):
        now = {one.name: one for one in _tables(connection)}.get(name)
        if now is None or not set(now.keys) <= set(shelf.columns):
            continue
        if name not in before:
            connection.execute(text(f'create table "{_MADE}" as select * from "{name}"'))
            connection.execute(text(f'delete from "{name}"'))
        _bring_back_rows(connection, dialect, shelf, now)
        if name not in before:
            _bring_back_rows(connection, dialect, _described(connection, _MADE), now)
            connection.execute(text(f'drop table "{_MADE}"'))
        else:
            _bring_back_values(connection, shelf, now, old=before[name])
        if set(shelf.columns) - {_STAYED} <= set(now.columns):
            connection.execute(text(f'drop table "{shelf.name}"'))
        _count_on(connection, now)


def _bring_back_rows(connection: Connection, dialect: Dialect, shelf: _Table, now: _Table) -> None:
    common = [name for name in shelf.columns if name in now.columns]
    source = shelf.clause
    missing = ~_same(source, now)
    if _STAYED in shelf.columns:
        missing = missing & source.c[_STAYED].is_(None)
    if now.name == _ITEMS:
        ids = [row[0] for row in connection.execute(select(source.c.id).where(missing))]
    rows = select(*(source.c[name] for name in common)).where(missing)
    connection.execute(dialect.insert_new(now.clause).from_select(common, rows))
    if now.name == _ITEMS:
        _index_again(connection, now, ids)


def _bring_back_values(connection: Connection, shelf: _Table, now: _Table, *, old: Collection[str]) -> None:
    """Fill columns that the older schema did not have, in rows that stayed."""
    source, target = shelf.clause, now.clause
    equal = _keys_equal(source, target, now.keys)
    for name in now.columns:
        if name in shelf.columns and name not in old:
            value = select(source.c[name]).where(equal).scalar_subquery()
            connection.execute(target.update().where(exists().where(equal)).values({name: value}))


def _index_again(connection: Connection, items: _Table, ids: Sequence[str]) -> None:
    """Let the index hear of items that are back: it was told to forget them."""
    t = items.clause
    for start in range(0, len(ids), 400):
        part = ids[start : start + 400]
        rows = connection.execute(
            select(t.c.id, t.c.persona, t.c.kind, t.c.embedder).where(
                t.c.id.in_(part), t.c.state == "current", t.c.embedding.is_not(None)
            )
        ).all()
        for id_, persona, kind, embedder in rows:
            seq = connection.execute(
                text("insert into outbox (item_id, collection, op) values (:id, :where, 'upsert') returning seq"),
                {"id": id_, "where": collection_name(persona, kind, embedder)},
            ).scalar_one()
            connection.execute(t.update().where(t.c.id == id_).values(vec_seq=seq))


def _count_on(connection: Connection, now: _Table) -> None:
    """Let PostgreSQL count on from the highest number that came back; SQLite does so by itself."""
    if connection.dialect.name != "postgresql":
        return
    for name in _COUNTED:
        if name in now.columns and (counter := _counter(connection, now.name, name)):
            highest = select(func.coalesce(func.max(now.clause.c[name]), 0) + 1)
            connection.execute(select(func.setval(counter, highest.scalar_subquery(), literal_column("false"))))


def _counter(connection: Connection, name: str, counted: str) -> str | None:
    found = connection.execute(
        text("select pg_get_serial_sequence(quote_ident(:name), :counted)"), {"name": name, "counted": counted}
    ).scalar()
    return None if found is None else str(found)


def _same(source: TableClause, now: _Table) -> ColumnElement[bool]:
    """Return the condition that a row of a shelf is in the table, by its key."""
    return exists().where(_keys_equal(source, now.clause, now.keys)).correlate(source)


def _keys_equal(source: TableClause, target: TableClause, keys: Sequence[str]) -> ColumnElement[bool]:
    condition: ColumnElement[bool] = source.c[keys[0]] == target.c[keys[0]]
    for name in keys[1:]:
        condition = condition & (source.c[name] == target.c[name])
    return condition


def _shelf(version: str, name: str) -> str:
    return f"shelf_{version}_{name}"


def _tables(connection: Connection) -> list[_Table]:
    """Return our own tables that have a key, as they are now."""
    names = [name for name in sorted(inspect(connection).get_table_names()) if not _NOT_OURS.fullmatch(name)]
    return [one for name in names if (one := _described(connection, name)).keys]


def _shelves(connection: Connection, version: str | None = None) -> Iterator[tuple[_Table, str]]:
    """Yield each shelf with the name of its table, the oldest schema first."""
    for name in sorted(inspect(connection).get_table_names()):
        parts = _SHELF.fullmatch(name)
        if parts and version in (None, parts[1]):
            yield _described(connection, name), parts[2]


def _described(connection: Connection, name: str) -> _Table:
    looked = inspect(connection)
    columns = tuple(one["name"] for one in looked.get_columns(name))
    return _Table(name, columns, tuple(looked.get_pk_constraint(name)["constrained_columns"]))
