"""The briefing as a node, for the start of a session; it writes `memory_briefing` and nothing else."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Failed, Flow, attempt
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import BriefingOptions
from zomem_graph.nodes.ports import Services, services_given
from zomem_graph.nodes.rules.given import if_given, name_of
from zomem_graph.nodes.rules.option_kinds import options_given
from zomem_graph.nodes.state import noted
from zomem_graph.nodes.steps.briefing import brief

__all__ = ["create_briefing_node"]


def create_briefing_node(
    memory: Services, *, domain: str | None = None, options: BriefingOptions | None = None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes `memory_briefing`, a block for the stable part of your prompt.

    A persona and thread is briefed at most once in ten minutes: in between the node leaves the briefing that the
    state has, so that the prefix of your prompt stays the same. What fails is named in `memory_degraded`.
    """
    chosen = options_given(options, services_given(memory).options.briefing)
    if_given(name_of, "domain", domain)
    lately: dict[tuple[str, str | None], datetime] = {}

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        who, now = (running.scope.persona, running.scope.thread), memory.clock()
        last = lately.get(who)
        is_fresh = last is not None and abs(now - last) < timedelta(minutes=chosen.every_minutes)
        if is_fresh and state.get("memory_briefing"):
            return {}
        found = yield from attempt(brief(memory, running.scope, domain=domain, options=chosen))
        if isinstance(found, Failed):
            return noted(state, [f"briefing: {found.error}"])
        lately[who] = now
        running.emit({"memory": "briefing", "tokens": found.tokens, "priority": found.priority})
        return {"memory_briefing": found.block, **noted(state, found.degraded)}

    return HostNode("briefing", step, memory)
