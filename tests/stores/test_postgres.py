"""What is PostgreSQL's alone: addresses, other people's failures, locks, several machines, erasing."""

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from tests.postgres import PostgresServer
from zomem_graph import Memory, Scope
from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import IndexUnavailable, StoreError, StoreLocked, StoreReadOnly
from zomem_graph.stores.lock import Lock
from zomem_graph.testing import FixedClock, SmallEmbedder

NUMBER = "XK4471902"


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database() as made:
        yield made


@pytest.fixture
def memory(home: Path, url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, database_url=url, embeddings=SmallEmbedder(), clock=clock) as opened:
        yield opened


def plain(url: str) -> psycopg.Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


# -- opening -------------------------------------------------------------------------------------


def test_an_empty_database_becomes_a_memory(postgres: PostgresServer, home: Path) -> None:
    with postgres.empty_database() as url:
        short = url.replace("postgresql+psycopg", "postgres")
        with Memory.open(home, database_url=short, embeddings="none") as memory:
            memory.remember("ann", "tea", "green")
            assert {check.name: check.status for check in memory.health().checks}["database"] == "green"
        with Memory.open(home, database_url=url, embeddings="none") as memory:
            assert memory.search("which tea?")[0].text == "ann tea: green"
    assert not (home / "zomem.db").exists()


def test_several_that_open_an_empty_database_make_it_once(postgres: PostgresServer, tmp_path: Path) -> None:
    failed: list[Exception] = []

    def opening(number: int, url: str) -> None:
        try:
            Memory.open(tmp_path / str(number), database_url=url, embeddings="none").close()
        except StoreError as error:
            failed.append(error)

    with postgres.empty_database() as url:
        threads = [threading.Thread(target=opening, args=(number, url)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"port": 9}, r"127\.0\.0\.1:9/.*cannot be reached.*Start it, or correct ZOMEM_DATABASE_URL"),
        ({"database": "nowhere"}, r"nowhere.*does not exist.*createdb"),
        ({"username": "nobody_here"}, r"nobody_here.*does not exist.*createuser"),
    ],
)
def test_a_server_that_does_not_let_us_in_is_named_with_the_cure(
    url: str, home: Path, change: dict[str, object], said: str
) -> None:
    wrong = make_url(url).set(password="pass-hush", **change).update_query_dict({"sslpassword": "more-hush"})  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=said) as caught:
        Memory.open(home, database_url=wrong.render_as_string(hide_password=False), embeddings="none")
    assert "hush" not in str(caught.value)


def test_a_password_is_never_said(url: str, home: Path) -> None:
    given = make_url(url).set(password="pass-hush").render_as_string(hide_password=False)
    with Memory.open(home, database_url=given, embeddings="none") as memory:
        report = memory.forget(matching="nothing of the kind")
        said = [str(memory.health()), str(report), repr(memory.settings), memory.stores.database.place]
    assert "hush" not in " ".join(said)
    assert "zomem:***@" in said[3]


@pytest.mark.parametrize("scheme", ["postgresql+psycopg2", "postgresql+asyncpg", "mysql", "nonsense"])
def test_another_driver_or_database_is_refused_with_the_right_form(home: Path, scheme: str) -> None:
    with pytest.raises(StoreError, match=r"postgresql\+psycopg://"):
        Memory.open(home, database_url=f"{scheme}://user@host/database", embeddings="none")


def test_without_psycopg_the_extra_is_named(tmp_path: Path) -> None:
    code = """
        import sys
        sys.modules["psycopg"] = None
        from zomem_graph import Memory
        from zomem_graph.stores.errors import StoreError
        try:
            Memory.open(sys.argv[1], database_url="postgresql://user@127.0.0.1/x")
        except StoreError as error:
            print(error)
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "home")],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert 'pip install "zomem-graph[postgres]"' in said


def test_a_database_that_is_not_utf8_is_refused(postgres: PostgresServer, home: Path) -> None:
    with postgres.empty_database(options="template template0 encoding 'LATIN1' locale 'C'") as url:
        with pytest.raises(StoreError, match=r"LATIN1.*createdb --encoding=UTF8"):
            Memory.open(home, database_url=url, embeddings="none")


def test_a_user_who_may_not_write_is_told_so(postgres: PostgresServer, url: str, home: Path) -> None:
    Memory.open(home, database_url=url, embeddings="none").close()
    postgres.run("create role zomem_test_reader login")
    try:
        with plain(url) as connection:
            connection.execute("grant select on all tables in schema public to zomem_test_reader")
        reader = make_url(url).set(username="zomem_test_reader").render_as_string(hide_password=False)
        with Memory.open(home, database_url=reader, embeddings="none") as memory:
            with pytest.raises(StoreReadOnly, match="grant this user"):
                memory.remember("ann", "tea", "green")
            assert list(memory.search("tea")) == []
    finally:
        with plain(url) as connection:
            connection.execute("drop owned by zomem_test_reader")
        postgres.run("drop role zomem_test_reader")


def test_stores_share_a_database_in_schemas_of_their_own(postgres: PostgresServer, tmp_path: Path) -> None:
    with postgres.empty_database() as url:
        opened = []
        for name in ("one", "two"):
            with plain(url) as connection:
                connection.execute(f"create schema {name}".encode())
            there = f"{url}?options=-csearch_path%3D{name}"
            opened.append(Memory.open(tmp_path / name, database_url=there, embeddings="none"))
        one, two = opened
        one.remember("ann", "tea", "green")
        assert [len(memory.search("tea")) for memory in opened] == [1, 0]
        with one.stores.lock.held(), two.stores.lock.held(wait_seconds=0):
            assert two.forget(everything=True).clean
        assert [len(memory.search("tea")) for memory in opened] == [1, 0]
        for memory in opened:
            memory.close()


def test_a_schema_that_is_not_there_is_named(url: str, home: Path) -> None:
    with pytest.raises(StoreError, match="create schema"):
        Memory.open(home, database_url=f"{url}?options=-csearch_path%3Dnowhere", embeddings="none")


# -- using ---------------------------------------------------------------------------------------


def test_connections_that_were_lost_are_made_again(memory: Memory, url: str) -> None:
    memory.remember("ann", "tea", "green")
    with plain(url) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    assert memory.search("tea")[0].text == "ann tea: green"
    memory.remember("ann", "tea", "black")
    assert memory.search("tea")[0].text == "ann tea: black"


def test_a_connection_lost_in_the_middle_changes_nothing_and_says_where(memory: Memory, url: str) -> None:
    def half() -> None:
        with memory.stores.database.write() as connection:
            connection.execute(text("insert into meta (key, value) values ('half', 'done')"))
            with plain(url) as other:
                other.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                    " and state = 'idle in transaction'"
                )
            connection.execute(text("select 1"))

    with pytest.raises(StoreError, match=r"127\.0\.0\.1:.*try again; what was committed is kept"):
        half()
    with memory.stores.read() as unit:
        assert unit.journal.meta("half") is None


def test_a_writer_that_waits_in_vain_says_so(memory: Memory, url: str) -> None:
    with memory.stores.database.write():
        with pytest.raises(StoreLocked, match="held by another process"):
            with memory.stores.database.write(hasty=True):
                pass


def test_a_reader_changes_nothing_and_sees_one_moment(memory: Memory) -> None:
    with memory.stores.read() as unit:
        before = unit.facts.count()
        memory.remember("ann", "tea", "green")
        assert unit.facts.count() == before
    with pytest.raises(StoreReadOnly), memory.stores.database.read() as connection:
        connection.execute(text("delete from facts"))


def test_outbox_numbers_commit_in_their_order(memory: Memory) -> None:
    """Or an index could say it holds a change that another writer commits a moment later."""
    second_began, first_done = threading.Event(), threading.Event()
    order: list[str] = []

    def second() -> None:
        second_began.set()
        with memory.stores.write() as unit:
            unit.outbox.add_numbered([("b", "c", "delete")])
            order.append("second" if first_done.is_set() else "too early")

    thread = threading.Thread(target=second)
    with memory.stores.write() as unit:
        thread.start()
        second_began.wait()
        first = unit.outbox.add_numbered([("a", "c", "delete")])["a"]
        first_done.set()
    thread.join()
    assert order == ["second"]
    with memory.stores.read() as unit:
        entries = [entry for entry in unit.outbox.next(100) if entry.collection == "c"]
    assert [entry.item_id for entry in entries] == ["a", "b"]
    assert entries[0].seq == first < entries[1].seq


def test_the_lock_is_one_for_all_machines_and_goes_in_again(url: str, tmp_path: Path) -> None:
    databases = [Database(url) for _ in range(2)]
    one, other = (database.lock(tmp_path / f"{number}.lock") for number, database in enumerate(databases))
    with one.held(), one.held(wait_seconds=0):
        assert not taken(other)
        with pytest.raises(StoreLocked, match="another process"), other.held(wait_seconds=0):
            pass
        in_a_thread: list[bool] = []
        thread = threading.Thread(target=lambda: in_a_thread.append(taken(one)))
        thread.start()
        thread.join()
        assert in_a_thread == [False]
    assert taken(other)
    for database in databases:
        database.close()


def taken(lock: Lock) -> bool:
    with lock.held_if_free() as mine:
        return mine


# -- several machines ----------------------------------------------------------------------------


def test_a_second_home_reads_everything_and_leaves_the_index_to_the_first(url: str, tmp_path: Path) -> None:
    """An index in a folder serves one machine; the others compare the stored vectors one by one."""
    with Memory.open(tmp_path / "first", database_url=url, embeddings=SmallEmbedder()) as first:
        first.remember("ann", "drinks", "green tea")
        first.flush()
        with Memory.open(tmp_path / "second", database_url=url, embeddings=SmallEmbedder()) as second:
            assert second.search("green tea")[0].text == "ann drinks: green tea"
            second.remember("bob", "drinks", "coffee")
            with pytest.raises(IndexUnavailable, match="ZOMEM_CHROMA_URL"):
                second.flush()
            assert second.search("who drinks coffee")[0].text == "bob drinks: coffee"
            assert "ZOMEM_CHROMA_URL" in str(second.health())
        first.flush()
        assert first.search("coffee")[0].text == "bob drinks: coffee"
        report = first.verify()
        for _ in range(100):  # the worker of the first home may be feeding what the second wrote
            if report["ok"]:
                break
            time.sleep(0.1)
            report = first.verify()
        assert report["ok"], report
        assert not first.stores.index.state().faults


def test_a_home_that_is_gone_gives_the_index_to_who_repairs(url: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "first", database_url=url, embeddings=SmallEmbedder()) as first:
        first.remember("ann", "drinks", "green tea")
        first.flush()
    with Memory.open(tmp_path / "second", database_url=url, embeddings=SmallEmbedder()) as second:
        assert second.health().status == "red"
        second.repair()
        assert second.verify()["ok"]
        assert {check.name: check.status for check in second.health().checks}["index"] == "green"


def test_a_home_that_was_moved_keeps_its_index(url: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "before", database_url=url, embeddings=SmallEmbedder()) as memory:
        memory.remember("ann", "drinks", "green tea")
        memory.flush()
    (tmp_path / "before").rename(tmp_path / "after")
    with Memory.open(tmp_path / "after", database_url=url, embeddings=SmallEmbedder()) as memory:
        assert {check.name: check.status for check in memory.health().checks}["index"] == "green"
        assert memory.verify()["ok"]


# -- erasing -------------------------------------------------------------------------------------


def test_what_was_forgotten_is_in_no_row_and_in_no_file_of_a_table(memory: Memory, url: str) -> None:
    memory.observe([{"role": "user", "content": f"my passport number is {NUMBER}"}], scope=Scope(persona="ann"))
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    memory.remember("ann", "tea", "green", persona="ann")
    memory.recall(f"is {NUMBER} my passport?", scope=Scope(persona="ann"))
    assert tables_with(url, NUMBER)
    report = memory.forget(persona="ann", id=fact.id)
    assert report.clean, (report.traces, report.notes)
    assert report.scanned["rows"] > 10
    assert any("write-ahead log" in note for note in report.notes)
    assert tables_with(url, NUMBER) == []
    assert memory.search("tea", scope=Scope(persona="ann"))[0].text == "ann tea: green"


def test_a_row_that_still_holds_it_is_reported(memory: Memory, url: str) -> None:
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    with plain(url) as connection:
        connection.execute("create table notes_of_mine (said text)")
        connection.execute("insert into notes_of_mine values (%s)", (f"the number is {NUMBER}",))
    try:
        report = memory.forget(persona="ann", id=fact.id)
    finally:
        with plain(url) as connection:
            connection.execute("drop table notes_of_mine")
    assert not report.clean
    assert [trace.place for trace in report.traces] == ["table notes_of_mine"]


def tables_with(url: str, word: str) -> list[str]:
    """Return the tables and indexes whose files on the server's disk hold a word."""
    with plain(url) as connection:
        connection.execute("checkpoint")
        files = connection.execute(
            "select relname, pg_read_binary_file(pg_relation_filepath(oid)) from pg_class"
            " where relkind in ('r', 'i', 't') and relnamespace in ('public'::regnamespace, 'pg_toast'::regnamespace)"
            " and pg_relation_filepath(oid) is not null"
        ).fetchall()
    return sorted(name for name, data in files if word.lower().encode() in bytes(data).lower())


def test_the_database_is_written_anew_only_by_its_owner(memory: Memory) -> None:
    database = memory.stores.database
    with pytest.raises(DBAPIError), database._engine.execution_options(read=True).begin() as connection:
        connection.exec_driver_sql("vacuum full facts")  # not inside a transaction
    assert database.compact() == []
