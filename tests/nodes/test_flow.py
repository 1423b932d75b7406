"""Steps are written once and run alike, waiting or awaiting."""

import asyncio
import time

import pytest

from zomem_graph.nodes.flow import Failed, Flow, Question, Together, Work, arun, attempt, run, work
from zomem_graph.nodes.ports import Ask
from zomem_graph.stores.errors import InvalidInput, ZomemError
from zomem_graph.testing import ScriptedChat

ASK = Ask(workload="gate", system="", prompt="?")


def added(a: int, b: int) -> Flow[int]:
    first = yield from work(lambda: a)
    second = yield from work(lambda: b)
    return first + second


def refusing() -> Flow[int]:
    yield Work(lambda: None)
    raise InvalidInput("no")


def failing_call() -> None:
    raise InvalidInput("inside")


def recovering() -> Flow[str]:
    try:
        yield Work(failing_call)
    except InvalidInput as error:
        return f"caught {error}"
    return "nothing caught"


def test_a_step_gives_the_same_waiting_and_awaiting() -> None:
    assert run(added(2, 3)) == asyncio.run(arun(added(2, 3))) == 5


def test_a_failure_inside_a_call_can_be_caught_by_the_step() -> None:
    assert run(recovering()) == asyncio.run(arun(recovering())) == "caught inside"


def test_an_attempt_turns_an_error_into_a_value() -> None:
    assert isinstance(run(attempt(refusing())), Failed)
    with pytest.raises(ZomemError):
        run(refusing())


def both() -> Flow[list[object]]:
    result: list[object] = yield Together([added(1, 1), refusing()])
    return result


def test_side_by_side_one_failure_leaves_the_other_alone() -> None:
    for found in (run(both()), asyncio.run(arun(both()))):
        assert found[0] == 2
        assert isinstance(found[1], Failed)


def asking(model: ScriptedChat) -> Flow[str]:
    reply = yield Question(model, ASK)
    return str(reply.text)


def test_a_question_is_answered_both_ways() -> None:
    assert run(asking(ScriptedChat(["yes"]))) == asyncio.run(arun(asking(ScriptedChat(["yes"])))) == "yes"


def test_fifty_slow_calls_awaited_together_do_not_queue() -> None:
    async def all_of_them() -> float:
        async def slow() -> None:
            await arun(sleeping())

        began = time.perf_counter()
        await asyncio.gather(*(slow() for _ in range(4)))
        return time.perf_counter() - began

    assert asyncio.run(all_of_them()) < 4 * 0.2


def sleeping() -> Flow[None]:
    yield Work(lambda: time.sleep(0.2))
