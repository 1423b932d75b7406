"""Let an executor do a task: within its deadline, whatever it does, sync or async."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from threading import Thread
from typing import Any, Final

from langgraph.errors import GraphBubbleUp

from zomem_graph.nodes.flow import Either, Flow
from zomem_graph.nodes.ports import Clock
from zomem_graph.nodes.rules.answers import Answer, read_answer
from zomem_graph.nodes.rules.failures import failure_class

__all__ = ["Attempt", "attempt_task"]

_LONGEST_ERROR: Final = 2_000


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
    executor: str,
    call: Callable[[], Any],
    acall: Callable[[], Awaitable[Any]],
    *,
    seconds: float,
    clock: Clock,
) -> Flow[Attempt]:
    """Return the attempt; an executor that hangs, raises or returns nothing has failed, and nothing else has.

    A pause of the graph (an interrupt) is no failure and passes on.
    """
    started = clock()
    answer: Answer = yield Either(lambda: _within(call, seconds), lambda: _awithin(acall, seconds))
    took = (clock() - started).total_seconds() * 1_000
    error = None if answer.error is None else answer.error[:_LONGEST_ERROR]
    return Attempt(
        executor=executor,
        success=error is None,
        answer=answer.text,
        error=error,
        failure_class=None if error is None else failure_class(error),
        duration_ms=max(0.0, took),
    )


def _within(call: Callable[[], Any], seconds: float) -> Answer:
    """Wait for a call in a thread of its own; what comes after the deadline is not heard any more."""
    future: Future[Any] = Future()
    context = copy_context()
    # A daemon: an executor that hangs for good must not keep the program from ending.
    Thread(target=_put_down, args=(future, lambda: context.run(call)), name="zomem executor", daemon=True).start()
    try:
        error = future.exception(timeout=seconds)
    except TimeoutError:
        return _late(seconds)
    return _outcome(error, future)


def _put_down(future: "Future[Any]", call: Callable[[], Any]) -> None:
    try:
        result = call()
    except BaseException as error:  # the caller raises it again where it is not the executor's own failure
        future.set_exception(error)
    else:
        future.set_result(result)


async def _awithin(acall: Callable[[], Awaitable[Any]], seconds: float) -> Answer:
    task = asyncio.ensure_future(acall())
    try:
        # Not `timeout`: an executor that ignores its cancellation would be waited for.
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            return _late(seconds)
        return _outcome(asyncio.CancelledError() if task.cancelled() else task.exception(), task)
    finally:
        if not task.done():
            task.cancel()


def _outcome(error: BaseException | None, ended: "Future[Any] | asyncio.Future[Any]") -> Answer:
    if error is None:
        return read_answer(ended.result())
    if isinstance(error, GraphBubbleUp) or not isinstance(error, Exception | asyncio.CancelledError):
        raise error
    return Answer("", f"{type(error).__name__}: {error}")


def _late(seconds: float) -> Answer:
    return Answer("", f"timed out after {seconds:g} s")
