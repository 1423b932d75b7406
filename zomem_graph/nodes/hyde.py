"""HyDE as a node: an imagined answer, to be searched with beside the question."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Failed, Flow, unless_failing
from zomem_graph.nodes.inputs import query_of
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import HydeOptions
from zomem_graph.nodes.ports import Services, services_given
from zomem_graph.nodes.rules.option_kinds import options_given
from zomem_graph.nodes.state import noted_of_search
from zomem_graph.nodes.steps.hyde import imagine_text

__all__ = ["create_hyde_node"]


def create_hyde_node(memory: Services, *, options: HydeOptions | None = None) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_hyde`, an answer to `memory_query` that a chat model imagines.

    The retrieve node after it searches with that answer and imagines none itself. It is "", with a note in
    `memory_degraded`, without a chat model, when it is off, and when the model is late. How much the answer weighs in
    the search is up to the memory's own options.
    """
    chosen = options_given(options, services_given(memory).options.hyde)

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        made = yield from unless_failing(imagine_text(memory, query_of(state), chosen))
        text, notes = ("", (f"hyde: {made.error}",)) if isinstance(made, Failed) else made
        running.emit({"memory": "hyde", "characters": len(text)})
        return {"memory_hyde": text, **noted_of_search(state, notes)}

    return HostNode("hyde", step, memory)
