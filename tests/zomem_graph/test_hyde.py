"""HyDE: an imagined answer helps, a useless or late one costs nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.graph import START, StateGraph

from zomem_graph import Memory, MemoryState, create_hyde_node
from zomem_graph.nodes.options import HydeOptions, MemoryOptions
from zomem_graph.stores.errors import InvalidInput, ModelTimeout
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


USELESS = ["", "   ", "[]", "null", "{}", "5", "true", '["a"]', '{"answer":', "```json\n[]\n```", "Yes."]
REFUSALS = [
    "I cannot help with that.",
    "I can't answer that question.",
    "I'm sorry, but I can't assist with billing.",
    "As an AI, I have no access to your billing.",
    "Unfortunately, I don't have any information about your billing.",
    "I don't know how you get paid.",
    "Es tut mir leid, dabei kann ich nicht helfen.",
    "Lo siento, no puedo ayudar con eso.",
]


@pytest.mark.parametrize("reply", [*USELESS, *REFUSALS])
def test_a_reply_that_is_no_answer_is_not_searched_with_and_said(home: Path, reply: str) -> None:
    chat = ScriptedChat([], by_workload={"hyde": [reply] * 3})
    with filled(opened(home, chat, least_nearness=-9.0)) as memory:
        with_it = memory.search("our billing process")
        assert any(note.startswith("hyde: ") for note in with_it.degraded)
        without = memory.search("our billing process", hyde=False)
        assert [(hit.id, hit.score) for hit in with_it] == [(hit.id, hit.score) for hit in without]

        recalled = memory.recall("what did I tell you about our billing process?")
        assert recalled.decision == "inject"
        assert any(note.startswith("hyde: ") for note in recalled.degraded)

        alone = StateGraph(MemoryState).add_node("hyde", create_hyde_node(memory)).add_edge(START, "hyde").compile()
        state = alone.invoke({"messages": [], "memory_query": QUESTION})
        assert state["memory_hyde"] == ""
        assert any(note.startswith("hyde: ") for note in state["memory_degraded"])


@pytest.mark.parametrize(
    "reply",
    [
        "We get paid by invoices that Stripe sends each month.",
        '{"answer": "We get paid by invoices that Stripe sends each month."}',
        "[The user] gets paid by invoices of Stripe.",
        "I can't get paid without invoices of Stripe.",
        "Invoices [1] are sent by Stripe {monthly}.",
    ],
)
def test_an_answer_in_any_dress_is_searched_with(home: Path, reply: str) -> None:
    chat = ScriptedChat([], by_workload={"hyde": [reply] * 3})
    with filled(opened(home, chat, least_nearness=-9.0)) as memory:
        hits = memory.search(QUESTION, limit=1)
        assert hits.degraded == ()
        assert hits[0].text.startswith("billing process")


@pytest.mark.parametrize("given", [5, 1.5, [], {"answer": "a"}])
def test_what_the_caller_may_hand_in_is_said(answered: Memory, given: object) -> None:
    with pytest.raises(InvalidInput, match="True, False or an imagined answer as text"):
        answered.search(QUESTION, hyde=given)  # type: ignore[arg-type]
