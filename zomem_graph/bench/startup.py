"""How long the package and its command line take to start, cold process by cold process."""

import statistics
import sys
from collections.abc import Sequence
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.bench.processes import python, seconds_of, zomem_command
from zomem_graph.bench.reading import fill, measured
from zomem_graph.nodes.options import MemoryOptions

__all__ = ["run"]

_HEAVY = (
    "alembic", "chromadb", "langchain_core", "langchain_openai", "langgraph", "mcp", "networkx", "openai",
    "pydantic_settings", "sqlmodel",
)  # fmt: skip
_NOT_NEEDED = 2  # the exit of `zomem gate` for a message that needs no memory


def run(*, rounds: int = 7, say: Say = lambda _line: None) -> dict[str, Any]:
    """Start each command so many times and return the medians, in seconds; those that read beside their imports."""
    zomem = zomem_command()
    with kept_folder(None) as home:
        at_home = [*zomem, "--home", str(home)]
        seconds_of([*at_home, "init"])
        commands: list[tuple[str, list[str], Sequence[int]]] = [
            ("python -c pass", [sys.executable, "-c", "pass"], (0,)),
            ("import zomem_graph", [sys.executable, "-c", "import zomem_graph"], (0,)),
            ("zomem --help", [*zomem, "--help"], (0,)),
            ("zomem gate hello", [*at_home, "gate", "hello"], (_NOT_NEEDED,)),
        ]
        figures: dict[str, Any] = {}
        for name, command, allowed in commands:
            say(name)
            taken = [seconds_of(command, allowed=allowed) for _ in range(rounds)]
            figures[name] = {"median_s": round(statistics.median(taken), 3), "best_s": round(min(taken), 3)}
        fill(home)
        reading = measured(home, rounds=rounds, say=say)
    return {
        "suite": "startup",
        "n": rounds,
        "seconds": figures,
        "reading": reading,
        "largest_ratio": max(one["ratio"] for one in reading.values()),
        "bytecode": "compiled anew by every process" if sys.dont_write_bytecode else "kept",
        "heavy_libraries_loaded_by_import": _heavy_loaded(),
        "conditions": conditions(embedder=None, options=MemoryOptions()),
    }


def _heavy_loaded() -> list[str]:
    code = f"import sys, zomem_graph; print(*sorted(set({_HEAVY!r}) & set(sys.modules)))"
    return python(["-c", code]).split()
