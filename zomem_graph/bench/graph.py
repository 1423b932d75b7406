"""What memory costs inside a LangGraph graph: the overhead of the graph, many at once, long threads, prompt prefixes.

The embedder costs nothing and the model is made up, so what is measured is ours and LangGraph's.
"""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.bench.scoring import latency
from zomem_graph.bench.synthetic import ProjectionEmbedder, chat
from zomem_graph.graphs import create_chat_graph, with_memory
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.state import MemoryState

__all__ = ["run"]

_CHANNELS = ("memory_query", "memory_decision", "memory_hits", "memory_context", "memory_degraded", "memory_trace")
_INSTRUCTIONS = SystemMessage("You are a helpful assistant.")
_ANSWER = "I will keep that in mind."
_MODEL_SECONDS = 1.0
_PREFIX_TURNS = 20


def run(*, turns: int = 1_000, calls: int = 100, at_once: int = 50, say: Say = lambda _line: None) -> dict[str, Any]:
    """Time `calls` turns in and outside a graph and `at_once` runs together; follow a thread of so many turns."""
    options = MemoryOptions(write=WriteOptions(background=False))
    with kept_folder(None) as folder:
        say("filling a store with 2,000 turns")
        with _filled(folder / "overhead", options) as memory:
            say(f"{calls} turns plainly and in a graph")
            overhead = _overhead(memory, calls)
            say(f"{at_once} runs at once with a model of one second")
            together = asyncio.run(_together(memory, at_once))
            prefix = _prefixes(memory)
        say(f"a thread of {turns} turns with a checkpointer")
        with Memory.open(folder / "thread", embeddings=ProjectionEmbedder(), options=options) as memory:
            thread = _thread(memory, turns)
    return {
        "suite": "graph",
        "overhead": overhead,
        "at_once": together,
        "thread": thread,
        "prefix": prefix,
        "conditions": conditions(embedder=ProjectionEmbedder.identity, options=options),
    }


def _filled(home: Path, options: MemoryOptions) -> Memory:
    memory = Memory.open(home, embeddings=ProjectionEmbedder(), options=options)
    for number, session in enumerate(chat(2_000, 1).sessions):
        said = [{"role": "user", "content": one.text, "name": one.speaker, "at": one.at} for one in session]
        memory.observe(said, scope=Scope(persona="bench"), session=f"session {number}")
    memory.flush()
    return memory


def _model(_state: MemoryState) -> dict[str, Any]:
    return {"messages": [AIMessage(_ANSWER)]}


def _config(thread: str, persona: str = "bench") -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "persona": persona}}


def _overhead(memory: Memory, calls: int) -> dict[str, Any]:
    """Recall and capture of each question by plain calls and by one run of the chat graph without a checkpointer.

    Which of the two comes first changes from question to question.
    """
    app = create_chat_graph(memory, _model).compile()

    def plainly(question: str, thread: str) -> None:
        scope = Scope(persona="bench", thread=thread)
        memory.recall(question, scope=scope)
        memory.capture([HumanMessage(question), AIMessage(_ANSWER)], scope=scope, source="chat")

    def inside(question: str, thread: str) -> None:
        app.invoke({"messages": [HumanMessage(question)]}, _config(thread))

    taken: dict[str, list[float]] = {"plain": [], "graph": []}
    for number, question in enumerate(chat(2_000, calls + 2, seed=5).questions):
        both = [("plain", plainly), ("graph", inside)]
        for name, call in both if number % 2 else reversed(both):
            began = process_time()
            call(question, f"{name} {number}")
            taken[name].append(process_time() - began)
    plain, graph = (taken[name][2:] for name in ("plain", "graph"))  # the first of each load what they need
    more = [one - other for one, other in zip(graph, plain, strict=True)]
    return {
        "plain_cpu": latency(plain),
        "graph_cpu": latency(graph),
        "overhead_cpu": latency(more),
        "overhead_cpu_p50_ms": latency(more)["p50_ms"],
    }


async def _together(memory: Memory, at_once: int) -> dict[str, Any]:
    """Run the graph for many users at once; the query vectors are ready, the model takes a second."""

    async def model(_state: MemoryState) -> dict[str, Any]:
        await asyncio.sleep(_MODEL_SECONDS)
        return {"messages": [AIMessage(_ANSWER)]}

    app = create_chat_graph(memory, model).compile()
    questions = chat(2_000, at_once, seed=6).questions

    async def one(number: int, question: str, again: str) -> None:
        config = _config(f"{again} {number}", persona=f"user {number}")
        await app.ainvoke({"messages": [HumanMessage(question)]}, config)

    await one(0, questions[0], "first")
    cpu, began = process_time(), perf_counter()
    await asyncio.gather(*(one(number, question, "then") for number, question in enumerate(questions)))
    return {
        "runs": at_once,
        "model_seconds": _MODEL_SECONDS,
        "seconds": round(perf_counter() - began, 3),
        "cpu_seconds": round(process_time() - cpu, 3),
    }


def _thread(memory: Memory, turns: int) -> dict[str, Any]:
    """Talk on in one thread with a checkpointer; measure what our channels of the state hold."""
    app = create_chat_graph(memory, _model).compile(checkpointer=InMemorySaver())
    config = _config("long")
    sizes: dict[str, int] = {}
    questions = chat(turns, turns, seed=7).questions
    marks = {turns * part // 10 for part in (1, 2, 5, 8, 10)}
    largest = 0
    for number, question in enumerate(questions, start=1):
        state = app.invoke({"messages": [HumanMessage(question)]}, config)
        size = len(json.dumps({name: state.get(name) for name in _CHANNELS}))
        largest = max(largest, size)
        if number in marks:
            sizes[str(number)] = size
    return {"turns": turns, "bytes_of_our_channels_at_turn": sizes, "largest": largest}


def _prefixes(memory: Memory) -> dict[str, Any]:
    """Compare what the model reads before the recalled block with what it read a turn earlier, byte by byte."""
    requests: list[list[AnyMessage]] = []

    def model(state: MemoryState) -> dict[str, Any]:
        requests.append([_INSTRUCTIONS, *with_memory(state)])
        return {"messages": [AIMessage(_ANSWER)]}

    app = create_chat_graph(memory, model).compile(checkpointer=InMemorySaver())
    for question in chat(2_000, _PREFIX_TURNS, seed=8).questions:
        app.invoke({"messages": [HumanMessage(f"Do you remember? {question}")]}, _config("prefix"))
    kept = sum(_goes_on(earlier, later) for earlier, later in pairwise(requests))
    return {
        "turns": len(requests),
        "with_a_block": sum(len(request) > 2 * number + 2 for number, request in enumerate(requests)),
        "prefix_identical": f"{kept} of {len(requests) - 1}",
    }


def _goes_on(earlier: Sequence[AnyMessage], later: Sequence[AnyMessage]) -> bool:
    """Return whether a request begins with all that the one before held ahead of its block and question."""
    stable = [message for message in earlier[:-1] if not _is_block(message)]
    return [_bytes(message) for message in later[: len(stable)]] == [_bytes(message) for message in stable]


def _is_block(message: AnyMessage) -> bool:
    return isinstance(message, SystemMessage) and message is not _INSTRUCTIONS


def _bytes(message: AnyMessage) -> bytes:
    return f"{message.type}\0{message.content}".encode()
