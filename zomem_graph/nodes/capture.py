"""Capture as a node: store the new turns of the host's messages, once, and what they teach."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.flow import Failed, Flow, unless_failing
from zomem_graph.nodes.inputs import NO_MESSAGES, messages_of, was_sent_back, with_question
from zomem_graph.nodes.node import HostNode, Running
from zomem_graph.nodes.options import CaptureOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import flag, name_of
from zomem_graph.nodes.state import noted
from zomem_graph.nodes.steps.capture import CaptureRequest, capture
from zomem_graph.nodes.steps.events import told_of_capture, told_of_failure
from zomem_graph.nodes.steps.messages import to_said
from zomem_graph.nodes.tuned import tuned
from zomem_graph.nodes.values import CaptureReport

__all__ = ["capture_node", "create_capture_node"]


def create_capture_node(
    memory: Services, *, source: str = "langgraph", inline: bool = False, options: CaptureOptions | None = None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that learns from the messages; a memory that fails never stops the host's graph.

    What failed is named in `memory_degraded`. A replay, a retry or a resumed run stores nothing twice. What is not
    read by a model `inline` is read later, by the memory's own options.
    """
    return capture_node(tuned(memory, capture=options), source=source, inline=inline)


def capture_node(
    memory: Services, *, source: str, inline: bool = False, whole_graph: bool = False
) -> Runnable[Any, dict[str, Any]]:
    """Do the same; as a `whole_graph` that no other holds, say so too when there is nothing to say."""
    name_of("source", source)
    inline = flag("inline", inline)

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        messages = messages_of(state)
        if not messages:
            return noted(state, [f"capture: {NO_MESSAGES}"])

        def learn() -> Flow[CaptureReport]:
            scope = running.scope
            said = to_said(with_question(messages, state.get("memory_query")))
            request = CaptureRequest(
                messages=said,
                scope=scope,
                session=scope.thread,
                source=source,
                inline=inline,
                replayed=was_sent_back(running.config),
                in_a_run=True,
            )
            return (yield from capture(memory, request))

        report = yield from unless_failing(learn())
        if isinstance(report, Failed):
            running.emit(told_of_failure("capture", report.error))
            return noted(state, [f"capture: {report.error}"])
        running.emit(told_of_capture(report))
        if whole_graph and not running.nested:
            return {"memory_degraded": list(report.degraded)}
        return noted(state, report.degraded)

    return HostNode("capture", step, memory)
