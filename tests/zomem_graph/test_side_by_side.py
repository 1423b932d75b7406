"""Branches that run side by side, and hosts with channels of their own: nothing crashes, grows or is lost."""

import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send

from zomem_graph import (
    Memory,
    MemoryState,
    create_capture_graph,
    create_capture_node,
    create_chat_graph,
    create_compose_node,
    create_gate_node,
    create_recall_graph,
    create_retrieve_node,
)
from zomem_graph.nodes import create_multi_hop_node
from zomem_graph.testing import FixedClock, SmallEmbedder

ANN: RunnableConfig = {"configurable": {"thread_id": "t1", "persona": "ann"}}
NOBODY: RunnableConfig = {"configurable": {"thread_id": "t1"}}
QUESTION = "what did I tell you about my sister?"
UNNAMED = "no persona given"


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        opened.remember("sister", "job", "nurse", persona="ann")
        opened.remember("sister", "job", "nurse")
        yield opened


def say(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def builder(state: Any = MemoryState) -> Any:
    return StateGraph(state)


NODES: dict[str, Callable[[Memory], Any]] = {
    "gates": create_gate_node,
    "searches": create_retrieve_node,
    "hops": create_multi_hop_node,
    "compositions": create_compose_node,
    "captures": create_capture_node,
    "recall graphs": lambda memory: create_recall_graph(memory).compile(),
    "capture graphs": lambda memory: create_capture_graph(memory).compile(),
    "chats": lambda memory: create_chat_graph(memory, lambda _state: {}).compile(),
}


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("kind", NODES)
def test_several_of_a_kind_run_side_by_side(memory: Memory, kind: str, sent: bool) -> None:
    graph = builder()
    given = {**say(QUESTION), "memory_query": QUESTION, "memory_hits": []}
    if sent:
        graph.add_node("one", NODES[kind](memory))
        graph.add_conditional_edges(START, lambda state: [Send("one", state) for _branch in range(3)], ["one"])
    else:
        for name in ("one", "two", "three"):
            graph.add_node(name, NODES[kind](memory))
            graph.add_edge(START, name)
    app = graph.compile(checkpointer=InMemorySaver())
    for _turn in range(2):
        final = app.invoke(given, ANN)
    assert final.get("memory_degraded", []) == []


def test_different_ones_run_side_by_side(memory: Memory) -> None:
    graph = builder()
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("capture", create_capture_graph(memory).compile())
    graph.add_node("again", create_capture_node(memory))
    for name in ("recall", "capture", "again"):
        graph.add_edge(START, name)
    final = graph.compile().invoke(say(QUESTION), ANN)
    assert "nurse" in final["memory_context"]
    assert memory.stats()["turns"] == 1


@pytest.mark.parametrize("nothing", [[], None])
def test_what_one_branch_lacked_is_kept_beside_one_that_lacked_nothing(nothing: Any) -> None:
    def lacking(note: str) -> Any:
        return lambda _state: {"memory_degraded": [note] if note else nothing}

    graph = builder()
    for number, note in enumerate(["first", "", "second", "first"]):
        graph.add_node(f"branch {number}", lacking(note))
        graph.add_edge(START, f"branch {number}")
    final = graph.compile().invoke({**say("hello"), "memory_degraded": ["of the turn before"]})
    assert final["memory_degraded"] == ["first", "second"]


def recalled_and_captured(memory: Memory, state: Any, *, graphs: bool) -> Any:
    """Return a host that recalls and captures, with a state of its own."""
    graph = builder(state)
    steps: dict[str, Any] = {
        "gate": create_gate_node(memory),
        "retrieve": create_retrieve_node(memory),
        "compose": create_compose_node(memory),
        "chat": lambda _state: {"messages": [AIMessage("noted")]},
        "capture": create_capture_node(memory),
    }
    if graphs:
        steps = {
            "recall": create_recall_graph(memory).compile(),
            "chat": steps["chat"],
            "capture": create_capture_graph(memory).compile(),
        }
    graph.add_sequence(list(steps.items()))
    graph.add_edge(START, next(iter(steps)))
    return graph.compile(checkpointer=InMemorySaver())


class Adding(MessagesState):
    memory_query: str
    memory_decision: dict[str, Any]
    memory_hits: list[dict[str, Any]]
    memory_context: str
    memory_trace: list[dict[str, Any]]
    memory_degraded: Annotated[list[str], operator.add]


class Replacing(MessagesState):
    memory_query: str
    memory_decision: dict[str, Any]
    memory_hits: list[dict[str, Any]]
    memory_context: str
    memory_trace: list[dict[str, Any]]
    memory_degraded: list[str]


HOSTS = [MemoryState, Adding, Replacing]


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("state", HOSTS)
def test_notes_never_grow_faster_than_the_turns(memory: Memory, state: Any, graphs: bool) -> None:
    app = recalled_and_captured(memory, state, graphs=graphs)
    for turn in range(1, 13):
        final = app.invoke(say(QUESTION), NOBODY)
        assert UNNAMED in final["memory_degraded"]
        assert len(final["memory_degraded"]) <= (2 * turn if state is Adding else 1)


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("state", [MemoryState, Replacing])
def test_what_recall_lacked_is_still_there_after_a_capture(
    home: Path, clock: FixedClock, state: Any, graphs: bool
) -> None:
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        memory.remember("sister", "job", "nurse")
        app = recalled_and_captured(memory, state, graphs=graphs)
        lacked = set(memory.recall(QUESTION).degraded)
        assert lacked
        if graphs and state is Replacing:
            lacked = set()  # what a graph hands back takes the place of what was there
        assert {*lacked, UNNAMED} <= set(app.invoke(say(QUESTION), NOBODY)["memory_degraded"])


@pytest.mark.parametrize("graphs", [False, True])
def test_notes_of_a_turn_are_gone_in_the_next(memory: Memory, graphs: bool) -> None:
    app = recalled_and_captured(memory, MemoryState, graphs=graphs)
    assert app.invoke(say(QUESTION), NOBODY)["memory_degraded"] == [UNNAMED]
    assert app.invoke(say(QUESTION), ANN)["memory_degraded"] == []


def test_notes_of_a_search_without_a_gate_are_those_of_its_own_turn(memory: Memory) -> None:
    graph = builder()
    graph.add_node("hop", create_multi_hop_node(memory))
    graph.add_edge(START, "hop")
    app = graph.compile(checkpointer=InMemorySaver())
    final = app.invoke({**say(QUESTION), "memory_degraded": ["of the turn before"]}, ANN)
    assert final["memory_degraded"] == []


@pytest.mark.parametrize("persona", [ANN, NOBODY])
def test_a_capture_graph_alone_always_says_what_it_lacked(memory: Memory, persona: RunnableConfig) -> None:
    app = create_capture_graph(memory).compile(checkpointer=InMemorySaver())
    for _turn in range(2):
        final = app.invoke(say("I row"), persona)
    assert final["memory_degraded"] == ([] if persona is ANN else [UNNAMED])


def test_a_thread_saved_with_plain_channels_goes_on(memory: Memory) -> None:
    saver = InMemorySaver()

    def host(state: Any) -> Any:
        graph = builder(state)
        graph.add_sequence([("recall", create_recall_graph(memory).compile()), ("chat", lambda _state: {})])
        graph.add_edge(START, "recall")
        return graph.compile(checkpointer=saver, interrupt_before=["chat"])

    before = host(Replacing).invoke(say(QUESTION), NOBODY)
    app = host(MemoryState)
    assert app.get_state(NOBODY).values["memory_degraded"] == before["memory_degraded"] == [UNNAMED]
    assert app.invoke(None, NOBODY)["memory_context"] == before["memory_context"]
    assert app.invoke(say(QUESTION), ANN)["memory_degraded"] == []


@pytest.mark.parametrize("state", HOSTS)
def test_a_node_that_takes_our_state_fits_into_a_host_with_channels_of_its_own(memory: Memory, state: Any) -> None:
    def answer(state: MemoryState) -> dict[str, Any]:
        return {"messages": [AIMessage(state.get("memory_context") or "")]}

    graph = builder(state)
    graph.add_sequence([("recall", create_recall_graph(memory).compile()), ("answer", answer)])
    graph.add_edge(START, "recall")
    assert "nurse" in graph.compile().invoke(say(QUESTION), ANN)["messages"][-1].content
