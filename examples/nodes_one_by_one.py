"""Each step as a node of your own graph, so that you can leave some out or put yours between them.

gate -> hyde -> retrieve | continuation -> compose -> your chat node -> capture

Each takes `options` of its own. The hyde node lets a chat model imagine an answer to search with; here is none
(`Memory.open(home, chat_model="openai:gpt-4o-mini")` would be one), so it leaves a note and the question does alone.

Run it: python examples/nodes_one_by_one.py
"""

from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from zomem_graph import (
    Memory,
    MemoryState,
    create_capture_node,
    create_compose_node,
    create_continuation_node,
    create_gate_node,
    create_hyde_node,
    create_retrieve_node,
    gate_route,
    with_memory,
)
from zomem_graph.nodes.options import HydeOptions
from zomem_graph.testing.langchain import ScriptedChatModel

MODEL = ScriptedChatModel(replies=lambda messages: f"(read {len(messages)} messages)")  # your chat model


def chat(state: MemoryState) -> dict[str, Any]:
    return {"messages": [MODEL.invoke(with_memory(state))]}


def build(memory: Memory) -> Any:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState)
    graph.add_node("gate", create_gate_node(memory))
    graph.add_node("hyde", create_hyde_node(memory, options=HydeOptions(deadline_seconds=2.0)))
    graph.add_node("retrieve", create_retrieve_node(memory, limit=5))
    graph.add_node("continuation", create_continuation_node(memory))
    graph.add_node("compose", create_compose_node(memory))
    graph.add_node("chat", chat)
    graph.add_node("capture", create_capture_node(memory))
    graph.add_edge(START, "gate")
    ways = {"retrieve": "hyde", "continuation": "continuation", "compose": "compose"}
    graph.add_conditional_edges("gate", gate_route, ways)
    graph.add_edge("hyde", "retrieve")
    graph.add_edge("retrieve", "compose")
    graph.add_edge("continuation", "compose")
    graph.add_edge("compose", "chat")
    graph.add_edge("chat", "capture")
    graph.add_edge("capture", END)
    return graph.compile(checkpointer=InMemorySaver())


def main() -> None:
    monday: RunnableConfig = {"configurable": {"thread_id": "monday", "persona": "ann"}}
    friday: RunnableConfig = {"configurable": {"thread_id": "friday", "persona": "ann"}}
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        app = build(memory)
        app.invoke({"messages": [HumanMessage("My sister Mia moved to Lisbon, she is a nurse there.")]}, monday)
        question = {"messages": [HumanMessage("Where does my sister live now?")]}
        for event in app.stream(question, friday, stream_mode="custom"):
            print("event:", event["memory"])
        state = app.get_state(friday).values
        print(state["memory_context"])
        print("missing:", state["memory_degraded"])


if __name__ == "__main__":
    main()
