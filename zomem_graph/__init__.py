"""Persistent memory for LangGraph agents: decide, recall, capture, keep true.

Everything is loaded when first used, so that `import zomem_graph` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zomem_graph.graphs import create_capture_graph, create_chat_graph, create_recall_graph, with_memory
    from zomem_graph.memory import Memory
    from zomem_graph.nodes.options import MemoryOptions
    from zomem_graph.nodes.scope import Scope
    from zomem_graph.nodes.state import MemoryState
    from zomem_graph.nodes.values import CaptureReport, Hit, Recollection
    from zomem_graph.stores.errors import ZomemError

__all__ = [
    "CaptureReport",
    "Hit",
    "Memory",
    "MemoryOptions",
    "MemoryState",
    "Recollection",
    "Scope",
    "ZomemError",
    "create_capture_graph",
    "create_chat_graph",
    "create_recall_graph",
    "with_memory",
]

_HOMES = {
    "CaptureReport": "nodes.values",
    "Hit": "nodes.values",
    "Memory": "memory",
    "MemoryOptions": "nodes.options",
    "MemoryState": "nodes.state",
    "Recollection": "nodes.values",
    "Scope": "nodes.scope",
    "ZomemError": "stores.errors",
    "create_capture_graph": "graphs",
    "create_chat_graph": "graphs",
    "create_recall_graph": "graphs",
    "with_memory": "graphs",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
