"""Bring a memory's tables to an older or newer schema, or only look: what is there, and what would be done."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from zomem_graph.nodes.rules.given import shown
from zomem_graph.settings import Settings
from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import InvalidInput, SchemaMismatch
from zomem_graph.stores.schema import EMPTY, HEAD, Step, known_steps, migrate, schema_version, steps_between
from zomem_graph.stores.store import Home

__all__ = ["Migrated", "SchemaStatus", "migrate_schema", "schema_status"]

UP, DOWN = "up", "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaStatus:
    """Which schema a database has and which one this version needs; `waiting` are the steps between."""

    database: str
    schema: str | None
    needed: str
    applied: tuple[Step, ...]
    waiting: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What a migration did, or in a dry run would do; `backup` is the copy from before, on SQLite."""

    database: str
    before: str | None
    after: str
    steps: tuple[Step, ...]
    backup: str | None
    dry_run: bool


def schema_status(home: str | Path | None = None, *, database_url: str | None = None) -> SchemaStatus:
    """Return which schema a memory has, without changing anything. Raises InvalidInput where there is none."""
    database, _place = _opened(home, database_url)
    try:
        found = schema_version(database)
        steps = known_steps()
        return SchemaStatus(
            database=database.place,
            schema=found,
            needed=HEAD,
            applied=tuple(step for step in steps if found is not None and step.number <= found),
            waiting=tuple(step for step in steps if found is None or step.number > found),
        )
    finally:
        database.close()


def migrate_schema(
    home: str | Path | None = None,
    *,
    to: str | int = UP,
    database_url: str | None = None,
    dry_run: bool = False,
    clock: Callable[[], datetime] | None = None,
) -> Migrated:
    """Run the steps to a schema: "up" to the newest, "down" by one, or a number; 0 is no schema at all.

    A copy is written first (SQLite). Rows that an older schema does not know are put aside and come back with
    the step up. Opening a memory brings it up again. Raises SchemaMismatch when nothing could be done.
    """
    database, place = _opened(home, database_url)
    try:
        with database.lock(place.lock_file).held():
            before = schema_version(database)
            target = _target(to, before)
            steps = tuple(steps_between(before, target))
            backup = None
            if steps and not dry_run:
                now = (clock or _now)()
                backup = migrate(database, target, backups=place.backups, now=now)
        return Migrated(
            database=database.place, before=before, after=target, steps=steps, backup=backup, dry_run=dry_run
        )
    finally:
        database.close()


def _opened(home: str | Path | None, database_url: str | None) -> tuple[Database, Home]:
    settings = Settings.load(home, database_url=database_url)
    place = Home(settings.home, settings.database_file)
    if settings.database_url is None and not settings.database_file.exists():
        raise InvalidInput(f"There is no memory at {settings.database_file}. `zomem init` makes one.")
    return Database(settings.database_url or f"sqlite:///{settings.database_file}"), place


def _target(to: str | int, before: str | None) -> str:
    """Return the number of the schema that is meant. Raises InvalidInput or SchemaMismatch."""
    if before is not None and before > HEAD:
        raise SchemaMismatch(
            f"The schema is {before}, newer than the {HEAD} this version knows. Upgrade the package: "
            "pip install -U zomem-graph."
        )
    word = str(to).strip().lower()
    if isinstance(to, bool) or not isinstance(to, str | int):
        raise InvalidInput(f"to must be up, down or the number of a schema, not {shown(to)}.")
    if word == UP:
        return HEAD
    numbers = [step.number for step in known_steps()]
    if word == DOWN:
        lower = [number for number in numbers if before is not None and number < before]
        return lower[-1] if lower else EMPTY
    if word in (EMPTY, "0", "0000"):
        return EMPTY
    if word.isascii() and word.isdigit() and word.zfill(4) in numbers:
        return word.zfill(4)
    raise InvalidInput(f"There is no schema {word!r:.40}. Known are {numbers[0]} to {numbers[-1]}, up, down and 0.")


def _now() -> datetime:
    return datetime.now(UTC)
