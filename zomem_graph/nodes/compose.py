"""Compose as a node: decide on the evidence, fit the budget, lay out the block, log what was done."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Failed, Flow, unless_failing, work
from zomem_graph.nodes.inputs import context_tokens, must_be_cleared, must_hold
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import ComposeOptions
from zomem_graph.nodes.ports import Services, services_given
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.rules.option_kinds import options_given
from zomem_graph.nodes.state import decision_of, gated, noted
from zomem_graph.nodes.steps.events import told_of_answer, told_of_failure
from zomem_graph.nodes.steps.gate import ask_in_doubt
from zomem_graph.nodes.steps.recall import RecallRequest, conclude, not_asked
from zomem_graph.nodes.steps.retrieve import Retrieved
from zomem_graph.nodes.tuned import as_gated
from zomem_graph.nodes.values import GateVerdict, Hit, Recollection, known, plain

__all__ = ["create_compose_node"]

_UNGATED = {"decision": "recall", "method": "none", "reason": "no gate stands before this node"}


def create_compose_node(memory: Services, *, options: ComposeOptions | None = None) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_context` and the final `memory_decision`; no block when memory fails."""
    chosen = options_given(options, services_given(memory).options.compose)

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        decision = decision_of(state)
        must_hold(state, *_needed(state))
        must_be_cleared(state, "memory_context")
        started = datetime.fromisoformat(decision.get("started") or memory.clock().isoformat())
        told = {**_UNGATED, **known(GateVerdict, decision), "keywords": tuple(decision.get("keywords") or ())}
        verdict = GateVerdict(**{**told, "degraded": tuple(decision.get("degraded") or ())})
        saved = state.get("memory_hits") or []
        hits = tuple(hit for data in saved if (hit := Hit.from_plain(data)) is not None)
        lost = len(saved) - len(hits)
        unread = [f"{number_of(lost, 'hits')} of another version left out"] if lost else []
        request = RecallRequest(
            message=state.get("memory_query") or "",
            scope=running.scope,
            limit=chosen.limit,
            token_budget=chosen.token_budget,
            turn_key=running.run_id or None,
            context=lambda: context_tokens(state),
            context_limit=chosen.context_tokens,
        )
        trace = state.get("memory_trace") or []
        found = Retrieved(
            hits=hits,
            degraded=(*(state.get("memory_degraded") or ()), *unread),
            trace=dict(trace[0]) if trace else {},
        )
        result = yield from unless_failing(_concluded(as_gated(memory, state), request, verdict, found, started))
        if isinstance(result, Failed):
            running.emit(told_of_failure("compose", result.error))
            result = not_asked((*found.degraded, f"compose: {result.error}"))
        else:
            for event in told_of_answer(result):
                running.emit(event)
        return {
            "memory_decision": {
                "decision": result.decision,
                "method": result.method,
                "reason": result.reason,
                "tokens": result.tokens,
            },
            "memory_hits": [plain(hit) for hit in result.hits],
            "memory_context": result.text,
            "memory_trace": plain(result.trace),
            **noted(state, result.degraded),
        }

    return HostNode("compose", step, memory)


def _needed(state: Mapping[str, Any]) -> Sequence[str]:
    """Return the channels that must be there: after a gate all of its own, else the hits or a question."""
    if gated(state):
        return ("memory_query", "memory_hits", "memory_context")
    return () if "memory_hits" in state else ("memory_query",)


def _concluded(
    memory: Services, request: RecallRequest, verdict: GateVerdict, found: Retrieved, started: datetime
) -> Flow[Recollection]:
    verdict, found = yield from ask_in_doubt(memory, request.message, verdict, found)
    return (yield from work(lambda: conclude(memory, request, verdict, found, started)))
