"""The one class around every step that makes it a LangGraph node, for `invoke` and `ainvoke` alike.

It adapts and nothing more: the running graph's state and scope go into a step, the step's values
come out as plain data.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command

from zomem_graph.nodes.flow import Flow, arun, run
from zomem_graph.nodes.ports import Services, services_given
from zomem_graph.nodes.scope import Scope, kept_name, scope_of_run
from zomem_graph.nodes.state import HostState

__all__ = ["HostNode", "MemoryNode", "Running", "state_of"]

_LEVELS = "|"  # between the graphs of a checkpoint's namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What a node knows of the run it is part of; `nested` when its graph runs inside of another."""

    scope: Scope
    run_id: str
    nested: bool
    emit: Callable[[Mapping[str, Any]], None]
    config: RunnableConfig


Changed = TypeVar("Changed")  # what a step hands back: a part of the state, or a Command


class MemoryNode(Runnable[Any, Changed], Generic[Changed]):
    """A step as a LangGraph node with a name; runs sync and async."""

    def __init__(
        self,
        name: str,
        step: Callable[[Mapping[str, Any], Running], Flow[Changed]],
        services: Services,
        *,
        of_everybody: bool = False,
    ) -> None:
        """Make a node; one `of_everybody` looks after all personas and needs none named. Raises Closed."""
        services_given(services).stores.check_open()
        self.name = name
        self._of_everybody = of_everybody
        self._step = step
        self._services = services

    def invoke(
        self,
        input: Any,  # noqa: A002  # the name LangChain gives it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Changed:
        """Run the step and return what it changed in the state."""
        return run(self._work(state_of(input), config))

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  # as in `invoke`
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Changed:
        """Run the step without blocking the event loop and return what it changed in the state."""
        return await arun(self._work(state_of(input), config))

    def _work(self, state: Mapping[str, Any], config: RunnableConfig | None) -> Flow[Changed]:
        return (yield from self._step(state, self._running(state, config)))

    def _running(self, state: Mapping[str, Any], config: RunnableConfig | None) -> Running:
        runtime: Runtime[Any] = get_runtime()
        configurable = (config or {}).get("configurable")
        strict = self._services.strict_scope and not self._of_everybody
        scope = scope_of_run(runtime.context, configurable, state, strict=strict)
        info = runtime.execution_info
        run_id = "" if info is None else f"{info.thread_id}:{info.run_id}"
        nested = info is not None and _LEVELS in info.checkpoint_ns
        return Running(scope=scope, run_id=run_id, nested=nested, emit=runtime.stream_writer, config=config or {})


class HostNode(MemoryNode[Changed]):
    """A node for a graph of the host's, whatever its state: it brings its channels along.

    The state keeps who asked, for the runs of the thread that name nobody.
    """

    def __call__(self, state: HostState) -> Changed:
        """Do as `invoke`. LangGraph reads the type of `state` here and gives the host's graph these channels."""
        return self.invoke(state)

    def _work(self, state: Mapping[str, Any], config: RunnableConfig | None) -> Flow[Changed]:
        running = self._running(state, config)
        changed = yield from self._step(state, running)
        kept = kept_name(running.scope)
        known = kept.items() <= state.items()
        return changed if known else _adding(changed, kept)


def _adding(changed: Any, more: Mapping[str, Any]) -> Any:
    """Return what a step hands back with more of the state changed."""
    if isinstance(changed, Command):
        return replace(changed, update={**(changed.update or {}), **more})
    return {**changed, **more}


def state_of(state: Any) -> Mapping[str, Any]:
    """Read a state of any of LangGraph's kinds: dict, dataclass or pydantic model."""
    if isinstance(state, Mapping):
        return state
    names = getattr(state, "__dataclass_fields__", None) or getattr(type(state), "model_fields", None) or {}
    return {name: getattr(state, name) for name in names}
