"""HyDE: an imagined answer helps, a useless or late one costs nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory
from zomem_graph.nodes.options import HydeOptions, MemoryOptions
from zomem_graph.stores.errors import ModelTimeout
from zomem_graph.testing import ScriptedChat, SmallEmbedder

QUESTION = "how do we get paid?"


def opened(home: Path, chat: ScriptedChat | None, *, least_nearness: float = 0.1) -> Memory:
    options = MemoryOptions(hyde=HydeOptions(least_nearness=least_nearness))
    return Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat, options=options)


def filled(memory: Memory) -> Memory:
    memory.remember("billing", "process", "invoices are sent by Stripe on the first of each month")
    for number in range(5):
        memory.remember(f"note {number}", "text", f"the garden has {number} apple trees")
    return memory


@pytest.fixture
def answered(home: Path) -> Iterator[Memory]:
    chat = ScriptedChat([], by_workload={"hyde": ["How we get paid: invoices are sent by Stripe each month."] * 3})
    with filled(opened(home, chat)) as memory:
        yield memory


def test_an_imagined_answer_finds_what_the_question_has_no_word_of(answered: Memory) -> None:
    assert answered.search(QUESTION, limit=1)[0].text.startswith("billing process")


def test_it_is_asked_once_for_the_same_question(answered: Memory) -> None:
    answered.search(QUESTION)
    answered.search(QUESTION)
    assert len(answered.chat("hyde").asked("hyde")) == 1  # type: ignore[union-attr]


def test_the_caller_may_hand_in_the_answer(home: Path) -> None:
    with filled(opened(home, None)) as memory:
        hits = memory.search(QUESTION, hyde="We get paid by invoices that Stripe sends each month.", limit=1)
        assert hits[0].text.startswith("billing process")


def test_the_caller_may_switch_it_off(answered: Memory) -> None:
    answered.search(QUESTION, hyde=False)
    assert answered.chat("hyde").asked("hyde") == []  # type: ignore[union-attr]


def test_a_late_model_leaves_the_answer_of_the_question_alone(home: Path) -> None:
    chat = ScriptedChat([], by_workload={"hyde": [ModelTimeout("too late")] * 3})
    with filled(opened(home, chat)) as memory:
        recollection = memory.recall("what did I tell you about our billing process?")
        assert recollection.decision == "inject"
        assert any("hyde" in note and "too late" in note for note in recollection.degraded)


def test_an_answer_about_something_else_changes_nothing(home: Path) -> None:
    chat = ScriptedChat([], by_workload={"hyde": ["zebras xylophone quartz " * 5] * 3})
    with filled(opened(home, chat, least_nearness=0.4)) as memory:
        with_it = [hit.id for hit in memory.search("apple trees")]
        without = [hit.id for hit in memory.search("apple trees", hyde=False)]
        assert with_it == without
