"""The night as a LangGraph graph, and each action as a node of yours (spec F126).

The nodes run the very steps of `Vault.consolidate`; a test holds the two equal. State is plain data: what was done,
and notes. The lock is held within each node, not across the graph, so a run that is put to sleep between two nodes
holds up nobody; the steps are such that another run in between does no harm.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from zomem_graph.stores.errors import UnknownName
from zomem_graph.vault.consolidation import STEPS, Night, begin, work
from zomem_graph.vault.core import Vault

__all__ = ["ACTIONS", "VaultState", "create_vault_graph", "create_vault_node"]


def _merged(before: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    return {**(before or {}), **new}


class VaultState(TypedDict, total=False):
    """What a night has done so far, by name, and what a person should know."""

    vault_done: Annotated[dict[str, Any], _merged]
    vault_notes: list[str]


ACTIONS: Mapping[str, Callable[[Vault], Any]] = {
    "init": lambda vault: vault.init(),
    "ingest": lambda vault: vault.ingest(),
    "summarize": lambda vault: vault.summarize(),
    "consolidate": lambda vault: vault.consolidate(),
    "health-check": lambda vault: vault.health_check(),
    "quality-probe": lambda vault: vault.quality_probe(),
    "status": lambda vault: vault.status(),
}
"""The actions that need no more than a vault, by the name OpenClaw has for them."""


def create_vault_node(vault: Vault, action: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a node that runs one action; what it answers stands under its name in `vault_done`."""
    if action not in ACTIONS:
        raise UnknownName(f"A vault has no action {action!r:.40}. There are {', '.join(ACTIONS)}.")

    def node(_state: Mapping[str, Any]) -> dict[str, Any]:
        return {"vault_done": {action: ACTIONS[action](vault)}}

    node.__name__ = action
    return node


def create_vault_graph(vault: Vault) -> StateGraph[Any, Any, Any, Any]:
    """Return the night as a graph of one node a step, uncompiled; its end state says what `consolidate` answers."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(VaultState)
    names = ["begin", *STEPS]
    for name in names:
        graph.add_node(name, partial(_step, vault, name))
    graph.add_edge(START, names[0])
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    graph.add_edge(names[-1], END)
    return graph


def _step(vault: Vault, name: str, state: Mapping[str, Any]) -> dict[str, Any]:
    done = dict(state.get("vault_done") or {})
    night = Night(ground=vault.ground, resumed=bool(done.get("resumed")), done=done)
    with vault.ground.held(f"consolidate, {name}"):
        if name == "begin":
            begin(night)
            night.done["resumed"] = night.resumed
        else:
            work(night, name)
    return {"vault_done": night.done, "vault_notes": [*state.get("vault_notes", ()), *night.notes]}
