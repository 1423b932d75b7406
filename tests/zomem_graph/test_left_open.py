"""What a session left open is told as long as it is open, whatever closed it and whoever reads."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.stores.records import Loop
from zomem_graph.testing import FixedClock

ANN = Scope(persona="ann")
MATTER = "check the rent table"


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


@pytest.fixture
def left(memory: Memory, clock: FixedClock) -> Loop:
    """The loop that a session about a report has left open; a session about something else came before."""
    said(memory, "s1", "Let us paint the kitchen blue.")
    clock.advance(hours=8)
    said(memory, "s2", "Let us write the Lisbon report.", f"I still need to {MATTER}.")
    clock.advance(hours=8)
    (loop,) = memory.loops.list(scope=ANN)
    return loop


def said(memory: Memory, session: str, *texts: str) -> None:
    memory.capture([{"role": "user", "content": text} for text in texts], scope=ANN, session=session)


# -- the ways a loop is closed ---------------------------------------------------------------------


def by_hand(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    memory.loops.resolve(loop.id, scope=ANN)


def by_a_text(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    assert memory.loops.resolve_from("I checked the rent table, done.", scope=ANN)


def by_a_later_session(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    said(memory, "s3", "I checked the rent table, done.")


def by_another(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    memory.loops.supersede(loop.id, scope=ANN)


def by_its_end(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    memory.loops.create(loop.title, kind=loop.kind, expires_at="tomorrow", scope=ANN)
    clock.advance(days=3)


def by_silence(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    clock.advance(days=20)
    memory.loops.tend()
    clock.advance(days=40)
    memory.loops.tend()
    said(memory, "s3", "Let us go on with the Lisbon report.")


def by_forgetting(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    memory.delete(loop.id, scope=ANN)


def by_retracting(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    memory.retract(loop.id, reason="never so", scope=ANN)


def once_more(memory: Memory, loop: Loop, clock: FixedClock) -> None:
    memory.loops.resolve(loop.id, scope=ANN)
    memory.loops.reopen(loop.id, scope=ANN)
    memory.loops.resolve(loop.id, scope=ANN)


CLOSED = [
    by_hand,
    by_a_text,
    by_a_later_session,
    by_another,
    by_its_end,
    by_silence,
    by_forgetting,
    by_retracting,
    once_more,
]


# -- the ways it could be read ---------------------------------------------------------------------


def going_on(memory: Memory) -> list[str]:
    return [hit.text for hit in memory.recall("continue", scope=ANN).hits if hit.kind != "turn"]


def going_on_with_it(memory: Memory) -> list[str]:
    message = "Where did we leave off with the Lisbon report?"
    return [hit.text for hit in memory.recall(message, scope=ANN).hits if hit.kind != "turn"]


def asking_for_it(memory: Memory) -> list[str]:
    found = memory.recall("What is left to do for the Lisbon report and its rent table?", scope=ANN)
    return [hit.text for hit in found.hits if hit.kind != "turn"]


def searching(memory: Memory) -> list[str]:
    return [hit.text for hit in memory.search("rent table", scope=ANN, kinds=["episode", "loop", "fact"])]


def the_briefing(memory: Memory) -> list[str]:
    return [point.text for point in memory.briefing(scope=ANN).points]


def a_checkpoint(memory: Memory) -> list[str]:
    saved = memory.checkpoints.save("Move on", scope=ANN)
    return [one["text"] for one in (*saved.open_loops, *saved.pending_episodes)]


def the_list(memory: Memory) -> list[str]:
    return [episode.summary for episode in memory.episodes.list(scope=ANN)]


READ = [going_on, going_on_with_it, asking_for_it, searching, the_briefing, a_checkpoint, the_list]


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("close", CLOSED)
def test_what_is_no_longer_open_is_not_told_as_open(
    close: Callable[[Memory, Loop, FixedClock], None],
    read: Callable[[Memory], list[str]],
    memory: Memory,
    left: Loop,
    clock: FixedClock,
) -> None:
    close(memory, left, clock)

    told = [text for text in read(memory) if MATTER in text.lower()]
    assert [text for text in told if "Finished: Check the rent table" not in text] == []


@pytest.mark.parametrize("read", [going_on, asking_for_it, searching, the_briefing, a_checkpoint])
def test_what_is_open_again_is_told_as_open_and_not_as_finished(
    read: Callable[[Memory], list[str]], memory: Memory, left: Loop, clock: FixedClock
) -> None:
    said(memory, "s3", "Let us go on with Lisbon.", "I checked the rent table, done.")
    assert any("Finished: Check the rent table" in text for text in the_list(memory))

    memory.loops.reopen(left.id, scope=ANN)

    told = [text for text in read(memory) if MATTER in text.lower()]
    assert told
    assert [text for text in told if "Finished" in text] == []
