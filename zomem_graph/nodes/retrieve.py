"""Retrieval as a node: words and meaning, fused."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Flow
from zomem_graph.nodes.inputs import history_of
from zomem_graph.nodes.node import MemoryNode, Running
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.steps.recall import RecallRequest, search_for
from zomem_graph.nodes.values import plain

__all__ = ["create_retrieve_node"]


def create_retrieve_node(
    memory: Services, *, options: RetrieveOptions | None = None, limit: int | None = None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_hits` for `memory_query`."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        request = RecallRequest(
            message=state.get("memory_query") or "",
            scope=running.scope,
            history=history_of(state),
            limit=limit or memory.options.compose.limit,
        )
        found = yield from search_for(memory, request, options=options)
        running.emit({"memory": "retrieve", **found.trace})
        return {
            "memory_hits": [plain(hit) for hit in found.hits],
            "memory_degraded": list(found.degraded),
            "memory_trace": [found.trace],
        }

    return MemoryNode("retrieve", step, memory)
