"""What is said again is kept, what comes again is not, and one message that cannot be kept costs no other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from zomem_graph import Memory, MemoryMiddleware, MemoryState, Scope, create_chat_graph
from zomem_graph.testing import FixedClock
from zomem_graph.testing.langchain import ScriptedChatModel

ANN = Scope(persona="ann", thread="t")
AS_ANN: Any = {"configurable": {"thread_id": "t", "persona": "ann"}}
CITIES = ["My favourite city is Rome.", "My favourite city is Oslo.", "My favourite city is Rome."]


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


def noted(_state: MemoryState) -> dict[str, Any]:
    return {"messages": [AIMessage("Noted.")]}


def favourite(memory: Memory) -> list[str]:
    return [fact.value for fact in memory.lookup("user", "favorite city", scope=ANN)]


def turns(memory: Memory) -> list[str]:
    with memory.stores.read() as unit:
        return [turn.content for turn in unit.turns.tail("ann", "t", 99)]


def test_a_value_taken_back_to_the_first_is_the_first_in_a_graph_without_checkpoints(memory: Memory) -> None:
    app = create_chat_graph(memory, noted).compile()
    for number, text in enumerate(CITIES):
        app.invoke({"messages": [HumanMessage(text, id=f"id{number}")]}, AS_ANN)
    assert (favourite(memory), len(turns(memory))) == (["Rome"], 6)


@pytest.mark.parametrize("timed", [False, True])
def test_so_it_is_when_each_exchange_is_captured_by_hand(memory: Memory, clock: FixedClock, timed: bool) -> None:
    for text in CITIES:
        at = {"at": clock.advance(minutes=1)} if timed else {}
        said = [{"role": "user", "content": text, **at}, {"role": "assistant", "content": "Noted.", **at}]
        assert memory.capture(said, scope=ANN).turns == 2
        assert memory.capture(said, scope=ANN).turns == 0
    assert favourite(memory) == ["Rome"]


def test_a_run_sent_back_to_its_input_stores_the_message_once(memory: Memory) -> None:
    told = iter(range(99))
    app = create_chat_graph(memory, lambda _state: {"messages": [AIMessage(f"Noted {next(told)}.")]})
    compiled = app.compile(checkpointer=InMemorySaver())
    compiled.invoke({"messages": [HumanMessage("I moved to Turku")]}, AS_ANN)
    compiled.invoke({"messages": [HumanMessage("It is cold here")]}, AS_ANN)
    for past in list(compiled.get_state_history(AS_ANN)):
        compiled.invoke(None, {"configurable": {**past.config["configurable"], "persona": "ann"}})
    assert turns(memory).count("I moved to Turku") == turns(memory).count("It is cold here") == 1


def test_a_message_too_long_to_keep_costs_no_other(memory: Memory) -> None:
    answers = iter(["z" * 1_200_000, "ok", "fine"])
    app = create_chat_graph(memory, lambda _state: {"messages": [AIMessage(next(answers))]})
    compiled = app.compile(checkpointer=InMemorySaver())
    notes = [
        compiled.invoke({"messages": [HumanMessage(f"I live in town {number}")]}, AS_ANN)["memory_degraded"]
        for number in range(3)
    ]
    assert turns(memory) == ["I live in town 0", "I live in town 1", "ok", "I live in town 2", "fine"]
    left_out = [any("1 message of more than 1,000,000 characters left out" in one for one in note) for note in notes]
    assert (left_out[0], left_out[-1]) == (True, False)


def test_a_models_summary_is_not_what_the_user_said(memory: Memory) -> None:
    summing = ScriptedChatModel(replies=lambda _messages: "The user asked.\nMy favourite city is Atlantis.")
    shorter = SummarizationMiddleware(model=summing, trigger=("messages", 4), keep=("messages", 1))
    agent: Any = create_agent(
        ScriptedChatModel(replies=lambda _messages: "ok"),
        [],
        checkpointer=InMemorySaver(),
        middleware=[shorter, MemoryMiddleware(memory)],
    )
    for number in range(4):
        agent.invoke({"messages": [HumanMessage(f"What about fruit number {number}?")]}, AS_ANN)
    assert [text for text in turns(memory) if "summary" in text or "Atlantis" in text] == []
    assert sum("fruit number" in text for text in turns(memory)) == 4


def test_a_secret_behind_a_label_that_reads_like_a_speaker_is_taken_out(memory: Memory) -> None:
    for text in ("my wifi password: hunter2xyz", "pw: hunter2xyz", "Passwort: hunter2xyz"):
        assert memory.capture(text, scope=ANN).redacted == 1
    assert not [text for text in turns(memory) if "hunter2xyz" in text]
