"""Open a store in a process of its own and search it: `python -m zomem_graph.bench.footprint HOME QUESTION`.

Prints JSON: milliseconds to import, to open and for the first search, and resident memory before and after.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from zomem_graph.bench.synthetic import ProjectionEmbedder
from zomem_graph.memory import Memory
from zomem_graph.nodes.scope import Scope

__all__ = ["main", "resident_mib"]

_SEARCHES = 20


def main(arguments: Sequence[str]) -> dict[str, float | None]:
    """Open the home, search it and return the figures."""
    home, question = arguments
    embedder, scope = ProjectionEmbedder(), Scope(persona="bench")
    before = resident_mib()
    began = perf_counter()
    with Memory.open(home, embeddings=embedder) as memory:
        opened = perf_counter()
        memory.search(question, scope=scope)
        asked = perf_counter()
        for _ in range(_SEARCHES):
            memory.search(question, scope=scope)
        after = resident_mib()
    return {
        "open_ms": round(1_000 * (opened - began), 1),
        "first_search_ms": round(1_000 * (asked - opened), 1),
        "resident_mib_before_open": before,
        "resident_mib_after_searches": after,
    }


def resident_mib() -> float | None:
    """Return the resident memory of this process in MiB, None where the system does not tell (not Linux)."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    line = next(line for line in status.read_text("utf-8").splitlines() if line.startswith("VmRSS:"))
    return round(int(line.split()[1]) / 1_024, 1)


if __name__ == "__main__":
    json.dump(main(sys.argv[1:]), sys.stdout)
