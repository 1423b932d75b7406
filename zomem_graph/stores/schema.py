"""Brings a database to the schema this package needs; costs one SELECT when it is there already.

Migrations are Alembic's, numbered, up and down. On SQLite a backup is written before each run.
"""

import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import SchemaMismatch, StoreError
from zomem_graph.stores.lock import Lock

__all__ = ["EMPTY", "HEAD", "migrate", "prepare", "schema_version"]

EMPTY = "base"
HEAD = "0011"  # a test holds this equal to Alembic's own head


def schema_version(database: Database) -> str | None:
    """Return the number of the last step applied; None for an empty database."""
    try:
        with database.read() as connection:
            return connection.execute(text("select version_num from alembic_version")).scalar()
    except StoreError as error:
        if isinstance(error.__cause__, DBAPIError) and "alembic_version" in str(error.__cause__.orig):
            return None
        raise


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

    before = schema_version(database)
    saved = _backup(database, backups, now, before) if before is not None else None
    with database.write() as connection:
        config = _config(connection)
        if target == EMPTY:
            database.dialect.drop_fulltext(connection)
        if before is not None and (target == EMPTY or target < before):
            command.downgrade(config, target)
        else:
            command.upgrade(config, target)
        if target != EMPTY:
            database.dialect.rebuild_fulltext(connection)  # batch steps on SQLite drop its triggers
    return saved


def _config(connection: Connection) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _backup(database: Database, folder: Path, now: datetime, version: str) -> str | None:
    if database.dialect.name != "sqlite":
        return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / f"schema-{version}-{now:%Y%m%dT%H%M%S}.db"
    source = database.url.removeprefix("sqlite:///")
    with sqlite3.connect(source) as old, sqlite3.connect(place) as new:
        old.backup(new)
    old.close()
    new.close()
    place.chmod(0o600)
    return str(place)
