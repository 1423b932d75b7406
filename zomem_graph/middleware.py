"""Memory for agents made by `langchain.agents.create_agent`: one middleware, sync and async.

    agent = create_agent(model, tools, middleware=[MemoryMiddleware(memory)], context_schema=Scope)

It recalls once before the agent works, shows the block to every model call of the run without ever putting it into
the messages, and captures what the state holds at the end; after an interrupt once, after an error of the model or
of a tool too. What a run began with is kept until then, should `SummarizationMiddleware` sum it up on the way. What
another middleware removes, and what the model said between its calls and had summed up, is not seen; a run that
something else ends is captured with the next run of its thread.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any, NotRequired, get_args

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ModelRequest, ModelResponse, PrivateStateAttr
from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolRuntime
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from zomem_graph.memory import Memory
from zomem_graph.nodes.flow import Failed, Flow, arun, attempt, run
from zomem_graph.nodes.inputs import latest_question, messages_since_answer, was_sent_back
from zomem_graph.nodes.node import state_of
from zomem_graph.nodes.placement import Placement, place_block
from zomem_graph.nodes.ports import services_given
from zomem_graph.nodes.rules.given import choice, flag, whole
from zomem_graph.nodes.scope import Scope, kept_name, scope_of_run
from zomem_graph.nodes.steps.capture import CaptureRequest, capture
from zomem_graph.nodes.steps.events import Tell, tell_nobody, told_of_capture, told_of_failure
from zomem_graph.nodes.steps.messages import to_said, with_summed_up
from zomem_graph.nodes.steps.query import MOST_HITS
from zomem_graph.nodes.steps.recall import RecallRequest, not_asked, recall
from zomem_graph.nodes.values import CaptureReport, Recollection

__all__ = ["MemoryMiddleware"]

_Running = Runtime[Any] | ToolRuntime[Any, Any] | None


class _RecalledState(AgentState[Any]):
    memory_persona: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_context: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_decision: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    memory_degraded: NotRequired[Annotated[list[str], PrivateStateAttr]]
    memory_heard: NotRequired[Annotated[list[AnyMessage], PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Recall before, capture after; the block rides on each request and never enters the messages.

    `limit` (hits) and `token_budget` (UTF-8 bytes / 4) are by default those of the memory's `ComposeOptions`.
    `placement` "user" puts it at the head of the latest user message, "system" as a system message before it.
    A memory that fails never stops the agent; what was missing stands in the private `memory_degraded`. The custom
    stream is told of the same steps as by our nodes.
    """

    state_schema = _RecalledState

    def __init__(
        self,
        memory: Memory,
        *,
        limit: int | None = None,
        token_budget: int | None = None,
        placement: Placement = "user",
        captures: bool = True,
    ) -> None:
        super().__init__()
        usual = services_given(memory).options.compose
        memory.stores.check_open()
        choice("placement", placement, get_args(Placement))
        self._memory = memory
        self._limit = whole("limit", usual.limit if limit is None else limit, least=1, most=MOST_HITS)
        budget = usual.token_budget if token_budget is None else token_budget
        self._token_budget = whole("token_budget", budget, least=1)
        self._placement: Placement = placement
        self._captures = flag("captures", captures)

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
        with self._capturing(request.state, request.runtime):
            return handler(self._with_block(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Do the same without blocking the event loop."""
        async with self._acapturing(request.state, request.runtime):
            return await handler(self._with_block(request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Leave the call as it is; when the tool fails, capture what was said so far."""
        with self._capturing(request.state, request.runtime):
            return handler(request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Do the same without blocking the event loop."""
        async with self._acapturing(request.state, request.runtime):
            return await handler(request)

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Capture what was said."""
        return run(self._noted(state, runtime))

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Capture what was said without blocking the event loop."""
        return await arun(self._noted(state, runtime))

    def _recalled(self, state: Any, runtime: Runtime[Any]) -> Flow[dict[str, Any]]:
        scope = self._scope(state, runtime)
        tell = _stream_of(runtime)
        found = yield from attempt(self._recall(state, scope, tell))
        if isinstance(found, Failed):
            tell(told_of_failure("recall", found.error))
            found = not_asked([f"recall: {found.error}"])
        return {
            "memory_context": found.text,
            "memory_decision": {
                "decision": found.decision,
                "method": found.method,
                "reason": found.reason,
                "tokens": found.tokens,
            },
            "memory_degraded": list(found.degraded),
            "memory_heard": messages_since_answer(state) if self._captures else [],
            **kept_name(scope),
        }

    def _recall(self, state: Any, scope: Scope, tell: Tell) -> Flow[Recollection]:
        question, before = latest_question(state)
        history = tuple(said.content for said in to_said(before))
        request = RecallRequest(
            message=question, scope=scope, history=history, limit=self._limit, token_budget=self._token_budget
        )
        return (yield from recall(self._memory, request, tell=tell))

    def _with_block(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        block = str((request.state or {}).get("memory_context", ""))
        return request.override(messages=place_block(request.messages, block, placement=self._placement))

    def _noted(self, state: Any, runtime: Runtime[Any]) -> Flow[dict[str, Any] | None]:
        result = yield from self._captured(state, runtime)
        if result is None:
            return None
        notes = (f"capture: {result.error}",) if isinstance(result, Failed) else result.degraded
        return {"memory_degraded": list(dict.fromkeys((*state.get("memory_degraded", ()), *notes)))}

    @contextmanager
    def _capturing(self, state: Any, runtime: _Running) -> Iterator[None]:
        """Capture when the body ends by an error, which passes on; a pause of the graph is none."""
        failed = True
        try:
            yield
            failed = False
        except GraphBubbleUp:
            failed = False
            raise
        finally:
            if failed:
                run(self._captured(state, runtime))

    @asynccontextmanager
    async def _acapturing(self, state: Any, runtime: _Running) -> AsyncIterator[None]:
        failed = True
        try:
            yield
            failed = False
        except GraphBubbleUp:
            failed = False
            raise
        finally:
            if failed:
                await arun(self._captured(state, runtime))

    def _captured(self, state: Any, runtime: _Running) -> Flow[CaptureReport | Failed | None]:
        if not self._captures:
            return None
        report = yield from attempt(self._capture(state, self._scope(state, runtime)))
        if isinstance(report, Failed):
            _stream_of(runtime)(told_of_failure("capture", report.error))
        else:
            _stream_of(runtime)(told_of_capture(report))
        return report

    def _capture(self, state: Any, scope: Scope) -> Flow[CaptureReport]:
        said = to_said(with_summed_up(state["messages"], state.get("memory_heard", ())))
        request = CaptureRequest(
            messages=said,
            scope=scope,
            session=scope.thread,
            source="agent",
            replayed=was_sent_back(get_config()),
            in_a_run=True,
        )
        return (yield from capture(self._memory, request))

    def _scope(self, state: Any, runtime: _Running) -> Scope:
        context = None if runtime is None else runtime.context
        configurable = get_config().get("configurable")
        return scope_of_run(context, configurable, state_of(state), strict=self._memory.strict_scope)


def _stream_of(runtime: _Running) -> Tell:
    """Return who listens to the run's custom stream."""
    return tell_nobody if runtime is None else runtime.stream_writer
