"""The gate as a node: whether the latest message needs memory, by its words and the names memory knows."""

from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Flow
from zomem_graph.nodes.inputs import NO_MESSAGES, history_of, latest_question, messages_of
from zomem_graph.nodes.node import HostNode, Running, state_of
from zomem_graph.nodes.options import GateOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import if_given, of_kind
from zomem_graph.nodes.steps.events import told_of_gate
from zomem_graph.nodes.steps.gate import decide
from zomem_graph.nodes.values import plain

__all__ = ["create_gate_node", "gate_route"]


def create_gate_node(memory: Services, *, options: GateOptions | None = None) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_query` and `memory_decision` from the latest message.

    `options` go along in the decision: continuation and compose weigh by them what was found.
    """
    if_given(of_kind, "options", options, kind=GateOptions)
    own = {} if options is None else {"options": plain(options)}

    def gate(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        question, _before = latest_question(state)
        verdict = yield from decide(memory, question, running.scope, history_of(state))
        running.emit(told_of_gate(verdict))
        begun = {"started": memory.clock().isoformat(), **own}
        return {
            "memory_query": question,
            "memory_hyde": None,
            "memory_decision": {**plain(verdict), **begun},
            "memory_hits": [],
            "memory_context": "",
            "memory_degraded": [*verdict.degraded, *(() if messages_of(state) else (f"recall: {NO_MESSAGES}",))],
            "memory_trace": [],
        }

    return HostNode("gate", gate, memory)


def gate_route(state: Mapping[str, Any]) -> Literal["retrieve", "continuation", "compose"]:
    """Return where to go after the gate: earlier work, all of memory, or straight to compose (skip)."""
    decision = state_of(state_of(state).get("memory_decision"))
    if decision.get("continuation"):
        return "continuation"
    return "compose" if decision.get("decision") == "skip" else "retrieve"
