"""Migrations on a memory that has lived: down and up again loses nothing, whichever step one stops at."""

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from tests.postgres import PostgresServer
from zomem_graph import Memory, MemoryOptions, Scope
from zomem_graph.migrating import migrate_schema, schema_status
from zomem_graph.nodes.options import SummaryOptions
from zomem_graph.store import MemoryStore
from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import InvalidInput, SchemaMismatch, StoreDamaged, StoreLocked
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.schema import HEAD, known_steps
from zomem_graph.testing import FixedClock, SmallEmbedder

from .command_line import CommandLine

ANN = Scope(persona="ann")
NUMBERS = [step.number for step in known_steps()]
OPTIONS = MemoryOptions(summaries=SummaryOptions(threshold=3, most=4, older_days=1))
VOLATILE = {"alembic_version", "outbox", "meta", "sqlite_sequence", "sqlite_stat1"}
REFED = {"items": "vec_seq"}  # what came back is fed to the index anew


def live(home: Path, clock: FixedClock) -> None:
    """Put something into every table that a user fills."""
    with Memory.open(home, embeddings=SmallEmbedder(), clock=clock, options=OPTIONS) as memory:
        memory.remember("office", "city", "Lyon", persona="ann")
        memory.remember("office", "city", "Porto", persona="ann")
        memory.capture(
            [{"role": "user", "content": "My sister Mia moved to Lisbon. We still need to order seeds."}], scope=ANN
        )
        for number in range(8):
            memory.episodes.create(f"Deployed part {number} of the site", entities=["site"], scope=ANN)
            clock.advance(days=1)
        clock.advance(days=5)
        memory.summaries.run()
        memory.loops.create("Renew the certificate", scope=ANN)
        memory.personas.add("bob", "tester")
        memory.personas.pools.create("team", members=["ann"])
        memory.budget.init(8_000, scope=ANN)
        memory.recall("Do you remember where the office is?", scope=ANN)
        store = MemoryStore(memory)
        store.put(("notes",), "a", {"text": "a note about the mill"})
        memory.forget(persona="ann", matching="nothing that is there")
        memory.flush()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has lived."""
    home = tmp_path_factory.mktemp("lived") / "home"
    live(home, FixedClock())
    return home


@pytest.fixture
def lived(template: Path, home: Path, clock: FixedClock) -> Path:
    """A copy of it, a month later."""
    shutil.copytree(template, home)
    clock.advance(days=30)
    return home


def contents(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table of ours, save what is about the index's progress."""
    found = {}
    with closing(sqlite3.connect(home / "zomem.db")) as connection:
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        for name in names:
            if name in VOLATILE or name.startswith("items_fts"):
                continue
            columns = [
                row[1] for row in connection.execute(f'pragma table_info("{name}")') if row[1] != REFED.get(name)
            ]
            listed = ", ".join(f'"{column}"' for column in columns)
            found[name] = sorted(connection.execute(f'select {listed} from "{name}"').fetchall(), key=repr)
    return found


def reopened(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Memory:
    return Memory.open(home, embeddings=embedder, clock=clock, options=OPTIONS)


@pytest.mark.parametrize("target", ["0", *NUMBERS[:-1]])
def test_down_and_up_again_brings_everything_back(
    lived: Path, target: str, clock: FixedClock, embedder: SmallEmbedder
) -> None:
    before = contents(lived)
    down = migrate_schema(lived, to=target, clock=clock)
    up = migrate_schema(lived, clock=clock)

    assert (down.before, up.after) == (HEAD, HEAD)
    assert contents(lived) == before
    with reopened(lived, clock, embedder) as memory:
        assert memory.search("where is the office?", scope=ANN)[0].text == "office city: Porto"
        assert memory.search("deployed the site", scope=ANN, kinds=["episode"])
        assert memory.search("deployed the site", scope=ANN, kinds=["summary"])
        memory.flush()
        assert memory.verify()["ok"]


@pytest.mark.parametrize("target", ["0", 1, 6, 8])
def test_postgresql_brings_everything_back_too(
    target: int | str,
    postgres: PostgresServer,
    home: Path,
    clock: FixedClock,
    monkeypatch: pytest.MonkeyPatch,
    embedder: SmallEmbedder,
) -> None:
    with postgres.database() as url:
        monkeypatch.setenv("ZOMEM_DATABASE_URL", url)
        live(home, clock)
        before = rows_of(url)
        migrate_schema(home, to=target, clock=clock)
        migrate_schema(home, clock=clock)

        assert rows_of(url) == before
        with reopened(home, clock, embedder) as memory:
            memory.episodes.create("Deployed once more", scope=ANN)
            memory.search("deployed", scope=ANN)  # its numbers are counted on from those that came back
            MemoryStore(memory).put(("notes",), "b", {"text": "another note"})
            assert memory.metrics()["operations"]
            assert memory.search("deployed the site", scope=ANN, kinds=["summary"])
            memory.flush()
            assert memory.verify()["ok"]


def rows_of(url: str) -> dict[str, list[Any]]:
    """Return every row of every table of ours on a server, as `contents` does."""
    found = {}
    database = Database(url)
    with database.read() as connection:
        looked = inspect(connection)
        for name in looked.get_table_names():
            if name not in VOLATILE:
                columns = [one["name"] for one in looked.get_columns(name) if one["name"] != REFED.get(name)]
                listed = ", ".join(f'"{column}"' for column in columns if column != "words")
                rows = connection.execute(text(f'select {listed} from "{name}"')).all()
                found[name] = sorted((tuple(row) for row in rows), key=repr)
    database.close()
    return found


def test_every_single_step_goes_down_and_up(lived: Path, clock: FixedClock) -> None:
    before = contents(lived)
    for number in [*reversed(NUMBERS[:-1]), "0"]:
        assert migrate_schema(lived, to="down", clock=clock).after.lstrip("0") in (number.lstrip("0"), "base")
    for number in NUMBERS:
        assert migrate_schema(lived, to=number, clock=clock).after == number

    assert contents(lived) == before


@pytest.mark.parametrize("number", NUMBERS[:-1])
def test_an_older_schema_is_brought_up_when_it_is_opened(
    lived: Path, number: str, clock: FixedClock, embedder: SmallEmbedder
) -> None:
    migrate_schema(lived, to=number, clock=clock)
    with reopened(lived, clock, embedder) as memory:
        assert schema_status(lived).schema == HEAD
        assert memory.search("where is the office?", scope=ANN)[0].text == "office city: Porto"
        assert {hit.text for hit in memory.search("sister", scope=ANN)}
        assert [loop.title for loop in memory.loops.list(scope=ANN)] == ["Renew the certificate", "Order seeds"]


def test_what_an_older_version_wrote_meanwhile_stays(lived: Path, clock: FixedClock, embedder: SmallEmbedder) -> None:
    migrate_schema(lived, to=2, clock=clock)
    with closing(sqlite3.connect(lived / "zomem.db")) as connection:
        connection.execute("update open_loops set title = 'Renew both certificates' where title like 'Renew%'")
        connection.commit()

    with reopened(lived, clock, embedder) as memory:
        assert next(loop.title for loop in memory.loops.list(scope=ANN)) == "Renew both certificates"


def test_what_an_older_version_deletes_stays_deleted(lived: Path, clock: FixedClock) -> None:
    with closing(sqlite3.connect(lived / "zomem.db")) as connection:
        names = [row[1] for row in connection.execute("pragma table_info(extractions)")]
        values = {"id": "", "persona": "ann", "session": "s", "source": "api", "turn_ids": "[]", "status": "waiting"}
        for id_, model in (("one", "openai:a"), ("two", "openai:b")):
            row = [{**values, "id": id_, "model": model}.get(name, 0) for name in names]
            connection.execute(f"insert into extractions values ({', '.join('?' * len(names))})", row)
        connection.commit()
    migrate_schema(lived, to=5, clock=clock)
    with closing(sqlite3.connect(lived / "zomem.db")) as connection:
        connection.execute("delete from extractions where id = 'one'")
        connection.commit()
    migrate_schema(lived, clock=clock)

    with closing(sqlite3.connect(lived / "zomem.db")) as connection:
        assert connection.execute("select id, model from extractions").fetchall() == [("two", "openai:b")]


def test_a_copy_is_written_first_and_never_over_another(lived: Path, clock: FixedClock) -> None:
    first = migrate_schema(lived, to="down", clock=clock)
    migrate_schema(lived, clock=clock)
    second = migrate_schema(lived, to="down", clock=clock)

    assert first.backup is not None
    assert second.backup is not None
    assert first.backup != second.backup
    with closing(sqlite3.connect(first.backup)) as copy:
        assert copy.execute("select version_num from alembic_version").fetchone() == (HEAD,)
        assert copy.execute("select count(*) from facts").fetchone()[0] >= 2
    assert Path(first.backup).stat().st_mode & 0o777 == 0o600


def test_a_dry_run_tells_the_steps_in_order_and_changes_nothing(lived: Path, clock: FixedClock) -> None:
    before = contents(lived)
    planned = migrate_schema(lived, to=NUMBERS[-4], dry_run=True, clock=clock)

    assert [step.number for step in planned.steps] == NUMBERS[:-4:-1]
    assert all(step.about for step in planned.steps)
    assert (planned.backup, contents(lived)) == (None, before)
    assert not (lived / "backups").exists()


def test_nothing_is_done_where_nothing_is_to_be_done(lived: Path, clock: FixedClock) -> None:
    done = migrate_schema(lived, clock=clock)

    assert (done.steps, done.backup) == ((), None)
    assert not (lived / "backups").exists()


@pytest.mark.parametrize("to", ["12345", "sideways", "", "-1", "²", 99, True, 1.5])
def test_a_schema_nobody_knows_is_refused(lived: Path, to: Any) -> None:
    with pytest.raises(InvalidInput, match="schema"):
        migrate_schema(lived, to=to)
    assert schema_status(lived).schema == HEAD


def test_a_place_without_a_memory_stays_without_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="zomem init"):
        schema_status(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="zomem init"):
        migrate_schema(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_newer_schema_says_to_upgrade(lived: Path) -> None:
    with closing(sqlite3.connect(lived / "zomem.db")) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
        connection.commit()

    with pytest.raises(SchemaMismatch, match="Upgrade the package"):
        migrate_schema(lived, to="down")
    with pytest.raises(SchemaMismatch, match="Upgrade the package"):
        Memory.open(lived, embeddings="none")


def test_a_half_migrated_store_is_left_as_it_is_and_its_copy_is_named(lived: Path, clock: FixedClock) -> None:
    migrate_schema(lived, to=8, clock=clock)
    with closing(sqlite3.connect(lived / "zomem.db")) as connection:
        connection.execute("create table operations (num integer)")
        connection.commit()
    before = contents(lived)

    with pytest.raises(
        SchemaMismatch, match=r"nothing was changed: .*operations.* A copy from before is .*schema-0008"
    ):
        Memory.open(lived, embeddings="none")
    assert contents(lived) == before
    with closing(sqlite3.connect(lived / "zomem.db")) as connection:
        connection.execute("drop table operations")
        connection.commit()
    with Memory.open(lived, embeddings="none", clock=clock) as memory:
        assert memory.summaries.list(scope=ANN)


def test_a_migration_waits_for_nobody_for_ever(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = FolderLock(lived / "zomem.lock")
    held = lock.held
    monkeypatch.setattr(FolderLock, "try_hold", lambda self, *, wait_seconds: self is lock)
    with held(), pytest.raises(StoreLocked):
        migrate_schema(lived, to="down")


def test_years_at_the_edges_survive(home: Path, clock: FixedClock) -> None:
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        for year in (1, 9999):
            memory.episodes.create(f"Year {year}", happened_at=clock().replace(year=year), scope=ANN)
    before = contents(home)
    migrate_schema(home, to=1, clock=clock)
    clock.set(clock() - timedelta(days=9_999))
    migrate_schema(home, clock=clock)

    assert contents(home) == before


# -- the command line ------------------------------------------------------------------------------


def test_the_command_line_shows_and_runs_steps(home: Path) -> None:
    zomem = CommandLine(home)
    zomem.ok("remember", "ana", "city", "Porto")
    zomem.ok("episodes", "create", "--summary", "Deployed the site")
    assert f"the schema is {HEAD}" in zomem("migrate", "status").stderr

    assert [step["number"] for step in zomem.json("migrate", "to", "9", "--dry-run")["steps"]][-1] == "0010"
    assert zomem.json("migrate", "status")["waiting"] == []
    assert zomem.json("rollback", "--to", "1")["after"] == "0001"
    assert [step["number"] for step in zomem.json("migrate", "status")["applied"]] == ["0001"]
    assert zomem.json("migrate", "--to", "7")["after"] == "0007"
    assert "would go" in zomem("migrate", "down", "--dry-run").stderr
    assert zomem.ok("migrate").splitlines()[1].startswith("0008\t")
    assert "nothing to do" in zomem("migrate", "up").stderr
    assert "Deployed the site" in zomem.ok("episodes")


@pytest.mark.parametrize(
    "words",
    [
        ("sideways",),
        ("to",),
        ("to", "9", "--to", "8"),
        ("up", "9"),
        ("down", "--to", "3"),
        ("to", "77"),
        ("--to", "x"),
    ],
)
def test_wrong_use_changes_nothing(home: Path, words: tuple[str, ...]) -> None:
    zomem = CommandLine(home)
    zomem.ok("init")
    result = zomem("migrate", *words)

    assert (result.exit_code, result.stdout) == (1, "")
    assert zomem.json("migrate", "status")["schema"] == HEAD


def test_no_memory_is_made_by_looking(home: Path) -> None:
    assert CommandLine(home)("migrate", "status").exit_code == 1
    assert not home.exists()


@pytest.mark.parametrize("to", NUMBERS[1:9])
def test_a_memory_that_is_open_meanwhile_says_what_happened(lived: Path, clock: FixedClock, to: str) -> None:
    with Memory.open(lived, embeddings="none", clock=clock) as memory:
        migrate_schema(lived, to=to, clock=clock)
        said = ""
        for verb in (memory.stats, lambda: memory.remember("a", "b", "c"), memory.personas.list, memory.maintain):
            try:
                verb()
            except StoreDamaged as error:
                said = str(error)
        assert "another schema" in said
        assert "Open the memory again" in said
    with Memory.open(lived, embeddings="none", clock=clock) as again:
        assert again.lookup("office", scope=ANN)
