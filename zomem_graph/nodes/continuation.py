"""Continuation as a node: what brings the model back into earlier work."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Failed, Flow, unless_failing
from zomem_graph.nodes.inputs import history_of, query_of
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import ContinuationOptions
from zomem_graph.nodes.ports import Services, services_given
from zomem_graph.nodes.rules.option_kinds import options_given
from zomem_graph.nodes.state import noted_of_search, nothing_found
from zomem_graph.nodes.steps.events import told_of_failure, told_of_search
from zomem_graph.nodes.steps.recall import RecallRequest, go_on
from zomem_graph.nodes.tuned import as_gated
from zomem_graph.nodes.values import plain

__all__ = ["create_continuation_node"]


def create_continuation_node(
    memory: Services, *, options: ContinuationOptions | None = None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_hits` for a `memory_query` that goes on with earlier work.

    Facts, episodes, open loops and turns of the last days; the conversation in `messages` says what "it"
    is.
    """
    chosen = options_given(options, services_given(memory).options.continuation)

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        request = RecallRequest(
            message=query_of(state),
            scope=running.scope,
            history=history_of(state),
            limit=chosen.limit,
        )
        found = yield from unless_failing(go_on(as_gated(memory, state), request, options=chosen))
        if isinstance(found, Failed):
            running.emit(told_of_failure("continuation", found.error))
            return nothing_found(state, f"continuation: {found.error}")
        running.emit(told_of_search("continuation", found))
        return {
            "memory_hits": [plain(hit) for hit in found.hits],
            "memory_trace": [found.trace],
            **noted_of_search(state, found.degraded),
        }

    return HostNode("continuation", step, memory)
