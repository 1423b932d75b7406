"""Recall and capture as two subgraphs around a node you have already.

Run it: python examples/subgraphs.py
"""

import asyncio
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from zomem_graph import Memory, MemoryState, create_capture_graph, create_recall_graph, with_memory
from zomem_graph.testing.langchain import ScriptedChatModel

MODEL = ScriptedChatModel(replies=lambda messages: f"(read {len(messages)} messages)")  # your chat model


async def chat(state: MemoryState) -> dict[str, Any]:
    return {"messages": [await MODEL.ainvoke(with_memory(state))]}


def build(memory: Memory) -> Any:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState)  # your state, derived from MemoryState
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("chat", chat)
    graph.add_node("capture", create_capture_graph(memory).compile())
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "chat")
    graph.add_edge("chat", "capture")
    return graph.compile(checkpointer=InMemorySaver())


async def talk(memory: Memory) -> None:
    app = build(memory)
    monday: RunnableConfig = {"configurable": {"thread_id": "monday", "persona": "ann"}}
    friday: RunnableConfig = {"configurable": {"thread_id": "friday", "persona": "ann"}}
    await app.ainvoke({"messages": [HumanMessage("My sister Mia moved to Lisbon, she is a nurse there.")]}, monday)
    state = await app.ainvoke({"messages": [HumanMessage("Where does my sister live now?")]}, friday)
    print(state["memory_context"])
    print("messages in the state:", len(state["messages"]))


def main() -> None:
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        asyncio.run(talk(memory))


if __name__ == "__main__":
    main()
