"""In a store of few memories a block holds what answers, not simply everything there is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory
from zomem_graph.nodes.rules.contentless import says_nothing
from zomem_graph.testing import FixedClock, SmallEmbedder

TALK = [
    ("user", "My friend Ana lives in Porto and works as a nurse."),
    ("assistant", "Nice!"),
    ("user", "I bought a new bike today."),
    ("assistant", "Got it."),
    ("user", "My dentist is Dr. Silva, appointments are on Fridays."),
    ("assistant", "I'll remember that."),
]


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        opened.observe([{"role": role, "content": text} for role, text in TALK], session="monday")
        yield opened


def test_only_what_answers_is_injected(memory: Memory) -> None:
    assert [hit.text for hit in memory.recall("Where does my friend Ana live?").hits] == [f"user: {TALK[0][1]}"]


@pytest.mark.parametrize(
    "question", ["Where does my friend Ana live?", "Which new bike did I get today?", "Do you remember my dentist?"]
)
def test_a_turn_that_only_acknowledges_is_not_told_again(question: str, memory: Memory) -> None:
    found = memory.recall(question)
    assert found.hits, found.reason
    assert [hit.text for hit in found.hits if hit.metadata["role"] == "assistant"] == []


@pytest.mark.parametrize("text", ["It is blue.", "Which one?", "Noted, Fridays.", "I saved the file", "8080", ""])
def test_what_holds_a_word_of_its_own_says_something(text: str) -> None:
    assert not says_nothing(text)
