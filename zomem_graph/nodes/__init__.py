"""LangGraph nodes, one idea each: `create_X_node(memory)` returns a Runnable with invoke and ainvoke."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zomem_graph.nodes.briefing import create_briefing_node
    from zomem_graph.nodes.capture import create_capture_node
    from zomem_graph.nodes.compose import create_compose_node
    from zomem_graph.nodes.continuation import create_continuation_node
    from zomem_graph.nodes.gate import create_gate_node, gate_route
    from zomem_graph.nodes.hyde import create_hyde_node
    from zomem_graph.nodes.maintenance import create_maintenance_node
    from zomem_graph.nodes.multi_hop import create_multi_hop_node
    from zomem_graph.nodes.retrieve import create_retrieve_node
    from zomem_graph.nodes.router import create_router_node

__all__ = [
    "create_briefing_node",
    "create_capture_node",
    "create_compose_node",
    "create_continuation_node",
    "create_gate_node",
    "create_hyde_node",
    "create_maintenance_node",
    "create_multi_hop_node",
    "create_retrieve_node",
    "create_router_node",
    "gate_route",
]

_HOMES = {
    "create_briefing_node": "briefing",
    "create_capture_node": "capture",
    "create_compose_node": "compose",
    "create_continuation_node": "continuation",
    "create_gate_node": "gate",
    "create_hyde_node": "hyde",
    "create_maintenance_node": "maintenance",
    "create_multi_hop_node": "multi_hop",
    "create_retrieve_node": "retrieve",
    "create_router_node": "router",
    "gate_route": "gate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
