"""Whatever happens to the index: no wrong answer, no endless retry, and a rebuild from the tables heals."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.stores.contract_vector_index import MODEL, Shelf, drain_all, ids_of
from tests.stores.test_chroma_index import NAME, open_chroma, run
from zomem_graph.stores.chroma_client import (
    ChromaClient,
    IndexDamaged,
    VectorRefused,
    damaged_collections,
)
from zomem_graph.stores.chroma_index import ChromaIndex
from zomem_graph.stores.errors import IndexUnavailable
from zomem_graph.stores.index_meta import IndexMeta
from zomem_graph.stores.outbox import collection_name
from zomem_graph.stores.vector_index import Drained

COUNT = 260  # more than is kept in Chroma's log, so that there are files to spoil


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path / "home")
    yield made
    made.close()


def segment_of(folder: Path) -> Path:
    return next(path.parent for path in folder.glob("*/index_metadata.pickle"))


def cut(name: str, share: float) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        file = folder / name if name == "chroma.sqlite3" else segment_of(folder) / name
        os.truncate(file, int(file.stat().st_size * share))

    return spoil


def without(name: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name if name == "chroma.sqlite3" else segment_of(folder) / name).unlink()

    return spoil


def replaced(folder: Path) -> None:
    """Put the index of another store in its place."""
    other = Shelf(folder.parent / "other", seed=9)
    index = open_chroma(other)
    other.add(other.vectors(COUNT))
    drain_all(index)
    index.close()
    other.close()
    shutil.rmtree(folder)
    (folder.parent / "other" / "chroma").rename(folder)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "pickle cut": cut("index_metadata.pickle", 0.5),
    "pickle gone": without("index_metadata.pickle"),
    "header empty": cut("header.bin", 0),
    "header cut": cut("header.bin", 0.5),  # Chroma itself crashes the process on this one,
    "vectors empty": cut("data_level0.bin", 0),  # and on this one,
    "vectors cut": cut("data_level0.bin", 0.5),  # and answers wrongly on this one
    "links cut": cut("link_lists.bin", 0.3),
    "lengths cut": cut("length.bin", 0.5),
    "segment gone": lambda folder: shutil.rmtree(segment_of(folder)),
    "database empty": cut("chroma.sqlite3", 0),
    "database cut": cut("chroma.sqlite3", 0.5),
    "database gone": without("chroma.sqlite3"),
    "folder gone": lambda folder: shutil.rmtree(folder),
    "folder of another store": replaced,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_said_and_a_rebuild_heals_it(shelf: Shelf, damage: Callable[[Path], None]) -> None:
    vectors = shelf.vectors(COUNT)
    ids = shelf.add(vectors)
    index = open_chroma(shelf)
    drain_all(index)
    index.close()
    damage(shelf.home / "chroma")

    again = open_chroma(shelf)
    with pytest.raises(IndexUnavailable, match="zomem repair"):
        ids_of(again, vectors[0])
    assert again.state().faults
    late = shelf.add(shelf.vectors(3))
    drain_all(again)  # never loops, whatever is broken
    assert shelf.waiting() == 0

    rebuilt = again.rebuild()
    assert rebuilt.vectors == COUNT + 3
    assert not again.state().faults
    assert set(ids_of(again, vectors[0], limit=COUNT + 3)) == {*ids, *late}
    assert shelf.search(again, vectors[5]) == shelf.exact(vectors[5])
    assert again.verify().sound
    again.close()


def test_damage_found_by_the_feeder_stops_only_its_collection(shelf: Shelf) -> None:
    index = open_chroma(shelf)
    vectors = shelf.vectors(COUNT)
    shelf.add(vectors)
    drain_all(index)
    index.close()
    cut("index_metadata.pickle", 0.5)(shelf.home / "chroma")
    again = open_chroma(shelf)
    shelf.add(vectors[:2])
    other = shelf.add(vectors[:2], persona="ben")
    assert again.drain().applied == 4
    assert list(again.state().faults) == [NAME]
    assert ids_of(again, vectors[0], collection=collection_name("ben", "fact", MODEL))[0] == other[0]
    assert again.rebuild([NAME]).collections == (NAME,)
    assert len(ids_of(again, vectors[0], limit=COUNT + 2)) == COUNT + 2
    again.close()


def test_an_unusable_folder_is_moved_away_with_a_note(shelf: Shelf) -> None:
    index = open_chroma(shelf)
    shelf.add(shelf.vectors(3))
    drain_all(index)
    index.close()
    cut("chroma.sqlite3", 0.5)(shelf.home / "chroma")
    again = open_chroma(shelf)
    rebuilt = again.rebuild()
    assert rebuilt.set_aside == shelf.home / "chroma-damaged"
    assert "next rebuild deletes it" in (rebuilt.set_aside / "NOTE.txt").read_text()
    assert (rebuilt.set_aside / "chroma.sqlite3").exists()
    again.rebuild()
    assert not rebuilt.set_aside.exists()
    again.close()


def test_a_rebuild_leaves_no_trace_of_an_erased_vector(shelf: Shelf) -> None:
    """Chroma keeps the vectors it deletes, in its log and in its files."""
    index = open_chroma(shelf)
    vectors = shelf.vectors(150)
    ids = shelf.add(vectors)
    drain_all(index)
    erased = [vectors[3].tobytes(), vectors[149].tobytes()]  # one saved to the files, one in the log

    def held() -> list[bool]:
        files = [path.read_bytes() for path in (shelf.home / "chroma").rglob("*") if path.is_file()]
        return [any(vector in file for file in files) for vector in erased]

    shelf.purge([ids[3], ids[149]])
    drain_all(index)
    assert held() == [True, True]
    index.rebuild([NAME])
    assert held() == [False, False]
    assert len(ids_of(index, vectors[0], limit=150)) == 148
    index.close()


def test_an_index_newer_than_a_restored_database_is_not_trusted(shelf: Shelf) -> None:
    vectors = shelf.vectors(30)
    ids = shelf.add(vectors)
    index = open_chroma(shelf)
    drain_all(index)
    index.close()
    shelf.close()
    shutil.copy(shelf.file, saved := shelf.home / "saved.db")
    shelf = Shelf(shelf.home)
    shelf.purge(ids[:10])
    later = open_chroma(shelf)
    drain_all(later)
    later.close()
    shelf.close()
    for leftover in shelf.home.glob("zomem.db-*"):
        leftover.unlink()
    shutil.copy(saved, shelf.file)
    restored = Shelf(shelf.home)
    index = open_chroma(restored)
    with pytest.raises(IndexUnavailable, match="restored"):
        ids_of(index, vectors[0])
    index.rebuild()
    assert set(ids_of(index, vectors[0])) == set(ids)
    index.close()
    restored.close()


def test_an_older_copy_of_the_index_is_not_trusted(shelf: Shelf) -> None:
    index = open_chroma(shelf)
    vectors = shelf.vectors(4)
    shelf.add(vectors[:2])
    drain_all(index)
    index.close()
    shutil.copytree(shelf.home / "chroma", shelf.home / "copy")
    index = open_chroma(shelf)
    shelf.add(vectors[2:])
    drain_all(index)
    index.close()
    shutil.rmtree(shelf.home / "chroma")
    (shelf.home / "copy").rename(shelf.home / "chroma")
    index = open_chroma(shelf)
    with pytest.raises(IndexUnavailable, match="zomem repair"):
        ids_of(index, vectors[0])
    index.close()


def test_a_folder_removed_under_an_open_index_is_noticed_by_the_next_feed(shelf: Shelf) -> None:
    index = open_chroma(shelf)
    vectors = shelf.vectors(4)
    shelf.add(vectors[:2])
    drain_all(index)
    shutil.rmtree(shelf.home / "chroma")
    shelf.add(vectors[2:])
    with pytest.raises(IndexUnavailable, match="zomem repair"):
        index.drain()
    drain_all(index)
    assert index.state().faults
    index.rebuild()
    assert len(ids_of(index, vectors[0])) == 4
    index.close()


def test_verify_finds_wrong_missing_and_orphaned_vectors(shelf: Shelf) -> None:
    index = open_chroma(shelf)
    vectors = shelf.vectors(40)
    ids = shelf.add(vectors)
    drain_all(index)
    collection = index._handle.current().loaded[NAME].collection
    collection.upsert([ids[20], "nobody"], [vectors[1], vectors[2]])
    collection.remove([ids[30]])
    (report,) = index.verify().collections
    assert (report.wrong, report.missing, report.orphaned) == ((ids[20],), (ids[30],), ("nobody",))
    with pytest.raises(IndexUnavailable, match="lacks 1 vectors"):
        ids_of(index, vectors[0])
    index.rebuild([NAME])
    assert index.verify().sound
    index.close()


def test_verify_takes_back_a_fault_that_is_none(shelf: Shelf) -> None:
    index = open_chroma(shelf)
    vectors = shelf.vectors(4)
    shelf.add(vectors)
    drain_all(index)
    index._handle.mark(NAME, "somebody was afraid.")
    with pytest.raises(IndexUnavailable, match="afraid"):
        ids_of(index, vectors[0])
    assert index.verify().sound
    assert len(ids_of(index, vectors[0])) == 4
    index.close()


def test_a_rebuild_that_dies_leaves_the_old_index_serving(shelf: Shelf) -> None:
    code = """
v = shelf.vectors(40); shelf.add(v); shelf.add(v, persona="ben"); drain_all(index)
index.rebuild(progress=lambda done, total: os._exit(0) if done == 80 else None)
"""
    run(code, shelf.home)
    index = open_chroma(shelf)
    vectors = Shelf(shelf.home, seed=77).vectors(40)
    for persona in ("anna", "ben"):
        assert shelf.search(index, vectors[3], persona=persona) == shelf.exact(vectors[3], persona=persona)
    assert index.verify().strays
    assert index.prune_orphans().collections == 1
    assert index.rebuild().vectors == 80
    assert index.verify().sound
    index.close()


KILLED_WRITERS = """
import random, signal, time
import chromadb  # so that the children start fast; none has opened it yet

def write(seed):
    shelf = Shelf(Path(sys.argv[1]), seed=seed)
    index = open_chroma(shelf)
    mine = []
    for n in range(10_000):
        mine += shelf.add(shelf.vectors(6))
        if n % 3 == 2:
            shelf.end([mine.pop(0), mine.pop(2)])
        try:
            index.drain(limit=50, wait_seconds=0.2)
        except IndexUnavailable as error:
            print(error, flush=True)  # nothing of the sort is expected

chance = random.Random(5)
for round in range(5):
    children = []
    for seed in (2 * round, 2 * round + 1):
        if (child := os.fork()) == 0:
            write(seed)
        children.append(child)
    time.sleep(0.3 + chance.random() / 2)
    for child in children:
        time.sleep(chance.random() / 5)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
"""


def test_two_writers_killed_at_any_moment_lose_nothing(shelf: Shelf) -> None:
    """Five rounds of two processes that write, end and feed, each stopped by SIGKILL."""
    assert run(KILLED_WRITERS, shelf.home) == ""
    index = open_chroma(shelf)
    probe = shelf.vectors(10)
    with suppress(IndexUnavailable):  # torn by a kill inside Chroma's own save, and marked
        assert [shelf.search(index, v) for v in probe] == [shelf.exact(v) for v in probe]
    drain_all(index)
    report = index.verify()
    assert report.collections[0].expected > 20
    if not report.sound:  # a kill inside Chroma's own save may tear its files: said, and healed
        index.rebuild([one.collection for one in report.collections if not one.sound])
        index.prune_orphans()
        assert index.verify().sound
    assert [shelf.search(index, v) for v in probe] == [shelf.exact(v) for v in probe]
    index.close()


def test_the_marks_hold_after_a_feeder_died_half_way(shelf: Shelf) -> None:
    """The index was changed, the outbox was not: the next feeder does it again."""
    run(
        """
from zomem_graph.stores.index_feed import Feed
v = shelf.vectors(8); shelf.add(v[:4]); drain_all(index); shelf.add(v[4:])
batch = index._feed.take(10)
generation, store = index._feed.announce()
index._handle.begin(store, generation)
index._apply(batch, generation)
os._exit(0)
""",
        shelf.home,
    )
    index = open_chroma(shelf)
    vectors = Shelf(shelf.home, seed=77).vectors(8)
    assert index.nearest(NAME, vectors[6], limit=1).seen == 4
    assert shelf.search(index, vectors[6]) == shelf.exact(vectors[6])
    assert index.drain() == Drained(4)
    assert index.verify().sound
    index.close()


def test_only_damage_marks_the_index(tmp_path: Path) -> None:
    """A full or locked disk passes; a malformed file does not."""
    from chromadb.errors import InternalError, InvalidArgumentError

    client = ChromaClient.in_folder(tmp_path)
    for said in (
        "(code: 13) database or disk is full",
        "(code: 5) locked",
        "Too many open files (os error 24)",
    ):
        with pytest.raises(IndexUnavailable) as caught, client.call():
            raise InternalError(said)
        assert not isinstance(caught.value, IndexDamaged)
    with pytest.raises(IndexDamaged), client.call():
        raise InternalError("(code: 11) database disk image is malformed")
    with pytest.raises(VectorRefused), client.call():
        raise InvalidArgumentError("Collection expecting embedding with dimension of 3, got 4")
    client.close()


def test_a_sound_folder_has_no_damaged_collections(shelf: Shelf, tmp_path: Path) -> None:
    index = open_chroma(shelf)
    for persona, count in (("one", 1), ("some", 99), ("many", 450)):
        shelf.add(shelf.vectors(count), persona=persona)
    drain_all(index)
    shelf.purge(shelf.add(np.ones((1, 12), np.float32)))
    drain_all(index)
    index.close()
    assert damaged_collections(shelf.home / "chroma") == {}
    assert damaged_collections(tmp_path / "nowhere") == {}


def test_an_index_without_a_place_says_so(shelf: Shelf) -> None:
    index = ChromaIndex(None, None, shelf.database, shelf.lock)
    shelf.add(shelf.vectors(1))
    with pytest.raises(IndexUnavailable, match="neither a folder nor a server"):
        index.drain()
    with shelf.database.read() as connection:
        assert not IndexMeta(connection, shelf.database.dialect).faults()
    index.close()
