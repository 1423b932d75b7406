"""Open loops as rows: one open loop a fingerprint, sleep, end, and the two sides of a loop in step."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import StoreError
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.records import Loop
from zomem_graph.stores.schema import migrate, prepare, schema_version
from zomem_graph.stores.unit import Unit

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
LOOP = Loop(
    id="a1",
    persona="ana",
    thread=None,
    session="s1",
    title="Fix the login page",
    summary="",
    kind="bug",
    status="open",
    priority=0.6,
    entity="login page",
    owner=None,
    source="test",
    trust="user",
    turn_id=None,
    related_episode_id=None,
    fingerprint="bug::login page::fix the login page",
    created_at=NOW,
    updated_at=NOW,
    snoozed_until=None,
    expires_at=None,
    resolved_at=None,
    resolution=None,
    metadata={"from": "test"},
)


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    database = Database(database_url)
    prepare(database, lock=FolderLock(tmp_path / "lock"), backups=tmp_path / "backups", now=NOW)
    yield database
    database.close()


@pytest.fixture
def unit(database: Database) -> Iterator[Unit]:
    with database.write() as connection:
        yield Unit(connection, database.dialect)


def add(unit: Unit, loop: Loop) -> None:
    unit.loops.add(loop)
    item = NewItem(id=loop.id, kind="loop", persona=loop.persona, text=loop.title, created_at=loop.created_at)
    unit.items.add([item])


def titles(loops: list[Loop]) -> list[str]:
    return [loop.title for loop in loops]


def test_a_loop_comes_back_as_it_was_saved(unit: Unit) -> None:
    add(unit, LOOP)

    assert unit.loops.find(["a1"]) == [LOOP]


def test_a_second_open_loop_with_the_same_fingerprint_is_refused(database: Database) -> None:
    with database.write() as connection:
        Unit(connection, database.dialect).loops.add(LOOP)

    with pytest.raises(StoreError), database.write() as connection:
        Unit(connection, database.dialect).loops.add(replace(LOOP, id="a2", status="stale"))


def test_another_persona_may_have_the_same_loop(unit: Unit) -> None:
    add(unit, LOOP)
    add(unit, replace(LOOP, id="b1", persona="ben"))

    assert unit.loops.twin("ben", LOOP.fingerprint) == replace(LOOP, id="b1", persona="ben")


def test_the_same_loop_can_be_resolved_again_and_again(unit: Unit) -> None:
    for number in range(3):
        add(unit, replace(LOOP, id=f"a{number}"))
        unit.loops.end([f"a{number}"], status="resolved", at=NOW)

    assert unit.loops.counts() == {"resolved": 3}
    assert unit.loops.twin("ana", LOOP.fingerprint) is None


def test_what_is_ended_stays_as_it_ended(unit: Unit) -> None:
    add(unit, LOOP)
    unit.loops.end(["a1"], status="resolved", at=NOW, resolution="fixed")
    unit.loops.end(["a1"], status="superseded", at=NOW + timedelta(days=1))

    (loop,) = unit.loops.find(["a1"])
    assert (loop.status, loop.resolved_at, loop.resolution) == ("resolved", NOW, "fixed")


def test_what_was_spoken_of_last_comes_first(unit: Unit) -> None:
    add(unit, LOOP)
    add(unit, replace(LOOP, id="a2", title="Call Ana", fingerprint="2", updated_at=NOW + timedelta(hours=1)))

    assert titles(unit.loops.waiting(["ana"], now=NOW)) == ["Call Ana", "Fix the login page"]


def test_a_snoozed_loop_waits_for_its_time(unit: Unit) -> None:
    add(unit, replace(LOOP, snoozed_until=NOW + timedelta(days=2)))

    assert unit.loops.waiting(["ana"], now=NOW) == []
    assert titles(unit.loops.snoozed(["ana"], now=NOW)) == ["Fix the login page"]
    assert titles(unit.loops.waiting(["ana"], now=NOW + timedelta(days=2))) == ["Fix the login page"]


def test_an_expired_loop_is_over(unit: Unit) -> None:
    add(unit, replace(LOOP, expires_at=NOW + timedelta(days=2)))

    assert titles(unit.loops.waiting(["ana"], now=NOW)) == ["Fix the login page"]
    assert unit.loops.waiting(["ana"], now=NOW + timedelta(days=2)) == []


def test_a_loop_deleted_from_search_is_not_listed(unit: Unit) -> None:
    add(unit, LOOP)
    unit.items.end(["a1"], state="deleted", at=NOW)

    assert unit.loops.waiting(["ana"], now=NOW) == []


def test_an_entity_is_found_in_any_case(unit: Unit) -> None:
    add(unit, LOOP)

    assert titles(unit.loops.waiting(["ana"], now=NOW, entity="Login Page")) == ["Fix the login page"]


def test_percent_signs_in_an_id_match_nothing_else(unit: Unit) -> None:
    add(unit, LOOP)

    assert unit.loops.starting_with(["ana"], "%") == []
    assert unit.loops.starting_with(["ana"], "a") == [LOOP]
    assert unit.loops.starting_with(["ben"], "a") == []


def test_purged_loops_leave_nothing(unit: Unit) -> None:
    add(unit, LOOP)

    assert unit.loops.purge(["a1", "unknown"]) == 1
    assert unit.loops.find(["a1"]) == []


def test_the_step_down_takes_loops_out_of_search_and_the_step_up_works_again(
    new_database_url: str, tmp_path: Path
) -> None:
    database = Database(new_database_url)
    prepare(database, lock=FolderLock(tmp_path / "lock"), backups=tmp_path / "backups", now=NOW)
    with database.write() as connection:
        unit = Unit(connection, database.dialect)
        add(unit, LOOP)
        unit.items.add([NewItem(id="t1", kind="turn", persona="ana", text="hello", created_at=NOW)])

    migrate(database, "0001", backups=tmp_path / "backups", now=NOW)
    with database.read() as connection:
        assert Unit(connection, database.dialect).items.counts() == {"turn:current": 1}

    migrate(database, "0002", backups=tmp_path / "backups", now=NOW)
    with database.read() as connection:
        assert Unit(connection, database.dialect).loops.counts() == {"open": 1}  # a step down puts it by
        assert Unit(connection, database.dialect).fulltext_fault() is None
    assert schema_version(database) == "0002"
    database.close()
