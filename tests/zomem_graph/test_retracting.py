"""What was never true: told of nowhere any more, and not true again because an old text is read again."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.testing import FixedClock, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN = Scope(persona="ann", thread="t")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def said(text: str, **more: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, **more}]


def plates(memory: Memory) -> list[str]:
    return [
        memory.remember("car", "plate", value, persona="ann").id for value in ("AAA-1", "BBB-2", "CCC-3", "DDD-4")
    ]


def cities(memory: Memory) -> list[str]:
    return [fact.value for fact in memory.lookup("user", "city", scope=ANN)]


@pytest.mark.parametrize("forgotten", [[2], [1, 2], [2, 1]])
def test_the_value_before_a_forgotten_one_holds_again_when_the_one_after_was_never_true(
    memory: Memory, forgotten: list[int]
) -> None:
    ids = plates(memory)
    for place in forgotten:
        assert memory.forget(persona="ann", id=ids[place]).clean
    memory.retract(ids[3], "misread", scope=ANN)
    left = [value for place, value in enumerate(("AAA-1", "BBB-2", "CCC-3")) if place not in forgotten]
    assert [fact.value for fact in memory.lookup("car", "plate", scope=ANN)] == [left[-1]]


def test_two_neighbours_forgotten_at_once_leave_no_gap(memory: Memory) -> None:
    ids = plates(memory)
    memory.forget(persona="ann", id=ids[1:3])
    memory.retract(ids[3], "misread", scope=ANN)
    assert [fact.value for fact in memory.lookup("car", "plate", scope=ANN)] == ["AAA-1"]


def test_a_retracted_fact_is_told_by_no_episode_any_more(memory: Memory) -> None:
    memory.capture(said("My sister Mia moved to Lisbon. I live in Rome."), scope=ANN, session="s")
    (fact,) = memory.lookup("user", "city", scope=ANN)
    assert any(fact.text in one.summary for one in memory.episodes.list(scope=ANN))
    memory.retract(fact.id, "never lived there", scope=ANN)
    (episode,) = memory.episodes.list(scope=ANN)
    assert fact.text not in episode.summary
    assert "Mia" in episode.summary.split("Learned: ")[1]
    assert [
        hit.text for hit in memory.search("user city Rome", scope=ANN, kinds=["episode"]) if fact.text in hit.text
    ] == []
    assert any("I live in Rome" in hit.text for hit in memory.search("where do I live", scope=ANN, kinds=["turn"]))


def test_an_old_text_read_again_makes_nothing_true_that_was_retracted(memory: Memory, clock: FixedClock) -> None:
    told = clock()
    memory.capture(said("I live in Rome."), scope=ANN, session="s")
    memory.retract(memory.lookup("user", "city", scope=ANN)[0].id, "wrong", scope=ANN)
    clock.advance(days=2)
    for session, text, at in (
        ("no-time", "I live in Rome.", None),
        ("same-time", "I live in Rome.", told),
        ("older", "I live in Rome.", told - timedelta(days=9)),
        ("older-in-other-words", "I moved to Rome.", told - timedelta(days=9)),
    ):
        memory.capture(said(text, **({} if at is None else {"at": at.isoformat()})), scope=ANN, session=session)
        assert cities(memory) == [], session
        assert all("Learned" not in one.summary for one in memory.episodes.list(scope=ANN)), session


@pytest.mark.parametrize("text", ["I live in Rome.", "I moved to Rome."])
def test_who_says_it_later_makes_it_true_again(memory: Memory, clock: FixedClock, text: str) -> None:
    memory.capture(said("I live in Rome."), scope=ANN, session="s")
    memory.retract(memory.lookup("user", "city", scope=ANN)[0].id, "wrong", scope=ANN)
    clock.advance(days=2)
    at = clock() - timedelta(hours=1)
    memory.capture(said(text, at=at.isoformat()), scope=ANN, session="new")
    assert cities(memory) == ["Rome"]


def test_what_is_remembered_by_hand_holds_whatever_was_retracted(memory: Memory) -> None:
    fact = memory.remember("user", "city", "Rome", persona="ann")
    memory.retract(fact.id, "wrong", scope=ANN)
    assert memory.remember("user", "city", "Rome", persona="ann").state == "current"
