"""One piece of code for sync and async: a step is a generator that yields what it must wait for.

A step never waits itself. It yields `Work` (a short blocking call), `Question` (a chat model), `Either` (what
exists in both forms) or `Together` (several steps side by side) and gets the result back. `run` waits, `arun`
awaits; the step's own lines between two yields are pure rules and run where they are.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from zomem_graph.nodes.ports import Ask, ChatModel
from zomem_graph.stores.errors import InvalidInput, ZomemError

__all__ = [
    "Effect",
    "Either",
    "Failed",
    "Flow",
    "Question",
    "Together",
    "Work",
    "arun",
    "attempt",
    "run",
    "unless_failing",
    "work",
]

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Work:
    """A short blocking call: a transaction, an embedding."""

    call: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a chat model, with its own deadline."""

    model: ChatModel
    ask: Ask


@dataclass(frozen=True, slots=True)
class Either:
    """A call that exists in two forms, one that waits and one that awaits, such as a Runnable's."""

    call: Callable[[], Any]
    acall: Callable[[], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Failed:
    """A side-by-side step that raised; it never stops the others."""

    error: ZomemError


@dataclass(frozen=True, slots=True)
class Together:
    """Several steps side by side; the result is a list in the same order, `Failed` where one raised."""

    flows: Sequence["Flow[Any]"]


Effect = Work | Question | Either | Together
Flow = Generator[Effect, Any, R]


def work(call: Callable[[], R]) -> Flow[R]:
    """Yield one blocking call and return its result, typed."""
    result: R = yield Work(call)
    return result


def attempt(flow: Flow[R]) -> Flow[R | Failed]:
    """Run a step and return `Failed` instead of raising one of our errors."""
    try:
        return (yield from flow)
    except ZomemError as error:
        return Failed(error)


def unless_failing(flow: Flow[R]) -> Flow[R | Failed]:
    """Do the same where only memory's own failures are borne: what was passed in wrongly is still raised."""
    try:
        return (yield from flow)
    except InvalidInput:
        raise
    except ZomemError as error:
        return Failed(error)


def run(flow: Flow[R]) -> R:
    """Drive a step to its end on this thread."""
    result: Any = None
    error: ZomemError | None = None
    while True:
        try:
            effect = flow.send(result) if error is None else flow.throw(error)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's value is typed by Flow
        result, error = None, None
        try:
            result = _wait(effect)
        except ZomemError as failure:
            error = failure


async def arun(flow: Flow[R]) -> R:
    """Drive a step to its end without blocking the event loop."""
    result: Any = None
    error: ZomemError | None = None
    while True:
        try:
            effect = flow.send(result) if error is None else flow.throw(error)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # as in `run`
        result, error = None, None
        try:
            result = await _await(effect)
        except ZomemError as failure:
            error = failure


def _wait(effect: Effect) -> Any:
    match effect:
        case Work(call):
            return call()
        case Question(model, ask):
            return model.ask(ask)
        case Either(call, _):
            return call()
        case Together(flows):
            return _side_by_side(flows)


async def _await(effect: Effect) -> Any:
    match effect:
        case Work(call):
            return await asyncio.to_thread(call)
        case Question(model, ask):
            return await model.aask(ask)
        case Either(_, acall):
            return await acall()
        case Together(flows):
            return await asyncio.gather(*(arun(attempt(flow)) for flow in flows))


def _side_by_side(flows: Sequence[Flow[Any]]) -> list[Any]:
    if len(flows) == 1:
        return [run(attempt(flows[0]))]
    with ThreadPoolExecutor(max_workers=len(flows)) as pool:
        waiting: list[Future[Any]] = [
            pool.submit(contextvars.copy_context().run, run, attempt(flow)) for flow in flows
        ]
        return [future.result() for future in waiting]
