"""Let an executor do a task: within its deadline, whatever it does, sync or async."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from inspect import isawaitable, iscoroutine
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import (
    Runnable,
    RunnableBinding,
    RunnableGenerator,
    RunnableLambda,
    RunnableSequence,
)
from langgraph.errors import GraphBubbleUp

from zomem_graph.nodes.flow import Either, Flow
from zomem_graph.nodes.ports import Clock
from zomem_graph.nodes.rules.answers import Answer, read_answer
from zomem_graph.nodes.rules.failures import failure_class
from zomem_graph.nodes.threads import in_own_thread

__all__ = ["Attempt", "attempt_task"]

_LONGEST_ERROR: Final = 2_000
_UNAWAITED: Final = (
    "returned a coroutine, and a sync run awaits nothing: use ainvoke or astream of the swarm, or let the function "
    "run it (asyncio.run)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """How one executor came off with one task."""

    executor: str
    success: bool
    answer: str
    error: str | None
    failure_class: str | None
    duration_ms: float


def attempt_task(
    name: str, executor: Runnable[Any, Any], given: Any, config: Any, *, seconds: float, clock: Clock
) -> Flow[Attempt]:
    """Return the attempt; an executor that hangs, raises or returns nothing has failed, and nothing else has.

    What is sync runs in a thread of its own, also in an async run. A pause of the graph (an interrupt) is no failure
    and passes on.
    """

    def call() -> Any:
        return executor.invoke(given, config)

    async def acall() -> Answer:
        if not _is_sync(executor):
            return await _awaited(executor.ainvoke(given, config))
        # In a thread of its own: in the event loop's pool, one that hangs for good takes a place from everybody.
        told = await asyncio.wrap_future(_started(call))
        return told if isinstance(told, Answer) else await _awaited(told)

    started = clock()
    answer: Answer = yield Either(lambda: _within(call, seconds), lambda: _awithin(acall, seconds))
    took = (clock() - started).total_seconds() * 1_000
    error = None if answer.error is None else answer.error[:_LONGEST_ERROR]
    return Attempt(
        executor=name,
        success=error is None,
        answer=answer.text,
        error=error,
        failure_class=None if error is None else failure_class(error),
        duration_ms=max(0.0, took),
    )


def _is_sync(executor: Runnable[Any, Any]) -> bool:
    """Return whether an executor has no async form of its own, so that awaiting it waits for a thread."""
    if isinstance(executor, RunnableLambda):
        return not hasattr(executor, "afunc")
    if isinstance(executor, RunnableGenerator):
        return not hasattr(executor, "_atransform")
    if isinstance(executor, RunnableBinding):
        return _is_sync(executor.bound)
    if isinstance(executor, RunnableSequence):
        return all(map(_is_sync, executor.steps))
    if isinstance(executor, BaseChatModel):
        own = type(executor)
        return own._agenerate is BaseChatModel._agenerate and own._astream is BaseChatModel._astream
    return type(executor).ainvoke is Runnable.ainvoke


def _within(call: Callable[[], Any], seconds: float) -> Answer:
    """Wait for a call in a thread of its own; what comes after the deadline is not heard any more."""
    try:
        told = _started(call).result(timeout=seconds)
    except TimeoutError:  # an executor's own is an answer by now
        return _late(seconds)
    if isinstance(told, Answer):
        return told
    if iscoroutine(told):
        told.close()
    return Answer("", _UNAWAITED)


async def _awithin(acall: Callable[[], Awaitable[Answer]], seconds: float) -> Answer:
    task = asyncio.ensure_future(acall())
    try:
        # Not `timeout`: an executor that ignores its cancellation would be waited for.
        await asyncio.wait({task}, timeout=seconds)
        return task.result() if task.done() else _late(seconds)
    finally:
        if not task.done():
            task.cancel()


def _started(call: Callable[[], Any]) -> Future[Answer | Awaitable[Any]]:
    return in_own_thread(lambda: _called(call), name="executor")


def _called(call: Callable[[], Any]) -> Answer | Awaitable[Any]:
    """Return the answer of an executor, or what it handed back to be awaited."""
    try:
        value = call()
        return value if isawaitable(value) else read_answer(value)
    except BaseException as error:  # whatever foreign code raises is that executor's failure, SystemExit too
        return _failed(error)


async def _awaited(waiting: Awaitable[Any]) -> Answer:
    try:
        value = await waiting
        # A plain function may forward to a coroutine.
        return read_answer(await value if isawaitable(value) else value)
    except BaseException as error:  # as above
        return _failed(error)


def _failed(error: BaseException) -> Answer:
    """Return what an executor raised as its answer; a pause and the user's Ctrl-C are raised again."""
    if isinstance(error, GraphBubbleUp | KeyboardInterrupt):
        raise error
    return Answer("", f"{type(error).__name__}: {_words_of(error)}")


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:  # its __str__ is foreign code too
        return f"it cannot say why ({type(broken).__name__})"


def _late(seconds: float) -> Answer:
    return Answer("", f"timed out after {seconds:g} s")
