"""Keeps every model call within its deadline, waiting or awaiting (spec F146)."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

from zomem_graph.models.failures import provider_errors, timed_out
from zomem_graph.nodes.threads import in_own_thread

__all__ = ["MODEL_DEADLINE_SECONDS", "await_blocking", "await_within", "wait_within"]

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


async def await_blocking(call: Callable[[], T], *, who: str) -> T:
    """Await a call that would block the event loop; raises ModelError when it fails."""
    return await asyncio.wrap_future(_started(call, who))


def _started(call: Callable[[], T], who: str) -> Future[T]:
    def guarded() -> T:
        with provider_errors(who):
            return call()

    return in_own_thread(guarded, name=who)
