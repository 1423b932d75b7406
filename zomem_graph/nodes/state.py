"""The plain-data state our nodes read and write beside your messages."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from langgraph.graph import MessagesState
from typing_extensions import TypedDict

from zomem_graph.nodes.channels import Latest, Notes

__all__ = ["MaintenanceState", "MemoryState", "noted", "noted_of_search", "nothing_found"]


class MemoryState(MessagesState, total=False):
    """Your messages, and what memory has to say about the latest of them.

    Nothing of ours is appended to `messages`. `memory_context` is the block for your prompt, "" when
    nothing is needed; `memory_degraded` names what was missing while it was made. `memory_briefing` is there
    where the graph has a briefing node; `memory_route` says who the router chose, with every score.

    Parallel branches may write them all: of each the latest stays, of `memory_degraded` every note.
    """

    memory_query: Annotated[str, Latest]
    memory_decision: Annotated[dict[str, Any], Latest]
    memory_hits: Annotated[list[dict[str, Any]], Latest]
    memory_context: Annotated[str, Latest]
    memory_degraded: Annotated[list[str], Notes]
    memory_trace: Annotated[list[dict[str, Any]], Latest]
    memory_briefing: Annotated[str, Latest]
    memory_route: Annotated[dict[str, Any], Latest]


class MaintenanceState(TypedDict, total=False):
    """A run of maintenance on its way: the run, the reports of its steps so far, and at its end the whole report."""

    maintenance_run: dict[str, Any]
    maintenance_steps: list[dict[str, Any]]
    maintenance_report: dict[str, Any]


def noted(state: Mapping[str, Any], notes: Iterable[str]) -> dict[str, list[str]]:
    """Return the change that adds notes to a state's `memory_degraded`; none when it has them all.

    What is there comes again, for a host whose channel keeps the latest; each note once, so that nothing grows
    without end in a host whose channel adds.
    """
    known = list(dict.fromkeys(state.get("memory_degraded") or ()))
    new = [note for note in dict.fromkeys(notes) if note not in known]
    return {"memory_degraded": [*known, *new]} if new else {}


def noted_of_search(state: Mapping[str, Any], notes: Iterable[str]) -> dict[str, list[str]]:
    """Return the change for what a search lacked: beside the gate's notes; where no gate began the turn, alone."""
    gated = "started" in (state.get("memory_decision") or {})
    return noted(state, notes) if gated else {"memory_degraded": list(notes)}


def nothing_found(state: Mapping[str, Any], note: str) -> dict[str, Any]:
    """Return the change for a search that memory failed: no hits, and why."""
    return {"memory_hits": [], "memory_trace": [], **noted_of_search(state, [note])}
