"""Retrieval as a node: words and meaning, fused."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Failed, Flow, unless_failing
from zomem_graph.nodes.inputs import history_of, must_be_cleared, must_hold, query_of
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import if_given, of_kind, whole
from zomem_graph.nodes.state import decision_of, gated, noted_of_search, nothing_found
from zomem_graph.nodes.steps.events import told_of_failure, told_of_search
from zomem_graph.nodes.steps.query import MOST_HITS
from zomem_graph.nodes.steps.recall import RecallRequest, search_for
from zomem_graph.nodes.values import plain

__all__ = ["create_retrieve_node"]


def create_retrieve_node(
    memory: Services, *, options: RetrieveOptions | None = None, limit: int | None = None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_hits` for `memory_query`; none, with a note, when memory fails.

    An answer that a hyde node imagined is searched with; without such a node it imagines one itself.
    """
    if_given(of_kind, "options", options, kind=RetrieveOptions)
    limit = if_given(whole, "limit", limit, least=1, most=MOST_HITS)

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        question, imagined = query_of(state), state.get("memory_hyde")
        if gated(state):
            must_hold(state, "memory_hits")
        if not state.get("memory_trace"):  # the first search of the turn
            must_be_cleared(state, "memory_hits")
        request = RecallRequest(
            message=question,
            hyde=False if imagined == "" else imagined,
            scope=running.scope,
            history=history_of(state),
            limit=limit or memory.options.compose.limit,
        )
        looking = decision_of(state).get("decision") == "look"
        found = yield from unless_failing(search_for(memory, request, options=options, looking=looking))
        if isinstance(found, Failed):
            running.emit(told_of_failure("retrieve", found.error))
            return nothing_found(state, f"retrieve: {found.error}", first=imagined is None)
        running.emit(told_of_search("retrieve", found))
        return {
            "memory_hits": [plain(hit) for hit in found.hits],
            "memory_trace": [found.trace],
            **noted_of_search(state, found.degraded, first=imagined is None),
        }

    return HostNode("retrieve", step, memory)
