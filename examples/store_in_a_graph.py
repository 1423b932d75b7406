"""LangGraph's long-term store in the memory's own database: `compile(store=MemoryStore(memory))`.

Run it: python examples/store_in_a_graph.py
"""

from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

from zomem_graph import Memory, MemoryStore


@dataclass
class Who:
    """Who talks: the context of a run."""

    user_id: str


def chat(state: MessagesState, runtime: Runtime[Who]) -> dict[str, Any]:
    assert runtime.store is not None
    namespace = ("notes", runtime.context.user_id)
    said = str(state["messages"][-1].content)
    notes = runtime.store.search(namespace, query=said, limit=1)
    runtime.store.put(namespace, f"note-{len(said)}", {"text": said})
    known = notes[0].value["text"] if notes else "nothing yet"
    return {"messages": [AIMessage(f"I knew: {known}")]}


def main() -> None:
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        store = MemoryStore(memory)
        graph: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState, context_schema=Who)
        graph.add_node("chat", chat)
        graph.add_edge(START, "chat")
        app: Any = graph.compile(store=store)
        for user, text in (
            ("ann", "My cat likes tuna."),
            ("ann", "What does my cat like?"),
            ("bob", "What does my cat like?"),
        ):
            state = app.invoke({"messages": [HumanMessage(text)]}, context=Who(user))
            print(f"{user}: {text} -> {state['messages'][-1].content}")
        print(store.list_namespaces())

        store.put(("sessions", "ann"), "draft", {"text": "half a letter"}, ttl=60)  # minutes
        print("filtered:", [item.key for item in store.search((), filter={"text": {"$eq": "half a letter"}})])
        print("erased:", store.erase(("notes", "ann")), "documents of ann")


if __name__ == "__main__":
    main()
