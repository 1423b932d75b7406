"""`zomem bench time`: every made-up, seeded suite in one list, with one form of answer.

To add a suite, write a function and put one line into `SUITES`:

    def my_suite(*, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
        ...
        figures = {"stale": 0, "missing": 2, "seconds": 1.2}
        return judged("my-suite", n=500, seed=seed, figures=figures, marks={"stale": 0})

    SUITES = {..., "my-suite": my_suite}

`judged` is in `bench/marks.py`. All sizes have defaults, the full
ones; tests call the function with small ones. A suite makes everything up from its seed, by templates that were
written before the rules they measure, and asks the package only through its front door.
"""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from zomem_graph.bench.budget import budget
from zomem_graph.bench.care import fading, killed, time_zones
from zomem_graph.bench.care_load import many_facts, writes_meanwhile
from zomem_graph.bench.concurrency import concurrency
from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.erase import erase
from zomem_graph.bench.homes import Say
from zomem_graph.bench.trust import captured, isolation, poisoned
from zomem_graph.bench.truth import look_alikes, updates
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.stores.errors import UnknownName

__all__ = ["SUITES", "run"]

Suite = Callable[..., dict[str, Any]]

SUITES: Mapping[str, Suite] = {
    "updates": updates,
    "look-alikes": look_alikes,
    "capture": captured,
    "erase": erase,
    "concurrency": concurrency,
    "isolation": isolation,
    "poison": poisoned,
    "budget": budget,
    "fading": fading,
    "maintenance-killed": killed,
    "writes-during-maintenance": writes_meanwhile,
    "time-zones": time_zones,
    "many-facts": many_facts,
}


def run(names: Sequence[str] = (), *, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Run the named suites, or all, and return their documents under one; raises UnknownName."""
    chosen = list(dict.fromkeys(names)) or list(SUITES)
    for name in chosen:
        if name not in SUITES:
            raise UnknownName(f"There is no suite {name!r:.80}; there are {', '.join(SUITES)}.")
    results: dict[str, Any] = {}
    for name in chosen:
        say(f"{name} …")
        began = perf_counter()
        results[name] = SUITES[name](seed=seed, say=say)
        results[name].setdefault("seconds", round(perf_counter() - began, 1))
        say(f"{name}: {'passed' if results[name]['passed'] else 'FAILED'}")
    return {
        "suite": "time",
        "passed": all(result["passed"] for result in results.values()),
        "suites": results,
        "conditions": conditions(embedder="made up", options=MemoryOptions()),
    }
