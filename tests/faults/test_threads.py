"""Many threads, tasks and processes on one home: everything is kept, and everybody sees everybody's writes."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Barrier
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph

from tests.faults.jobs import opened, word
from tests.faults.nursery import LONG, Nursery
from tests.faults.office import Office
from zomem_graph import Memory, MemoryState, Scope, create_recall_graph
from zomem_graph.nodes import create_capture_node

THREADS = 8
again_and_again = pytest.mark.parametrize("time", range(30 if LONG else 2))  # what races is met by chance


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with opened(str(home), drain_at=20) as made:
        yield made


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run each call on a thread of its own, all beginning at the same moment; what one raises is raised."""
    barrier = Barrier(len(calls))

    def begin(call: Callable[[], Any]) -> Any:
        barrier.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        return list(pool.map(begin, calls))


class Caller:
    """One thread that calls whatever a memory offers, and counts what it stored."""

    def __init__(self, memory: Memory, number: int) -> None:
        self.memory, self.number = memory, number
        self.chance = Random(number)
        self.facts: list[str] = []
        self.turns = 0
        self.deleted: list[str] = []

    def run(self) -> "Caller":
        steps = (self.remember, self.many, self.observe, self.capture, self.read, self.delete, self.care)
        for step in range(30 if LONG else 12):
            self.chance.choices(steps, weights=(4, 1, 3, 2, 5, 1, 1))[0](word(self.number, step))
        return self

    def remember(self, token: str) -> None:
        self.facts.append(self.memory.remember(token, "number", token).id)

    def many(self, token: str) -> None:
        items = [{"entity": f"{token} {n}", "key": "number", "value": str(n)} for n in range(12)]
        self.facts += [fact.id for fact in self.memory.remember_many(items)]

    def observe(self, token: str) -> None:
        said = [{"role": "user", "content": token}, {"role": "assistant", "content": f"{token}!"}]
        self.turns += len(self.memory.observe(said, session=token))

    def capture(self, token: str) -> None:
        said = [{"role": "user", "content": f"I live in {token.title()}."}]
        self.turns += self.memory.capture(said, session=token).turns

    def read(self, token: str) -> None:
        if self.facts:
            with self.memory.stores.read() as unit:
                (known,) = unit.facts.find([self.chance.choice(self.facts)])
            found = {hit.id for hit in self.memory.search(known.entity)}
            assert known.id in found or known.id in self.deleted
        self.memory.recall(f"what did I tell you about {token}?")
        self.memory.lookup(token)

    def delete(self, _token: str) -> None:
        if self.facts:
            gone = self.facts.pop()
            self.memory.delete(gone)
            self.deleted.append(gone)

    def care(self, _token: str) -> None:
        self.memory.flush()
        assert self.memory.verify()["index"].sound
        self.memory.stats()


def test_eight_threads_call_one_memory(memory: Memory) -> None:
    callers: list[Caller] = together([Caller(memory, number).run for number in range(THREADS)])
    memory.flush()
    assert memory.verify()["ok"]
    facts = [id_ for caller in callers for id_ in caller.facts]
    with memory.stores.read() as unit:
        states = Counter(item.state for item in unit.items.find(facts))
    assert states == {"current": len(facts)}
    assert memory.stats()["turns"] == sum(caller.turns for caller in callers)
    for caller in callers:
        assert not {hit.id for hit in memory.search(word(caller.number, 0), limit=50)} & set(caller.deleted)


def test_eight_threads_that_say_the_same_store_it_once(memory: Memory) -> None:
    said = [{"role": "user", "content": "the ferry leaves at nine"}]
    stored = together([lambda: memory.observe(said, session="quay") for _ in range(THREADS)])
    assert sorted(len(turns) for turns in stored) == [0] * (THREADS - 1) + [1]
    facts = together([lambda: memory.remember("ferry", "port", "Dover") for _ in range(THREADS)])
    assert len({fact.id for fact in facts}) == 1


def test_eight_threads_that_disagree_leave_one_current_value(memory: Memory) -> None:
    values = [word(number) for number in range(THREADS)]
    together([lambda value=value: memory.remember("ferry", "port", value) for value in values])  # type: ignore[misc]
    (current,) = memory.lookup("ferry", "port")
    assert current.value in values
    assert memory.stats()["superseded"] == THREADS - 1


@again_and_again
def test_eight_threads_open_one_new_home(home: Path, time: int) -> None:
    memories: list[Memory] = together([lambda: opened(str(home)) for _ in range(THREADS)])
    together([lambda m=m, n=n: m.remember(word(n), "number", "1") for n, m in enumerate(memories)])  # type: ignore[misc]
    assert [m.stats()["facts"] for m in memories] == [THREADS] * THREADS
    together([m.close for m in memories])


def test_fifty_captures_at_once_are_all_kept(memory: Memory) -> None:
    async def captured() -> list[Any]:
        said = [[{"role": "user", "content": f"I like {word(number)}."}] for number in range(50)]
        async with asyncio.timeout(60):
            return await asyncio.gather(
                *(memory.acapture(one, session=str(number)) for number, one in enumerate(said))
            )

    reports = asyncio.run(captured())
    assert sum(report.turns for report in reports) == memory.stats()["turns"] == 50


def test_waiting_calls_inside_a_running_event_loop_return(memory: Memory) -> None:
    """A sync node in an async graph, a sync graph in a coroutine, and the plain methods."""
    graph: Any = StateGraph(MemoryState)
    graph.add_node("capture", lambda state: create_capture_node(memory).invoke(state))
    graph.add_edge(START, "capture")
    app, recall = graph.compile(), create_recall_graph(memory).compile()

    async def inside() -> Any:
        async with asyncio.timeout(60):
            await app.ainvoke({"messages": [HumanMessage("My sister Ana is a nurse in Porto.")]})
            memory.observe([{"role": "user", "content": "the ferry leaves at nine"}], session="quay")
            return recall.invoke({"messages": [HumanMessage("what did I tell you about my sister?")]})

    assert "nurse in Porto" in asyncio.run(inside())["memory_context"]


# -- processes ------------------------------------------------------------------------------------


@again_and_again
def test_four_processes_open_one_new_home(nursery: Nursery, home: Path, time: int) -> None:
    openers = [nursery.start("write_so_many", home=str(home), name=name, times=1) for name in range(4)]
    assert [nursery.wait(opener) for opener in openers] == [0] * 4
    with opened(str(home)) as memory:
        assert memory.stats()["facts"] == 4
        assert memory.verify()["ok"]


def test_eight_processes_write_two_hundred_each(nursery: Nursery, home: Path) -> None:
    """By words only, as SQLite's one lock is what they meet at; the index follows in the next test."""
    jobs = [{"home": str(home), "name": name, "times": 200, "embedded": False} for name in range(8)]
    writers = [nursery.start("write_so_many", **job) for job in jobs]
    assert [nursery.wait(writer) for writer in writers] == [0] * 8
    with Memory.open(home, embeddings="none") as memory:
        assert memory.stats()["facts"] == 1_600
        assert memory.verify()["ok"]


def test_processes_that_feed_one_index_lose_no_vector(nursery: Nursery, home: Path) -> None:
    jobs = [{"home": str(home), "name": name, "times": 60} for name in range(3)]
    writers = [nursery.start("write_so_many", **job) for job in jobs]
    assert [nursery.wait(writer) for writer in writers] == [0] * 3
    with opened(str(home)) as memory:
        memory.flush()
        report = memory.verify()
        assert report["ok"]
        assert [one.expected for one in report["index"].collections] == [180]


def test_four_processes_see_each_others_writes_at_the_next_call(nursery: Nursery, home: Path) -> None:
    with Office(nursery, home, clerks=4) as office:
        ids = []
        for number in range(24):
            writer, token = number % 4, word(number)
            ids.append(office.ask(writer, "remember", token, "number", token))
            for reader in range(4):
                assert ids[-1] in office.ask(reader, "search", token)
            if number % 6 == 5:
                office.ask((writer + 1) % 4, "flush")
                gone = ids.pop()
                office.ask((writer + 2) % 4, "delete", gone)
                assert [gone in office.ask(reader, "search", token) for reader in range(4)] == [False] * 4
        assert office.ask(0, "verify") is True


def test_a_process_recalls_what_another_one_has_just_been_told(nursery: Nursery, home: Path) -> None:
    with Office(nursery, home, clerks=1) as office, opened(str(home)) as memory:
        memory.observe([{"role": "user", "content": "my sister Ana is a nurse in Porto"}], session="a")
        assert "nurse in Porto" in office.ask(0, "recall", "what did I tell you about my sister?")
        office.ask(0, "observe", "my sister Ana moved to Faro", "b")
        block = memory.recall("what did I tell you about my sister?", scope=Scope()).text
        assert "moved to Faro" in block


def test_a_fork_of_an_open_memory_goes_on(nursery: Nursery, home: Path) -> None:
    """Gunicorn and multiprocessing fork: parent and child write on, and both are kept."""
    child = nursery.start("fork_while_open", home=str(home))
    assert nursery.wait(child) == 0, nursery.complaint(child)
    with opened(str(home)) as memory:
        assert memory.stats()["facts"] == 3
        memory.flush()
        assert memory.verify()["ok"]
