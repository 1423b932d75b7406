"""What is asked or said again and again takes one place, and leaves the others to its answer."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.testing import FixedClock

ANN = Scope(persona="ann")
QUESTION = "Where does the green kettle stand?"


def filled(home: Path, clock: FixedClock, times: int) -> Memory:
    memory = Memory.open(home, embeddings="none", clock=clock)
    tell(memory, ["I put the green kettle into the cellar"], "told")
    for number in range(times):
        clock.advance(hours=1)
        tell(memory, [QUESTION], f"asked {number}")
    clock.advance(days=1)
    return memory


def tell(memory: Memory, texts: Sequence[str], session: str) -> None:
    memory.observe([{"role": "user", "content": text} for text in texts], scope=ANN, session=session)


@pytest.mark.parametrize("times", [40, 260])
def test_a_question_that_was_asked_often_still_finds_its_answer(home: Path, clock: FixedClock, times: int) -> None:
    with filled(home, clock, times) as memory:
        hits = memory.search(QUESTION, scope=ANN)
        assert any("cellar" in hit.text for hit in hits)
        assert len([hit for hit in hits if QUESTION in hit.text]) == 1
        alike, *_ = hits.trace[0]["left_out"]
        assert alike["why"] == "says the same as a better one"
        assert alike["count"] >= 39
        assert "cellar" in memory.recall(QUESTION, scope=ANN).text
