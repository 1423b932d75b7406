"""A home that is locked, read-only, full, damaged or gone: a clear error, or an answer that says what is missing."""

import os
import resource
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.faults.nursery import Nursery
from zomem_graph import Memory
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.stores.errors import (
    SchemaMismatch,
    StoreDamaged,
    StoreError,
    StoreLocked,
    StoreReadOnly,
    ZomemError,
)
from zomem_graph.testing import SmallEmbedder

NOTES = 260  # more than Chroma keeps in its log, so that there are files to spoil
QUESTION = "what did I tell you about the office in the city of Lyon?"
ANSWER = "the office is in the city of Lyon"
# The index is asked even where a scan would do, and nothing mends it in the background.
WATCHED = MemoryOptions(write=WriteOptions(background=False), retrieve=RetrieveOptions(exact_below=0))


def opened(home: Path, **named: Any) -> Memory:
    return Memory.open(home, embeddings=SmallEmbedder(), options=WATCHED, **named)


def impatient(home: Path) -> Memory:
    """Open a home that waits a tenth of a second for other writers."""
    return opened(home, database_url=f"sqlite:///{home}/zomem.db?timeout=0.1")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("template") / "home"
    with opened(place) as memory:
        memory.remember_many(
            {"entity": f"note {n}", "key": "text", "value": f"the garden has {n} apple trees"} for n in range(NOTES)
        )
        memory.observe([{"role": "user", "content": ANSWER}], session="a")
        memory.flush()
    return place


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    """A home of its own with something in it."""
    return Path(shutil.copytree(template, tmp_path / "home"))


def statuses(memory: Memory) -> dict[str, str]:
    return {check.name: check.status for check in memory.health().checks}


def answers(memory: Memory) -> tuple[str, ...]:
    """See that search and recall answer; return what is missing."""
    assert any(ANSWER in hit.text for hit in memory.search("office Lyon"))
    recollection = memory.recall(QUESTION)
    assert ANSWER in recollection.text
    return recollection.degraded


# -- damage ----------------------------------------------------------------------------------------


def cut(name: str, share: float) -> Callable[[Path], None]:
    def spoil(home: Path) -> None:
        os.truncate(home / name, int((home / name).stat().st_size * share))

    return spoil


def overwritten(start: int, length: int) -> Callable[[Path], None]:
    def spoil(home: Path) -> None:
        with (home / "zomem.db").open("r+b") as file:
            file.seek(start)
            file.write(Random(1).randbytes(length))

    return spoil


def replaced_by_text(name: str) -> Callable[[Path], None]:
    def spoil(home: Path) -> None:
        (home / name).write_text("no database\n" * 900)

    return spoil


DATABASE_DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut in half": cut("zomem.db", 0.5),
    "cut at its end": cut("zomem.db", 0.97),
    "cut to nothing": cut("zomem.db", 0.0),
    "removed": lambda home: (home / "zomem.db").unlink(),
    "header overwritten": overwritten(0, 100),
    "pages overwritten": overwritten(4096, 40 * 4096),
    "replaced by a text": replaced_by_text("zomem.db"),
}


@pytest.mark.parametrize("damage", DATABASE_DAMAGES.values(), ids=DATABASE_DAMAGES)
def test_a_damaged_database_is_named_with_its_cure(damage: Callable[[Path], None], home: Path) -> None:
    damage(home)
    files = {path.name for path in home.iterdir()}
    with pytest.raises(StoreDamaged, match=r"zomem\.db .*backups"):
        opened(home)
    assert {path.name for path in home.iterdir()} - files <= {"zomem.db-wal", "zomem.db-shm"}


@pytest.mark.parametrize("name", ["zomem.db", "zomem.db-wal", "zomem.lock", "maintenance.lock"])
def test_a_folder_in_the_place_of_a_file_is_named_with_its_cure(name: str, tmp_path: Path) -> None:
    (tmp_path / "home" / name / "inside").mkdir(parents=True)
    with pytest.raises(StoreDamaged, match=rf"{name} is a folder.*Move it away, or choose another folder"):
        opened(tmp_path / "home")
    assert (tmp_path / "home" / name / "inside").is_dir()


@pytest.mark.parametrize(
    "made",
    [
        "create table facts (a)",
        "create view facts as select 1",
        "create table items (a)",
        "create table alembic_version as select 'ae1027a6acf' as version_num",
    ],
)
def test_the_database_of_another_program_is_called_that_and_left_alone(made: str, tmp_path: Path) -> None:
    file = tmp_path / "home" / "zomem.db"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as theirs:
        theirs.execute(made)
        theirs.commit()
    with pytest.raises(SchemaMismatch, match=r"another program.*nothing was changed\. Choose another home"):
        opened(file.parent)
    with closing(sqlite3.connect(file)) as theirs:
        assert len(theirs.execute("select name from sqlite_master").fetchall()) == 1


def test_a_damaged_page_is_red_in_health(home: Path) -> None:
    with opened(home) as memory:
        memory.remember("office", "floor", "third")
    overwritten(90 * 4096, 8192)(home)  # somewhere among the rows; the schema is whole
    with closing(sqlite3.connect(home / "zomem.db")) as connection:
        assert connection.execute("pragma quick_check(1)").fetchone() != ("ok",)
    with opened(home) as memory:
        assert statuses(memory)["database"] == "red"


def segment_of(home: Path) -> Path:
    return next(home.glob("chroma/*/index_metadata.pickle")).parent


def torn(name: str) -> Callable[[Path], None]:
    def spoil(home: Path) -> None:
        file = segment_of(home) / name
        os.truncate(file, file.stat().st_size // 2)

    return spoil


def a_file_instead(home: Path) -> None:
    shutil.rmtree(home / "chroma")
    (home / "chroma").write_text("not a folder")


INDEX_DAMAGES: dict[str, Callable[[Path], None]] = {
    "database cut": cut("chroma/chroma.sqlite3", 0.5),
    "database is something else": replaced_by_text("chroma/chroma.sqlite3"),
    "segment removed": lambda home: shutil.rmtree(segment_of(home)),
    "vectors cut": torn("data_level0.bin"),
    "folder removed": lambda home: shutil.rmtree(home / "chroma"),
    "a file in its place": a_file_instead,
}


@pytest.mark.parametrize("damage", INDEX_DAMAGES.values(), ids=INDEX_DAMAGES)
def test_a_damaged_index_is_red_answered_around_and_mended(damage: Callable[[Path], None], home: Path) -> None:
    damage(home)
    with opened(home) as memory:
        assert statuses(memory)["index"] == "red"
        (note,) = {note for note in answers(memory) if note.startswith("index: ")}
        assert "zomem repair" in note
        kept = memory.remember("office", "floor", "third")
        assert kept.id in {hit.id for hit in memory.search("office floor")}
        assert memory.verify()["ok"] is False
        assert memory.repair()["verify"]["ok"]
        assert {statuses(memory)[name] for name in ("index", "full text", "round trip")} == {"green"}
        assert answers(memory) == ()


def test_a_damaged_index_is_answered_around_by_exact_meaning(home: Path) -> None:
    cut("chroma/chroma.sqlite3", 0.5)(home)
    options = MemoryOptions(
        write=WriteOptions(background=False), retrieve=RetrieveOptions(words=False, exact_below=0)
    )
    with Memory.open(home, embeddings=SmallEmbedder(), options=options) as memory:
        assert memory.search(ANSWER)[0].text.endswith(ANSWER)


def test_flush_and_the_background_mend_a_damaged_index(template: Path, tmp_path: Path) -> None:
    for way in ("flush", "background"):
        home = Path(shutil.copytree(template, tmp_path / way))
        torn("data_level0.bin")(home)
        with Memory.open(home, embeddings=SmallEmbedder()) as memory:
            assert statuses(memory)["index"] == "red"
            memory.remember("office", "floor", "third")  # wakes the background
            if way == "flush":
                memory.flush()
            deadline = time.monotonic() + 30
            while memory.stores.index.state().faults and time.monotonic() < deadline:
                time.sleep(0.05)
            assert statuses(memory)["index"] == "green"


def test_a_sound_index_with_alien_files_in_it_is_left_alone(home: Path) -> None:
    (home / "chroma" / "notes.txt").write_text("mine")
    (home / "chroma" / "old").mkdir()
    with opened(home) as memory:
        assert answers(memory) == ()
        memory.flush()
        assert memory.verify()["ok"]
        memory.repair()
    assert (home / "chroma" / "notes.txt").read_text() == "mine"


# -- locked ----------------------------------------------------------------------------------------


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Hold the database's write lock, as another process would."""
    with closing(sqlite3.connect(home / "zomem.db", isolation_level=None)) as other:
        other.execute("begin immediate")
        yield
        other.execute("rollback")


def test_a_locked_database_refuses_writes_and_answers_questions(home: Path) -> None:
    with impatient(home) as memory:
        before = memory.stats()
        with locked(home):
            for write in (
                lambda: memory.remember("office", "floor", "third"),
                lambda: memory.remember_many([{"entity": "office", "key": "floor", "value": "third"}]),
                lambda: memory.observe([{"role": "user", "content": "the office has moved"}]),
                lambda: memory.capture([{"role": "user", "content": "I live in Lyon."}]),
            ):
                with pytest.raises(StoreLocked, match=r"zomem\.db.*Try again, or stop that process"):
                    write()
            began = time.monotonic()
            (note,) = {note for note in answers(memory) if note.startswith("not logged")}
            assert "held by another process" in note
            assert memory.lookup("note 1", "text")
            assert statuses(memory)["database"] == "red"
            assert time.monotonic() - began < 10.0
            impatient(home).close()  # opening takes no lock
        assert memory.stats() == before
        memory.remember("office", "floor", "third")
        assert statuses(memory)["database"] == "green"


def test_by_default_a_question_hardly_waits_for_a_writer(home: Path) -> None:
    """A writer waits ten seconds; a question only for its two notes beside the answer, one each."""
    with opened(home) as memory, locked(home):
        began = time.monotonic()
        answers(memory)
        assert time.monotonic() - began < 9.0


def test_a_first_open_of_a_locked_home_says_so(tmp_path: Path) -> None:
    home = tmp_path / "new"
    home.mkdir()
    with closing(sqlite3.connect(home / "zomem.db", isolation_level=None)) as other:
        other.execute("pragma journal_mode=wal")
        other.execute("begin immediate")
        with pytest.raises(StoreLocked, match=r"zomem\.db"):
            impatient(home)
    with impatient(home) as memory:
        assert memory.stats()["facts"] == 0


# -- read-only, full, gone -------------------------------------------------------------------------


def test_a_read_only_home_is_named(nursery: Nursery, home: Path) -> None:
    said = tried(nursery, "in_read_only_home", home)
    assert said["open"][0] == "StoreReadOnly"
    assert str(home) in said["open"][1]
    assert "permissions" in said["open"][1]


def test_a_home_that_becomes_read_only_still_answers(nursery: Nursery, home: Path) -> None:
    said = tried(nursery, "as_home_becomes_read_only", home)
    assert ANSWER in said["recall"][1]
    assert "not logged" in said["degraded"][1]
    assert said["remember"][0] == said["observe"][0] == "StoreReadOnly"
    assert said["health"][1]["database"] == "red"


def test_a_full_disk_refuses_and_keeps_what_was_there(nursery: Nursery, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as most_bytes:
        home = tmp_path / "disk" / "home"
        said = tried(nursery, "on_a_full_disk", home, most_bytes=most_bytes)
        assert said["remember"][0] == "StoreReadOnly"
        assert "zomem.db" in said["remember"][1]
        assert "Free some space" in said["remember"][1]
        assert said["search"][1] is True
        kept, size = said["kept"][1], said["batch"][1]
        for left in (tmp_path / "disk").glob("ballast*"):
            left.unlink()
        with opened(home) as memory:
            facts = memory.stats()["facts"]
            assert facts >= kept
            assert facts % size == 0  # every batch is whole or absent
            memory.flush()
            assert memory.verify()["ok"]
            assert statuses(memory)["database"] == "green"


def test_a_full_disk_at_the_first_open_leaves_nothing_in_the_way(nursery: Nursery, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert tried(nursery, "first_open_on_a_full_disk", home)["open"][0] in {"StoreReadOnly", "StoreError"}
    with opened(home) as memory:
        memory.remember("office", "floor", "third")
        memory.flush()
        assert memory.verify()["ok"]


def test_a_home_that_is_removed_while_open_takes_nothing_more(home: Path) -> None:
    with opened(home) as memory:
        answers(memory)
        shutil.rmtree(home)
        for call in (
            lambda: memory.remember("office", "floor", "third"),
            lambda: memory.observe([{"role": "user", "content": "the office has moved"}]),
            lambda: memory.search("office"),
            lambda: memory.recall(QUESTION),
            lambda: memory.stats(),
        ):
            with pytest.raises(StoreError, match=r"zomem\.db is gone.*Put it back"):
                call()
        assert statuses(memory)["database"] == statuses(memory)["disk"] == "red"
        with pytest.raises(ZomemError):
            memory.verify()
    assert not home.exists()


def test_a_home_that_comes_back_is_used_again(home: Path) -> None:
    with opened(home) as memory:
        home.rename(home.with_name("away"))
        with pytest.raises(StoreReadOnly, match="is gone"):
            memory.remember("office", "floor", "third")
        home.with_name("away").rename(home)
        memory.remember("office", "floor", "third")
        assert answers(memory) == ()


def test_a_database_that_is_restored_while_open_is_read_from_then_on(home: Path) -> None:
    with opened(home) as memory:
        memory.remember("office", "floor", "third")
        copy = home / "copy.db"
        with closing(sqlite3.connect(home / "zomem.db")) as one, closing(sqlite3.connect(copy)) as other:
            one.backup(other)
        memory.remember("office", "floor", "ninth")
        for log in home.glob("zomem.db-*"):
            log.unlink()
        os.replace(copy, home / "zomem.db")
        assert [fact.value for fact in memory.lookup("office", "floor")] == ["third"]


def test_an_index_that_is_removed_while_open_is_said_and_mended(home: Path) -> None:
    with opened(home) as memory:
        answers(memory)
        shutil.rmtree(home / "chroma")
        memory.remember("office", "floor", "third")
        assert statuses(memory)["index"] == "red"
        answers(memory)
        memory.flush()
        assert memory.verify()["ok"]
        assert answers(memory) == ()


def test_an_index_that_another_process_keeps_is_reported(home: Path) -> None:
    """The lock is the system's own and dies with its holder, so only a living one can keep it."""
    with opened(home) as memory, opened(home) as other, other.stores.lock.held():
        assert any("Ask again" in note for note in answers(memory))
        assert statuses(memory)["index"] == "green"  # it is busy, not broken


def tried(nursery: Nursery, job: str, home: Path, **arguments: Any) -> dict[str, list[Any]]:
    """Run a job of `jobs.py` and return what each of its calls came to: a name and a value."""
    pid = nursery.start(job, home=str(home), **arguments)
    assert nursery.wait(pid) == 0, nursery.complaint(pid)
    return {name: came_to for said in nursery.said(pid) for name, came_to in said.items()}


@contextmanager
def small_disk(folder: Path) -> Iterator[int | None]:
    """Make a folder a disk of 4 MiB where the system lets us; else yield how large a file may get."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.geteuid() == 0 and shutil.which("mount") and subprocess.run(words, check=False).returncode == 0:
        try:
            yield None
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
    else:
        yield resource.getpagesize() * 300
