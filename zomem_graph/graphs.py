"""Ready graphs over our nodes, returned uncompiled: checkpointer, name and nesting are yours."""

from collections.abc import Collection, Sequence
from inspect import getattr_static, isfunction, ismethod, signature
from itertools import pairwise
from typing import Any, Self, get_args, get_type_hints

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableBinding, RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from typing_extensions import TypedDict, is_typeddict

from zomem_graph.memory import Memory
from zomem_graph.nodes.capture import capture_node, create_capture_node
from zomem_graph.nodes.care_values import MOST_CHANGES
from zomem_graph.nodes.compose import create_compose_node
from zomem_graph.nodes.continuation import create_continuation_node
from zomem_graph.nodes.gate import create_gate_node, gate_route
from zomem_graph.nodes.inputs import messages_of
from zomem_graph.nodes.maintenance import create_begin_node, create_maintenance_node, create_report_node
from zomem_graph.nodes.node import state_of
from zomem_graph.nodes.placement import Placement, place_block
from zomem_graph.nodes.retrieve import create_retrieve_node
from zomem_graph.nodes.rules.given import choice
from zomem_graph.nodes.state import HostState, MaintenanceState, MemoryState
from zomem_graph.nodes.steps.maintain import Upkeep
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.swarm import create_swarm_graph

__all__ = [
    "create_capture_graph",
    "create_chat_graph",
    "create_maintenance_graph",
    "create_recall_graph",
    "create_swarm_graph",
    "with_memory",
]


_CURE = "Annotate the node's state with MemoryState, or derive your own state from it."


class _Heard(MessagesState, total=False):
    """What our graphs are given: not the notes of the turn before, so that they hand back their own only."""

    memory_persona: str


class _Answered(_Heard, total=False):
    """What a graph that learns is given: also what the gate noted as the question, should it be taken out since."""

    memory_query: str


class _MemoryOnly(TypedDict, total=False):
    """What our graphs hand back: never `messages`, so a host with another reducer keeps its own."""

    memory_persona: str
    memory_query: str
    memory_decision: dict[str, Any]
    memory_hits: list[dict[str, Any]]
    memory_context: str
    memory_degraded: list[str]
    memory_trace: list[dict[str, Any]]


class _Learned(TypedDict, total=False):
    memory_persona: str
    memory_degraded: list[str]


class _Compiled(CompiledStateGraph[Any, Any, Any, Any]):
    """A graph of ours, compiled; as a node it brings its channels to the host's graph, as our single nodes do."""

    def __call__(self, state: HostState) -> Self:
        """Return itself: LangGraph reads the type of `state`, and its server asks what it can call for a graph."""
        return self


class _HostGraph(StateGraph[Any, Any, Any, Any]):
    """A graph of ours that may become a node of the host's."""

    def compile(self, *args: Any, **kwargs: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
        """Compile as every StateGraph, whose own class LangGraph fixes; ours differs by being callable."""
        compiled = super().compile(*args, **kwargs)
        compiled.__class__ = _Compiled
        return compiled


def create_recall_graph(memory: Memory) -> StateGraph[Any, Any, Any, Any]:
    """Return gate → retrieve | continuation → compose; compiled, it is a node that writes `memory_context`."""
    graph = _HostGraph(MemoryState, input_schema=_Heard, output_schema=_MemoryOnly)
    _add_recall(graph, memory)
    graph.add_edge("compose", END)
    return graph


def _add_recall(graph: StateGraph[Any, Any, Any, Any], memory: Memory) -> None:
    """Add the nodes from the start to "compose"."""
    graph.add_node("gate", create_gate_node(memory))
    graph.add_node("retrieve", create_retrieve_node(memory))
    graph.add_node("continuation", create_continuation_node(memory))
    graph.add_node("compose", create_compose_node(memory))
    graph.add_edge(START, "gate")
    graph.add_conditional_edges("gate", gate_route, ["retrieve", "continuation", "compose"])
    graph.add_edge("retrieve", "compose")
    graph.add_edge("continuation", "compose")


def create_capture_graph(memory: Memory, *, source: str = "langgraph") -> StateGraph[Any, Any, Any, Any]:
    """Return the graph that learns from `messages`; compiled, it is a node after yours.

    In a host's graph it hands back `memory_degraded` only when it has notes to add to those that are there.
    """
    graph = _HostGraph(MemoryState, input_schema=_Answered, output_schema=_Learned)
    graph.add_node("capture", capture_node(memory, source=source, whole_graph=True))
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
    """Return gate → retrieve | continuation → compose → your chat node → capture, as one flat graph.

    Your node reads `memory_context`, or calls `with_memory`. A chat model in its place, also one with tools bound or
    otherwise configured, is asked with what `with_memory` gives, and its answer is the message.

    A node that takes a MessagesState is given the MemoryState; one whose own state lacks `memory_context`
    raises InvalidInput here and now.
    """
    graph = _HostGraph(MemoryState, context_schema=context_schema)
    _add_recall(graph, memory)
    if _is_chat_model(chat_node):
        chat_node = RunnableLambda(with_memory) | chat_node | RunnableLambda(_as_change)
    wanted = _given_to(chat_node)
    try:
        graph.add_node("chat", chat_node, input_schema=wanted)
    except (TypeError, ValueError) as error:  # something that can be called and says not with what, such as dict
        raise InvalidInput(f"the chat node cannot be used: {error}. Wrap it in a function of the state.") from error
    graph.add_node("capture", create_capture_node(memory, source="chat"))
    graph.add_edge("compose", "chat")
    graph.add_edge("chat", "capture")
    graph.add_edge("capture", END)
    return graph


def _is_chat_model(chat_node: Any) -> bool:
    while isinstance(chat_node, RunnableBinding):
        chat_node = chat_node.bound
    return isinstance(chat_node, BaseChatModel)


def _as_change(answer: BaseMessage) -> dict[str, list[BaseMessage]]:
    return {"messages": [answer]}


def _given_to(chat_node: Any) -> type | None:
    """Return MemoryState for a node that takes bare messages, None for one that takes what it says itself."""
    if not callable(chat_node) and not isinstance(chat_node, Runnable):
        raise InvalidInput(f"the chat node must be a function or a Runnable, not {type(chat_node).__name__}.")
    if isinstance(chat_node, Pregel) and "memory_context" not in _taken_by(chat_node):
        raise InvalidInput(
            "the chat node is a graph whose state has no memory_context, so it would never see the block. Give an "
            "agent MemoryMiddleware(memory) instead, build your own graph on MemoryState, or call it "
            "from a function that hands it with_memory(state)."
        )
    function = (
        chat_node
        if isfunction(chat_node) or ismethod(chat_node)
        else getattr_static(type(chat_node), "__call__", None)
    )
    if not (isfunction(function) or ismethod(function)):
        return None
    names = [name for name in signature(function).parameters if name != "self"]
    try:
        wanted = get_type_hints(function).get(names[0]) if names else None
    except NameError:  # a type that only its own function knows; LangGraph cannot read it either
        return None
    if not isinstance(wanted, type):
        return None
    fields = get_type_hints(wanted)
    if not fields or "memory_context" in fields:
        return None
    if is_typeddict(wanted) and fields.keys() <= get_type_hints(MemoryState).keys():
        return MemoryState
    raise InvalidInput(f"{wanted.__name__}, the state of the chat node, has no memory_context. {_CURE}")


def _taken_by(graph: Pregel[Any, Any, Any, Any]) -> Collection[str]:
    """Return the names of what a graph takes; its channels hold also what its single nodes brought along."""
    builder = getattr(graph, "builder", None)
    return get_type_hints(builder.input_schema) if isinstance(builder, StateGraph) else graph.channels


def with_memory(state: object, *, placement: Placement = "system") -> list[AnyMessage]:
    """Return the messages for your model, with the recalled block at the latest user message.

    The block stands at the tail, so the prefix stays the same and prompt caches survive; nothing is added
    to the state. `placement="user"` is for models that take system messages at the beginning only.
    `state` is the MemoryState, or one of yours with `messages` and `memory_context`. Raises InvalidInput for a state
    that cannot hold the block: it would be lost without a word.
    """
    choice("placement", placement, get_args(Placement))
    held = state_of(state)
    if "messages" not in held or not any(str(name).startswith("memory_") for name in held):
        raise InvalidInput(f"the state that with_memory was given lacks messages or memory_context. {_CURE}")
    return place_block(messages_of(held), held.get("memory_context") or "", placement=placement)
