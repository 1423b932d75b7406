"""Multi-hop as a node, usable alone: search, then follow links and names until the question is covered."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Failed, Flow, unless_failing
from zomem_graph.nodes.inputs import latest_question
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import MultiHopOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import if_given, of_kind, whole
from zomem_graph.nodes.state import noted_of_search, nothing_found
from zomem_graph.nodes.steps.events import told_of_failure
from zomem_graph.nodes.steps.multihop import hop_far
from zomem_graph.nodes.steps.query import MOST_HITS, Query
from zomem_graph.nodes.values import plain

__all__ = ["create_multi_hop_node"]


def create_multi_hop_node(
    memory: Services, *, options: MultiHopOptions | None = None, limit: int = 10
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_hits` for `memory_query`, or for the latest message without one."""
    if_given(of_kind, "options", options, kind=MultiHopOptions)
    limit = whole("limit", limit, least=1, most=MOST_HITS)

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        question = state.get("memory_query") or latest_question(state)[0]
        query = Query(text=question, limit=limit)
        found = yield from unless_failing(hop_far(memory, query, running.scope, options=options))
        if isinstance(found, Failed):
            running.emit(told_of_failure("hop", found.error))
            return {"memory_query": question, **nothing_found(state, f"multi_hop: {found.error}")}
        for hop in found.trace:
            running.emit({"memory": "hop", **hop})
        return {
            "memory_query": question,
            "memory_hits": [plain(hit) for hit in found.hits],
            "memory_trace": plain(found.trace),
            **noted_of_search(state, found.degraded),
        }

    return HostNode("multi_hop", step, memory)
