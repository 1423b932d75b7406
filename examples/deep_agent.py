"""A deep agent that remembers: our middleware beside those of the package deepagents, our store behind its backend.

The recalled block rides on each request to the model, as with `create_agent`. Files that the agent writes under
/notes/ go into MemoryStore, so the next thread finds them. Needs: pip install -e '.[agents]' deepagents

Run it: python examples/deep_agent.py
"""

from tempfile import TemporaryDirectory
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend, StoreBackend
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from zomem_graph import Memory, MemoryMiddleware, Scope
from zomem_graph.store import MemoryStore
from zomem_graph.testing.langchain import ScriptedChatModel


def call(tool: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": tool, "type": "tool_call"}])


def main() -> None:
    model = ScriptedChatModel(  # your chat model; this one has made up its mind
        replies=[
            call("write_file", file_path="/notes/lisbon.md", content="Visit Mia in May."),
            "I wrote it down.",
            call("read_file", file_path="/notes/lisbon.md"),
            "In May.",
        ]
    )
    with TemporaryDirectory() as home, Memory.open(home, strict_scope=True) as memory:
        notes = StoreBackend(namespace=lambda runtime: ("notes", runtime.context.persona))
        agent: Any = create_deep_agent(
            model,
            middleware=[MemoryMiddleware(memory)],
            backend=CompositeBackend(default=StateBackend(), routes={"/notes/": notes}),
            store=MemoryStore(memory),
            context_schema=Scope,
            checkpointer=InMemorySaver(),
        )
        ann = Scope(persona="ann")
        monday: RunnableConfig = {"configurable": {"thread_id": "monday"}}
        friday: RunnableConfig = {"configurable": {"thread_id": "friday"}}
        said = HumanMessage("My sister Mia moved to Lisbon, she is a nurse there. Plan a visit.")
        agent.invoke({"messages": [said]}, monday, context=ann)
        asked = HumanMessage("Where does my sister live, and when do I visit her?")
        state = agent.invoke({"messages": [asked]}, friday, context=ann)
        print("the model read, on Friday:")
        for message in model.requests[-2]:
            if message.type == "human":
                print(f"  {message.content}")
        for message in state["messages"]:
            if isinstance(message, ToolMessage):
                print(f"{message.name}: {message.content}")


if __name__ == "__main__":
    main()
