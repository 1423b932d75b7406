"""Brings a database to the schema this package needs; costs one SELECT when it is there already.

Migrations are Alembic's, numbered, up and down, one transaction a run. On SQLite a backup is written before
each run; what a step down takes away comes back with the step up (`shelf.py`).
"""

import re
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import SchemaMismatch, StoreError, StoreLocked, StoreReadOnly
from zomem_graph.stores.lock import Lock
from zomem_graph.stores.shelf import columns_by_table, put_aside, put_back, weed_out

__all__ = ["EMPTY", "HEAD", "Step", "known_steps", "migrate", "prepare", "schema_version", "steps_between"]

EMPTY = "base"
HEAD = "0012"  # a test holds this equal to Alembic's own head
_OURS = re.compile(r"\d{4}")
_TAKEN = "already exists"  # as SQLite and PostgreSQL say it of a table that we want to make


@dataclass(frozen=True, slots=True)
class Step:
    """One numbered change of the schema, and what it is about."""

    number: str
    about: str


def schema_version(database: Database) -> str | None:
    """Return the number of the last step applied; None for an empty database.

    Raises SchemaMismatch for the database of another program.
    """
    try:
        with database.read() as connection:
            found = connection.execute(text("select version_num from alembic_version")).scalar()
    except StoreError as error:
        if isinstance(error.__cause__, DBAPIError) and "alembic_version" in str(error.__cause__.orig):
            return None
        raise
    if found is not None and not _OURS.fullmatch(found):
        raise _somebody_elses(database, f"its schema is {found!r:.60}")
    return found


def prepare(database: Database, *, lock: Lock, backups: Path, now: datetime) -> None:
    """Bring the database to HEAD under the lock; do nothing when it is there."""
    found = schema_version(database)
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise SchemaMismatch(
            f"{database.place} has schema {found}, newer than the {HEAD} this version knows. "
            "Upgrade the package: pip install -U zomem-graph."
        )
    with database.read() as connection:
        database.dialect.check(connection)
    with lock.held():
        if schema_version(database) != HEAD:
            migrate(database, HEAD, backups=backups, now=now)


def migrate(database: Database, target: str, *, backups: Path, now: datetime) -> str | None:
    """Run the steps up or down to `target`, in one transaction; return where the backup is.

    The caller holds the memory's lock.
    """
    from alembic import command  # half a second; only when there is something to do
    from alembic.util import CommandError

    before = schema_version(database)
    saved = _backup(database, backups, now, before) if before is not None else None
    try:
        with database.write() as connection:
            config = _config(connection)
            if target == EMPTY:
                database.dialect.drop_fulltext(connection)
            if before is not None and (target == EMPTY or target < before):
                put_aside(connection, before)
                command.downgrade(config, target)
                weed_out(connection, before)
            else:
                there = columns_by_table(connection)
                command.upgrade(config, target)
                put_back(connection, database.dialect, before=there)
            if target != EMPTY:
                database.dialect.rebuild_fulltext(connection)  # batch steps on SQLite drop its triggers
    except (StoreError, CommandError) as error:
        if isinstance(error, StoreLocked | StoreReadOnly):
            raise
        if before is None and isinstance(error.__cause__, DBAPIError) and _TAKEN in str(error.__cause__.orig):
            raise _somebody_elses(database, str(error.__cause__.orig).splitlines()[0]) from error
        copy = f" A copy from before is {saved}." if saved is not None else ""
        raise SchemaMismatch(
            f"{database.place} could not be brought from schema {before or 'none'} to {target}, and nothing was "
            f"changed: {error}{copy}"
        ) from error
    return saved


def _somebody_elses(database: Database, sign: str) -> SchemaMismatch:
    return SchemaMismatch(
        f"{database.place} is the database of another program ({sign}); nothing was changed. Choose another home "
        "with --home or ZOMEM_HOME, or another database with ZO_MEMORY_DB or ZOMEM_DATABASE_URL."
    )


def known_steps() -> list[Step]:
    """Return every step this version knows, in order."""
    from alembic.script import ScriptDirectory

    found = ScriptDirectory.from_config(_config(None)).walk_revisions()
    return sorted((Step(one.revision, one.doc) for one in found), key=lambda step: step.number)


def steps_between(before: str | None, target: str) -> list[Step]:
    """Return the steps from one schema to another in the order in which they run; `target` may be EMPTY."""
    low, high = before or "", "" if target == EMPTY else target
    between = [step for step in known_steps() if min(low, high) < step.number <= max(low, high)]
    return between if high >= low else between[::-1]


def _config(connection: Connection | None) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _backup(database: Database, folder: Path, now: datetime, version: str) -> str | None:
    if database.dialect.name != "sqlite":
        return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = f"schema-{version}-{now:%Y%m%dT%H%M%S}"
    place = folder / f"{stem}.db"
    number = 1
    while place.exists():  # a copy is never written over another
        number += 1
        place = folder / f"{stem}-{number}.db"
    source = database.url.removeprefix("sqlite:///")
    with sqlite3.connect(source) as old, sqlite3.connect(place) as new:
        old.backup(new)
    old.close()
    new.close()
    place.chmod(0o600)
    return str(place)
