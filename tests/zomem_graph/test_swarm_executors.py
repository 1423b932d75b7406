"""What executors of a swarm may do: hang, break in their own words, hand back what has yet to be awaited."""

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.types import interrupt

from zomem_graph import Memory, create_swarm_graph
from zomem_graph.nodes.options import SwarmOptions
from zomem_graph.nodes.rules.failures import failure_class
from zomem_graph.testing import FixedClock, SmallEmbedder

ANN: RunnableConfig = {"configurable": {"persona": "ann", "thread_id": "t1"}}
PATIENT = SwarmOptions(deadline_seconds=5)
MANY = 6  # more than the pool of the event loop has threads in these tests


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def release() -> Iterator[Event]:
    event = Event()
    yield event
    event.set()


def good(given: dict[str, Any]) -> str:
    return f"done: {given['task'][:40]}"


def results(memory: Memory, executors: dict[str, Any], *tasks: Any, awaited: bool) -> list[dict[str, Any]]:
    app = create_swarm_graph(memory, executors, options=PATIENT).compile()
    given = {"tasks": list(tasks)}
    out = asyncio.run(app.ainvoke(given, ANN)) if awaited else app.invoke(given, ANN)
    return list(out["results"])


both = pytest.mark.parametrize("awaited", [False, True], ids=["invoke", "ainvoke"])


class Waiting(Runnable[Any, str]):
    """A Runnable of somebody's with no async form."""

    def __init__(self, event: Event) -> None:
        self.event = event

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> str:  # noqa: A002
        self.event.wait()
        return "late"


class WaitingModel(BaseChatModel):
    """A chat model with no async form."""

    event: Any

    @property
    def _llm_type(self) -> str:
        return "waiting"

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_: Any) -> ChatResult:
        self.event.wait()
        return ChatResult(generations=[ChatGeneration(message=AIMessage("late"))])


HANGING: dict[str, Callable[[Event], Any]] = {
    "function": lambda event: lambda _given: event.wait(),
    "lambda": lambda event: RunnableLambda(lambda _given: event.wait()),
    "chain": lambda event: RunnableLambda(lambda given: given) | RunnableLambda(lambda _: event.wait()),
    "with config": lambda event: RunnableLambda(lambda _: event.wait()).with_config(tags=["slow"]),
    "runnable": Waiting,
    "model": lambda event: WaitingModel(event=event),
}


@both
@pytest.mark.parametrize("hanging", HANGING.values(), ids=HANGING)
def test_any_number_of_hanging_executors_blocks_nobody_else(
    memory: Memory, release: Event, hanging: Callable[[Event], Any], awaited: bool
) -> None:
    options = SwarmOptions(deadline_seconds=2, concurrency=MANY)
    app = create_swarm_graph(memory, {"stuck": hanging(release), "good": good}, options=options).compile()
    stuck = [{"task": f"Fix number {number}", "executor": "stuck"} for number in range(MANY)]

    async def awaiting() -> Any:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MANY // 2))
        return await app.ainvoke({"tasks": stuck}, ANN)

    out = asyncio.run(awaiting()) if awaited else app.invoke({"tasks": stuck}, ANN)
    assert {one["executor"] for one in out["results"]} == {"good"}
    blamed = {one["executor"] for each in out["results"] for one in each["attempts"] if one["error"]}
    assert blamed == {"stuck"}


def test_a_program_ends_though_an_executor_hangs_for_good(tmp_path: Path) -> None:
    script = f"""
        import asyncio, threading
        from zomem_graph import Memory, create_swarm_graph
        from zomem_graph.nodes.options import SwarmOptions

        async def main():
            memory = Memory.open({str(tmp_path / "home")!r}, embeddings="none")
            executors = {{"stuck": lambda given: threading.Event().wait(), "good": lambda given: "fine"}}
            swarm = create_swarm_graph(memory, executors, options=SwarmOptions(deadline_seconds=0.2)).compile()
            out = await swarm.ainvoke({{"tasks": [{{"task": "Fix the login", "executor": "stuck"}}]}})
            memory.close()
            print(out["results"][0]["answer"])

        asyncio.run(main())
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "fine\n"), ended.stderr


@both
def test_an_executor_in_its_own_thread_knows_its_run(memory: Memory, awaited: bool) -> None:
    """A pause needs the context and the config of the run in the thread that pauses."""
    app = create_swarm_graph(memory, {"asking": lambda _given: interrupt("may I?")}, options=PATIENT).compile()
    out = asyncio.run(app.ainvoke({"tasks": ["x"]}, ANN)) if awaited else app.invoke({"tasks": ["x"]}, ANN)
    assert out["__interrupt__"][0].value == "may I?"


class _Dumb(Exception):
    def __str__(self) -> str:
        raise IndexError("no words")


class _Unreadable:
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Callable[[Any], Any]:
    def executor(_given: Any) -> Any:
        raise error

    return executor


def araising(error: BaseException) -> Callable[[Any], Any]:
    async def executor(_given: Any) -> Any:
        raise error

    return executor


ERRORS = [_Dumb("x"), SystemExit(3), GeneratorExit(), StopIteration(3), asyncio.CancelledError(), MemoryError()]


@both
@pytest.mark.parametrize("executor", [*map(raising, ERRORS), lambda _given: _Unreadable(), lambda _: [_Unreadable()]])
def test_whatever_an_executor_raises_is_its_own_failure(memory: Memory, executor: Any, awaited: bool) -> None:
    (first, second) = results(
        memory, {"odd": executor, "good": good}, {"task": "Fix", "executor": "odd"}, "Write", awaited=awaited
    )
    assert (first["executor"], second["outcome"]) == ("good", "success")
    assert first["attempts"][0]["executor"] == "odd"
    assert first["attempts"][0]["error"]


@pytest.mark.parametrize("error", [_Dumb("x"), asyncio.CancelledError()], ids=["no words", "cancelled"])
def test_so_is_what_an_async_executor_raises(memory: Memory, error: BaseException) -> None:
    task = {"task": "Fix", "executor": "odd"}
    (result,) = results(memory, {"odd": araising(error), "good": good}, task, awaited=True)
    assert result["executor"] == "good"
    assert type(error).__name__ in result["attempts"][0]["error"]


@both
def test_ctrl_c_is_nobodys_failure(memory: Memory, awaited: bool) -> None:
    with pytest.raises(KeyboardInterrupt):
        results(memory, {"odd": raising(KeyboardInterrupt())}, "Fix", awaited=awaited)


async def works(given: dict[str, Any]) -> str:
    await asyncio.sleep(0)
    return good(given)


FORWARDING: dict[str, Any] = {
    "function": lambda given: works(given),
    "Runnable": RunnableLambda(lambda given: works(given)),
    "future": lambda given: RunnableLambda(works).ainvoke(given),
}


@pytest.mark.parametrize("executor", FORWARDING.values(), ids=FORWARDING)
def test_a_function_that_forwards_to_a_coroutine_is_awaited(memory: Memory, executor: Any) -> None:
    (result,) = results(memory, {"one": executor}, "Fix", awaited=True)
    assert (result["outcome"], result["answer"]) == ("success", "done: Fix")


@pytest.mark.parametrize("executor", FORWARDING.values(), ids=FORWARDING)
def test_where_nothing_can_be_awaited_it_has_failed_and_says_what_to_do(memory: Memory, executor: Any) -> None:
    (result,) = results(memory, {"one": executor}, "Fix", awaited=False)
    assert result["outcome"] == "failure"
    assert "ainvoke" in result["error"]


def test_a_coroutine_that_hangs_behind_a_function_is_left_too(memory: Memory) -> None:
    task = {"task": "Fix", "timeout_seconds": 0.2}
    (result,) = results(memory, {"one": lambda _given: asyncio.sleep(60)}, task, awaited=True)
    assert result["failure_class"] == "timeout"


@pytest.mark.parametrize(
    ("answer", "said"),
    [({"a": 1}, "none of its keys"), ({"answer": ""}, "nothing"), ({}, "nothing"), ({"messages": []}, "nothing")],
)
def test_a_mapping_without_an_answer_is_told_from_an_empty_one(memory: Memory, answer: Any, said: str) -> None:
    (result,) = results(memory, {"one": lambda _given: answer}, "Fix", awaited=False)
    assert said in result["error"]


@pytest.mark.parametrize(
    "error",
    ["ETIMEDOUT", "ReadTimeout: ", "httpx.ConnectTimeout", "APITimeoutError: x", "TimeoutException", "timed out"],
)
def test_a_timeout_in_one_word_is_a_timeout(error: str) -> None:
    assert failure_class(error) == "timeout"


def test_a_setting_called_timeout_is_none() -> None:
    assert failure_class("connect_timeout must be a number") == "unknown"
