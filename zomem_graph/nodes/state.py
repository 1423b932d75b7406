"""The plain-data state our nodes read and write beside your messages."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.graph import MessagesState
from typing_extensions import TypedDict

from zomem_graph.nodes.channels import Latest, Notes

__all__ = [
    "HostState",
    "MaintenanceState",
    "MemoryState",
    "decision_of",
    "gated",
    "noted",
    "noted_of_search",
    "nothing_found",
]


class _Ours(TypedDict, total=False):
    memory_persona: Annotated[str, Latest]
    memory_query: Annotated[str, Latest]
    memory_hyde: Annotated[str | None, Latest]
    memory_decision: Annotated[dict[str, Any], Latest]
    memory_hits: Annotated[list[dict[str, Any]], Latest]
    memory_context: Annotated[str, Latest]
    memory_degraded: Annotated[list[str], Notes]
    memory_trace: Annotated[list[dict[str, Any]], Latest]
    memory_briefing: Annotated[str, Latest]
    memory_route: Annotated[dict[str, Any], Latest]


class MemoryState(MessagesState, _Ours, total=False):
    """Your messages, and what memory has to say about the latest of them.

    Nothing of ours is appended to `messages`. `memory_context` is the block for your prompt, "" when
    nothing is needed; `memory_degraded` names what was missing while it was made. `memory_hyde` is the answer that
    a hyde node imagined, "" when it could not, None where there is no such node. `memory_briefing` is there where the
    graph has a briefing node; `memory_route` says who the router chose, with every score; `memory_persona` is whose
    thread it is.

    Parallel branches may write them all: of each the latest stays, of `memory_degraded` every note.
    """


class HostState(_Ours, total=False):
    """What a node of ours reads and writes in a host's graph, which gets the channels that its own state lacks.

    `messages` stays the host's, whatever its reducer.
    """

    messages: list[AnyMessage]


class MaintenanceState(TypedDict, total=False):
    """A run of maintenance on its way: the run, the reports of its steps so far, and at its end the whole report."""

    maintenance_run: dict[str, Any]
    maintenance_steps: list[dict[str, Any]]
    maintenance_report: dict[str, Any]


def decision_of(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the state says of the gate's decision; nothing where there is none that can be read."""
    decision = state.get("memory_decision")
    return decision if isinstance(decision, Mapping) else {}


def gated(state: Mapping[str, Any]) -> bool:
    """Return whether a gate has begun this turn and compose has not ended it."""
    return "started" in decision_of(state)


def noted(state: Mapping[str, Any], notes: Iterable[str]) -> dict[str, list[str]]:
    """Return the change that adds notes to a state's `memory_degraded`; none when it has them all.

    What is there comes again, for a host whose channel keeps the latest; each note once, so that nothing grows
    without end in a host whose channel adds.
    """
    known = list(dict.fromkeys(state.get("memory_degraded") or ()))
    new = [note for note in dict.fromkeys(notes) if note not in known]
    return {"memory_degraded": [*known, *new]} if new else {}


def noted_of_search(state: Mapping[str, Any], notes: Iterable[str], *, first: bool = True) -> dict[str, list[str]]:
    """Return the change for what a search lacked; alone where it is the `first` of a turn that no gate began."""
    begins = first and not gated(state)
    return {"memory_degraded": list(notes)} if begins else noted(state, notes)


def nothing_found(state: Mapping[str, Any], note: str, *, first: bool = True) -> dict[str, Any]:
    """Return the change for a search that memory failed: no hits, and why."""
    return {"memory_hits": [], "memory_trace": [], **noted_of_search(state, [note], first=first)}
