"""A thread of its own for a call that may hang: whoever waits may leave, and the program may end."""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

__all__ = ["in_own_thread"]

T = TypeVar("T")


def in_own_thread(call: Callable[[], T], *, name: str) -> Future[T]:
    """Start a call in a daemon thread, with the caller's context, and return what will hold its result.

    A pool would queue fifty callers behind a few threads, and a hung call in a pool keeps the program from ending.
    """
    future: Future[T] = Future()
    # A running future cannot be cancelled, so that the thread may always put its result down.
    future.set_running_or_notify_cancel()
    context = copy_context()
    Thread(target=_put_down, args=(future, lambda: context.run(call)), name=f"zomem {name}", daemon=True).start()
    return future


def _put_down(future: Future[T], call: Callable[[], T]) -> None:
    try:
        result = call()
    except BaseException as error:  # the caller raises it again, in the thread that waits
        future.set_exception(error)
    else:
        future.set_result(result)
