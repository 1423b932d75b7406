"""Ready graphs over our nodes, returned uncompiled: checkpointer, name and nesting are yours."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from langchain_core.messages import AnyMessage
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from zomem_graph.memory import Memory
from zomem_graph.nodes.capture import create_capture_node
from zomem_graph.nodes.care_values import MOST_CHANGES
from zomem_graph.nodes.compose import create_compose_node
from zomem_graph.nodes.continuation import create_continuation_node
from zomem_graph.nodes.gate import create_gate_node, gate_route
from zomem_graph.nodes.maintenance import create_begin_node, create_maintenance_node, create_report_node
from zomem_graph.nodes.placement import Placement, place_block
from zomem_graph.nodes.retrieve import create_retrieve_node
from zomem_graph.nodes.state import MaintenanceState, MemoryState
from zomem_graph.nodes.steps.maintain import Upkeep
from zomem_graph.swarm import create_swarm_graph

__all__ = [
    "create_capture_graph",
    "create_chat_graph",
    "create_maintenance_graph",
    "create_recall_graph",
    "create_swarm_graph",
    "with_memory",
]


class _MemoryOnly(TypedDict, total=False):
    """What our graphs hand back: never `messages`, so a host with another reducer keeps its own."""

    memory_query: str
    memory_decision: dict[str, Any]
    memory_hits: list[dict[str, Any]]
    memory_context: str
    memory_degraded: list[str]
    memory_trace: list[dict[str, Any]]


class _Degraded(TypedDict, total=False):
    memory_degraded: list[str]


def create_recall_graph(memory: Memory) -> StateGraph[Any, Any, Any, Any]:
    """Return gate → retrieve | continuation → compose; compiled, it is a node that writes `memory_context`."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState, output_schema=_MemoryOnly)
    graph.add_node("gate", create_gate_node(memory))
    graph.add_node("retrieve", create_retrieve_node(memory))
    graph.add_node("continuation", create_continuation_node(memory))
    graph.add_node("compose", create_compose_node(memory))
    graph.add_edge(START, "gate")
    graph.add_conditional_edges("gate", gate_route, ["retrieve", "continuation", "compose"])
    graph.add_edge("retrieve", "compose")
    graph.add_edge("continuation", "compose")
    graph.add_edge("compose", END)
    return graph


def create_capture_graph(memory: Memory, *, source: str = "langgraph") -> StateGraph[Any, Any, Any, Any]:
    """Return the graph that learns from `messages`; compiled, it is a node after yours."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState, output_schema=_Degraded)
    graph.add_node("capture", create_capture_node(memory, source=source))
    graph.add_edge(START, "capture")
    graph.add_edge("capture", END)
    return graph


def create_maintenance_graph(
    memory: Memory,
    *,
    dry_run: bool = False,
    only: str | Sequence[str] | None = None,
    max_changes: int = MOST_CHANGES,
    allow_permanent: bool = False,
) -> StateGraph[Any, Any, Any, Any]:
    """Return begin → expire → tiers → merge → loops → summaries → reconcile → report, the steps of `memory.maintain`.

    It needs no input; `maintenance_report` is the report as plain data. Each node holds the lock of maintenance
    while it works and raises MaintenanceBusy when somebody else does.
    """
    wanted = Upkeep.read(dry_run=dry_run, only=only, max_changes=max_changes, allow_permanent=allow_permanent)
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MaintenanceState)
    graph.add_node("begin", create_begin_node(memory, wanted=wanted))
    for name in wanted.steps:
        graph.add_node(name, create_maintenance_node(memory, name, wanted=wanted))
    graph.add_node("report", create_report_node(memory, wanted=wanted))
    for one, following in pairwise([START, "begin", *wanted.steps, "report", END]):
        graph.add_edge(one, following)
    return graph


def create_chat_graph(
    memory: Memory, chat_node: Any, *, context_schema: Any = None
) -> StateGraph[Any, Any, Any, Any]:
    """Return recall → your chat node → capture. Your node reads `memory_context`, or calls `with_memory`."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState, context_schema=context_schema)
    graph.add_node("recall", create_recall_graph(memory).compile())
    graph.add_node("chat", chat_node)
    graph.add_node("capture", create_capture_graph(memory, source="chat").compile())
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "chat")
    graph.add_edge("chat", "capture")
    graph.add_edge("capture", END)
    return graph


def with_memory(state: MemoryState, *, placement: Placement = "system") -> list[AnyMessage]:
    """Return the messages for your model, with the recalled block at the latest user message.

    The block stands at the tail, so the prefix stays the same and prompt caches survive; nothing is added
    to the state. `placement="user"` is for models that take system messages at the beginning only.
    """
    return place_block(state["messages"], state.get("memory_context", ""), placement=placement)
