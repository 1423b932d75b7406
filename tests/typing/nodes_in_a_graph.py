"""What a user's own graph looks like to a type checker; nothing here is run."""

from datetime import UTC, datetime
from typing import Any, assert_type

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import Runnable
from langgraph.graph import END, START, StateGraph

from zomem_graph import (
    CaptureReport,
    Hit,
    Memory,
    MemoryOptions,
    MemoryState,
    MemoryStore,
    Recollection,
    Scope,
    create_capture_graph,
    create_capture_node,
    create_chat_graph,
    create_compose_node,
    create_gate_node,
    create_recall_graph,
    create_retrieve_node,
    gate_route,
    memory_tools,
    with_memory,
)

memory = Memory.open("home", clock=lambda: datetime.now(UTC), options=MemoryOptions())
scope = Scope(persona="ann", thread="t1", time_zone="Europe/Paris")


def chat(state: MemoryState) -> dict[str, Any]:
    assert_type(with_memory(state), list[AnyMessage])
    return {"messages": [AIMessage("hello")]}


def reading() -> None:
    fact = memory.remember("ann", "city", "Lisbon", persona="ann")
    assert_type(fact.value, str)
    hits = memory.search("Where does Ann live?", scope=scope, limit=3, kinds=["fact"])
    for hit in hits:
        assert_type(hit, Hit)
        assert_type(hit.score, float)
    found = memory.recall("Where does Ann live?", scope=scope, history=[HumanMessage("Hi")])
    assert_type(found, Recollection)
    assert_type(found.text, str)
    assert_type(memory.capture("Ann: I moved.", scope=scope), CaptureReport)


async def reading_without_blocking() -> None:
    assert_type(await memory.arecall("Where does Ann live?", scope=scope), Recollection)
    assert_type(await memory.acapture([HumanMessage("I moved.")], scope=scope), CaptureReport)


def building() -> None:
    graph = StateGraph(MemoryState)
    nodes: dict[str, Runnable[Any, dict[str, Any]]] = {
        "gate": create_gate_node(memory),
        "retrieve": create_retrieve_node(memory),
        "compose": create_compose_node(memory),
        "capture": create_capture_node(memory),
    }
    for name, node in nodes.items():
        graph.add_node(name, node)
    graph.add_node("chat", chat)
    graph.add_edge(START, "gate")
    graph.add_conditional_edges("gate", gate_route)
    graph.add_edge("capture", END)
    graph.compile(store=MemoryStore(memory))


def ready_made() -> None:
    asked: MemoryState = {"messages": [HumanMessage("Where does Ann live?")]}
    create_recall_graph(memory).compile().invoke(asked)
    create_capture_graph(memory).compile().invoke({"messages": [HumanMessage("I moved.")]})
    create_chat_graph(memory, chat).compile().invoke(asked)
    assert_type(asked.get("memory_context", ""), str)
    assert_type(asked.get("memory_degraded", []), list[str])
    for tool in memory_tools(memory):
        assert_type(tool.name, str)


class Mine(MemoryState):
    """A state of a user's own."""

    mood: str


def subgraphs() -> None:
    graph = StateGraph(MemoryState)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("chat", chat)
    graph.add_node("capture", create_capture_graph(memory).compile())
    app = graph.compile()
    app.invoke({"messages": [HumanMessage("x")]})
    list(app.stream({"messages": [HumanMessage("x")]}, stream_mode="custom", subgraphs=True))
    own = StateGraph(Mine)
    own.add_node("recall", create_recall_graph(memory).compile())
    own.compile().invoke({"messages": [HumanMessage("x")], "mood": "calm"})


async def subgraphs_without_blocking() -> None:
    graph = StateGraph(MemoryState)
    graph.add_node("recall", create_recall_graph(memory).compile())
    await graph.compile().ainvoke({"messages": [HumanMessage("x")]})


def refused() -> None:
    memory.search(12)  # type: ignore[arg-type]
    memory.recall("hello", scope="ann")  # type: ignore[arg-type]
    memory.remember("ann", "city")  # type: ignore[call-arg]
    Scope(persona="ann", team="x")  # type: ignore[call-arg]
