"""Persistent memory for LangGraph agents: decide, recall, capture, keep true.

Everything is loaded when first used, so that `import zomem_graph` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zomem_graph.graphs import (
        create_capture_graph,
        create_chat_graph,
        create_maintenance_graph,
        create_recall_graph,
        create_swarm_graph,
        with_memory,
    )
    from zomem_graph.memory import Memory
    from zomem_graph.middleware import MemoryMiddleware as MemoryMiddleware  # needs an extra: not among __all__
    from zomem_graph.nodes.briefing import create_briefing_node
    from zomem_graph.nodes.capture import create_capture_node
    from zomem_graph.nodes.compose import create_compose_node
    from zomem_graph.nodes.continuation import create_continuation_node
    from zomem_graph.nodes.gate import create_gate_node, gate_route
    from zomem_graph.nodes.hyde import create_hyde_node
    from zomem_graph.nodes.options import MemoryOptions
    from zomem_graph.nodes.retrieve import create_retrieve_node
    from zomem_graph.nodes.router import create_router_node
    from zomem_graph.nodes.scope import Scope
    from zomem_graph.nodes.state import MemoryState
    from zomem_graph.nodes.values import CaptureReport, Hit, Recollection
    from zomem_graph.store import MemoryStore
    from zomem_graph.stores.errors import ZomemError
    from zomem_graph.tools import memory_tools

__all__ = [
    "CaptureReport",
    "Hit",
    "Memory",
    "MemoryOptions",
    "MemoryState",
    "MemoryStore",
    "Recollection",
    "Scope",
    "ZomemError",
    "create_briefing_node",
    "create_capture_graph",
    "create_capture_node",
    "create_chat_graph",
    "create_maintenance_graph",
    "create_compose_node",
    "create_continuation_node",
    "create_gate_node",
    "create_hyde_node",
    "create_recall_graph",
    "create_retrieve_node",
    "create_router_node",
    "create_swarm_graph",
    "gate_route",
    "memory_tools",
    "with_memory",
]

_HOMES = {
    "CaptureReport": "nodes.values",
    "Hit": "nodes.values",
    "Memory": "memory",
    "MemoryMiddleware": "middleware",
    "MemoryOptions": "nodes.options",
    "MemoryState": "nodes.state",
    "MemoryStore": "store",
    "Recollection": "nodes.values",
    "Scope": "nodes.scope",
    "ZomemError": "stores.errors",
    "create_briefing_node": "nodes.briefing",
    "create_capture_graph": "graphs",
    "create_maintenance_graph": "graphs",
    "create_capture_node": "nodes.capture",
    "create_chat_graph": "graphs",
    "create_compose_node": "nodes.compose",
    "create_continuation_node": "nodes.continuation",
    "create_gate_node": "nodes.gate",
    "create_hyde_node": "nodes.hyde",
    "create_recall_graph": "graphs",
    "create_retrieve_node": "nodes.retrieve",
    "create_router_node": "nodes.router",
    "create_swarm_graph": "graphs",
    "gate_route": "nodes.gate",
    "memory_tools": "tools",
    "with_memory": "graphs",
}
_EXTRAS = {"langchain": "agents"}  # a package that may be missing, and the extra that brings it


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise ModuleNotFoundError(
            f'{name} needs {error.name}: pip install "zomem-graph[{extra}]"', name=error.name
        ) from error


def __dir__() -> list[str]:
    return sorted(_HOMES)
