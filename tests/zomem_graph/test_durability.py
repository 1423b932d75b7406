"""Capture under a checkpointer on disk: interrupted, resumed, replayed, retried, forked, killed; once each time."""

import asyncio
import operator
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

from tests.postgres import PostgresServer
from zomem_graph import (
    Memory,
    MemoryState,
    create_capture_graph,
    create_capture_node,
    create_chat_graph,
    create_compose_node,
    create_recall_graph,
    create_retrieve_node,
)
from zomem_graph.testing import SmallEmbedder

Saver = BaseCheckpointSaver[Any]
Durability = Literal["sync", "async", "exit"]
MODES: list[Durability] = ["sync", "async", "exit"]
ANN: RunnableConfig = {"configurable": {"thread_id": "t1", "persona": "ann"}}
each_durability = pytest.mark.parametrize("durability", MODES)


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.open(home, embeddings=SmallEmbedder()) as opened:
        yield opened


@pytest.fixture(scope="module")
def checkpoints_url(postgres: PostgresServer) -> Iterator[str]:
    with postgres.empty_database() as url:
        yield url.replace("+psycopg", "")


@pytest.fixture(params=["sqlite", "postgresql"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Saver]:
    if request.param == "sqlite":
        with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as on_disk:
            yield on_disk
        return
    with PostgresSaver.from_conn_string(request.getfixturevalue("checkpoints_url")) as on_a_server:
        on_a_server.setup()
        on_a_server.delete_thread("t1")
        yield on_a_server


@asynccontextmanager
async def open_saver(folder: Path, url: str | None) -> AsyncIterator[Saver]:
    if url is None:
        async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as on_disk:
            yield on_disk
        return
    async with AsyncPostgresSaver.from_conn_string(url) as on_a_server:
        await on_a_server.setup()
        await on_a_server.adelete_thread("t1")
        yield on_a_server


def say(*texts: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text) for text in texts]}


def said(memory: Memory, persona: str = "ann") -> list[str]:
    with memory.stores.read() as unit:
        turns = unit.erasure.everything_of(persona).turns.values()
    return [turn.content for turn in sorted(turns, key=lambda turn: (turn.session, turn.position))]


def noted(_state: MemoryState) -> dict[str, Any]:
    return {"messages": [AIMessage("noted")]}


def around(memory: Memory, node: Any, *, after: Any = None) -> StateGraph[Any, Any, Any, Any]:
    """Return recall → node → capture → after."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("chat", node)
    graph.add_node("capture", create_capture_graph(memory).compile())
    graph.add_node("after", after or (lambda _state: {}))
    for one, other in ((START, "recall"), ("recall", "chat"), ("chat", "capture"), ("capture", "after")):
        graph.add_edge(one, other)
    return graph


@each_durability
def test_an_interrupted_turn_is_captured_once_after_its_resumption(
    memory: Memory, saver: Saver, durability: Durability
) -> None:
    def ask(_state: MemoryState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"you said {interrupt('sure?')}")]}

    app = around(memory, ask, after=lambda _state: {}).compile(checkpointer=saver)
    app.invoke(say("book it"), ANN, durability=durability)
    assert said(memory) == []
    app.invoke(Command(resume="yes"), ANN, durability=durability)
    assert said(memory) == ["book it", "you said yes"]


@each_durability
def test_an_interrupt_after_the_capture_captures_nothing_again(
    memory: Memory, saver: Saver, durability: Durability
) -> None:
    app = around(memory, noted, after=lambda _state: interrupt("go on?") and {}).compile(checkpointer=saver)
    app.invoke(say("hello"), ANN, durability=durability)
    app.invoke(Command(resume="yes"), ANN, durability=durability)
    app.invoke(say("and again"), ANN, durability=durability)
    assert said(memory) == ["hello", "noted", "and again", "noted"]


@each_durability
def test_a_run_that_fails_after_the_capture_goes_on_without_a_second_one(
    memory: Memory, saver: Saver, durability: Durability
) -> None:
    falls = iter([True, False])

    def fall(_state: MemoryState) -> dict[str, Any]:
        if next(falls):
            raise RuntimeError("fell")
        return {}

    app = around(memory, noted, after=fall).compile(checkpointer=saver)
    with pytest.raises(RuntimeError):
        app.invoke(say("hello"), ANN, durability=durability)
    app.invoke(None, ANN, durability=durability)
    assert said(memory) == ["hello", "noted"]


@each_durability
def test_every_checkpoint_can_be_replayed_without_a_second_capture(
    memory: Memory, saver: Saver, durability: Durability
) -> None:
    app = around(memory, noted).compile(checkpointer=saver)
    app.invoke(say("hello"), ANN, durability=durability)
    app.invoke(say("and again"), ANN, durability=durability)
    for place in list(app.get_state_history(ANN)):
        where = {**place.config.get("configurable", {}), "persona": "ann"}
        app.invoke(None, {"configurable": where}, durability=durability)
    assert said(memory) == ["hello", "noted", "and again", "noted"]


@each_durability
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_event_loop_captures_once_through_interrupt_failure_and_replay(
    memory: Memory, request: pytest.FixtureRequest, tmp_path: Path, kind: str, durability: Durability
) -> None:
    url = request.getfixturevalue("checkpoints_url") if kind == "postgresql" else None
    falls = iter([True, False, False, False, False, False])

    def ask(_state: MemoryState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"you said {interrupt('sure?')}")]}

    def fall(_state: MemoryState) -> dict[str, Any]:
        if next(falls):
            raise RuntimeError("fell")
        return {}

    async def talk() -> None:
        async with open_saver(tmp_path, url) as saver:
            app = around(memory, ask, after=fall).compile(checkpointer=saver)
            await app.ainvoke(say("book it"), ANN, durability=durability)
            with pytest.raises(RuntimeError):
                await app.ainvoke(Command(resume="yes"), ANN, durability=durability)
            await app.ainvoke(None, ANN, durability=durability)
            assert (await app.aget_state(ANN)).next == ()

    asyncio.run(talk())
    assert said(memory) == ["book it", "you said yes"]


def test_a_fork_adds_what_is_new_and_keeps_what_was_said(memory: Memory, saver: Saver) -> None:
    app = around(memory, noted).compile(checkpointer=saver)
    app.invoke(say("my dog is Rex"), ANN)
    first_end = app.get_state(ANN).config
    app.invoke(say("he is old"), ANN)
    where = {**first_end["configurable"], "persona": "ann"}
    app.invoke(say("he is young"), {"configurable": where})
    assert sorted(said(memory)) == ["he is old", "he is young", "my dog is Rex", "noted", "noted", "noted"]


def test_a_node_that_is_tried_again_captures_once(memory: Memory, saver: Saver) -> None:
    capture = create_capture_node(memory)
    tries: list[int] = []

    def flaky(state: MemoryState, config: RunnableConfig) -> Any:
        changed = capture.invoke(state, config)
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("lost after the capture was written")
        return changed

    graph: Any = StateGraph(MemoryState)
    retry = RetryPolicy(initial_interval=0.001, max_interval=0.001, jitter=False, max_attempts=3)
    graph.add_node("capture", flaky, retry_policy=retry)
    graph.add_edge(START, "capture")
    graph.compile(checkpointer=saver).invoke(say("hello"), ANN)
    assert len(tries) == 3
    assert said(memory) == ["hello"]


@each_durability
def test_a_capture_beside_a_branch_that_fails_happens_once(
    memory: Memory, saver: Saver, durability: Durability
) -> None:
    falls = iter([True, False])

    def fall(_state: MemoryState) -> dict[str, Any]:
        if next(falls):
            raise RuntimeError("fell")
        return {}

    graph: Any = StateGraph(MemoryState)
    graph.add_node("capture", create_capture_node(memory))
    graph.add_node("fall", fall)
    graph.add_edge(START, "capture")
    graph.add_edge(START, "fall")
    app = graph.compile(checkpointer=saver)
    with pytest.raises(RuntimeError):
        app.invoke(say("hello"), ANN, durability=durability)
    app.invoke(None, ANN, durability=durability)
    assert said(memory) == ["hello"]


def test_two_captures_side_by_side_store_a_history_once(memory: Memory, saver: Saver) -> None:
    graph: Any = StateGraph(MemoryState)
    for name in ("one", "two", "three"):
        graph.add_node(name, create_capture_graph(memory).compile())
        graph.add_edge(START, name)
    graph.compile(checkpointer=saver).invoke(say("hello", "how are you?"), ANN)
    assert said(memory) == ["hello", "how are you?"]


def test_captures_sent_to_many_branches_store_each_message_once(memory: Memory, saver: Saver) -> None:
    def spread(state: MemoryState) -> list[Send]:
        return [Send("capture", {"messages": state["messages"]}) for _branch in range(4)]

    graph: Any = StateGraph(MemoryState)
    graph.add_node("capture", create_capture_graph(memory).compile())
    graph.add_conditional_edges(START, spread, ["capture"])
    graph.compile(checkpointer=saver).invoke(say("hello", "how are you?"), ANN)
    assert said(memory) == ["hello", "how are you?"]


def test_a_graph_two_levels_deep_remembers_like_a_flat_one(memory: Memory, saver: Saver) -> None:
    inner = create_chat_graph(memory, noted).compile()
    middle: Any = StateGraph(MemoryState)
    middle.add_node("inner", inner)
    middle.add_edge(START, "inner")
    outer: Any = StateGraph(MemoryState)
    outer.add_node("middle", middle.compile())
    outer.add_edge(START, "middle")
    outer.add_edge("middle", END)
    app = outer.compile(checkpointer=saver)
    app.invoke(say("my sister Ana is a nurse in Porto."), ANN)
    other: RunnableConfig = {"configurable": {"thread_id": "t2", "persona": "ann"}}
    final = app.invoke(say("what did I tell you about my sister?"), other)
    assert "nurse in Porto" in final["memory_context"]
    assert len(final["messages"]) == 2


def test_a_host_with_another_reducer_keeps_its_messages(memory: Memory, saver: Saver) -> None:
    class Host(TypedDict):
        messages: Annotated[list[Any], operator.add]
        memory_context: str

    graph: Any = StateGraph(Host)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("capture", create_capture_graph(memory).compile())
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "capture")
    app = graph.compile(checkpointer=saver)
    assert len(app.invoke(say("hello"), ANN)["messages"]) == 1
    assert len(app.invoke(say("and again"), ANN)["messages"]) == 2
    assert said(memory) == ["hello", "and again"]


def test_what_we_keep_in_the_state_does_not_grow(memory: Memory, saver: Saver) -> None:
    app = around(memory, noted).compile(checkpointer=saver)
    sizes = []
    for number in range(12):
        app.invoke(say(f"my plan number {number}"), ANN)
        values = app.get_state(ANN).values
        sizes.append(sum(len(str(value)) for name, value in values.items() if name.startswith("memory_")))
    assert max(sizes[6:]) < 2 * max(sizes[:6])


_RUN = """
import os, sys
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from zomem_graph import Memory, MemoryState, create_capture_graph, create_recall_graph
from zomem_graph.testing import SmallEmbedder

home, saved, durability, dies = sys.argv[1:]
ANN = {"configurable": {"thread_id": "t1", "persona": "ann"}}

def chat(state):
    if dies == "chat":
        os._exit(9)
    return {"messages": [AIMessage("noted")]}

def after(state):
    if dies == "after":
        os._exit(9)
    return {}

with Memory.open(home, embeddings=SmallEmbedder()) as memory, SqliteSaver.from_conn_string(saved) as saver:
    graph = StateGraph(MemoryState)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("chat", chat)
    graph.add_node("capture", create_capture_graph(memory).compile())
    graph.add_node("after", after)
    for one, other in ((START, "recall"), ("recall", "chat"), ("chat", "capture"), ("capture", "after")):
        graph.add_edge(one, other)
    app = graph.compile(checkpointer=saver)
    saved = app.get_state(ANN)  # a step whose writes are saved is not named in `next`, though the run is to go on
    begun = saved.next or len(saved.values.get("messages", ())) == 1
    given = None if begun else {"messages": [HumanMessage("my dog is Rex")]}
    app.invoke(given, ANN, durability=durability)
"""


@pytest.mark.parametrize(("durability", "dies"), [("sync", "after"), ("async", "chat"), ("exit", "after")])
def test_a_process_that_is_killed_loses_nothing_and_captures_nothing_twice(
    home: Path, tmp_path: Path, durability: Durability, dies: str
) -> None:
    def run(how: str) -> int:
        command = [sys.executable, "-c", _RUN, str(home), str(tmp_path / "saved.db"), durability, how]
        return subprocess.run(command, timeout=120, check=False).returncode

    assert run(dies) == 9
    assert run("no") == 0
    with Memory.open(home, embeddings=SmallEmbedder()) as memory:
        assert said(memory) == ["my dog is Rex", "noted"]


def test_our_state_passes_the_strict_serializer(home: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"}
    for _turn in range(2):
        command = [sys.executable, "-W", "error", "-c", _RUN, str(home), str(tmp_path / "saved.db"), "sync", "no"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert "unregistered" not in done.stderr + done.stdout


def test_a_run_saved_by_another_version_goes_on(memory: Memory, saver: Saver) -> None:
    """What this version does not know is left out, what it needs and misses is named; nothing fails."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState)
    graph.add_sequence([("retrieve", create_retrieve_node(memory)), ("compose", create_compose_node(memory))])
    graph.add_edge(START, "retrieve")
    app = graph.compile(checkpointer=saver, interrupt_before=["compose"])
    memory.remember("ferry", "gate", "22", persona="ann")
    memory.remember("ferry", "crew", "Mia", persona="ann")
    state = app.invoke({**say("Which gate has the ferry?"), "memory_query": "ferry gate"}, ANN)
    newer, older = state["memory_hits"]
    newer["explanation"]["weather"] = "fair"
    saved = [newer | {"shelf": 4}, {name: older[name] for name in ("kind", "id", "text")}]
    app.update_state(ANN, {"memory_hits": saved, "memory_decision": {"decision": "recall", "mood": "calm"}})
    state = app.invoke(None, ANN)
    assert "22" in state["memory_context"]
    assert "Mia" not in state["memory_context"]
    assert state["memory_degraded"][-1] == "1 hit of another version left out"
