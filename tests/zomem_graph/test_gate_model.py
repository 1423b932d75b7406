"""The chat model at the gate: asked where words and evidence leave a doubt, never trusted to answer at all."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph import Memory, create_recall_graph
from zomem_graph.nodes.options import GateOptions, HydeOptions, MemoryOptions, WriteOptions
from zomem_graph.nodes.rules.doubt import in_doubt
from zomem_graph.nodes.rules.replies import ReplyUnreadable, read_gate
from zomem_graph.stores.errors import ModelError
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder
from zomem_graph.testing.chat import Line

DOUBTFUL = "Which boat is moored beside the granary?"
YES = {"needs_memory": True, "keywords": ["boat", "granary"], "reason": "asks for a boat he spoke of"}
NO = {"needs_memory": False, "keywords": [], "reason": "about another boat"}

Opened = Callable[..., tuple[Memory, ScriptedChat]]


@pytest.fixture
def opened(home: Path) -> Any:
    """Open a memory in which every look is a doubt, unless `uncertain` says otherwise."""
    memories: list[Memory] = []

    def make(line: Line, *, uncertain: float = 50.0, seconds: float = 0.0) -> tuple[Memory, ScriptedChat]:
        chat = ScriptedChat([], by_workload={"gate": line}, seconds=seconds)
        gate = GateOptions(uncertain=uncertain, deadline_seconds=0.05)
        options = MemoryOptions(gate=gate, hyde=HydeOptions(on=False))
        memory = Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat, options=options, clock=FixedClock())
        memory.remember("granary", "berth", "the barge Willow lies beside it")
        memories.append(memory)
        return memory, chat

    yield make
    for memory in memories:
        memory.close()


def test_its_yes_injects_what_was_found(opened: Opened) -> None:
    memory, chat = opened(YES)
    found = memory.recall(DOUBTFUL)
    assert (found.decision, found.method, found.degraded) == ("inject", "model", ())
    assert "Willow" in found.text
    assert "Willow" in chat.asked("gate")[0].prompt, "it sees what was found"


def test_its_no_injects_nothing_and_says_why(opened: Opened) -> None:
    memory, _chat = opened(NO)
    found = memory.recall(DOUBTFUL)
    assert (found.decision, found.method, found.text) == ("skip", "model", "")
    assert found.reason.startswith("about another boat")
    assert [step["step"] for step in found.trace] == ["gate", "retrieve"]


@pytest.mark.parametrize(
    "line",
    [
        "I think the assistant should look into its memory here.",
        "no",
        "{}",
        "[]",
        '{"needs_memory": "perhaps", "reason": "hm"}',
        '{"needs_memory": null}',
        '{"needs_memory": tru',
        "I'm sorry, I cannot help with that.",
        "",
        ModelError("no route to the model"),
    ],
)
def test_without_a_readable_answer_the_gate_opens_and_says_so(opened: Opened, line: Line) -> None:
    memory, chat = opened(line)
    found = memory.recall(DOUBTFUL)
    assert (found.decision, found.method) == ("inject", "default")
    assert any(note.startswith("gate: ") for note in found.degraded)
    assert len(chat.asked("gate")) == 1, "a host waits: nothing is asked twice"


def test_a_model_that_hangs_is_given_up_at_its_deadline_waiting_and_awaiting(opened: Opened) -> None:
    memory, _chat = opened(YES, seconds=30.0)
    for found in (memory.recall(DOUBTFUL), asyncio.run(memory.arecall(DOUBTFUL))):
        assert (found.decision, found.method) == ("inject", "default")
        assert any("did not answer within 0.05 s" in note for note in found.degraded)


def test_it_is_not_asked_where_words_or_evidence_decide(opened: Opened) -> None:
    memory, chat = opened(YES, uncertain=0.0)
    for message in ("hello", "do you remember the berth of the granary?", "go on", DOUBTFUL, "What is 2 + 2?"):
        memory.recall(message)
    assert chat.asked("gate") == []


def test_an_empty_memory_is_no_doubt(home: Path) -> None:
    chat = ScriptedChat([], by_workload={"gate": YES})
    options = MemoryOptions(gate=GateOptions(uncertain=50.0), hyde=HydeOptions(on=False))
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat, options=options) as memory:
        assert memory.recall(DOUBTFUL).decision == "skip"
        assert chat.asked("gate") == []


def test_it_may_be_switched_off(home: Path) -> None:
    chat = ScriptedChat([], by_workload={"gate": YES})
    gate = GateOptions(uncertain=50.0, ask_model=False)
    options = MemoryOptions(gate=gate, hyde=HydeOptions(on=False))
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat, options=options) as memory:
        memory.remember("granary", "berth", "the barge Willow lies beside it")
        memory.recall(DOUBTFUL)
        assert chat.asked("gate") == []


def test_the_decision_is_logged_with_method_reason_and_the_models_words(opened: Opened) -> None:
    memory, _chat = opened(YES)
    memory.recall(DOUBTFUL)
    with memory.stores.read() as unit:
        (logged,) = unit.journal.decisions(1)
    assert (logged.decision, logged.method, logged.keywords) == ("inject", "model", ["boat", "granary"])
    assert logged.reason.startswith("asks for a boat he spoke of")
    assert logged.latency_ms >= 0


@pytest.mark.parametrize("line", [YES, NO, "prose"])
def test_the_graph_decides_as_recall_does(opened: Opened, line: Line) -> None:
    memory, _chat = opened(line)
    alone = memory.recall(DOUBTFUL)
    ended = create_recall_graph(memory).compile().invoke({"messages": [("user", DOUBTFUL)]})
    decision = ended["memory_decision"]
    assert (decision["decision"], decision["method"], decision["reason"]) == (
        alone.decision,
        alone.method,
        alone.reason,
    )
    assert ended["memory_context"] == alone.text


def test_thinking_aloud_and_fences_around_the_answer_are_read() -> None:
    told = read_gate('<think>{"needs_memory": false}</think>Sure!\n```json\n{"needs_memory": "yes"}\n```')
    assert (told.needed, told.reason, told.keywords) == (True, "", ())


@given(st.text(max_size=80))
def test_any_reply_is_an_answer_or_unreadable(reply: str) -> None:
    with suppress(ReplyUnreadable):
        assert isinstance(read_gate(reply).needed, bool)


def test_doubt_lies_around_the_floor() -> None:
    assert in_doubt(0.45, 0.5, width=1.0)
    assert not in_doubt(0.2, 0.5, width=1.0)
    assert not in_doubt(0.95, 0.5, width=1.0)
    assert not any(in_doubt(best, 0.5, width=99.0) for best in (0.0, 1.0))


@pytest.mark.parametrize("spec", ["openai:gpt-4o-mini", "nobody:nothing"])
def test_a_model_that_cannot_be_had_costs_no_more_than_its_own_part(home: Path, spec: str) -> None:
    options = MemoryOptions(gate=GateOptions(uncertain=50.0), write=WriteOptions(background=False))
    with Memory.open(home, embeddings="none", chat_model=spec, options=options) as memory:
        memory.remember("granary", "berth", "the barge Willow lies beside it")
        found = memory.recall(DOUBTFUL)
        assert "Willow" in found.text
        assert any(note.startswith(f"gate: {spec.partition(':')[0]}") for note in found.degraded)
        through = create_recall_graph(memory).compile().invoke({"messages": [("user", DOUBTFUL)]})
        assert "Willow" in through["memory_context"]
        memory.capture([{"role": "user", "content": "My cat is called Tom."}], session="s1")
        assert "Tom" in memory.search("what is my cat called")[0].text
        assert memory.briefing().method == "rules"
        memory.capture_waiting()
        assert memory.stats()["extraction_queue"]["waiting"] == 1, "it is read when the model is there"


def test_a_look_asks_no_model_for_an_imagined_answer(home: Path) -> None:
    imagined = ["the barge Willow lies there"] * 9
    chat = ScriptedChat([], by_workload={"gate": [NO] * 9, "hyde": imagined, "extraction": []})
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat, clock=FixedClock()) as memory:
        memory.remember("granary", "berth", "the barge Willow lies beside it")
        for message in ("Is it a good idea to freeze bread?", DOUBTFUL, "The kettle is on again"):
            memory.recall(message)
            create_recall_graph(memory).compile().invoke({"messages": [("user", message)]})
        assert chat.asked("hyde") == []
        memory.recall("what did I tell you about the granary?")
        assert len(chat.asked("hyde")) == 1
