"""Both servers at once: PostgreSQL keeps, Chroma finds, several homes use them side by side."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import PostgresServer
from tests.stores.test_chroma_index import Server, free_port
from zomem_graph import Memory
from zomem_graph.stores.errors import IndexUnavailable
from zomem_graph.testing import SmallEmbedder

MANY = [{"entity": f"shelf {n}", "key": "holds", "value": f"box of kind {n}"} for n in range(300)]
SLOTS, WRITERS = 50, 8


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "sqlite":
        yield None
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database() as made:
        yield made


def opened(home: Path, url: str | None, chroma: str) -> Memory:
    return Memory.open(home, database_url=url, chroma_url=chroma, embeddings=SmallEmbedder())


def test_an_index_on_a_server_answers_fails_and_heals(url: str | None, home: Path, tmp_path: Path) -> None:
    folder, port = tmp_path / "chroma-server", free_port()
    folder.mkdir()
    server = Server(folder, port)
    with opened(home, url, server.url) as memory:
        memory.remember_many(MANY)
        memory.flush()
        hits = memory.search("box of kind 7")
        assert not hits.degraded
        assert "shelf 7 holds: box of kind 7" in [hit.text for hit in hits]
        assert memory.verify()["ok"]
        assert not (home / "chroma").exists()
        server.stop()
        memory.remember("ann", "drinks", "green tea")
        assert memory.search("green tea")[0].text == "ann drinks: green tea"
        assert {check.name: check.status for check in memory.health().checks}["index"] == "red"
        with pytest.raises(IndexUnavailable, match="does not answer"):
            memory.flush()
        server = Server(folder, port)
        memory.flush()
        assert not memory.search("box of kind 8").degraded
        assert memory.verify()["ok"]
    server.stop()


def test_two_homes_on_both_servers_see_each_other_at_once(postgres: PostgresServer, tmp_path: Path) -> None:
    folder = tmp_path / "chroma-server"
    folder.mkdir()
    server = Server(folder, free_port())
    with postgres.database() as url:
        with opened(tmp_path / "one", url, server.url) as one, opened(tmp_path / "two", url, server.url) as two:
            one.remember_many(MANY)
            one.flush()
            assert "shelf 9 holds: box of kind 9" in [hit.text for hit in two.search("box of kind 9")]
            two.remember("ann", "drinks", "green tea")
            assert one.search("green tea")[0].text == "ann drinks: green tea"
            two.flush()
            fact = two.search("green tea")[0]
            assert one.forget(id=fact.id).clean
            assert fact.id not in {hit.id for hit in two.search("green tea")}
            assert one.verify()["ok"]
            assert two.verify()["ok"]
    server.stop()


_WRITE = """
import sys
from zomem_graph import Memory

home, url, number, slots = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with Memory.open(home, database_url=url, embeddings="none") as memory:
    for slot in range(slots):
        memory.remember(f"machine {slot}", "address", f"10.0.{number}.{slot}")
"""


def test_eight_processes_write_fifty_slots_and_each_keeps_one_value(url: str | None, home: Path) -> None:
    there = url or f"sqlite:///{home / 'zomem.db'}"
    Memory.open(home, database_url=there, embeddings="none").close()
    writers = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(_WRITE), str(home), there, str(n), str(SLOTS)])
        for n in range(WRITERS)
    ]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    with Memory.open(home, database_url=there, embeddings="none") as memory:
        with memory.stores.read() as unit:
            facts = unit.erasure.everything_of("shared").facts.values()
        current = [fact for fact in facts if fact.state == "current"]
        assert len(current) == len({fact.slot for fact in current}) == SLOTS
        assert len(facts) == SLOTS * WRITERS
        followers = {fact.id: fact for fact in facts}
        for fact in facts:
            assert fact.state == "current" or followers[fact.superseded_by or ""].slot == fact.slot
        assert memory.verify()["fulltext"] is None
