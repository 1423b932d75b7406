"""Keeps every model call within its deadline, waiting or awaiting (spec F146).

Each call gets a daemon thread of its own: a pool would queue fifty callers behind a few threads, and
a hung call in a pool keeps the program from ending.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

from zomem_graph.models.failures import provider_errors, timed_out
from zomem_graph.stores.errors import ZomemError

__all__ = ["MODEL_DEADLINE_SECONDS", "await_within", "in_own_thread", "wait_within"]

# The most that any model call may take (spec F146).
MODEL_DEADLINE_SECONDS = 60.0

T = TypeVar("T")


def wait_within(call: Callable[[], T], *, seconds: float, who: str) -> T:
    """Return what `call` returns; raises ModelTimeout after `seconds`, ModelError when it fails."""
    try:
        return _started(call, who).result(timeout=seconds)
    except TimeoutError:
        raise timed_out(who, seconds=seconds) from None


async def await_within(awaitable: Awaitable[T], *, seconds: float, who: str) -> T:
    """Await with the same promise as `wait_within`."""
    try:
        async with asyncio.timeout(seconds):
            with provider_errors(who):
                return await awaitable
    except TimeoutError:
        raise timed_out(who, seconds=seconds) from None


async def in_own_thread(call: Callable[[], T], *, who: str) -> T:
    """Await a call that would block the event loop; raises ModelError when it fails."""
    return await asyncio.wrap_future(_started(call, who))


def _started(call: Callable[[], T], who: str) -> Future[T]:
    future: Future[T] = Future()
    # A running future cannot be cancelled, so that the thread may always put its result down.
    future.set_running_or_notify_cancel()
    context = copy_context()

    def work() -> None:
        try:
            with provider_errors(who):
                result = context.run(call)
        except ZomemError as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    Thread(target=work, name=f"zomem {who}", daemon=True).start()
    return future
