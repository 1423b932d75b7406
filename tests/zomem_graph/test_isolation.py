"""Isolation: no persona sees, counts or changes what is another's, whatever its name and by whatever path."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.bench.trust import HOSTILE_NAMES, isolation
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def test_forty_hostile_names_see_nothing_foreign_by_any_path() -> None:
    report = isolation(index=False)
    assert (report["names"], report["foreign"], report["changed_by_strangers"]) == (40, 0, 0), report["found"]
    assert report["own_unseen"] == 0, report["found"]


def test_the_vector_index_keeps_names_that_look_alike_apart() -> None:
    report = isolation(("dev", "DEV", "dev2", "d_v", "%", "dev "), index=True)
    assert (report["foreign"], report["changed_by_strangers"], report["own_unseen"]) == (0, 0, 0), report["found"]


@pytest.mark.parametrize("name", ["", " ", "\n", "x" * 201])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="persona must be a text"):
        Scope(persona=name)


def test_one_row_among_hundreds_of_another_is_found_and_nothing_else(memory: Memory) -> None:
    memory.remember_many(
        [{"entity": f"lamp {n}", "key": "room", "value": f"hall {n}", "persona": "bob"} for n in range(400)]
    )
    memory.remember("lamp", "room", "hall of mirrors", persona="ann")
    hits = memory.search("which hall is the lamp in?", scope=Scope(persona="ann"), limit=10)
    assert [hit.text for hit in hits] == ["lamp room: hall of mirrors"]


def test_the_same_key_of_two_personas_holds_two_values(memory: Memory) -> None:
    for name in HOSTILE_NAMES[:12]:
        memory.remember("ann", "city", f"city of {name}", persona=name)
    for name in HOSTILE_NAMES[:12]:
        assert [fact.value for fact in memory.lookup("ann", "city", scope=Scope(persona=name))] == [f"city of {name}"]


def test_stats_of_a_persona_count_what_it_reads(memory: Memory) -> None:
    memory.remember("lamp", "room", "hall", persona="ann")
    memory.remember("lamp", "room", "cellar", persona="bob")
    memory.remember("lamp", "room", "attic")
    memory.observe([{"role": "user", "content": "hello there lamp"}], scope=Scope(persona="bob"))
    ann = memory.stats(scope=Scope(persona="ann"))
    assert (ann["facts"], ann["turns"], ann["items"]) == (2, 0, {"fact:current": 2})
    assert memory.stats()["facts"] == 3


def test_forgetting_one_leaves_the_other_untouched(memory: Memory) -> None:
    for name in ("dev", "DEV", "dev "):
        memory.remember("lamp", "room", "hall", persona=name)
        memory.personas.add(name)
    memory.forget(persona="dev", everything=True)
    for name in ("DEV", "dev "):
        assert memory.lookup("lamp", scope=Scope(persona=name))
        assert memory.personas.show(name).file is not None
