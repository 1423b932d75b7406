"""A message leans on the stored turns of its thread where the caller gave no history."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.zomem_graph.command_line import CommandLine
from zomem_graph import Memory, Scope
from zomem_graph.testing import FixedClock

ME, S1 = Scope(persona="me"), Scope(persona="me", thread="s1")
SECOND = "what are the opening hours of the second one?"
TALK = [
    {"role": "user", "content": "Which bars could we go to?"},
    {"role": "assistant", "content": "There are two:\n1. Harbor Cafe\n2. Sunset Bar"},
]
HOURS = "Sunset Bar opening hours: from 18:00 to 02:00"


def opened(home: Path, clock: FixedClock | None = None) -> Memory:
    return Memory.open(home, embeddings="none", clock=clock)


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with opened(home, clock) as one:
        one.remember("Sunset Bar", "opening hours", "from 18:00 to 02:00", persona="me")
        one.remember("Harbor Cafe", "opening hours", "from 08:00 to 12:00", persona="me")
        for number in range(20):
            one.remember(f"note {number}", "text", f"the garden has {number} apple trees", persona="me")
        one.observe(TALK, scope=ME, session="s1")
        yield one


def recalled(memory: Memory, message: str) -> str:
    return memory.recall(message, scope=S1).text


def recalled_async(memory: Memory, message: str) -> str:
    return asyncio.run(memory.arecall(message, scope=S1)).text


def by_the_hook(memory: Memory, message: str) -> str:
    line = CommandLine(memory.stores.home.root)
    return line.ok("gate", "--hook", "--persona", "me", given=json.dumps({"prompt": message, "session_id": "s1"}))


@pytest.mark.parametrize("ask", [recalled, recalled_async, by_the_hook])
def test_what_was_listed_in_the_thread_is_what_is_pointed_at(
    ask: Callable[[Memory, str], str], memory: Memory
) -> None:
    block = ask(memory, SECOND)

    assert HOURS in block.split("from 08:00")[0]


@pytest.mark.parametrize("message", ["tell me more about it", "what do you know about it?", "why is that?"])
def test_a_bare_question_asks_of_what_the_thread_spoke_of(memory: Memory, message: str) -> None:
    memory.observe([*TALK, {"role": "user", "content": "I think of the Sunset Bar."}], scope=ME, session="s1")

    assert HOURS in recalled(memory, message)
    assert memory.recall(message, scope=ME).decision == "skip"


@pytest.mark.parametrize("message", ["tell me more about it", "what do you know about it?", "why is that?"])
def test_a_bare_question_asks_of_what_the_history_spoke_of(memory: Memory, message: str) -> None:
    history = [{"role": "user", "content": "I think of the Sunset Bar."}, {"role": "assistant", "content": "Nice."}]

    assert HOURS in memory.recall(message, scope=ME, history=history).text


@pytest.mark.parametrize("message", ["how are you?", "what can you do?", "thanks for that", "hello"])
def test_what_leans_on_nothing_is_still_skipped(memory: Memory, message: str) -> None:
    assert memory.recall(message, scope=S1).decision == "skip"


def test_a_message_that_is_stored_already_is_no_part_of_its_talk(memory: Memory) -> None:
    memory.observe([*TALK, {"role": "user", "content": SECOND}], scope=ME, session="s1")
    found = memory.recall(SECOND, scope=S1)

    assert HOURS in found.text
    assert found.trace[0]["history"] == "2 stored turns"


def test_what_is_stored_only_may_be_told_again(memory: Memory) -> None:
    found = memory.recall("what do you know about it?", scope=S1)
    assert "Sunset Bar" in "".join(hit.text for hit in found.hits if hit.kind == "turn")

    shown = memory.recall("what do you know about it?", scope=S1, history=TALK)
    assert [hit for hit in shown.hits if hit.kind == "turn"] == []


def test_a_history_that_is_given_counts_alone(memory: Memory) -> None:
    other = [{"role": "assistant", "content": "There are two:\n1. Sunset Bar\n2. Harbor Cafe"}]

    assert "from 08:00" in memory.recall(SECOND, scope=S1, history=other).text.split(HOURS)[0]


@pytest.mark.parametrize("scope", [ME, Scope(persona="me", thread="s2"), Scope(persona="you", thread="s1")])
def test_no_other_talk_stands_in(memory: Memory, scope: Scope) -> None:
    assert memory.recall(SECOND, scope=scope).decision != "inject"


def test_the_past_is_asked_within_the_talk_it_had(memory: Memory, clock: FixedClock) -> None:
    then = clock()
    clock.advance(hours=1)
    later = {"role": "assistant", "content": "Or these two:\n1. Sunset Bar\n2. Harbor Cafe"}
    memory.observe([*TALK, later], scope=ME, session="s1")

    assert "from 08:00" in recalled(memory, SECOND).split(HOURS)[0]
    assert HOURS in memory.recall(SECOND, scope=S1, as_of=then).text.split("from 08:00")[0]


@pytest.mark.parametrize("message", [SECOND, "continue"])
def test_what_was_taken_out_is_not_leaned_on_nor_gone_on_with(memory: Memory, message: str) -> None:
    (turn,) = memory.search("There are two", scope=ME, kinds=["turn"], limit=1)
    memory.delete(turn.id, scope=ME)

    assert "There are two" not in memory.recall(message, scope=S1).text
    assert HOURS not in memory.recall(SECOND, scope=S1).text


@pytest.mark.parametrize("kind", ["fact", "turn", "episode", "loop"])
def test_what_came_at_the_very_instant_that_is_asked_for_counts(memory: Memory, clock: FixedClock, kind: str) -> None:
    memory.remember("Lisbon report", "deadline", "Friday", persona="me")
    said = ["Let us write the Lisbon report.", "I still need to check its rent table for the Lisbon report."]
    memory.capture([{"role": "user", "content": text} for text in said], scope=ME, session="s9")
    then = clock()
    clock.advance(days=1)

    assert kind in {hit.kind for hit in memory.search("Lisbon report", scope=ME, as_of=then, limit=50)}
    assert memory.recall("what did I say about the Lisbon report?", scope=ME, as_of=then).decision == "inject"
    if kind != "fact":
        found = memory.recall("continue", scope=ME, as_of=then, limit=50)
        assert kind in {hit.kind for hit in found.hits}
