"""A supervisor that delegates by one tool; memory decides which agent gets the task, and tells it what it needs.

The supervisor only says what is to be done. The swarm behind its tool recalls for the task, routes it by
what it remembers of the agents, gives it to another one when one fails, and learns from it. Teams of
langgraph-supervisor and langgraph-swarm, compiled, may be executors in the same way.
Needs the extra: pip install -e '.[agents]'

Run it: python examples/supervisor_with_memory.py
"""

from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from zomem_graph import Memory, MemoryMiddleware, Scope, create_swarm_graph
from zomem_graph.nodes.rules.routing import Candidate
from zomem_graph.testing.langchain import ScriptedChatModel


def call(task: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "delegate", "args": {"task": task}, "id": task, "type": "tool_call"}])


def build(memory: Memory) -> Any:
    down = ScriptedChatModel(replies=lambda _messages: RuntimeError("429 too many requests"))
    told = ScriptedChatModel(replies=lambda messages: f"done; I was told: {messages[-1].text[-130:]!r}")
    team = {"intern": create_agent(down, [], name="intern"), "senior": create_agent(told, [], name="senior")}
    eager = [Candidate(name="intern", expertise=("deploy", "staging"))]
    swarm = create_swarm_graph(memory, team, candidates=eager, context_schema=Scope).compile()

    @tool
    def delegate(task: str) -> str:
        """Give a task to whoever does such tasks best."""
        result = swarm.invoke({"tasks": [task]}, context=Scope(persona="ann"))["results"][0]
        tried = " then ".join(f"{one['executor']} ({one['failure_class'] or 'ok'})" for one in result["attempts"])
        return f"{tried}: {result['answer']}"

    model = ScriptedChatModel(  # your chat model; this one has made up its mind
        replies=[
            call("Deploy to the staging server, on the port we decided on"),
            "Deployed.",
            call("Deploy to the staging server again"),
            "Deployed again.",
        ]
    )
    return create_agent(model, [delegate], middleware=[MemoryMiddleware(memory)], context_schema=Scope)


def main() -> None:
    ann = Scope(persona="ann")
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        memory.remember("staging server", "port", "9090", persona="ann")
        supervisor = build(memory)
        for text in ("Please deploy to staging.", "And once more, please."):
            state = supervisor.invoke({"messages": [HumanMessage(text)]}, context=ann)
            for message in state["messages"]:
                if isinstance(message, ToolMessage):
                    print("delegated:", message.text)
            print("supervisor:", state["messages"][-1].text)
        for profile in memory.profiles.list(scope=ann):
            good, runs = profile.week
            print(f"{profile.executor}: {good} of {runs} went well, breaker {profile.breaker.state}")


if __name__ == "__main__":
    main()
