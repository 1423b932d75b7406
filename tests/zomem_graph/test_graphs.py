"""The graphs: an agent that remembers, sync and async, with a checkpointer, once."""

import asyncio
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from pydantic import BaseModel
from typing_extensions import TypedDict

from zomem_graph import (
    Memory,
    MemoryState,
    create_capture_graph,
    create_chat_graph,
    create_recall_graph,
    with_memory,
)
from zomem_graph.nodes import create_capture_node
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel

ANN: RunnableConfig = {"configurable": {"thread_id": "t1", "persona": "ann"}}
NEW: RunnableConfig = {"configurable": {"thread_id": "t2", "persona": "ann"}}
BOB: RunnableConfig = {"configurable": {"thread_id": "t3", "persona": "bob"}}
QUESTION = "what did I tell you about my sister?"


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel(replies=lambda _messages: "noted")


def chat(memory: Memory, model: ScriptedChatModel) -> Any:
    def answer(state: MemoryState) -> dict[str, Any]:
        return {"messages": [model.invoke(with_memory(state))]}

    return create_chat_graph(memory, answer).compile(checkpointer=InMemorySaver())


def say(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def test_what_was_said_in_one_thread_reaches_the_model_in_another(memory: Memory, model: ScriptedChatModel) -> None:
    app = chat(memory, model)
    app.invoke(say("My sister Ana is a nurse in Porto."), ANN)
    app.invoke(say(QUESTION), NEW)
    request = "\n".join(str(message.content) for message in model.requests[-1])
    assert "sister Ana is a nurse in Porto" in request
    assert "<recalled-memory>" in request


def ring() -> str:
    """Ring a bell."""
    return "rung"


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("awaited", [False, True])
def test_a_chat_model_in_place_of_a_node_is_asked_with_the_block(
    memory: Memory, model: ScriptedChatModel, *, bound: bool, awaited: bool
) -> None:
    given: Any = model.bind_tools([ring]).with_config(tags=["mine"]) if bound else model
    app = create_chat_graph(memory, given).compile(checkpointer=InMemorySaver())
    app.invoke(say("My sister Ana is a nurse in Porto."), ANN)
    state = asyncio.run(app.ainvoke(say(QUESTION), NEW)) if awaited else app.invoke(say(QUESTION), NEW)
    assert [message.content for message in state["messages"]] == [QUESTION, "noted"]
    assert "sister Ana is a nurse in Porto" in "".join(str(message.content) for message in model.requests[-1])
    assert len(list(app.stream(say("and now?"), NEW, stream_mode="messages"))) >= 1


def summing_up(_state: Any) -> dict[str, Any]:
    return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), SystemMessage("They spoke."), AIMessage("done")]}


def flat(memory: Memory) -> Any:
    return create_chat_graph(memory, summing_up)


def nested(memory: Memory) -> Any:
    graph: Any = StateGraph(MemoryState)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("chat", summing_up)
    graph.add_node("learn", create_capture_graph(memory).compile())
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "chat")
    graph.add_edge("chat", "learn")
    return graph


@pytest.mark.parametrize("wired", [flat, nested])
def test_what_a_node_sums_up_was_said_all_the_same(memory: Memory, wired: Any) -> None:
    app = wired(memory).compile(checkpointer=InMemorySaver())
    app.invoke(say("My passport expires in May 2031."), ANN)
    app.invoke(say("My sister Ana is a nurse in Porto."), ANN)
    with memory.stores.read() as unit:
        stored = unit.erasure.everything_of("ann").turns.values()
    assert [turn.content for turn in sorted(stored, key=lambda turn: turn.position)] == [
        "My passport expires in May 2031.",
        "done",
        "My sister Ana is a nurse in Porto.",
        "done",
    ]


class Elsewhere(TypedDict, total=False):
    history: list[Any]


def test_a_host_that_keeps_its_messages_elsewhere_is_told_so(memory: Memory) -> None:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(Elsewhere)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("learn", create_capture_graph(memory).compile())
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "learn")
    app = graph.compile(checkpointer=InMemorySaver())
    app.invoke({"history": [HumanMessage("My passport expires in May 2031.")]}, ANN)
    notes = app.get_state(ANN).values["memory_degraded"]
    assert [note.split(":")[0] for note in notes] == ["recall", "capture"]
    assert all("nothing under 'messages'" in note for note in notes)


def test_nothing_of_ours_stays_in_the_messages(memory: Memory, model: ScriptedChatModel) -> None:
    app = chat(memory, model)
    app.invoke(say("My sister Ana is a nurse in Porto."), ANN)
    final = app.invoke(say(QUESTION), NEW)
    assert [type(message) for message in final["messages"]] == [HumanMessage, AIMessage]
    assert "recalled-memory" not in str(final["messages"])


def test_another_user_of_the_same_compiled_graph_gets_nothing(memory: Memory, model: ScriptedChatModel) -> None:
    app = chat(memory, model)
    app.invoke(say("My sister Ana is a nurse in Porto."), ANN)
    final = app.invoke(say(QUESTION), BOB)
    assert final["memory_context"] == ""
    assert final["memory_decision"]["decision"] == "empty"


def test_ten_turns_with_a_checkpointer_store_each_turn_once(memory: Memory, model: ScriptedChatModel) -> None:
    app = chat(memory, model)
    for number in range(10):
        app.invoke(say(f"my plan number {number}"), ANN)
    assert memory.stats()["turns"] == 20


def test_a_replayed_checkpoint_captures_nothing_twice(memory: Memory, model: ScriptedChatModel) -> None:
    app = chat(memory, model)
    app.invoke(say("my dog is called Rex"), ANN)
    before_chat = next(s for s in app.get_state_history(ANN) if s.next == ("chat",))
    app.invoke(None, {"configurable": {**before_chat.config["configurable"], "persona": "ann"}})
    assert memory.stats()["turns"] == 2


def test_the_graph_and_memory_recall_agree(memory: Memory) -> None:
    memory.remember("sister", "job", "nurse", persona="ann")
    app = create_recall_graph(memory).compile()
    from zomem_graph import Scope

    plain = memory.recall(QUESTION, scope=Scope(persona="ann"))
    through = app.invoke(say(QUESTION), ANN)
    assert through["memory_context"] == plain.text != ""
    assert through["memory_decision"]["method"] == plain.method
    assert [hit["id"] for hit in through["memory_hits"]] == [hit.id for hit in plain.hits]


def test_sync_and_async_runs_agree(memory: Memory, model: ScriptedChatModel) -> None:
    app = chat(memory, model)
    app.invoke(say("My sister Ana is a nurse in Porto."), ANN)
    waiting = app.invoke(say(QUESTION), NEW)

    async def awaited() -> dict[str, Any]:
        config: RunnableConfig = {"configurable": {"thread_id": "t9", "persona": "ann"}}
        return dict(await app.ainvoke(say(QUESTION), config))

    assert asyncio.run(awaited())["memory_context"] != ""
    assert waiting["memory_context"] != ""


def test_custom_events_tell_what_each_step_did(memory: Memory) -> None:
    app = create_recall_graph(memory).compile()
    events = list(app.stream(say(QUESTION), ANN, stream_mode="custom"))
    assert [event["memory"] for event in events] == ["gate", "retrieve", "compose"]


def test_events_of_a_graph_in_a_graph_come_with_its_name(memory: Memory) -> None:
    host: Any = StateGraph(MemoryState)
    host.add_node("recall", create_recall_graph(memory).compile())
    host.add_edge(START, "recall")
    app = host.compile()
    assert list(app.stream(say(QUESTION), ANN, stream_mode="custom")) == []
    events = list(app.stream(say(QUESTION), ANN, stream_mode="custom", subgraphs=True))
    assert [event["memory"] for _graph, event in events] == ["gate", "retrieve", "compose"]


def test_a_run_without_a_persona_says_so(memory: Memory) -> None:
    memory.remember("sister", "job", "nurse")
    app = create_recall_graph(memory).compile()
    final = app.invoke(say(QUESTION))
    assert "no persona given" in final["memory_degraded"]


def test_a_strict_memory_refuses_a_run_without_a_persona(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder, strict_scope=True) as memory:
        app = create_recall_graph(memory).compile()
        with pytest.raises(InvalidInput, match="names no persona"):
            app.invoke(say(QUESTION))


def test_a_state_without_messages_is_named(memory: Memory) -> None:
    graph: Any = StateGraph(dict)
    graph.add_node("capture", create_capture_node(memory))
    graph.add_edge(START, "capture")
    with pytest.raises(InvalidInput, match="MemoryState"):
        graph.compile().invoke({"other": 1})


def test_capture_works_in_a_host_with_bare_messages_state(memory: Memory) -> None:
    graph: Any = StateGraph(MessagesState)
    graph.add_node("capture", create_capture_node(memory), input_schema=MemoryState)
    graph.add_edge(START, "capture")
    graph.compile().invoke(say("my dog is called Rex"), ANN)
    assert memory.stats()["turns"] == 1


class Own(MessagesState):
    """A host's state that cannot hold what memory has to say."""

    mood: str


def test_a_node_that_takes_bare_messages_is_given_the_block(memory: Memory) -> None:
    memory.remember("sister", "job", "nurse", persona="ann")
    seen: list[str] = []

    def answer(state: MessagesState) -> dict[str, Any]:
        seen.append(str(with_memory(state)))  # as many write it
        return {"messages": [AIMessage("ok")]}

    create_chat_graph(memory, answer).compile().invoke(say(QUESTION), ANN)
    assert "sister job: nurse" in seen[0]


def test_a_node_whose_state_cannot_hold_the_block_is_refused_when_the_graph_is_built(memory: Memory) -> None:
    def answer(state: Own) -> dict[str, Any]:
        return {"messages": []}

    with pytest.raises(InvalidInput, match="Own, the state of the chat node, has no memory_context"):
        create_chat_graph(memory, answer)
    with pytest.raises(InvalidInput, match="must be a function or a Runnable, not NoneType"):
        create_chat_graph(memory, None)


def test_a_ready_graph_that_would_never_see_the_block_is_refused_with_the_cure(
    memory: Memory, model: ScriptedChatModel
) -> None:
    with pytest.raises(InvalidInput, match="MemoryMiddleware"):
        create_chat_graph(memory, create_agent(model, []))

    def answer(state: MemoryState) -> dict[str, Any]:
        return {"messages": model.invoke(with_memory(state))}

    inner = StateGraph(MessagesState)
    inner.add_node("answer", answer)
    inner.add_edge(START, "answer")
    with pytest.raises(InvalidInput, match="MemoryMiddleware"):
        create_chat_graph(memory, inner.compile())


@dataclass
class Said:
    messages: list[Any]


class Told(BaseModel):
    messages: list[Any]


@pytest.mark.parametrize("state", [Said, Told])
def test_a_node_of_another_kind_of_state_is_refused_when_the_graph_is_built(memory: Memory, state: Any) -> None:
    def answer(given: Any) -> dict[str, Any]:
        return {"messages": []}

    answer.__annotations__["given"] = state
    with pytest.raises(InvalidInput, match="has no memory_context"):
        create_chat_graph(memory, answer)


def test_a_server_that_takes_a_compiled_graph_for_a_factory_gets_the_graph(memory: Memory) -> None:
    chat = create_chat_graph(memory, lambda _state: {"messages": []}).compile()
    for compiled in (chat, create_recall_graph(memory).compile(), create_capture_graph(memory).compile()):
        made: Any = compiled
        assert made(state={"configurable": {}}) is compiled


class Raw(TypedDict, total=False):
    messages: Annotated[list[Any], operator.add]
    memory_context: str


@pytest.mark.parametrize("message", [{"role": "user", "content": QUESTION}, ("user", QUESTION), ("human", QUESTION)])
def test_messages_of_every_form_get_their_block(memory: Memory, message: Any) -> None:
    memory.remember("sister", "job", "nurse", persona="ann")
    seen: list[str] = []

    def answer(state: Raw) -> dict[str, Any]:
        seen.append(str(with_memory(state)))
        return {}

    graph: Any = StateGraph(Raw)
    graph.add_sequence([("recall", create_recall_graph(memory).compile()), ("answer", answer)])
    graph.add_edge(START, "recall")
    graph.compile().invoke({"messages": [message]}, ANN)
    assert "sister job: nurse" in seen[0]


def test_a_message_of_another_role_is_kept_and_stops_nothing(memory: Memory, model: ScriptedChatModel) -> None:
    odd = ChatMessage(content="too long, I would say", role="critic", additional_kwargs={"at": "@bob"})
    chat(memory, model).invoke({"messages": [odd, ChatMessage(content="my cat is called Rex", role="user")]}, ANN)
    with memory.stores.read() as unit:
        kept = unit.erasure.everything_of("ann").turns.values()
    assert {(turn.role, turn.speaker) for turn in kept} >= {("assistant", "critic"), ("user", "user")}


def test_a_block_that_the_graph_cannot_hold_is_not_lost_without_a_word(memory: Memory) -> None:
    graph: Any = StateGraph(MessagesState)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("answer", lambda state: {"messages": with_memory(state)})
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    with pytest.raises(InvalidInput, match="derive your own state from it"):
        graph.compile().invoke(say(QUESTION), ANN)


def test_what_the_model_sees_anyway_is_not_recalled_again(memory: Memory, model: ScriptedChatModel) -> None:
    app = chat(memory, model)
    app.invoke(say("My sister Ana is a nurse in Porto."), ANN)
    again = app.invoke(say(QUESTION), ANN)
    assert "Ana is a nurse" not in again["memory_context"]


def test_the_same_question_again_is_answered_again(memory: Memory, model: ScriptedChatModel) -> None:
    memory.remember("sister", "job", "nurse", persona="ann")
    app = chat(memory, model)
    app.invoke(say(QUESTION), ANN)
    again = app.invoke(say(QUESTION), ANN)
    assert "sister job: nurse" in again["memory_context"]
