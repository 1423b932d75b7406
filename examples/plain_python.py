"""Memory without LangGraph: remember, capture, search and recall from any Python program.

Run it: python examples/plain_python.py
"""

from tempfile import TemporaryDirectory

from zomem_graph import Memory, Scope

ANN = Scope(persona="ann", thread="monday")


def main() -> None:
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        memory.remember("staging server", "port", "8080", persona="ann")
        memory.remember("staging server", "port", "9090", persona="ann")  # supersedes the old value
        memory.capture(
            [
                {"role": "user", "content": "My sister Mia moved to Lisbon, she is a nurse there."},
                {"role": "assistant", "content": "Noted."},
            ],
            scope=ANN,
        )

        best = memory.search("which port does staging use?", scope=ANN)[0]
        print(best.text, f"({best.kind}, {best.score:.2f})")

        friday = Scope(persona="ann", thread="friday")
        found = memory.recall("Where does my sister live now?", scope=friday)
        print(found.decision, "because", found.reason)
        print(found.text)  # the block for your prompt

        print("thanks!", "->", memory.recall("thanks!", scope=friday).decision)


if __name__ == "__main__":
    main()
