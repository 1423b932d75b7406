"""The router as a node: memory decides who gets the message, and says why."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.types import Command

from zomem_graph.nodes.flow import Failed, Flow, unless_failing
from zomem_graph.nodes.inputs import latest_question
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import RoutingOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.routing import Candidate, Choice
from zomem_graph.nodes.state import noted
from zomem_graph.nodes.steps.routing import RouteRequest, candidates_of, route
from zomem_graph.nodes.tuned import tuned
from zomem_graph.nodes.values import plain

__all__ = ["create_router_node", "plain_choice", "unasked_choice"]


def create_router_node(
    memory: Services,
    executors: Iterable[str | Candidate],
    *,
    strategy: str = "balanced",
    category: str | None = None,
    options: RoutingOptions | None = None,
) -> Runnable[Any, Command[Any]]:
    """Return the node that sends the latest user message to the executor of its name: `Command(goto=…)`.

    `executors` are the names of your nodes, or `Candidate`s that say what each is good at. Every score and reason is
    in `memory_route` and in the custom stream; `active_agent` is set
    for langgraph-swarm. When memory fails, the fallback of the `options` gets it, else the first. Raises InvalidInput
    when it is built without executors or with an unknown strategy.
    """
    candidates = candidates_of(executors)
    RouteRequest(task="any", strategy=strategy, category=category).checked()
    services = tuned(memory, routing=options)
    fallback = services.options.routing.fallback

    def step(state: Mapping[str, Any], running: Running) -> Flow[Command[Any]]:
        task, _before = latest_question(state)
        request = RouteRequest(
            task=task or "(nothing was said)",
            candidates=candidates,
            strategy=strategy,
            category=category,
            scope=running.scope,
        )
        choice = yield from unless_failing(route(services, request))
        if isinstance(choice, Failed):
            told = unasked_choice(candidates, category, choice, fallback=fallback)
            notes = noted(state, [f"route: {choice.error}"])
        else:
            told, notes = plain_choice(choice), {}
        running.emit({"memory": "route", **told})
        update = {"memory_route": told, "active_agent": told["executor"], **notes}
        return Command(goto=told["executor"], update=update)

    return HostNode("route", step, services)


def plain_choice(choice: Choice) -> dict[str, Any]:
    """Return a choice as plain data for a graph's state."""
    told: dict[str, Any] = plain(choice)
    return {**told, "order": list(choice.order)}


def unasked_choice(
    candidates: Sequence[Candidate], category: str | None, failed: Failed, *, fallback: str | None = None
) -> dict[str, Any]:
    """Return the choice of a memory that failed: the candidates as they were named, the fallback before all."""
    order = sorted((one.name for one in candidates), key=lambda name: name != fallback)
    return {
        "executor": order[0],
        "order": order,
        "reason": "memory could not be asked",
        "category": category or "general",
        "scores": [],
        "error": str(failed.error),
    }
