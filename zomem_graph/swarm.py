"""The swarm as a graph: tasks in, results out, and memory that learns who does what well."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.runnables.base import coerce_to_runnable
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import Pregel
from typing_extensions import TypedDict

from zomem_graph.memory import Memory
from zomem_graph.nodes.options import SwarmOptions
from zomem_graph.nodes.ports import services_given
from zomem_graph.nodes.rules.given import listed, shown
from zomem_graph.nodes.rules.option_kinds import options_given
from zomem_graph.nodes.rules.routing import Candidate
from zomem_graph.nodes.steps.routing import RouteRequest, candidates_of
from zomem_graph.nodes.swarm import (
    LEARN,
    ROUTE,
    TELL,
    SwarmState,
    TaskState,
    create_deal_node,
    create_executor_node,
    create_finish_node,
    create_learn_node,
    create_plan_node,
    create_task_router_node,
    create_tell_node,
)
from zomem_graph.stores.errors import InvalidInput

__all__ = ["SwarmState", "create_swarm_graph"]

_READS = ("messages", "task", "memory_context")


class _Result(TypedDict):
    results: list[dict[str, Any]]


def create_swarm_graph(
    memory: Memory,
    executors: Mapping[str, Any],
    *,
    strategy: str | None = None,
    candidates: Sequence[Candidate] = (),
    options: SwarmOptions | None = None,
    context_schema: Any = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Return plan → (tell → route → executor, and another when it fails → learn) for each task → finish.

    `executors` are Runnables (agents, graphs, chat models) or functions by name; each is called with `messages`,
    `task` and `memory_context`. `candidates` say what some are good at. `strategy` is the settings' by default.
    Raises InvalidInput for names and executors that cannot be used.
    """
    chosen = options_given(options, services_given(memory).options.swarm)
    strategy = memory.settings.routing_strategy if strategy is None else strategy
    RouteRequest(task="any", strategy=strategy).checked()
    if not isinstance(executors, Mapping):
        raise InvalidInput(f"executors must be a dict of names and Runnables, not {type(executors).__name__}.")
    workers = {name: _runnable(name, executor) for name, executor in executors.items()}
    known_well = listed("candidates", candidates, of="candidates")
    described = {one.name: one for one in candidates_of(known_well)} if known_well else {}
    if strangers := sorted(described.keys() - workers.keys()):
        raise InvalidInput(f"There is no executor {strangers[0]!r:.80} to describe; there are {', '.join(workers)}.")
    known = candidates_of(described.get(name, Candidate(name=name)) for name in workers)

    task: StateGraph[Any, Any, Any, Any] = StateGraph(TaskState, output_schema=_Result)
    task.add_node(TELL, create_tell_node(memory, options=chosen))
    task.add_node(ROUTE, create_task_router_node(memory, known, strategy=strategy), destinations=tuple(workers))
    for name, worker in workers.items():
        others = tuple(other for other in workers if other != name)
        node = create_executor_node(memory, name, worker, options=chosen)
        task.add_node(name, node, destinations=(*others, LEARN))
    task.add_node(LEARN, create_learn_node(memory, options=chosen))
    task.add_edge(START, TELL)
    task.add_edge(TELL, ROUTE)
    task.add_edge(LEARN, END)

    graph: StateGraph[Any, Any, Any, Any] = StateGraph(SwarmState, context_schema=context_schema)
    graph.add_node("plan", create_plan_node(memory, list(workers)))
    graph.add_node("deal", create_deal_node(memory, options=chosen), destinations=("task", "finish"))
    graph.add_node("task", task.compile())
    graph.add_node("finish", create_finish_node(memory, options=chosen))
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "deal")
    graph.add_edge("task", "deal")
    graph.add_edge("finish", END)
    return graph


def _runnable(name: Any, executor: Any) -> Runnable[Any, Any]:
    if not isinstance(name, str) or not name.strip() or any(mark in name for mark in ":|") or name.startswith("__"):
        raise InvalidInput(f"An executor's name must be a text without ':' and '|', not {shown(name)}.")
    if name in (TELL, ROUTE, LEARN):
        raise InvalidInput(f"The name {name!r} is taken by a node of the swarm. Give the executor another one.")
    if isinstance(executor, StateGraph):
        raise InvalidInput(f"The executor {name!r} is an uncompiled graph. Pass graph.compile().")
    if isinstance(executor, Pregel) and not set(_READS) & set(executor.channels):
        raise InvalidInput(
            f"The graph {name!r} has none of the channels {', '.join(_READS)}. Wrap it in a function that takes a "
            "dict with them and calls it."
        )
    try:
        worker: Runnable[Any, Any] = coerce_to_runnable(executor)
    except (TypeError, RecursionError) as error:
        raise InvalidInput(f"The executor {name!r} must be a Runnable or a function: {error}") from error
    return worker
