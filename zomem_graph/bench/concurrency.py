"""Whether several processes can change the same slots at once and lose nothing."""

import multiprocessing
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from zomem_graph.bench.homes import Say
from zomem_graph.bench.marks import judged
from zomem_graph.memory import Memory

__all__ = ["concurrency"]


def concurrency(
    *, processes: int = 8, slots: int = 50, rounds: int = 3, seed: int = 1, say: Say = lambda _line: None
) -> dict[str, Any]:
    """Let several processes change the same slots at once; each keeps one current value and all of its past."""
    began = perf_counter()
    with TemporaryDirectory(prefix="zomem-bench-") as folder:
        home = Path(folder) / "home"
        Memory.open(home, embeddings="none").close()
        spawn = multiprocessing.get_context("spawn")
        workers = [
            spawn.Process(target=_change, args=(str(home), number, slots, rounds, seed))
            for number in range(processes)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        say(f"{processes} processes have ended")
        with Memory.open(home, embeddings="none") as memory:
            wrong = lost = 0
            for slot in range(slots):
                history = memory.conflicts.history(f"slot {slot}", "value")
                wrong += sum(fact.state == "current" for fact in history) != 1
                lost += processes * rounds - len({fact.value for fact in history})
            with memory.stores.read() as unit:
                fault = unit.database_fault()
    figures = {
        "processes": processes,
        "slots": slots,
        "rounds": rounds,
        "failed_processes": sum(worker.exitcode != 0 for worker in workers),
        "slots_without_one_current_value": wrong,
        "lost": lost,
        "database_fault": fault,
        "seconds": round(perf_counter() - began, 1),
    }
    kept = {"failed_processes": 0, "slots_without_one_current_value": 0, "lost": 0, "database_fault": None}
    return judged("concurrency", n=processes * slots * rounds, seed=seed, figures=figures, marks=kept)


def _change(home: str, number: int, slots: int, rounds: int, seed: int) -> None:
    chance = random.Random(seed * 1_000 + number)
    with Memory.open(home, embeddings="none") as memory:
        for turn in range(rounds):
            for slot in chance.sample(range(slots), slots):
                memory.remember(f"slot {slot}", "value", f"value {turn} of process {number}")
