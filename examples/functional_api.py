"""Memory in LangGraph's functional API: recall and capture as tasks of an entrypoint.

A task's result is checkpointed, so a resumed run does not recall again, and a capture that runs again
stores nothing twice.

Run it: python examples/functional_api.py
"""

from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task

from zomem_graph import Memory, Scope
from zomem_graph.testing.langchain import ScriptedChatModel


def build(memory: Memory) -> Any:
    model = ScriptedChatModel(replies=lambda messages: f"(read {len(str(messages[0].content))} characters)")

    @task
    def recall(message: str, persona: str, thread: str) -> str:
        return memory.recall(message, scope=Scope(persona=persona, thread=thread)).text

    @task
    def capture(message: str, answer: str, persona: str, thread: str) -> int:
        said = [{"role": "user", "content": message}, {"role": "assistant", "content": answer}]
        return memory.capture(said, scope=Scope(persona=persona, thread=thread), source="functional").turns

    @entrypoint(checkpointer=InMemorySaver())
    def chat(message: str, config: RunnableConfig) -> dict[str, Any]:
        who = config["configurable"]
        block = recall(message, who["persona"], who["thread_id"]).result()
        answer = str(model.invoke(f"{block}\n\n{message}").content)
        kept = capture(message, answer, who["persona"], who["thread_id"]).result()
        return {"block": block, "answer": answer, "kept": kept}

    return chat


def main() -> None:
    monday: RunnableConfig = {"configurable": {"thread_id": "monday", "persona": "ann"}}
    friday: RunnableConfig = {"configurable": {"thread_id": "friday", "persona": "ann"}}
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        chat = build(memory)
        print(chat.invoke("My sister Mia moved to Lisbon, she is a nurse there.", monday)["answer"])
        print(chat.invoke("Where does my sister live now?", friday)["block"])


if __name__ == "__main__":
    main()
