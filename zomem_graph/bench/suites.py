"""`zomem bench time`: every made-up, seeded suite in one list, with one form of answer.

To add a suite, write a function and put one line into `SUITES`:

    def my_suite(*, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
        ...
        figures = {"stale": 0, "missing": 2, "seconds": 1.2}
        return judged("my-suite", n=500, seed=seed, figures=figures, marks={"stale": 0})

    SUITES = {..., "my-suite": "zomem_graph.bench.my_module:my_suite"}

A mark is the value a figure must have, or (lowest, highest) with None for no bound. All sizes have defaults, the full
ones; tests call the function with small ones. A suite makes everything up from its seed, by templates that were
written before the rules they measure, and asks the package only through its front door.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.stores.errors import UnknownName

__all__ = ["SUITES", "Mark", "judged", "run"]

SUITES: Mapping[str, str] = {
    "updates": "zomem_graph.bench.truth:updates",
    "look-alikes": "zomem_graph.bench.truth:look_alikes",
    "capture": "zomem_graph.bench.trust:captured",
    "erase": "zomem_graph.bench.erase:erase",
    "concurrency": "zomem_graph.bench.concurrency:concurrency",
    "isolation": "zomem_graph.bench.trust:isolation",
    "poison": "zomem_graph.bench.trust:poisoned",
}
"""Name → where its function is; a suite is imported when it is run."""

Mark = int | float | bool | None | tuple[float | None, float | None]


def run(names: Sequence[str] = (), *, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Run the named suites, or all, and return their documents under one; raises UnknownName."""
    chosen = list(dict.fromkeys(names)) or list(SUITES)
    for name in chosen:
        if name not in SUITES:
            raise UnknownName(f"There is no suite {name!r:.80}; there are {', '.join(SUITES)}.")
    results: dict[str, Any] = {}
    for name in chosen:
        say(f"{name} …")
        module, _, function = SUITES[name].partition(":")
        began = perf_counter()
        results[name] = getattr(import_module(module), function)(seed=seed, say=say)
        results[name].setdefault("seconds", round(perf_counter() - began, 1))
        say(f"{name}: {'passed' if results[name]['passed'] else 'FAILED'}")
    return {
        "suite": "time",
        "passed": all(result["passed"] for result in results.values()),
        "suites": results,
        "conditions": conditions(embedder="made up", options=MemoryOptions()),
    }


def judged(
    suite: str, *, n: int, seed: int, figures: Mapping[str, Any], marks: Mapping[str, Mark], **more: Any
) -> dict[str, Any]:
    """Return a suite's document: whether every mark is met, which are not, and all figures."""
    missed = [name for name, mark in marks.items() if not _meets(figures[name], mark)]
    return {"suite": suite, "passed": not missed, "n": n, "seed": seed, "missed": missed, **figures, **more}


def _meets(figure: Any, mark: Mark) -> bool:
    if not isinstance(mark, tuple):
        return bool(figure == mark)
    low, high = mark
    return figure is not None and (low is None or figure >= low) and (high is None or figure <= high)
