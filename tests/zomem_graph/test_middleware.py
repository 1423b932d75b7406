"""The middleware in real agents: what the model sees, what stays in the state, what is captured and when."""

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from zomem_graph import Memory, MemoryState, Scope, create_chat_graph
from zomem_graph.middleware import MemoryMiddleware
from zomem_graph.nodes.placement import Placement
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel

QUESTION = "what did I tell you about my sister?"
FACT = "My sister Ana is a nurse in Porto."
NAMES = "Ana Bela Carl Dora Emil Faye Gina Hugo Iris Joel Kira Lars Mona Nils Olga Pete Quin Rosa Sven Tara".split()
PROMPT = "You are a patient helper."


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel(replies=lambda _messages: "noted")


def agent(memory: Memory, model: ScriptedChatModel, *, placement: Placement = "user", tools: Any = ()) -> Any:
    middleware = MemoryMiddleware(memory, placement=placement)
    return create_agent(
        model,
        list(tools),
        system_prompt=PROMPT,
        middleware=[middleware],
        checkpointer=InMemorySaver(),
        context_schema=Scope,
    )


def on(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}


def say(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def text_of(messages: list[BaseMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


def use(tool: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": "call-1", "type": "tool_call"}])


def turns_of(memory: Memory, persona: str) -> list[str]:
    with memory.stores.read() as unit:
        found = unit.erasure.everything_of(persona).turns.values()
    return [turn.content for turn in sorted(found, key=lambda turn: (turn.session, turn.position))]


def know_jobs(memory: Memory) -> None:
    memory.remember_many([{"entity": name, "key": "job", "value": "nurse", "persona": "ann"} for name in NAMES])


@pytest.mark.parametrize("placement", ["user", "system"])
def test_what_was_said_in_one_thread_reaches_the_model_in_another(
    memory: Memory, model: ScriptedChatModel, placement: Placement
) -> None:
    app = agent(memory, model, placement=placement)
    app.invoke(say(FACT), on("t1"), context=Scope(persona="ann"))
    final = app.invoke(say(QUESTION), on("t2"), context=Scope(persona="ann"))
    request = text_of(model.requests[-1])
    assert "sister Ana is a nurse in Porto" in request
    assert request.count("<recalled-memory>") == 1
    assert [type(message) for message in final["messages"]] == [HumanMessage, AIMessage]
    assert "recalled-memory" not in str(final["messages"])


def test_the_block_rides_on_every_model_call_of_a_run(memory: Memory) -> None:
    def ring() -> str:
        """Ring a bell."""
        return "rung"

    model = ScriptedChatModel(replies=[use("ring"), "rung it"])
    memory.remember("sister", "job", "nurse", persona="ann")
    agent(memory, model, tools=[ring]).invoke(say(QUESTION), on("t1"), context=Scope(persona="ann"))
    assert len(model.requests) == 2
    assert all("nurse" in text_of(request) for request in model.requests)


@pytest.mark.parametrize("placement", ["user", "system"])
def test_the_system_prefix_stays_byte_identical_over_twenty_turns(
    memory: Memory, model: ScriptedChatModel, placement: Placement
) -> None:
    know_jobs(memory)
    app = agent(memory, model, placement=placement)
    for name in NAMES:
        app.invoke(say(f"what is the job of {name}?"), on("t1"), context=Scope(persona="ann"))
    first = [request[0] for request in model.requests]
    assert {type(message) for message in first} == {SystemMessage}
    assert {str(message.content) for message in first} == {PROMPT}
    assert sum("<recalled-memory>" in text_of(request) for request in model.requests) == 20


def test_earlier_messages_reach_the_model_unchanged(memory: Memory, model: ScriptedChatModel) -> None:
    know_jobs(memory)
    app = agent(memory, model)
    asked = [f"what is the job of {name}?" for name in NAMES[:3]]
    for question in asked:
        app.invoke(say(question), on("t1"), context=Scope(persona="ann"))
    assert "recalled-memory" in text_of(model.requests[0])
    earlier = [str(message.content) for message in model.requests[-1][1:-1]]
    assert earlier == [asked[0], "noted", asked[1], "noted"]


def test_async_agents_recall_and_capture_alike(memory: Memory, model: ScriptedChatModel) -> None:
    async def talk() -> dict[str, Any]:
        app = agent(memory, model)
        await app.ainvoke(say(FACT), on("t1"), context=Scope(persona="ann"))
        return dict(await app.ainvoke(say(QUESTION), on("t2"), context=Scope(persona="ann")))

    final = asyncio.run(talk())
    assert "nurse in Porto" in text_of(model.requests[-1])
    assert "memory_context" not in final
    assert turns_of(memory, "ann") == [FACT, "noted", QUESTION, "noted"]


def test_our_state_is_neither_asked_for_nor_given_out(memory: Memory, model: ScriptedChatModel) -> None:
    app = agent(memory, model)
    final = app.invoke(say(QUESTION), on("t1"), context=Scope(persona="ann"))
    assert set(final) == {"messages"}
    names = {*app.get_input_jsonschema()["properties"], *app.get_output_jsonschema()["properties"]}
    assert not [name for name in names if name.startswith("memory")]


def test_twenty_turns_capture_each_message_once(memory: Memory, model: ScriptedChatModel) -> None:
    app = agent(memory, model)
    for number in range(20):
        app.invoke(say(f"my plan number {number}"), on("t1"), context=Scope(persona="ann"))
    said = turns_of(memory, "ann")
    assert len(said) == 40
    assert len(set(said)) == 21


def test_an_interrupted_run_is_captured_once_when_it_ends(memory: Memory) -> None:
    def book(place: str) -> str:
        """Book a table."""
        return f"{place}: {interrupt('sure?')}"

    model = ScriptedChatModel(replies=[use("book", place="Lello"), "booked"])
    app = agent(memory, model, tools=[book])
    stopped = app.invoke(say("book a table at Lello"), on("t1"), context=Scope(persona="ann"))
    assert "__interrupt__" in stopped
    app.invoke(Command(resume="yes"), on("t1"), context=Scope(persona="ann"))
    assert turns_of(memory, "ann") == ["book a table at Lello", "Lello: yes", "booked"]
    assert all("recalled" not in said for said in turns_of(memory, "ann"))


@pytest.mark.parametrize("awaited", [False, True])
def test_what_was_said_is_captured_when_the_model_raises(memory: Memory, awaited: bool) -> None:
    model = ScriptedChatModel(replies=[RuntimeError("no answer today"), "noted"])
    app = agent(memory, model)
    with pytest.raises(RuntimeError, match="no answer today"):
        _go(app, awaited, say(FACT))
    assert turns_of(memory, "ann") == [FACT]
    _go(app, awaited, None)
    assert turns_of(memory, "ann") == [FACT, "noted"]


@pytest.mark.parametrize("awaited", [False, True])
def test_what_was_said_is_captured_when_a_tool_raises(memory: Memory, awaited: bool) -> None:
    def fall() -> str:
        """Fall over."""
        raise RuntimeError("fell over")

    app = agent(memory, ScriptedChatModel(replies=[use("fall")]), tools=[fall])
    with pytest.raises(RuntimeError, match="fell over"):
        _go(app, awaited, say(FACT))
    assert turns_of(memory, "ann") == [FACT]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_what_was_said_is_captured_though_it_was_summed_up_on_the_way(
    memory: Memory, *, last: bool, fails: bool
) -> None:
    def look(place: str) -> str:
        """Look somewhere."""
        return f"nothing at {place}"

    end: Any = RuntimeError("no answer today") if fails else "found none"
    model = ScriptedChatModel(
        replies=[use("look", place="home"), use("look", place="work"), use("look", place="gym"), end]
    )
    summing = SummarizationMiddleware(
        ScriptedChatModel(replies=lambda _messages: "Somebody looks for something."),
        trigger=("messages", 5),
        keep=("messages", 2),
    )
    ours = MemoryMiddleware(memory)
    app = create_agent(
        model,
        [look],
        middleware=[summing, ours] if last else [ours, summing],
        checkpointer=InMemorySaver(),
        context_schema=Scope,
    )
    with pytest.raises(RuntimeError, match="no answer today") if fails else nullcontext():
        _go(app, False, say(FACT))
    assert "Somebody looks" in text_of(model.requests[-1])
    assert FACT not in text_of(model.requests[-1])
    assert turns_of(memory, "ann")[0] == FACT
    assert turns_of(memory, "ann").count(FACT) == 1
    assert not [said for said in turns_of(memory, "ann") if "Somebody looks" in said]


def _go(app: Any, awaited: bool, given: Any) -> Any:
    scope = Scope(persona="ann")
    if awaited:
        return asyncio.run(app.ainvoke(given, on("t1"), context=scope))
    return app.invoke(given, on("t1"), context=scope)


def test_a_strict_memory_refuses_a_run_without_a_persona(home: Path, model: ScriptedChatModel) -> None:
    with Memory.open(home, embeddings=SmallEmbedder(), strict_scope=True) as memory:
        app = agent(memory, model)
        with pytest.raises(InvalidInput, match="names no persona"):
            app.invoke(say(QUESTION), on("t1"))
        with pytest.raises(InvalidInput, match="names no persona"):
            asyncio.run(app.ainvoke(say(QUESTION), on("t1")))
    assert model.requests == []


def test_two_users_in_one_agent_never_see_each_other(memory: Memory, model: ScriptedChatModel) -> None:
    app = agent(memory, model)

    async def live(name: str, pet: str) -> None:
        for number in range(4):
            scope = Scope(persona=name)
            await app.ainvoke(say(f"my dog is called {pet} {number}"), on(f"{name}-{number}"), context=scope)
            await app.ainvoke(say("what is my dog called?"), on(f"{name}-ask-{number}"), context=scope)

    async def both() -> None:
        await asyncio.gather(live("ann", "Rex"), live("bob", "Zorro"))

    asyncio.run(both())
    asked = [text_of(request) for request in model.requests if text_of(request).endswith("what is my dog called?")]
    assert len(asked) == 8
    assert all(("Rex" in request) != ("Zorro" in request) for request in asked)
    assert not [said for said in turns_of(memory, "ann") if "Zorro" in said]


def test_a_context_given_as_a_mapping_names_the_user_too(memory: Memory, model: ScriptedChatModel) -> None:
    app = create_agent(model, middleware=[MemoryMiddleware(memory)])
    app.invoke({"messages": [HumanMessage(FACT)]}, {"configurable": {"user_id": "ann"}})
    assert turns_of(memory, "ann") == [FACT, "noted"]


def test_an_agent_goes_on_without_its_memory(home: Path, model: ScriptedChatModel) -> None:
    memory = Memory.open(home, embeddings=SmallEmbedder())
    app = agent(memory, model)
    memory.close()
    final = app.invoke(say(QUESTION), on("t1"), context=Scope(persona="ann"))
    assert final["messages"][-1].content == "noted"
    told = app.get_state(on("t1")).values["memory_degraded"]
    assert any("closed" in note for note in told)


def test_one_that_only_recalls_stores_nothing(memory: Memory, model: ScriptedChatModel) -> None:
    app = create_agent(model, middleware=[MemoryMiddleware(memory, captures=False)])
    app.invoke({"messages": [HumanMessage(FACT)]}, {"configurable": {"persona": "ann"}})
    assert turns_of(memory, "ann") == []


def test_blocks_of_content_keep_their_shape(memory: Memory, model: ScriptedChatModel) -> None:
    memory.remember("sister", "job", "nurse", persona="ann")
    app = agent(memory, model)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content: Any = [{"type": "text", "text": QUESTION}, picture]
    app.invoke({"messages": [HumanMessage(content)]}, on("t1"), context=Scope(persona="ann"))
    shown = model.requests[-1][-1].content
    assert isinstance(shown, list)
    assert picture in shown
    assert "nurse" in str(shown[0])


def test_a_tool_result_is_kept_as_said_by_the_tool(memory: Memory) -> None:
    def weather(town: str) -> str:
        """Tell the weather."""
        return f"{town}: rain"

    model = ScriptedChatModel(replies=[use("weather", town="Porto"), "It rains."])
    final = agent(memory, model, tools=[weather]).invoke(say("weather?"), on("t1"), context=Scope(persona="ann"))
    assert isinstance(final["messages"][2], ToolMessage)
    assert turns_of(memory, "ann") == ["weather?", "Porto: rain", "It rains."]


def streamed(app: Any, given: Any, awaited: bool, *, ends: bool = True) -> list[dict[str, Any]]:
    """Return what the custom stream of a run is told, up to the error it may end by."""
    told: list[dict[str, Any]] = []
    how: dict[str, Any] = {"context": Scope(persona="ann"), "stream_mode": "custom"}

    async def listen() -> None:
        async for event in app.astream(given, on("t1"), **how):
            told.append(event)

    with nullcontext() if ends else pytest.raises(RuntimeError):
        if awaited:
            asyncio.run(listen())
        else:
            told.extend(app.stream(given, on("t1"), **how))
    return told


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("text", [QUESTION, "hello", "go on with the ferry", "Where does ana live?"])
def test_the_custom_stream_is_told_the_same_by_middleware_and_by_nodes(
    home: Path, clock: FixedClock, model: ScriptedChatModel, text: str, awaited: bool
) -> None:
    def answer(_state: MemoryState) -> dict[str, Any]:
        return {"messages": [AIMessage("noted")]}

    told = []
    with Memory.open(home / "0", embeddings=SmallEmbedder(), clock=clock) as memory:
        memory.remember("sister", "job", "nurse", persona="ann")
    copytree(home / "0", home / "1")
    for number in range(2):
        with Memory.open(home / str(number), embeddings=SmallEmbedder(), clock=clock) as memory:
            chat = create_chat_graph(memory, answer, context_schema=Scope).compile()
            told.append(streamed(chat if number else agent(memory, model), say(text), awaited))
    assert told[0] == told[1]
    steps = [event["memory"] for event in told[0]]
    assert (steps[0], steps[-2], steps[-1]) == ("gate", "compose", "capture")


def test_the_custom_stream_is_told_what_failed(home: Path, model: ScriptedChatModel) -> None:
    memory = Memory.open(home, embeddings=SmallEmbedder())
    app = agent(memory, model)
    memory.close()
    events = streamed(app, say(QUESTION), False)
    assert [event["memory"] for event in events if "failed" in event] == ["recall", "capture"]


@pytest.mark.parametrize("awaited", [False, True])
def test_the_custom_stream_is_told_of_a_capture_when_the_model_raises(memory: Memory, awaited: bool) -> None:
    app = agent(memory, ScriptedChatModel(replies=[RuntimeError("no answer today")]))
    last = streamed(app, say(FACT), awaited, ends=False)[-1]
    assert (last["memory"], last["turns"]) == ("capture", 1)
