"""What is told of a known fact with it holds: metadata, wording, tier and weight do not vanish without a word."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.testing import FixedClock, SmallEmbedder

from .command_line import CommandLine

ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


def test_new_metadata_joins_that_of_the_kept_fact_and_the_answer_shows_it(memory: Memory) -> None:
    first = memory.remember("ana", "city", "Lyon", metadata={"source_page": 3, "note": "old"})
    again = memory.remember("ana", "city", "Lyon", metadata={"note": "new", "seen": True})

    assert again.id == first.id
    assert again.metadata == {"source_page": 3, "note": "new", "seen": True}
    assert memory.lookup("ana", "city")[0].metadata == again.metadata


def test_metadata_stays_when_none_is_given(memory: Memory) -> None:
    memory.remember("ana", "city", "Lyon", metadata={"a": 1})

    assert memory.remember("ana", "city", "lyon").metadata == {"a": 1}


def test_a_value_of_a_list_takes_new_metadata_too(memory: Memory) -> None:
    memory.remember("ana", "likes", "tea", many=True, metadata={"a": 1})
    (again,) = memory.remember_many(
        [{"entity": "ana", "key": "likes", "value": "tea", "many": True, "metadata": {"b": 2}}]
    )

    assert again.metadata == {"a": 1, "b": 2}


def test_a_value_that_waits_for_a_decision_takes_new_metadata_too(memory: Memory) -> None:
    memory.remember("ana", "city", "Lyon")
    waiting = memory.remember("ana", "city", "Oslo", on_conflict="flag", metadata={"a": 1})
    again = memory.remember("ana", "city", "Oslo", on_conflict="flag", metadata={"b": 2})

    assert again.id == waiting.id
    assert (again.state, again.metadata) == ("flagged", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ({}, {"category": "preference"}),
        ({}, {"importance": 0.3}),
        ({"importance": 0.5}, {"importance": 1.5}),
        ({}, {"confidence": 0.4}),
        ({}, {"tier": "permanent"}),
        ({"tier": "permanent"}, {"tier": "active"}),
        ({"tier": "session"}, {"tier": "active"}),
        ({}, {"text": "Ana has moved to Lyon"}),
    ],
)
def test_a_detail_that_is_told_anew_takes_the_place_of_the_old_one(
    memory: Memory, clock: FixedClock, before: dict[str, Any], told: dict[str, Any]
) -> None:
    first = memory.remember("ana", "city", "Lyon", **before)
    clock.advance(hours=1)
    again = memory.remember("ana", "city", "Lyon", **told)

    assert again.id == first.id
    assert {name: getattr(again, name) for name in told} == told
    assert memory.lookup("ana", "city") == [again]


def test_details_that_are_not_told_stay_as_they_were(memory: Memory, clock: FixedClock) -> None:
    first = memory.remember("ana", "city", "Lyon", category="preference", tier="permanent", text="Ana loves Lyon")
    clock.advance(hours=1)
    again = memory.remember("ana", "city", "Lyon")

    assert (again.category, again.tier, again.text) == (first.category, first.tier, first.text)


@pytest.mark.parametrize("weight", [{"importance": 0.0}, {"confidence": 0.2}, {"importance": 1.7, "confidence": 0.5}])
@pytest.mark.parametrize("way", ["remember", "remember_many", "command", "capture"])
def test_a_weight_that_nobody_gives_stays_as_it_was(home: Path, weight: dict[str, float], way: str) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.remember("user", "city", "Lyon", persona="ann", **weight)  # type: ignore[arg-type]
        if way == "remember":
            memory.remember("user", "city", "Lyon", persona="ann")
        elif way == "remember_many":
            memory.remember_many([{"entity": "user", "key": "city", "value": "Lyon", "persona": "ann"}])
        elif way == "capture":
            weight = {
                name: value for name, value in weight.items() if name == "importance"
            }  # what is said twice is surer
            memory.capture([{"role": "user", "content": "I live in Lyon."}], scope=ANN)
        else:
            memory.close()
            assert CommandLine(home)("--persona", "ann", "remember", "user", "city", "Lyon").exit_code == 0
    with Memory.open(home, embeddings="none") as memory:
        (fact,) = memory.lookup("user", "city", scope=ANN)

    assert {name: getattr(fact, name) for name in weight} == weight


@pytest.mark.parametrize("name", ["importance", "confidence"])
def test_the_usual_weight_is_taken_too_where_it_is_given(memory: Memory, name: str) -> None:
    memory.remember("ana", "city", "Lyon", **{name: 0.3})  # type: ignore[arg-type]

    assert getattr(memory.remember("ana", "city", "Lyon", **{name: 1.0}), name) == 1.0  # type: ignore[arg-type]


def test_what_was_told_for_good_is_not_made_a_sessions_and_that_is_said(memory: Memory) -> None:
    memory.remember("ana", "city", "Lyon")
    with pytest.warns(UserWarning, match="is kept as stable: it was told for longer than a session"):
        again = memory.remember("ana", "city", "Lyon", tier="session")

    assert (again.tier, again.expires_at) == ("stable", None)


def test_a_reworded_fact_is_found_by_its_new_words_and_what_it_mentions(home: Path, clock: FixedClock) -> None:
    with Memory.open(home, embeddings=SmallEmbedder(), clock=clock) as memory:
        first = memory.remember("ana", "pet", "Rex", text="Ana keeps a dachshund with Bob", mentions=["Rome"])
        memory.flush()
        memory.remember("ana", "pet", "Rex", text="Ana keeps a greyhound with Eve")
        memory.flush()

        assert [hit.id for hit in memory.search("greyhound")] == [first.id]
        assert all("words" not in hit.found_by for hit in memory.search("dachshund"))
        with memory.stores.read() as unit:
            (number,) = unit.items.numbers_of([first.id]).values()
            assert {"eve", "rome"} <= set(unit.items.entities_of([number])[number])
            assert "bob" not in unit.items.entities_of([number])[number]
        assert memory.verify()["ok"]


def test_a_text_that_says_it_again_only_adds_what_is_missing(memory: Memory) -> None:
    memory.remember(
        "user", "city", "Lyon", persona="ann", metadata={"a": 1}, importance=0.5, text="I live by the Rhône"
    )
    memory.capture([{"role": "user", "content": "I live in Lyon."}], scope=ANN)
    (fact,) = memory.lookup("user", "city", scope=ANN)

    assert (dict(fact.metadata), fact.text) == ({"a": 1}, "I live by the Rhône")


def test_a_batch_from_the_command_line_adds_metadata_to_a_known_fact(home: Path, tmp_path: Path) -> None:
    zomem = CommandLine(home)
    batch = tmp_path / "facts.json"
    for metadata in ({"a": 1}, {"b": 2}):
        batch.write_text(
            json.dumps([{"entity": "ana", "key": "city", "value": "Lyon", "metadata": metadata}]), "utf-8"
        )
        (answer,) = zomem.json("remember", "--batch", str(batch))

    assert answer["metadata"] == {"a": 1, "b": 2}
