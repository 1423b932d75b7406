"""The budget of a prompt: recall keeps to it, alarms ring, and what memory has is saved in time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from zomem_graph import Memory, MemoryOptions, Scope, create_recall_graph
from zomem_graph.nodes.options import ComposeOptions
from zomem_graph.nodes.rules.budget import tokens
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.testing import FixedClock, SmallEmbedder

ANN = Scope(persona="ann", thread="monday")
ASKED = "Do you remember which port the staging server uses?"


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        opened.remember("staging server", "port", "8080", persona="ann")
        yield opened


def talk(size: int) -> list[dict[str, str]]:
    """Return a conversation of about so many tokens."""
    return [{"role": "user", "content": "The staging server and its port. " * 12} for _ in range(size // 103)]


def budget_of(trace: Any) -> dict[str, Any]:
    (said,) = [one for one in trace if one["step"] == "budget"]
    return dict(said)


# -- the state -------------------------------------------------------------------------------------


def test_a_budget_is_set_counted_and_reset(memory: Memory) -> None:
    assert memory.budget.status(scope=ANN) is None
    memory.budget.init(1_000, scope=ANN)

    assert memory.budget.track(600, 50, scope=ANN).level == "ok"
    assert memory.budget.track(60, scope=ANN).alarm == "warning"
    status = memory.budget.track(200, scope=ANN)
    assert (status.used, status.level, status.alarm, status.available) == (910, "critical", "critical", 0)
    assert memory.budget.reset(scope=ANN).available == 900
    assert memory.budget.track(700, scope=ANN).alarm == "warning"


def test_each_thread_and_persona_has_its_own(memory: Memory) -> None:
    memory.budget.init(1_000, scope=ANN)
    memory.budget.track(500, scope=ANN)

    assert memory.budget.status(scope=Scope(persona="ann")) is None
    assert memory.budget.status(scope=Scope(persona="bob", thread="monday")) is None
    with pytest.raises(UnknownName, match="No budget is set"):
        memory.budget.track(1)


@pytest.mark.parametrize(
    "named",
    [
        {"max_tokens": 0},
        {"max_tokens": True},
        {"max_tokens": 8_000.5},
        {"warn_at": 0.9, "critical_at": 0.7},
        {"warn_at": 0.0},
        {"critical_at": 1.1},
        {"warn_at": "x"},
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(memory: Memory, named: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.budget.init(**{"max_tokens": 1_000, **named})
    assert memory.budget.status() is None


@pytest.mark.parametrize("count", [-1, 1.5, True, 10**12])
def test_tokens_are_counted_in_whole_numbers(memory: Memory, count: Any) -> None:
    memory.budget.init(1_000)
    with pytest.raises(InvalidInput, match="tokens_in"):
        memory.budget.track(count)


# -- recall keeps to it ----------------------------------------------------------------------------


def test_without_a_budget_nothing_is_counted(memory: Memory) -> None:
    found = memory.recall(ASKED, scope=ANN, history=talk(50_000))

    assert found.decision == "inject"
    assert [one["step"] for one in found.trace] == ["gate", "retrieve", "compose"]


def test_the_conversation_and_the_block_are_counted(memory: Memory) -> None:
    memory.budget.init(8_000, scope=ANN)
    history = talk(2_000)
    found = memory.recall(ASKED, scope=ANN, history=history)

    spoken = sum(tokens(one["content"].strip()) + 4 for one in [*history, {"content": ASKED}])
    status = memory.budget.status(scope=ANN)
    assert status is not None
    assert abs(status.used - spoken - found.tokens) <= len(history)
    assert budget_of(found.trace)["level"] == "ok"


def test_a_full_prompt_gets_no_block_and_says_why(memory: Memory) -> None:
    memory.budget.init(8_000, scope=ANN)
    found = memory.recall(ASKED, scope=ANN, history=talk(7_700))

    assert (found.decision, found.text) == ("empty", "")
    assert "fits into 0 tokens" in found.reason
    assert "context budget critical" in found.degraded[-1]


def test_a_trimmed_conversation_gives_the_room_back_and_arms_the_alarm(memory: Memory) -> None:
    memory.budget.init(8_000, scope=ANN)
    full, trimmed = talk(7_700), talk(1_000)

    alarms = [
        budget_of(memory.recall(ASKED, scope=ANN, history=history).trace)["alarm"]
        for history in (full, full, trimmed, full)
    ]
    assert alarms == ["critical", None, None, "critical"]
    assert memory.recall(ASKED, scope=ANN, history=trimmed).decision == "inject"


def test_a_skipped_message_is_counted_too(memory: Memory) -> None:
    memory.budget.init(8_000, scope=ANN)
    found = memory.recall("thanks!", scope=ANN, history=talk(6_000))

    assert (found.decision, budget_of(found.trace)["alarm"]) == ("skip", "warning")


def test_the_critical_line_saves_what_memory_has_once(memory: Memory) -> None:
    memory.loops.create("Renew the certificate", scope=ANN)
    memory.budget.init(8_000, scope=ANN)
    first = memory.recall(ASKED, scope=ANN, history=talk(7_700))
    memory.recall(ASKED, scope=ANN, history=talk(7_750))

    (saved,) = memory.checkpoints.list(scope=ANN)
    assert budget_of(first.trace)["checkpoint"] == saved.id
    assert (saved.kind, saved.thread) == ("budget", "monday")
    assert any("8080" in fact["text"] and not fact["shown"] for fact in saved.facts)
    assert [loop["text"] for loop in saved.open_loops] == ["Renew the certificate"]


def test_much_that_finds_no_room_is_saved_before_the_line_is_crossed(memory: Memory) -> None:
    for number in range(10):
        memory.remember("staging server", f"port of service {number}", f"80{number:02}", persona="ann")
    memory.budget.init(8_000, scope=ANN)
    found = memory.recall(
        "Do you remember the ports of the services of the staging server?", scope=ANN, history=talk(7_020)
    )

    said = budget_of(found.trace)
    assert (said["alarm"], said["level"]) == ("warning", "warning")
    (saved,) = memory.checkpoints.list(scope=ANN)
    left_out = sum(not fact["shown"] for fact in saved.facts)
    assert left_out >= 0.3 * len(saved.facts)
    assert 0 < saved.compression_ratio <= 1
    assert found.decision == "inject"


def test_a_folder_that_cannot_be_written_withholds_nothing(home: Path, clock: FixedClock, tmp_path: Path) -> None:
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        memory.remember("staging server", "port", "8080", persona="ann")
        (home / "checkpoints").write_text("no folder", "utf-8")
        memory.budget.init(8_000, scope=ANN)
        found = memory.recall(ASKED, scope=ANN, history=talk(7_700))

    assert budget_of(found.trace)["checkpoint"] is None


# -- in a graph ------------------------------------------------------------------------------------


def test_the_compose_node_counts_the_messages_of_the_state(home: Path, clock: FixedClock) -> None:
    options = MemoryOptions(compose=ComposeOptions(context_tokens=2_000))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as memory:
        memory.remember("staging server", "port", "8080", persona="ann")
        graph = create_recall_graph(memory).compile()
        config: Any = {"configurable": {"persona": "ann", "thread_id": "monday"}}
        long = [ToolMessage("word " * 1_200, tool_call_id="1"), AIMessage("I see.")]
        short = graph.invoke({"messages": [HumanMessage(ASKED)]}, config)
        full = graph.invoke({"messages": [HumanMessage("Look."), *long, HumanMessage(ASKED)]}, config)
        heard = [
            part
            for part in graph.stream({"messages": [HumanMessage(ASKED)]}, config, stream_mode="custom")
            if part["memory"] == "budget"
        ]

        with_history = memory.recall(ASKED, scope=Scope(persona="ann", thread="friday"), history=talk(1_000))

    assert budget_of(with_history.trace)["max_tokens"] == 2_000
    assert short["memory_decision"]["decision"] == "inject"
    assert budget_of(short["memory_trace"])["level"] == "ok"
    assert budget_of(full["memory_trace"])["level"] == "warning"
    assert budget_of(full["memory_trace"])["used"] > 1_400
    assert heard[0]["used"] < 400
