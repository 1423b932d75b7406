"""Killed at any instant, a memory keeps what it acknowledged, half-writes nothing and converges by itself.

Five rounds here, twenty-five in `make faults`.
"""

import time
from collections import Counter
from pathlib import Path
from random import Random
from secrets import randbits
from typing import Any

import pytest
from sqlalchemy import select

from tests.faults.nursery import LONG, Nursery
from zomem_graph import Memory
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.stores import sql
from zomem_graph.testing import SmallEmbedder

ROUNDS = 25 if LONG else 5
each_seed = pytest.mark.parametrize("seed", [randbits(24) if LONG else 7])  # the long form tries others each time
LOOKED_AT = 12  # of what was acknowledged, by a search each; the tables are compared whole


def looking(home: Path, **ways: Any) -> Memory:
    """Open a home for looking only: nothing happens in the background."""
    options = MemoryOptions(write=WriteOptions(background=False), retrieve=RetrieveOptions(**ways))
    return Memory.open(home, embeddings=SmallEmbedder(), options=options)


def ids(memory: Memory, query: str) -> set[str]:
    return {hit.id for hit in memory.search(query, limit=20, graph=False)}


class Ledger:
    """What the writers said, over all rounds."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.kept: dict[str, str] = {}
        self.deleting: set[str] = set()
        self.deleted: set[str] = set()
        self.begun: dict[str, int] = {}
        self.captured: list[str] = []
        self.slots: set[str] = set()

    def add(self, said: dict[str, Any]) -> None:
        match said:
            case {"kept": id_, "word": word}:
                self.kept[id_] = word
            case {"current": _, "slot": slot}:
                self.slots.add(slot)
            case {"begun": word, "size": size}:
                self.begun[word] = size
            case {"captured": word}:
                self.captured.append(word)
            case {"deleting": id_}:
                self.deleting.add(id_)
            case {"deleted": id_}:
                self.deleted.add(id_)

    def sample(self) -> dict[str, str]:
        """Return a few of the acknowledged things that nobody deleted, the last ones among them."""
        living = [(id_, word) for id_, word in self.kept.items() if id_ not in self.deleting]
        return dict(living[-3:] + self.chance.sample(living, min(LOOKED_AT, len(living))))


def check(home: Path, ledger: Ledger) -> None:
    with looking(home, meaning=False) as memory:
        same_as_said(memory, ledger)
        for id_, word in ledger.sample().items():
            assert id_ in ids(memory, word), "not found by words at once"
        memory.flush()
        assert memory.verify()["ok"]
        status = {check.name: check.status for check in memory.health().checks}
        assert {status[name] for name in ("database", "schema", "full text", "index")} == {"green"}
    with looking(home, words=False, exact_below=0) as memory:
        texts = {item.id: item.text for item in whole(memory, ledger.sample())}
        for id_, text in texts.items():
            assert id_ in ids(memory, text), "not found by meaning, through the index"
        for id_ in sorted(ledger.deleted)[-5:]:
            assert id_ not in ids(memory, f"the value of {ledger.kept[id_]}"), "came back"


def same_as_said(memory: Memory, ledger: Ledger) -> None:
    with memory.stores.read() as unit:
        stored = {item.id: item.state for item in unit.items.find(list(ledger.kept))}
        assert unit.database_fault() is None
        rows = unit._connection.execute(select(sql.items.c.text, sql.items.c.kind, sql.items.c.state)).all()
        slots = unit._connection.execute(select(sql.facts.c.slot).where(sql.facts.c.state == "current")).all()
    assert ledger.kept.keys() == stored.keys()
    assert {stored[id_] for id_ in ledger.deleted} <= {"deleted"}
    assert {stored[id_] for id_ in ledger.kept.keys() - ledger.deleting} <= {"current", "superseded"}
    words = Counter(word for text, _kind, _state in rows for word in set(text.replace("?", "").split()))
    assert {(word, words[word]) for word in ledger.begun} <= {
        (word, whole) for word, size in ledger.begun.items() for whole in (0, size)
    }
    turns, facts = (
        Counter(text.rstrip(".").split()[-1].lower() for text, kind, _state in rows if kind == wanted)
        for wanted in ("turn", "fact")
    )
    assert [word for word in ledger.captured if turns[word] != facts[word]] == []
    current = Counter(slot for (slot,) in slots)
    assert {current[slot] for slot in ledger.slots} <= {1}
    with memory.stores.write() as unit:
        assert unit.fulltext_fault() is None


def whole(memory: Memory, wanted: dict[str, str]) -> list[Any]:
    with memory.stores.read() as unit:
        return [item for item in unit.items.find(list(wanted)) if item.state == "current"]


@each_seed
def test_writers_killed_at_any_instant_lose_nothing(nursery: Nursery, tmp_path: Path, seed: int) -> None:
    """Two processes on one home remember, observe, capture, delete and flush until SIGKILL."""
    ledger = Ledger(seed)
    for number in range(ROUNDS):
        writers = [nursery.start("write_on", home=str(tmp_path / "home"), seed=2 * number + n) for n in (0, 1)]
        while number % 3 and not all(nursery.said(writer) for writer in writers):
            time.sleep(0.01)  # in every third round they are killed while they begin, too
        time.sleep(ledger.chance.uniform(0.0, 1.2))
        for writer in writers:
            time.sleep(ledger.chance.uniform(0.0, 0.1))
            nursery.kill(writer)
            assert nursery.complaint(writer) == ""
            for said in nursery.said(writer):
                ledger.add(said)
        check(tmp_path / "home", ledger)
    assert ledger.kept, "no writer got as far as its first commit"


@each_seed
def test_a_first_open_killed_at_any_instant_is_gone_on_with(nursery: Nursery, tmp_path: Path, seed: int) -> None:
    began = time.monotonic()
    assert nursery.wait(nursery.start("open_and_write", home=str(tmp_path / "whole"))) == 0
    usual = time.monotonic() - began
    chance = Random(seed)
    for number in range(ROUNDS):
        home = tmp_path / f"home-{number}"
        opener = nursery.start("open_and_write", home=str(home))
        time.sleep(chance.uniform(0.0, 1.1 * usual))
        nursery.kill(opener)
        with looking(home) as memory:
            for said in nursery.said(opener):
                if "kept" in said:
                    assert ids(memory, said["word"]) == {said["kept"]}
            memory.remember("harbour", "depth", "seven metres")
            assert [hit.text for hit in memory.search("harbour depth")] == ["harbour depth: seven metres"]
            memory.flush()
            assert memory.verify()["ok"]
