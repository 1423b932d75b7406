"""What the custom stream of a graph is told of each step, by nodes and by middleware alike."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zomem_graph.nodes.steps.query import Retrieved
from zomem_graph.nodes.values import CaptureReport, GateVerdict, Recollection
from zomem_graph.stores.errors import ZomemError

__all__ = [
    "Tell",
    "tell_nobody",
    "told_of_answer",
    "told_of_capture",
    "told_of_failure",
    "told_of_gate",
    "told_of_search",
]

Tell = Callable[[Mapping[str, Any]], None]


def tell_nobody(_event: Mapping[str, Any]) -> None:
    """Drop an event: nobody listens."""


def told_of_gate(verdict: GateVerdict) -> dict[str, Any]:
    """Return the event of a gate."""
    return {"memory": "gate", "decision": verdict.decision, "reason": verdict.reason}


def told_of_search(step: str, found: Retrieved) -> dict[str, Any]:
    """Return the event of a search: retrieve or continuation."""
    return {"memory": step, **found.trace}


def told_of_answer(result: Recollection) -> Iterator[dict[str, Any]]:
    """Yield the events of what was decided and laid out, and of a budget that was kept to."""
    yield {"memory": "compose", "decision": result.decision, "tokens": result.tokens}
    for line in result.trace:
        if line.get("step") == "budget":
            yield {"memory": "budget", **{name: one for name, one in line.items() if name != "step"}}


def told_of_capture(report: CaptureReport) -> dict[str, Any]:
    """Return the event of a capture."""
    return {"memory": "capture", "turns": report.turns, "facts": report.facts, "queued": report.queued}


def told_of_failure(step: str, error: ZomemError) -> dict[str, Any]:
    """Return the event of a step that memory failed."""
    return {"memory": step, "failed": str(error)}
