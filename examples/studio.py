"""The graph that `langgraph dev` serves, for a look at it in LangGraph Studio; langgraph.json names it.

Run it: python examples/studio.py     prints the drawing of the graph
    or: pip install "langgraph-cli[inmem]" && langgraph dev

Its memory is the one in ZOMEM_HOME. With OPENAI_API_KEY a model answers, else the node says what it read.
"""

import os
from tempfile import TemporaryDirectory
from typing import Any

from langchain_openai import ChatOpenAI

from zomem_graph import Memory, MemoryState, create_chat_graph, with_memory

MODEL = ChatOpenAI(model="gpt-4o-mini") if os.environ.get("OPENAI_API_KEY") else None


async def chat(state: MemoryState) -> dict[str, Any]:
    messages = with_memory(state)
    if MODEL is not None:
        return {"messages": [await MODEL.ainvoke(messages)]}
    known = state.get("memory_context", "") or "nothing"
    return {"messages": [("assistant", f"No model is set. What memory gave me to read: {known}")]}


def build(memory: Memory) -> Any:
    return create_chat_graph(memory, chat).compile()  # the server brings its own checkpointer


def main() -> None:
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        print(build(memory).get_graph(xray=True).draw_mermaid())


if __name__ == "__main__":
    main()
else:
    graph = build(Memory.open())
