"""A store that grows: what is written into it and read from it costs the database no more than on the first day."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from zomem_graph import Memory, Scope
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.testing import SmallEmbedder

ANN = Scope(persona="ann", thread="t1")
OPTIONS = MemoryOptions(write=WriteOptions(background=False))
WRITES: dict[str, Callable[[Memory, int], object]] = {
    "a new fact": lambda memory, n: memory.remember(f"boat {n}", "berth", "under the bridge", persona="ann"),
    "a changed fact": lambda memory, n: memory.remember("barge", "berth", f"pier {n}", persona="ann"),
    "a turn": lambda memory, n: memory.observe([{"role": "user", "content": f"lock {n}"}], scope=ANN, session="s1"),
    "a conversation": lambda memory, n: memory.capture(
        [{"role": "user", "content": f"My cat number {n} is called Tom."}], scope=ANN, session=f"c{n}"
    ),
    "a loop": lambda memory, n: memory.loops.create(f"Paint cabin {n}", scope=ANN),
}

READS: dict[str, Callable[[Memory], object]] = {
    "a search": lambda memory: memory.search("where does the barge lie?", scope=ANN),
    "a recall": lambda memory: memory.recall("where does the barge lie?", scope=ANN),
    "a lookup": lambda memory: memory.lookup("barge", scope=ANN),
    "conflicts": lambda memory: memory.conflicts.list(scope=ANN),
    "loops": lambda memory: memory.loops.list(scope=ANN),
}


@pytest.fixture
def worked() -> Iterator[Callable[[], int]]:
    """Return what tells how many steps SQLite's machine has done, in tens, in connections made from now on."""
    done = count()
    seen = [0]

    def step() -> int:
        seen[0] = next(done)
        return 0

    def watch(connection: Any, _record: object) -> None:
        driver = getattr(connection, "driver_connection", connection)
        driver.set_progress_handler(step, 10)

    event.listen(Engine, "connect", watch)
    yield lambda: seen[0]
    event.remove(Engine, "connect", watch)


@pytest.mark.parametrize("what", WRITES)
def test_a_write_takes_as_much_work_in_a_big_store_as_in_a_small_one(
    home: Path, worked: Callable[[], int], what: str
) -> None:
    numbers = count()

    def steps(memory: Memory) -> int:
        WRITES[what](memory, next(numbers))  # the first one also makes what is kept for later
        before = worked()
        for _again in range(5):
            WRITES[what](memory, next(numbers))
        return worked() - before

    with Memory.open(home, embeddings=SmallEmbedder(), options=OPTIONS) as memory:
        memory.remember_many(named(0, 100))
        memory.flush()
        small = steps(memory)
        memory.remember_many(named(100, 3_000))
        memory.flush()
        assert steps(memory) < 2 * small + 100


@pytest.mark.parametrize("what", READS)
def test_a_read_takes_as_much_work_in_a_big_store_as_in_a_small_one(
    home: Path, worked: Callable[[], int], what: str
) -> None:
    def steps(memory: Memory) -> int:
        READS[what](memory)  # the first one also makes what is kept for later
        before = worked()
        for _again in range(5):
            READS[what](memory)
        return worked() - before

    with Memory.open(home, embeddings="none", options=OPTIONS) as memory:
        memory.remember_many(
            {"entity": "barge", "key": f"berth {n}", "value": f"lock {n}", "persona": "ann"} for n in range(9)
        )
        memory.remember_many(named(0, 100))
        small = steps(memory)
        memory.remember_many(named(100, 3_000))
        assert steps(memory) < 2 * small + 100


def named(first: int, behind: int) -> list[dict[str, str]]:
    return [
        {"entity": f"post {number}", "key": "colour", "value": f"shade {number}", "persona": "ann"}
        for number in range(first, behind)
    ]
