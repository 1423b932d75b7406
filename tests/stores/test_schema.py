"""The schema: records, light tables, SQLModel classes and migrations say the same."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import TableClause, inspect
from sqlmodel import SQLModel

import zomem_graph.stores.schema as schema_module
from zomem_graph.stores import sql, tables
from zomem_graph.stores.columns import FaithfulText, UtcTime
from zomem_graph.stores.database import Database
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.schema import EMPTY, HEAD, migrate, prepare, schema_version

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture
def database(new_database_url: str, tmp_path: Path) -> Iterator[Database]:
    fresh = Database(new_database_url)
    prepare(fresh, lock=FolderLock(tmp_path / "zomem.lock"), backups=tmp_path / "backups", now=NOW)
    yield fresh
    fresh.close()


def test_light_tables_have_the_columns_of_the_schema() -> None:
    assert tables.__all__
    for name, table in SQLModel.metadata.tables.items():
        light = getattr(sql, name)
        assert isinstance(light, TableClause)
        assert {column.name for column in light.columns} == {column.name for column in table.columns}, name


def test_migrations_make_exactly_the_schema(database: Database) -> None:
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": _ours})
        assert compare_metadata(context, SQLModel.metadata) == []


def _ours(_thing: object, name: str | None, kind: str, _reflected: bool, _other: object) -> bool:
    return not (kind == "table" and (name or "").startswith(("items_fts", "sqlite_")))


def test_head_is_the_last_migration() -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == HEAD


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(schema_module.__file__).parent / "migrations"))
    return config


def test_every_step_goes_down_and_up_again(database: Database, tmp_path: Path) -> None:
    migrate(database, EMPTY, backups=tmp_path / "backups", now=NOW)
    assert schema_version(database) is None
    migrate(database, HEAD, backups=tmp_path / "backups", now=NOW)
    assert schema_version(database) == HEAD
    saved = list((tmp_path / "backups").iterdir()) if database.dialect.name == "sqlite" else []
    assert len(saved) == (database.dialect.name == "sqlite")


def test_each_step_can_be_undone_and_taken_again(database: Database, tmp_path: Path) -> None:
    scripts = ScriptDirectory.from_config(_config())
    steps = [step.revision for step in scripts.walk_revisions()]
    for step in [*steps[1:], *reversed(steps[:-1])]:
        migrate(database, step, backups=tmp_path / "backups", now=NOW)
        with database.write() as connection:
            assert database.dialect.fulltext_fault(connection) is None, step
    assert schema_version(database) == HEAD


def test_a_current_store_is_opened_with_one_look(database: Database, tmp_path: Path) -> None:
    prepare(database, lock=FolderLock(tmp_path / "nowhere" / "zomem.lock"), backups=tmp_path, now=NOW)


@given(st.text(st.characters(), max_size=200))
def test_any_text_comes_back_as_it_went_in(value: str) -> None:
    kind = FaithfulText()
    stored = kind.process_bind_param(value, None)  # type: ignore[arg-type]
    assert stored is not None
    stored.encode("utf-8")
    assert "\x00" not in stored
    assert kind.process_result_value(stored, None) == value  # type: ignore[arg-type]


@given(st.datetimes(timezones=st.just(UTC)))
def test_any_time_comes_back_within_a_microsecond(value: datetime) -> None:
    kind = UtcTime()
    back = kind.process_result_value(kind.process_bind_param(value, None), None)  # type: ignore[arg-type]
    assert back is not None
    assert abs((back - value).total_seconds()) < 1e-4


def test_two_current_values_in_one_slot_are_refused_by_the_database(database: Database) -> None:
    with database.read() as connection:
        (slot,) = [index for index in inspect(connection).get_indexes("facts") if index["name"] == "uq_facts_slot"]
    assert slot["unique"]
    where = slot["dialect_options"][f"{database.dialect.name}_where"]
    assert "current" in str(where)
