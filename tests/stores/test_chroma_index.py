"""The Chroma index keeps the contract, among several processes, threads and handles, with few open files."""

import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.stores.contract_vector_index import (
    MODEL,
    WIDTH,
    Shelf,
    VectorIndexContract,
    drain_all,
    ids_of,
)
from tests.stores.exact_index import ExactIndex
from zomem_graph.stores.chroma_client import ChromaClient, sessions_of
from zomem_graph.stores.chroma_index import ChromaIndex
from zomem_graph.stores.errors import IndexUnavailable
from zomem_graph.stores.outbox import collection_name
from zomem_graph.stores.vector_index import Drained, VectorIndex

ROOT = Path(__file__).resolve().parents[2]
NAME = collection_name("anna", "fact", MODEL)


def open_chroma(shelf: Shelf) -> ChromaIndex:
    return ChromaIndex(shelf.home / "chroma", None, shelf.database, shelf.lock)


def run(code: str, *arguments: object) -> str:
    """Run a program in another process; `shelf` and `index` are open in it."""
    before = (
        "import os, sys\nfrom pathlib import Path\n"
        "from tests.stores.contract_vector_index import *\n"
        "from tests.stores.test_chroma_index import *\n"
        "shelf = Shelf(Path(sys.argv[1]), seed=77)\nindex = open_chroma(shelf)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", before + code, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestExactIndex(VectorIndexContract):
    def open_index(self, shelf: Shelf) -> VectorIndex:
        return ExactIndex(shelf.database)


class TestChromaIndex(VectorIndexContract):
    def open_index(self, shelf: Shelf) -> VectorIndex:
        return open_chroma(shelf)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def index(shelf: Shelf) -> Iterator[ChromaIndex]:
    made = open_chroma(shelf)
    yield made
    made.close()


def test_fifteen_hundred_vectors_are_found_after_a_restart(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(1500)
    ids = shelf.add(vectors)
    drain_all(index)
    index.close()
    again = open_chroma(shelf)
    for i in range(0, 1500, 75):
        assert ids_of(again, vectors[i], limit=1) == [ids[i]]
    assert len(ids_of(again, vectors[0], limit=1500)) == 1500
    again.close()


def test_of_the_nearest_of_many_random_vectors_hardly_one_is_missed(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    vectors = chance.standard_normal((6_000, 96)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    client = ChromaClient.in_folder(tmp_path)
    collection = client.make("random")
    collection.upsert([str(number) for number in range(len(vectors))], [*vectors])
    found = 0
    for asked in chance.standard_normal((50, 96)).astype(np.float32):
        nearest = {str(number) for number in np.argsort(-(vectors @ asked))[:10]}
        found += len(nearest & {each for each, _cosine in collection.query(asked, 200)})
    client.close()
    assert found >= 0.99 * 500


def test_a_reader_finds_what_another_process_wrote(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(20)
    shelf.add(vectors)
    drain_all(index)
    assert len(ids_of(index, vectors[0])) == 20
    run("shelf.add(shelf.vectors(5)); drain_all(index)", shelf.home)
    answer = index.nearest(NAME, vectors[0], limit=100)
    assert len(answer.neighbours) == 20
    assert answer.seen <= 20  # what the loaded copy lacks is left to the scan
    other = Shelf(shelf.home, seed=77).vectors(5)[3]
    assert shelf.search(index, other) == shelf.exact(other)


def test_a_reader_far_behind_loads_again(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(3)
    shelf.add(vectors)
    drain_all(index)
    assert len(ids_of(index, vectors[0])) == 3
    run("shelf.add(shelf.vectors(501)); drain_all(index)", shelf.home)
    answer = index.nearest(NAME, vectors[0], limit=600)
    assert (len(answer.neighbours), answer.seen) == (504, 504)


def test_changes_of_others_do_not_age_a_collection(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(3)
    shelf.add(vectors)
    drain_all(index)
    other = open_chroma(shelf)
    shelf.add(vectors, persona="ben")
    drain_all(other)
    other.close()
    assert index.nearest(NAME, vectors[0], limit=1).seen == 6


def test_a_handle_that_was_empty_finds_what_came_later(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(4)
    shelf.purge(shelf.add(vectors[:1]))
    gone = shelf.add(vectors[:1])
    drain_all(index)
    shelf.purge(gone)
    drain_all(index)
    index.close()
    reader, writer = open_chroma(shelf), open_chroma(shelf)
    assert ids_of(reader, vectors[0]) == []
    ids = shelf.add(vectors[1:])
    drain_all(writer)
    assert shelf.search(reader, vectors[2])[0] == ids[1]
    for handle in (reader, writer):
        handle.close()


def test_a_feeder_that_lags_opens_again_before_it_writes(shelf: Shelf) -> None:
    handles = [open_chroma(shelf) for _ in range(3)]
    vectors = shelf.vectors(300)
    for start in range(0, 300, 20):
        shelf.add(vectors[start : start + 20])
        drain_all(handles[start // 20 % 3])
    assert handles[0].verify().sound
    assert len(ids_of(handles[0], vectors[0], limit=300)) == 300
    for handle in handles:
        handle.close()


def test_a_drain_does_not_wait_for_another_one(shelf: Shelf, index: ChromaIndex) -> None:
    shelf.add(shelf.vectors(1))
    answers: list[Drained] = []
    with shelf.lock.held():
        thread = threading.Thread(target=lambda: answers.append(index.drain()))
        thread.start()
        thread.join()
    assert answers == [Drained(0, busy=True)]
    assert shelf.waiting() == 1


def test_a_reader_that_cannot_load_says_so_and_one_that_lags_answers(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(2)
    shelf.add(vectors)
    drain_all(index)
    fresh = open_chroma(shelf)
    said: list[str] = []

    def ask() -> None:
        said.append(str(len(ids_of(index, vectors[0]))))
        try:
            ids_of(fresh, vectors[0])
        except IndexUnavailable as error:
            said.append(str(error))

    with shelf.lock.held():
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert said[0] == "2"
    assert "another process" in said[1]
    assert len(ids_of(fresh, vectors[0])) == 2
    assert not fresh.state().faults
    fresh.close()


def test_threads_write_feed_and_ask_together(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(160)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for start in range(number * 40, number * 40 + 40, 4):
                ids = shelf.add(vectors[start : start + 4])
                index.drain()
                assert ids[2] in shelf.search(index, vectors[start + 2], limit=1)
        except BaseException as error:  # told to the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    drain_all(index)
    report = index.verify()  # every id and vector; one walk of HNSW may miss some of many random ones
    assert report.sound
    assert report.collections[0].expected == 160


def test_a_child_forked_before_the_index_was_opened_uses_it(shelf: Shelf) -> None:
    code = """
v = shelf.vectors(30); ids = shelf.add(v)
with shelf.lock.held():
    pass
if (child := os.fork()) == 0:
    shelf.database._engine.dispose(close=False)
    drain_all(index)
    print(ids_of(index, v[3])[0] == ids[3], flush=True)
    index.close()
    sys.exit(7)
print(os.waitpid(child, 0)[1] >> 8, ids_of(index, v[3])[0] == ids[3])
"""
    assert run(code, shelf.home).split() == ["True", "7", "True"]


def test_a_child_forked_later_leaves_the_index_alone_and_ends(shelf: Shelf) -> None:
    code = """
v = shelf.vectors(30); ids = shelf.add(v); drain_all(index)
for uses in (True, False):
    if (child := os.fork()) == 0:
        shelf.database._engine.dispose(close=False)
        if uses:
            shelf.add(v[:1])
            for call in (index.drain, lambda: ids_of(index, v[3]), lambda: ids_of(open_chroma(shelf), v[3])):
                try:
                    call()
                except IndexUnavailable as error:
                    print("forked" in str(error), flush=True)
        sys.exit(7)
    print(os.waitpid(child, 0)[1] >> 8, flush=True)
drain_all(index)
print(len(ids_of(index, v[3])))
"""
    assert run(code, shelf.home).split() == ["True"] * 3 + ["7", "7", "31"]


@pytest.mark.parametrize(("personas", "files"), [(40, 128), pytest.param(500, 1024, marks=pytest.mark.slow)])
def test_many_personas_need_few_open_files(shelf: Shelf, personas: int, files: int) -> None:
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))
v = shelf.vectors({personas})
ids = [shelf.add(v[i : i + 1], persona=f"p{{i}}")[0] for i in range({personas})]
drain_all(index)
reader = open_chroma(shelf)
for i in range({personas}):
    found = ids_of(reader, v[i], collection=collection_name(f"p{{i}}", "fact", MODEL))
    assert found == [ids[i]], i
print(len(os.listdir("/proc/self/fd")) < {files} - 20 if os.path.isdir("/proc/self/fd") else True)
"""
    assert run(code, shelf.home).strip() == "True"


def test_chroma_is_loaded_when_it_is_first_needed(shelf: Shelf) -> None:
    code = """
shelf.add(shelf.vectors(1))
index.nearest(NAME, shelf.vectors(1)[0], limit=1), index.state()
print("chromadb" in sys.modules)
"""
    assert run(code, shelf.home).strip() == "False"


def test_only_ids_and_vectors_reach_chroma_and_only_the_owner_reads_them(shelf: Shelf, index: ChromaIndex) -> None:
    shelf.add(shelf.vectors(150))
    drain_all(index)
    folder = shelf.home / "chroma"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()} == {
        "chroma.sqlite3": 0o600,
        "zomem.stamp": 0o600,
    }
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"a thing" not in held
    assert b"anna" not in held


def test_orphans_strays_and_leftover_folders_are_pruned(shelf: Shelf, index: ChromaIndex) -> None:
    vectors = shelf.vectors(120)
    shelf.add(vectors)
    drain_all(index)
    opened = index._handle.current()
    opened.loaded[NAME].collection.upsert(["nobody"], [vectors[0]])
    opened.client.make(f"z{opened.store}-half-1")
    opened.client.make("somebody-elses")
    index.close()
    leftover = shelf.home / "chroma" / "0a5aeca0-5190-4eff-b988-15172c2cf50e"
    leftover.mkdir()
    again = open_chroma(shelf)
    report = again.verify()
    assert report.collections[0].orphaned == ("nobody",)
    assert len(report.strays) == 1
    pruned = again.prune_orphans()
    assert (pruned.vectors, pruned.collections, pruned.folders) == (1, 1, 1)
    assert again.verify().sound
    assert again._handle.current().client.find("somebody-elses") is not None
    again.close()


class Server:
    """A real `chroma run` on loopback."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        program = Path(sys.executable).with_name("chroma")
        command = [str(program), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        until = time.monotonic() + 20
        while time.monotonic() < until and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        self.stop()
        pytest.skip("`chroma run` does not start here")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("server"), free_port())
    yield started
    started.stop()


class TestChromaServer(VectorIndexContract):
    """The same on a server: many stores share it."""

    @pytest.fixture(autouse=True)
    def _server(self, server: Server) -> None:
        self.url = server.url

    def open_index(self, shelf: Shelf) -> VectorIndex:
        return ChromaIndex(None, self.url, shelf.database, shelf.lock)

    def test_no_call_waits_for_ever(self) -> None:
        client = ChromaClient.on_server(self.url)
        for session in sessions_of(client._client):
            assert (session.timeout.connect, session.timeout.read) == (2, 5)
        client.close()


def test_a_server_that_is_gone_is_no_damage(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    server = Server(folder, port := free_port())
    index = ChromaIndex(None, server.url, shelf.database, shelf.lock)
    vectors = shelf.vectors(3)
    ids = shelf.add(vectors)
    drain_all(index)
    server.stop()
    with pytest.raises(IndexUnavailable, match="does not answer"):
        ids_of(index, vectors[0])
    late = shelf.add(shelf.vectors(2))
    with pytest.raises(IndexUnavailable, match="does not answer"):
        index.drain()
    assert shelf.waiting() == 2
    assert not index.state().faults
    index.close()
    server = Server(folder, port)
    index = ChromaIndex(None, server.url, shelf.database, shelf.lock)
    drain_all(index)
    assert set(ids_of(index, vectors[0])) == {*ids, *late}
    index.close()
    server.stop()


def test_nothing_listens_where_a_server_should_be(shelf: Shelf) -> None:
    index = ChromaIndex(None, f"http://127.0.0.1:{free_port()}", shelf.database, shelf.lock)
    shelf.add(np.ones((1, WIDTH), np.float32))
    with pytest.raises(IndexUnavailable, match="does not answer"):
        index.drain()
    index.close()


def test_a_client_that_hides_its_session_is_refused() -> None:
    with pytest.raises(IndexUnavailable, match="no timeout"):
        sessions_of(object())
