"""The suite of the vault: simulated nights, kills, 10,000 facts, and what daily pages hold of labelled sessions."""

from pathlib import Path
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say
from zomem_graph.bench.vault_care import consolidation, kills, rebuild
from zomem_graph.bench.vault_days import extraction, labelled_sessions, nights
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.testing import SmallEmbedder

__all__ = ["run"]


def run(
    data: Path,
    *,
    night_count: int = 30,
    a_night: int = 20,
    kill_count: int = 40,
    facts: int = 10_000,
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Run the parts whose count is more than 0 and return their figures."""
    sessions = labelled_sessions(data)
    found: dict[str, Any] = {"suite": "vault", "extraction": extraction(sessions)}
    if facts:
        found["consolidation"] = consolidation(facts, say=say)
        found["rebuild"] = rebuild(facts, say=say)
    if kill_count:
        found["kills"] = kills(kill_count, say=say)
    if night_count:
        found["nights"] = nights(sessions, count=night_count, a_night=a_night, say=say)
    return found | {"conditions": conditions(embedder=SmallEmbedder().identity, options=MemoryOptions())}
