"""What is set once for a memory holds on every way in, unless a call says otherwise."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from zomem_graph import Memory, Scope, create_chat_graph, create_recall_graph
from zomem_graph.middleware import MemoryMiddleware
from zomem_graph.nodes.options import ComposeOptions, MemoryOptions, MultiHopOptions
from zomem_graph.testing import SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel

ASKED = "what did I tell you about the boats in the harbour?"
ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    options = MemoryOptions(compose=ComposeOptions(limit=2, token_budget=400), multi_hop=MultiHopOptions(max_hops=0))
    with Memory.open(home, embeddings=SmallEmbedder(), options=options) as opened:
        opened.remember_many(
            {"entity": f"boat {n}", "key": "place", "value": f"lies in the harbour at pier {n}", "persona": "ann"}
            for n in range(8)
        )
        yield opened


def by_recall(memory: Memory) -> str:
    return memory.recall(ASKED, scope=ANN).text


def by_arecall(memory: Memory) -> str:
    return asyncio.run(memory.arecall(ASKED, scope=ANN)).text


def by_continuation(memory: Memory) -> str:
    return memory.continuation(ASKED, scope=ANN).text


def by_recall_graph(memory: Memory) -> str:
    graph = create_recall_graph(memory).compile()
    return str(graph.invoke({"messages": [HumanMessage(ASKED)]}, context=ANN)["memory_context"])


def by_chat_graph(memory: Memory) -> str:
    model = ScriptedChatModel(replies=["noted"])
    create_chat_graph(memory, model).compile().invoke({"messages": [HumanMessage(ASKED)]}, context=ANN)
    return str(model.requests[-1])


def by_middleware(memory: Memory) -> str:
    model = ScriptedChatModel(replies=["noted"])
    agent = create_agent(model, [], middleware=[MemoryMiddleware(memory)], context_schema=Scope)
    agent.invoke({"messages": [HumanMessage(ASKED)]}, context=ANN)
    return str(model.requests[-1])


WAYS = [by_recall, by_arecall, by_continuation, by_recall_graph, by_chat_graph, by_middleware]


@pytest.mark.parametrize("way", WAYS)
def test_as_many_items_are_told_as_the_options_say(memory: Memory, way: Callable[[Memory], str]) -> None:
    assert way(memory).count("in the harbour at pier") == 2


def test_a_call_that_says_otherwise_has_its_way(memory: Memory) -> None:
    assert memory.recall(ASKED, scope=ANN, limit=4).text.count("at pier") == 4
    assert memory.recall(ASKED, scope=ANN, limit=8, token_budget=60).text.count("at pier") < 4


def test_earlier_work_tells_as_much_as_it_is_asked_for(memory: Memory) -> None:
    assert memory.continuation("go on with the harbour", scope=ANN).text.count("at pier") == 2
    assert memory.continuation("go on with the harbour", scope=ANN, limit=8).text.count("at pier") == 8


def test_a_search_hops_as_far_as_the_options_say(memory: Memory) -> None:
    assert len(memory.hop(ASKED, scope=ANN).trace) == 1
    assert len(memory.hop(ASKED, scope=ANN, max_hops=3).trace) > 1
