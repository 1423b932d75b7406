"""A memory that is closed, damaged or locked under a running graph: the graph goes on and says what was missing."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from zomem_graph import (
    Memory,
    MemoryState,
    MemoryStore,
    create_capture_graph,
    create_chat_graph,
    create_maintenance_graph,
    create_recall_graph,
    create_swarm_graph,
)
from zomem_graph.middleware import MemoryMiddleware
from zomem_graph.nodes import (
    create_briefing_node,
    create_capture_node,
    create_compose_node,
    create_continuation_node,
    create_gate_node,
    create_maintenance_node,
    create_multi_hop_node,
    create_retrieve_node,
    create_router_node,
)
from zomem_graph.stores.errors import Closed, InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel

ANN: RunnableConfig = {"configurable": {"thread_id": "t1", "persona": "ann"}}
QUESTION = "what did I tell you about my sister?"
FAILING = ("closed", "damaged", "locked")
NODES: dict[str, Callable[[Memory], Runnable[Any, Any]]] = {
    "gate": create_gate_node,
    "retrieve": create_retrieve_node,
    "continuation": create_continuation_node,
    "multi_hop": create_multi_hop_node,
    "compose": create_compose_node,
    "capture": create_capture_node,
    "briefing": create_briefing_node,
    "route": lambda memory: create_router_node(memory, ["end"]),
}
READING = [name for name in NODES if name not in ("compose", "capture")]


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    home.mkdir()
    url = f"sqlite:///{home / 'zomem.db'}?timeout=0.05"
    with Memory.open(home, database_url=url, embeddings=embedder, clock=clock) as opened:
        opened.remember("sister", "job", "nurse", persona="ann")
        opened.flush()
        yield opened


@contextmanager
def failing(memory: Memory, how: str) -> Iterator[None]:
    """Let a memory be closed, what its file says of its tables be overwritten, or another process hold it."""
    file = memory.settings.home / "zomem.db"
    if how == "closed":
        memory.close()
    if how != "locked":
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            (version,) = other.execute("pragma schema_version").fetchone()
            other.execute("pragma writable_schema=on")
            other.execute("update sqlite_master set sql = 'create nonsense' where type = 'table'")
            other.execute(f"pragma schema_version={version + 1}")
        yield
        return
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("begin immediate")
        yield
        other.execute("rollback")


def say(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def noted(_state: MemoryState) -> dict[str, Any]:
    return {"messages": [AIMessage("noted")]}


def alone(memory: Memory, name: str) -> Any:
    """Return a graph of one node."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState)
    graph.add_node(name, NODES[name](memory), destinations=("end",) if name == "route" else None)
    graph.add_node("end", lambda _state: {})
    graph.add_edge(START, name)
    if name != "route":
        graph.add_edge(name, END)
    return graph.compile()


def go(app: Any, given: Any, awaited: bool) -> Any:
    return asyncio.run(app.ainvoke(given, ANN)) if awaited else app.invoke(given, ANN)


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("how", FAILING)
@pytest.mark.parametrize("text", [QUESTION, "hello", "go on with the sister", "Where does ana live?"])
def test_a_chat_goes_on_without_its_memory(memory: Memory, how: str, text: str, awaited: bool) -> None:
    app = create_chat_graph(memory, noted).compile()
    with failing(memory, how):
        final = go(app, say(text), awaited)
    assert final["messages"][-1].content == "noted"
    assert any(note.startswith("capture: ") for note in final["memory_degraded"])
    if how != "locked":
        assert final["memory_context"] == ""
        assert final["memory_hits"] == []
        assert any(note.startswith(("compose: ", "not logged: ")) for note in final["memory_degraded"])


@pytest.mark.parametrize("how", FAILING)
@pytest.mark.parametrize("name", NODES)
def test_each_node_alone_goes_on_and_says_what_failed(memory: Memory, name: str, how: str) -> None:
    app = alone(memory, name)
    given = {**say("Where does ana live?"), "memory_query": QUESTION}
    with failing(memory, how):
        final = app.invoke(given, ANN)
    if how == "locked" and name in READING:
        return  # who only reads does not wait for a writer
    assert any(name in note or "not logged" in note for note in final["memory_degraded"]), final
    assert not final.get("memory_context")
    assert not final.get("memory_hits")


@pytest.mark.parametrize("name", ["gate", "capture"])
def test_what_a_caller_passes_in_wrongly_is_raised_all_the_same(memory: Memory, name: str) -> None:
    wrong: RunnableConfig = {"configurable": {"thread_id": "t1", "persona": object()}}
    with pytest.raises(InvalidInput, match="persona of the run must be text"):
        alone(memory, name).invoke(say(QUESTION), wrong)


@pytest.mark.parametrize("how", FAILING)
def test_a_swarm_works_without_its_memory(memory: Memory, how: str) -> None:
    app = create_swarm_graph(memory, {"worker": lambda given: f"did {given['task']}"}).compile()
    with failing(memory, how):
        final = app.invoke({"tasks": ["count the boats"]}, ANN)
    assert final["results"][0]["answer"] == "did count the boats"
    assert final["results"][0]["degraded"]


@pytest.mark.parametrize("how", FAILING)
def test_an_agent_works_without_its_memory(memory: Memory, how: str) -> None:
    model = ScriptedChatModel(replies=lambda _messages: "noted")
    app: Any = create_agent(model, middleware=[MemoryMiddleware(memory)])
    with failing(memory, how):
        assert app.invoke(say(QUESTION), ANN)["messages"][-1].content == "noted"


@contextmanager
def held_for_a_while(file: Path, seconds: float) -> Iterator[None]:
    """Let another process hold a database for some seconds."""
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("begin immediate")
        letting_go = Timer(seconds, lambda: other.execute("rollback"))
        letting_go.start()
        yield
        letting_go.join()


@pytest.mark.parametrize("awaited", [False, True])
def test_a_run_waits_for_another_writer_but_once_and_its_next_turn_makes_up_for_it(home: Path, awaited: bool) -> None:
    home.mkdir()
    file = home / "zomem.db"
    with Memory.open(home, database_url=f"sqlite:///{file}?timeout=1", embeddings="none") as memory:
        app = create_chat_graph(memory, noted).compile(checkpointer=InMemorySaver())
        with held_for_a_while(file, 3):
            final = go(app, say("My sister ana is a nurse in Porto."), awaited)
        assert any("held by another process" in note for note in final["memory_degraded"])
        go(app, say("hello"), awaited)
        assert memory.stats()["turns"] == 4


def test_who_captures_by_hand_waits_longer(home: Path) -> None:
    home.mkdir()
    file = home / "zomem.db"
    with Memory.open(home, database_url=f"sqlite:///{file}?timeout=1", embeddings="none") as memory:
        with held_for_a_while(file, 2):
            report = memory.capture([{"role": "user", "content": "My sister ana is a nurse in Porto."}])
        assert report.turns == 1


BUILDERS: dict[str, Callable[[Memory], object]] = {
    **NODES,
    "maintenance": lambda memory: create_maintenance_node(memory, "expire"),
    "recall graph": create_recall_graph,
    "capture graph": create_capture_graph,
    "chat graph": lambda memory: create_chat_graph(memory, noted),
    "maintenance graph": create_maintenance_graph,
    "swarm graph": lambda memory: create_swarm_graph(memory, {"worker": lambda _given: ""}),
    "middleware": MemoryMiddleware,
    "store": MemoryStore,
}


@pytest.mark.parametrize("name", BUILDERS)
def test_nothing_is_built_on_a_closed_memory(memory: Memory, name: str) -> None:
    memory.close()
    with pytest.raises(Closed, match="Open it again"):
        BUILDERS[name](memory)
