"""Memory for agents made by `langchain.agents.create_agent`: one middleware, sync and async.

    agent = create_agent(model, tools, middleware=[MemoryMiddleware(memory)], context_schema=Scope)

It recalls once before the agent works, shows the block to every model call of the run without ever putting
it into the messages, and captures at the end; after an interrupt once, after an error too.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ModelRequest, ModelResponse, PrivateStateAttr
from langchain_core.messages import AnyMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from zomem_graph.memory import Memory
from zomem_graph.nodes.flow import Failed, Flow, arun, attempt, run
from zomem_graph.nodes.inputs import latest_question
from zomem_graph.nodes.placement import Placement, place_block
from zomem_graph.nodes.scope import Scope, scope_from
from zomem_graph.nodes.steps.capture import CaptureRequest, capture
from zomem_graph.nodes.steps.messages import to_said
from zomem_graph.nodes.steps.recall import RecallRequest, recall
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.stores.errors import InvalidInput

__all__ = ["MemoryMiddleware"]


class _RecalledState(AgentState[Any]):
    memory_context: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_degraded: NotRequired[Annotated[list[str], PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Recall before, capture after; the block rides on each request and never enters the messages.

    `placement` "user" puts it at the head of the latest user message, "system" as a system message before it.
    A memory that fails never stops the agent; what was missing stands in the private `memory_degraded`.
    """

    state_schema = _RecalledState

    def __init__(
        self,
        memory: Memory,
        *,
        limit: int = 10,
        token_budget: int = 1_000,
        placement: Placement = "user",
        captures: bool = True,
    ) -> None:
        super().__init__()
        self._memory = memory
        self._limit = limit
        self._token_budget = token_budget
        self._placement: Placement = placement
        self._captures = captures

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall for the latest user message."""
        return run(self._recalled(state, runtime))

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall for the latest user message without blocking the event loop."""
        return await arun(self._recalled(state, runtime))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the block to the model; when the model fails, capture what was said so far."""
        answered = False
        try:
            response = handler(self._with_block(request))
            answered = True
            return response
        finally:
            if not answered:
                run(self._captured(request.messages, request.runtime))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Do the same without blocking the event loop."""
        answered = False
        try:
            response = await handler(self._with_block(request))
            answered = True
            return response
        finally:
            if not answered:
                await arun(self._captured(request.messages, request.runtime))

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Capture what was said."""
        return run(self._noted(state, runtime))

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Capture what was said without blocking the event loop."""
        return await arun(self._noted(state, runtime))

    def _recalled(self, state: Any, runtime: Runtime[Any]) -> Flow[dict[str, Any]]:
        question, history = latest_question(state)
        request = RecallRequest(
            message=question,
            scope=self._scope(runtime),
            history=tuple(said.content for said in to_said(history)),
            limit=self._limit,
            token_budget=self._token_budget,
        )
        found = yield from attempt(recall(self._memory, request))
        if isinstance(found, Failed):
            return {"memory_context": "", "memory_degraded": [f"recall: {found.error}"]}
        return {"memory_context": found.text, "memory_degraded": list(found.degraded)}

    def _with_block(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        block = str((request.state or {}).get("memory_context", ""))
        return request.override(messages=place_block(request.messages, block, placement=self._placement))

    def _noted(self, state: Any, runtime: Runtime[Any]) -> Flow[dict[str, Any] | None]:
        result = yield from self._captured(state["messages"], runtime)
        if isinstance(result, Failed):
            return {"memory_degraded": [*state.get("memory_degraded", ()), f"capture: {result.error}"]}
        return None

    def _captured(
        self, messages: Sequence[AnyMessage], runtime: Runtime[Any] | None
    ) -> Flow[CaptureReport | Failed | None]:
        if not self._captures:
            return None
        scope = self._scope(runtime)
        request = CaptureRequest(messages=to_said(messages), scope=scope, session=scope.thread, source="agent")
        return (yield from attempt(capture(self._memory, request)))

    def _scope(self, runtime: Runtime[Any] | None) -> Scope:
        configurable = get_config().get("configurable") or {}
        scope = scope_from(None if runtime is None else runtime.context, configurable, Scope())
        if self._memory.strict_scope and not scope.named:
            raise InvalidInput('This memory is strict: pass context={"persona": …} or configurable persona.')
        return scope
