"""Whose thread it is: a run that names nobody goes on with the persona of its thread, and says so without one."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from zomem_graph import (
    Memory,
    MemoryState,
    Scope,
    create_capture_graph,
    create_capture_node,
    create_chat_graph,
    create_compose_node,
    create_gate_node,
    create_recall_graph,
    create_retrieve_node,
    create_swarm_graph,
    gate_route,
    memory_tools,
)
from zomem_graph.middleware import MemoryMiddleware
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel

SECRET = "My sister Ana is a nurse in Porto."
NOBODY = "no persona given"
THREAD: RunnableConfig = {"configurable": {"thread_id": "t1"}}
ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def asking(_state: MemoryState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"as you say: {interrupt('sure?')}")]}


def chat_graph(memory: Memory, chat: Any) -> StateGraph[Any, Any, Any, Any]:
    return create_chat_graph(memory, chat, context_schema=Scope)


def single_nodes(memory: Memory, chat: Any) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState, context_schema=Scope)
    graph.add_node("gate", create_gate_node(memory))
    graph.add_node("retrieve", create_retrieve_node(memory))
    graph.add_node("compose", create_compose_node(memory))
    graph.add_node("chat", chat)
    graph.add_node("capture", create_capture_node(memory))
    graph.add_edge(START, "gate")
    graph.add_conditional_edges("gate", gate_route, {name: name for name in ("retrieve", "compose")})
    for one, other in (("retrieve", "compose"), ("compose", "chat"), ("chat", "capture")):
        graph.add_edge(one, other)
    return graph


def without_a_gate(memory: Memory, chat: Any) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState, context_schema=Scope)
    graph.add_node("question", lambda state: {"memory_query": state["messages"][-1].content})
    graph.add_node("retrieve", create_retrieve_node(memory))
    graph.add_node("compose", create_compose_node(memory))
    graph.add_node("chat", chat)
    graph.add_node("capture", create_capture_node(memory))
    for one, other in pairwise([START, "question", "retrieve", "compose", "chat", "capture"]):
        graph.add_edge(one, other)
    return graph


def subgraphs(memory: Memory, chat: Any, state: Any = MemoryState) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(state, context_schema=Scope)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("chat", chat)
    graph.add_node("capture", create_capture_graph(memory).compile())
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "chat")
    graph.add_edge("chat", "capture")
    return graph


def subgraphs_in_bare_messages(memory: Memory, chat: Any) -> StateGraph[Any, Any, Any, Any]:
    return subgraphs(memory, chat, MessagesState)


def captured_in_bare_messages(memory: Memory, chat: Any) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState, context_schema=Scope)
    graph.add_sequence(
        [("listen", create_capture_node(memory)), ("chat", chat), ("learn", create_capture_node(memory))]
    )
    return graph.add_edge(START, "listen")


def captured_by_graphs(memory: Memory, chat: Any) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState, context_schema=Scope)
    capture = create_capture_graph(memory).compile()
    graph.add_sequence([("listen", capture), ("chat", chat), ("learn", capture)])
    return graph.add_edge(START, "listen")


def chat_graph_in_bare_messages(memory: Memory, chat: Any) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState, context_schema=Scope)
    graph.add_node("talk", create_chat_graph(memory, chat, context_schema=Scope).compile())
    return graph.add_edge(START, "talk")


HOSTS = [
    chat_graph,
    single_nodes,
    without_a_gate,
    subgraphs,
    subgraphs_in_bare_messages,
    captured_in_bare_messages,
    captured_by_graphs,
    chat_graph_in_bare_messages,
]
Host = Callable[[Memory, Any], StateGraph[Any, Any, Any, Any]]


def say(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def turns_of(memory: Memory, persona: str) -> list[str]:
    with memory.stores.read() as unit:
        found = unit.erasure.everything_of(persona).turns.values()
    return [turn.content for turn in sorted(found, key=lambda turn: turn.position)]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("host", HOSTS)
def test_a_resume_that_names_nobody_belongs_to_the_persona_of_the_thread(
    memory: Memory, host: Host, awaited: bool
) -> None:
    app = host(memory, asking).compile(checkpointer=InMemorySaver())
    app.invoke(say(SECRET), THREAD, context=ANN)
    go_on: Any = Command(resume="yes")
    asyncio.run(app.ainvoke(go_on, THREAD)) if awaited else app.invoke(go_on, THREAD)
    assert turns_of(memory, "ann") == [SECRET, "as you say: yes"]
    assert turns_of(memory, "shared") == []
    assert NOBODY not in app.get_state(THREAD).values.get("memory_degraded", [])


@pytest.mark.parametrize("host", HOSTS)
def test_the_next_run_of_a_thread_belongs_to_its_persona(memory: Memory, host: Host) -> None:
    app = host(memory, lambda _state: {"messages": [AIMessage("noted")]}).compile(checkpointer=InMemorySaver())
    app.invoke(say(SECRET), THREAD, context=ANN)
    app.invoke(say("and she likes rowing"), THREAD)
    app.invoke(say("hello"), THREAD)
    assert turns_of(memory, "shared") == []
    assert len(turns_of(memory, "ann")) == 6


@pytest.mark.parametrize("host", HOSTS)
def test_a_run_from_an_earlier_checkpoint_belongs_to_the_persona_of_the_thread(memory: Memory, host: Host) -> None:
    app = host(memory, lambda _state: {"messages": [AIMessage("noted")]}).compile(checkpointer=InMemorySaver())
    app.invoke(say(SECRET), THREAD, context=ANN)
    if host is chat_graph_in_bare_messages:  # the host has one step, and is known by its name after it
        app.invoke(say("and I row"), THREAD)
    earlier = next(one for one in app.get_state_history(THREAD) if one.next in (("chat",), ("talk",)))
    app.invoke(None, {"configurable": earlier.config["configurable"]})
    assert turns_of(memory, "shared") == []


def test_a_run_that_names_somebody_else_is_theirs(memory: Memory) -> None:
    app = chat_graph(memory, lambda _state: {"messages": []}).compile(checkpointer=InMemorySaver())
    app.invoke(say(SECRET), THREAD, context=ANN)
    app.invoke(say("I am Bob"), THREAD, context=Scope(persona="bob"))
    app.invoke(say("and I row"), THREAD)
    assert "and I row" in turns_of(memory, "bob")
    assert "and I row" not in turns_of(memory, "ann")


@pytest.mark.parametrize("host", HOSTS)
def test_a_strict_memory_goes_on_with_a_thread_and_begins_none_for_nobody(
    home: Path, host: Host, embedder: SmallEmbedder
) -> None:
    with Memory.open(home, embeddings=embedder, strict_scope=True) as memory:
        app = host(memory, asking).compile(checkpointer=InMemorySaver())
        app.invoke(say(SECRET), THREAD, context=ANN)
        app.invoke(Command(resume="yes"), THREAD)
        assert len(turns_of(memory, "ann")) == 2
        with pytest.raises(InvalidInput, match="names no persona"):
            app.invoke(say(SECRET), {"configurable": {"thread_id": "t2"}})


def test_an_agent_that_goes_on_without_a_name_belongs_to_the_persona_of_the_thread(memory: Memory) -> None:
    def book(place: str) -> str:
        """Book a table."""
        return f"{place}: {interrupt('sure?')}"

    called = [{"name": "book", "args": {"place": "Lello"}, "id": "1", "type": "tool_call"}]
    save = {"name": "memory_save", "args": {"entity": "Ana", "key": "job", "value": "nurse"}, "id": "2"}
    model = ScriptedChatModel(
        replies=[
            AIMessage("", tool_calls=called),
            AIMessage("", tool_calls=[{**save, "type": "tool_call"}]),
            "booked",
            "noted",
        ]
    )
    app: Any = create_agent(
        model,
        [book, *memory_tools(memory)],
        middleware=[MemoryMiddleware(memory)],
        checkpointer=InMemorySaver(),
        context_schema=Scope,
    )
    app.invoke(say(SECRET), THREAD, context=ANN)
    app.invoke(Command(resume="yes"), THREAD)
    app.invoke(say("hello"), THREAD)
    assert turns_of(memory, "shared") == []
    assert turns_of(memory, "ann")[0] == SECRET
    assert turns_of(memory, "ann")[-2:] == ["hello", "noted"]
    assert [fact.value for fact in memory.lookup("Ana", "job", scope=ANN)] == ["nurse"]


def test_a_swarm_that_goes_on_without_a_name_learns_for_the_persona_of_the_thread(memory: Memory) -> None:
    def work(given: Mapping[str, Any]) -> str:
        return f"{given['task']}: {interrupt('sure?')}"

    app = create_swarm_graph(memory, {"worker": work}, context_schema=Scope).compile(checkpointer=InMemorySaver())
    app.invoke({"tasks": ["count the boats"]}, THREAD, context=ANN)
    app.invoke(Command(resume="yes"), THREAD)
    assert [one.persona for one in memory.episodes.list(scope=ANN)] != []
    assert {one.persona for one in memory.episodes.list(scope=ANN)} == {"ann"}
    assert memory.episodes.list() == []


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("text", [SECRET, "hello", "what did I tell you about my sister?"])
def test_what_is_captured_for_nobody_says_so_once(memory: Memory, host: Host, text: str) -> None:
    app = host(memory, lambda _state: {"messages": []}).compile(checkpointer=InMemorySaver())
    for _turn in range(2):
        app.invoke(say(text), THREAD)
        assert app.get_state(THREAD).values["memory_degraded"].count(NOBODY) == 1


def test_what_middleware_captures_for_nobody_says_so_once(memory: Memory) -> None:
    model = ScriptedChatModel(replies=lambda _messages: "noted")
    app: Any = create_agent(model, middleware=[MemoryMiddleware(memory)], checkpointer=InMemorySaver())
    for _turn in range(2):
        app.invoke(say("hello"), THREAD)
        assert app.get_state(THREAD).values["memory_degraded"] == [NOBODY]


class Persona(str, Enum):  # noqa: UP042  # what many hosts have
    ANN = "ann"


NAMES: list[tuple[dict[str, Any], str, str]] = [
    ({"persona": "ann", "thread_id": "t1"}, "ann", "t1"),
    ({"persona": Persona.ANN, "thread_id": "t1"}, "ann", "t1"),
    ({"user_id": 7, "thread_id": 12}, "7", "12"),
    ({"user_id": np.int64(7), "thread_id": "t1"}, "7", "t1"),
    ({"user_id": UUID(int=1), "thread_id": UUID(int=2)}, str(UUID(int=1)), str(UUID(int=2))),
]
WRONG = [object(), 3.5, True, b"ann", ["ann"], {"name": "ann"}, ANN, "", " ", "x" * 300]


@pytest.mark.parametrize(("names", "persona", "thread"), NAMES)
def test_names_and_ids_are_taken_as_text(memory: Memory, names: dict[str, Any], persona: str, thread: str) -> None:
    app = create_capture_graph(memory).compile()
    app.invoke(say(SECRET), {"configurable": names})
    with memory.stores.read() as unit:
        (turn,) = unit.erasure.everything_of(persona).turns.values()
    assert (turn.persona, turn.thread) == (persona, thread)


@pytest.mark.parametrize("where", ["context", "configurable"])
@pytest.mark.parametrize("name", ["persona", "user_id", "thread", "thread_id", "executor", "time_zone"])
@pytest.mark.parametrize("value", WRONG)
def test_what_is_no_name_is_refused(memory: Memory, name: str, value: Any, where: str) -> None:
    app: Any = create_capture_graph(memory).compile()
    given: dict[str, Any] = {"context": {name: value}} if where == "context" else {}
    config: RunnableConfig = {"configurable": {name: value}} if where == "configurable" else {}
    with pytest.raises(InvalidInput, match=name):
        app.invoke(say(SECRET), config, **given)
    assert memory.stats()["turns"] == 0


def test_a_whole_number_is_an_id_and_no_persona(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="persona of the run must be text, not 7"):
        create_capture_graph(memory).compile().invoke(say(SECRET), {"configurable": {"persona": 7}})


@pytest.mark.parametrize("name", ["persona", "user_id"])
def test_middleware_refuses_what_is_no_name(memory: Memory, name: str) -> None:
    model = ScriptedChatModel(replies=lambda _messages: "noted")
    app: Any = create_agent(model, middleware=[MemoryMiddleware(memory)])
    with pytest.raises(InvalidInput, match=f"{name} of the run must be text"):
        app.invoke(say(SECRET), {"configurable": {name: object()}})


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("given", [Scope(time_zone="Europe/Paris"), {"time_zone": "Europe/Paris"}])
def test_a_context_that_names_nobody_takes_no_name_from_others(memory: Memory, host: Host, given: Any) -> None:
    app: Any = host(memory, lambda _state: {"messages": []}).compile(checkpointer=InMemorySaver())
    app.invoke(say(SECRET), {"configurable": {"thread_id": "t1", "persona": "ann"}}, context=given)
    app.invoke(say("and I row"), THREAD, context=given)
    assert turns_of(memory, "shared") == []
    assert turns_of(memory, "ann") == [SECRET, "and I row"]


def test_a_strict_memory_refuses_a_context_without_a_name(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder, strict_scope=True) as memory:
        app: Any = chat_graph(memory, lambda _state: {"messages": []}).compile()
        with pytest.raises(InvalidInput, match="names no persona"):
            app.invoke(say(SECRET), THREAD, context=Scope(time_zone="Europe/Paris"))
