"""Three executors of different skill, nobody says which; routing finds out and remembers.

Each can do one kind of work well and the others badly. The share of tasks that go to the one who can do
them is printed round by round; `explore` keeps trying what it hardly knows.

Run it: python examples/swarm_router.py
"""

import random
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

from zomem_graph import Memory, create_swarm_graph
from zomem_graph.nodes.options import SwarmOptions
from zomem_graph.testing import FixedClock

SKILLS = {"ada": "fix", "ben": "docs", "cleo": "data"}
TASKS = {"fix": "Fix the bug in form {}", "docs": "Document the endpoint {}", "data": "Chart the dataset {}"}
ROUNDS, EACH = 5, 12


def executor(name: str, chance: random.Random, clock: FixedClock) -> Callable[[dict[str, Any]], str]:
    def work(given: dict[str, Any]) -> str:
        clock.advance(minutes=1)  # the same times give the same draws, so this prints the same each time
        mine = given["task"].startswith(TASKS[SKILLS[name]].split(" ")[0])
        if chance.random() < (0.95 if mine else 0.2):
            return f"{name} did it"
        raise RuntimeError("the result was of no use")

    return work


def main() -> None:
    chance, clock = random.Random(2), FixedClock()
    options = SwarmOptions(concurrency=1, attempts=1, loops=False, procedures=False)
    best = {kind: name for name, kind in SKILLS.items()}
    with TemporaryDirectory() as home, Memory.open(home, clock=clock) as memory:
        workers = {name: executor(name, chance, clock) for name in SKILLS}
        swarm = create_swarm_graph(memory, workers, strategy="explore", options=options).compile()
        print("round  to who can do it  done")
        for number in range(1, ROUNDS + 1):
            kinds = [kind for kind in TASKS for _ in range(EACH // len(TASKS))]
            chance.shuffle(kinds)
            tasks = [{"task": TASKS[kind].format(i), "category": kind} for i, kind in enumerate(kinds)]
            results = swarm.invoke({"tasks": tasks})["results"]
            right = sum(result["executor"] == best[result["category"]] for result in results)
            done = sum(result["outcome"] == "success" for result in results)
            print(f"{number:>5}  {right:>8} of {EACH:<5}  {done:>4}")
        for kind in TASKS:
            choice = memory.route(TASKS[kind].format(99), category=kind, strategy="balanced")
            print(f"{kind}: {choice.executor}, because {choice.reason}")


if __name__ == "__main__":
    main()
