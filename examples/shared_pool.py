"""Two agents that share what they know through a pool, and one that does not belong to it.

What each stores is its own; the pool lets its members read each other. Leaving it ends that.

Run it: python examples/shared_pool.py
"""

from tempfile import TemporaryDirectory

from zomem_graph import Memory, Scope

PORT = "Which port does the shop listen on?"


def main() -> None:
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        memory.personas.pools.create("shop-team", members=["coder", "tester"])
        memory.remember("shop", "port", "8443", persona="coder")
        for _ in range(3):
            memory.profiles.record("linter", success=True, category="test", scope=Scope(persona="tester"))

        for persona in ("tester", "auditor"):
            hits = memory.search(PORT, scope=Scope(persona=persona))
            print(f"{persona}: {hits[0].text if hits else 'knows nothing of it'}")

        # Who does what well is shared in the same way.
        choice = memory.route("Test the shop", category="test", scope=Scope(persona="coder"))
        print(f"coder would ask: {choice.executor} ({choice.reason})")

        memory.personas.pools.remove("shop-team", "tester")
        hits = memory.search(PORT, scope=Scope(persona="tester"))
        print(f"tester, out of the pool: {hits[0].text if hits else 'knows nothing of it'}")


if __name__ == "__main__":
    main()
