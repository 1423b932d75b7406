"""The night as a LangGraph graph, and each action as a node of yours (spec F126).

The nodes run the very steps of `Vault.consolidate`; a test holds the two equal. State is plain data: what was done,
and notes. The lock is held within each node, not across the graph, so a run that is put to sleep between two nodes
holds up nobody; the steps are such that another run in between does no harm.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Final

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from zomem_graph.nodes.inputs import latest_question
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.vault.consolidation import STEPS, Night, begin, work
from zomem_graph.vault.core import Vault
from zomem_graph.vault.cron import table

__all__ = ["ACTIONS", "VaultState", "create_vault_graph", "create_vault_node"]


def _merged(before: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    return {**(before or {}), **new}


class VaultState(TypedDict, total=False):
    """What a night has done so far, by name, what a person should know, and what a recall asks for."""

    vault_done: Annotated[dict[str, Any], _merged]
    vault_notes: list[str]
    vault_query: str | None


def _smoke_test(vault: Vault, *, cron: str | None = None, strict: bool = False) -> list[dict[str, Any]]:
    return [asdict(found) for found in vault.smoke_test(cron=cron, strict=strict)]


def _restore(vault: Vault, *, ids: Sequence[str] = (), backup: str | None = None) -> dict[str, Any]:
    return vault.restore(*ids, backup=backup)


def _cron_table(vault: Vault, *, owner: str | None = None) -> str:
    vault.check()
    return table(vault, owner=owner)


_RECALL: Final = "recall"
ACTIONS: Mapping[str, Callable[..., Any]] = {
    "init": Vault.init,
    "ingest": Vault.ingest,
    _RECALL: Vault.recall,
    "summarize": Vault.summarize,
    "consolidate": Vault.consolidate,
    "health-check": Vault.health_check,
    "quality-probe": Vault.quality_probe,
    "install-cron": _cron_table,
    "status": Vault.status,
    "restore": _restore,
    "rebuild": Vault.rebuild,
    "smoke-test": _smoke_test,
}
"""Every action, by the name OpenClaw has for it."""


def create_vault_node(vault: Vault, action: str, **arguments: Any) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a node that runs one action; what it answers stands under its name in `vault_done`.

    `arguments` are those of the vault's method, such as `backup="latest"` for restore (there `ids` is a list).
    "recall" asks for `vault_query` of the state, else for the last message of the user, and answers with hits;
    "install-cron" answers with the table and writes it nowhere. Raises UnknownName, InvalidInput.
    """
    if action not in ACTIONS:
        raise UnknownName(f"A vault has no action {action!r:.40}. There are {', '.join(ACTIONS)}.")
    known = [*inspect.signature(ACTIONS[action]).parameters][1:]
    if action == _RECALL:
        known.remove("query")
    if strange := [name for name in arguments if name not in known]:
        there = f"It has {', '.join(known)}." if known else "It has none."
        raise InvalidInput(f"The action {action} has no argument {strange[0]!r:.40}. {there}")

    def node(state: Mapping[str, Any]) -> dict[str, Any]:
        if action == _RECALL:
            found = vault.recall(_query(state), **arguments)
            return {"vault_done": {action: found.plain()}, "vault_notes": [*_noted(state), *found.degraded]}
        return {"vault_done": {action: ACTIONS[action](vault, **arguments)}}

    node.__name__ = action
    return node


def _query(state: Mapping[str, Any]) -> str:
    asked = state.get("vault_query")
    return latest_question(state)[0] if asked is None else asked


def _noted(state: Mapping[str, Any]) -> Sequence[str]:
    return state.get("vault_notes") or ()


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
    return {"vault_done": night.done, "vault_notes": [*_noted(state), *night.notes]}
