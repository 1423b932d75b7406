"""The tools in a real agent: the model acts on memory, and never chooses whose."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from zomem_graph import Memory, Scope
from zomem_graph.middleware import MemoryMiddleware
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel
from zomem_graph.tools import memory_tools

ANN = Scope(persona="ann", thread="t1")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def use(tool: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": "call-1", "type": "tool_call"}])


def agent(memory: Memory, call: AIMessage, **words: Any) -> Any:
    model = ScriptedChatModel(replies=[call, "done"])
    return create_agent(model, memory_tools(memory), context_schema=Scope, **words)


def told(final: dict[str, Any]) -> str:
    return str(next(one.content for one in final["messages"] if isinstance(one, ToolMessage)))


def tell(memory: Memory, call: AIMessage, scope: Scope = ANN) -> str:
    return told(agent(memory, call).invoke({"messages": [HumanMessage("go")]}, context=scope))


def test_the_model_finds_what_is_remembered(memory: Memory) -> None:
    fact = memory.remember("sister", "job", "nurse", persona="ann")
    said = tell(memory, use("memory_search", query="sister's job"))
    assert "nurse" in said
    assert fact.id in said
    assert said.startswith("<recalled-memory>")


def test_the_model_finds_nothing_of_another_user(memory: Memory) -> None:
    memory.remember("sister", "job", "nurse", persona="bob")
    assert tell(memory, use("memory_search", query="sister's job")) == "Memory holds nothing about that."


def test_the_model_saves_for_the_user_of_the_run(memory: Memory) -> None:
    assert tell(memory, use("memory_save", entity="sister", key="job", value="nurse")).startswith("Saved as ")
    assert [fact.value for fact in memory.lookup("sister", scope=ANN)] == ["nurse"]
    assert memory.lookup("sister", scope=Scope(persona="bob")) == []


def test_a_secret_is_refused_in_words_the_model_can_act_on(memory: Memory) -> None:
    said = tell(memory, use("memory_save", entity="mail", key="password", value="hunter2-Xy99!"))
    assert said.startswith("Not saved: ")
    assert memory.lookup("mail", scope=ANN) == []


def test_the_model_forgets_by_the_id_that_search_shows(memory: Memory) -> None:
    fact = memory.remember("sister", "job", "nurse", persona="ann")
    assert tell(memory, use("memory_forget", id=fact.id)) == "Forgotten."
    assert memory.lookup("sister", scope=ANN) == []


def test_the_model_cannot_forget_what_another_user_owns(memory: Memory) -> None:
    fact = memory.remember("sister", "job", "nurse", persona="bob")
    assert tell(memory, use("memory_forget", id=fact.id)).startswith("Not forgotten: ")
    assert len(memory.lookup("sister", scope=Scope(persona="bob"))) == 1


def test_the_model_sees_what_is_open(memory: Memory) -> None:
    memory.loops.create("Renew the passport", scope=ANN)
    memory.loops.create("Feed the cat", scope=Scope(persona="bob"))
    said = tell(memory, use("memory_open_loops"))
    assert "Renew the passport" in said
    assert "cat" not in said
    assert tell(memory, use("memory_open_loops"), Scope(persona="eve")) == "Nothing is open."


def test_no_schema_lets_the_model_name_a_user(memory: Memory) -> None:
    for tool in memory_tools(memory):
        shown = convert_to_openai_tool(tool)["function"]
        assert shown["description"]
        asked = set(shown["parameters"]["properties"])
        assert asked <= {"query", "limit", "entity", "key", "value", "id"}, tool.name


def test_a_name_the_model_makes_up_changes_nothing(memory: Memory) -> None:
    memory.remember("sister", "job", "nurse", persona="bob")
    said = tell(memory, use("memory_search", query="sister's job", persona="bob", runtime={"context": "bob"}))
    assert "nurse" not in said


def test_the_tools_run_in_an_async_agent(memory: Memory) -> None:
    memory.remember("sister", "job", "nurse", persona="ann")
    app = agent(memory, use("memory_search", query="sister's job", limit=500))
    final = asyncio.run(app.ainvoke({"messages": [HumanMessage("go")]}, context=ANN))
    assert "nurse" in told(final)


def test_a_strict_memory_refuses_a_tool_run_without_a_persona(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder, strict_scope=True) as memory:
        app = agent(memory, use("memory_search", query="anything"))
        with pytest.raises(InvalidInput, match="names no persona"):
            app.invoke({"messages": [HumanMessage("go")]})


def test_the_model_is_told_when_memory_cannot_be_reached(memory: Memory) -> None:
    memory.close()
    assert "could not be" in tell(memory, use("memory_search", query="sister's job"))
    assert "closed" in tell(memory, use("memory_open_loops"))


def test_what_a_search_shows_is_not_captured_as_said(memory: Memory) -> None:
    memory.remember("sister", "job", "nurse", persona="ann")
    call = use("memory_search", query="sister's job")
    app = agent(memory, call, middleware=[MemoryMiddleware(memory)])
    app.invoke({"messages": [HumanMessage("hello there, look it up")]}, context=ANN)
    with memory.stores.read() as unit:
        said = [turn.content for turn in unit.erasure.everything_of("ann").turns.values()]
    assert sorted(said) == ["done", "hello there, look it up"]
