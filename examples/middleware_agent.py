"""An agent made by `create_agent` that remembers, by one middleware.

The recalled block rides on each request to the model and never enters the messages, and the system prompt
stays the same, so prompt caches survive. Needs the extra: pip install -e '.[agents]'

Run it: python examples/middleware_agent.py
"""

from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from zomem_graph import Memory, MemoryMiddleware, Scope
from zomem_graph.testing.langchain import ScriptedChatModel


def main() -> None:
    model = ScriptedChatModel(replies=lambda _messages: "I see.")  # your chat model
    with TemporaryDirectory() as home, Memory.open(home, strict_scope=True) as memory:
        agent: Any = create_agent(
            model,
            system_prompt="You are a patient helper.",
            middleware=[MemoryMiddleware(memory)],
            context_schema=Scope,
            checkpointer=InMemorySaver(),
        )
        ann = Scope(persona="ann")  # who talks; with strict_scope a run that does not say is refused
        monday: RunnableConfig = {"configurable": {"thread_id": "monday"}}
        friday: RunnableConfig = {"configurable": {"thread_id": "friday"}}
        said = HumanMessage("My sister Mia moved to Lisbon, she is a nurse there.")
        agent.invoke({"messages": [said]}, monday, context=ann)
        state = agent.invoke({"messages": [HumanMessage("Where does my sister live now?")]}, friday, context=ann)
        print("the model read:")
        for message in model.requests[-1]:
            print(f"  {message.type}: {message.content}")
        print("the state holds:")
        for message in state["messages"]:
            print(f"  {message.type}: {message.content}")


if __name__ == "__main__":
    main()
