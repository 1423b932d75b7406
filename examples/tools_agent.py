"""An agent that uses its memory by tools: it saves and searches when it thinks it should.

Whose memory that is comes from the run's context, never from the model. Needs the extra: pip install -e '.[agents]'

Run it: python examples/tools_agent.py
"""

from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from zomem_graph import Memory, Scope, memory_tools
from zomem_graph.testing.langchain import ScriptedChatModel


def call(tool: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": tool, "type": "tool_call"}])


def main() -> None:
    model = ScriptedChatModel(  # your chat model; this one has made up its mind
        replies=[
            call("memory_save", entity="sister Mia", key="city", value="Lisbon"),
            "I will remember that.",
            call("memory_search", query="sister Mia city"),
            "She lives in Lisbon.",
        ]
    )
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        agent: Any = create_agent(model, memory_tools(memory), context_schema=Scope)
        ann = Scope(persona="ann")
        for text in ("My sister Mia moved to Lisbon.", "Where does my sister live?"):
            state = agent.invoke({"messages": [HumanMessage(text)]}, context=ann)
            for message in state["messages"]:
                if isinstance(message, ToolMessage):
                    print(f"{message.name}: {message.content}")
            print("agent:", state["messages"][-1].content)


if __name__ == "__main__":
    main()
