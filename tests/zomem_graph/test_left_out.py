"""A trace says what was found and is not in the answer, and why."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.values import Recollection
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder

ANN = Scope(persona="ann")
EARLY, LATE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Any:
    with Memory.open(home, embeddings=SmallEmbedder(), clock=clock) as memory:
        yield memory


def reasons(steps: Any) -> dict[str, dict[str, Any]]:
    return {line["why"]: line for step in steps for line in step.get("left_out", ())}


def berths(memory: Memory, count: int) -> list[str]:
    made = ({"entity": f"boat {n}", "value": f"berth {n} by the old lock", "persona": "ann"} for n in range(count))
    return [fact.id for fact in memory.remember_many(made)]


def test_a_search_names_what_came_behind_its_hits(memory: Memory) -> None:
    ids = berths(memory, 9)
    hits = memory.search("berth by the old lock", scope=ANN, limit=2)
    behind = reasons(hits.trace)["behind the best 2"]
    assert behind["count"] == 7
    assert len(behind["ids"]) == 5
    assert not {*behind["ids"]} & {hit.id for hit in hits}
    assert {*behind["ids"]} < {*ids}


def test_a_block_names_what_found_no_room(memory: Memory) -> None:
    ids = berths(memory, 8)
    found: Recollection = memory.recall("Where is the berth by the old lock?", scope=ANN, token_budget=90)
    crowded = reasons(found.trace)["no room in 90 tokens"]
    shown = {hit.id for hit in found.hits}
    assert shown
    assert {*crowded["ids"]} <= {*ids} - shown
    assert crowded["count"] == next(step["dropped"] for step in found.trace if step["step"] == "compose")


def test_a_block_names_what_only_acknowledges(memory: Memory) -> None:
    memory.observe(
        [
            {"role": "user", "content": "the berth of my boat is by the old lock"},
            {"role": "assistant", "content": "OK, noted: the berth of your boat."},
            {"role": "assistant", "content": "Got it!"},
        ],
        scope=ANN,
        session="s1",
    )
    found = memory.recall("where is the berth of my boat?", scope=ANN)
    told = reasons(found.trace)
    shown = {hit.id for hit in found.hits}
    named = {id_ for line in told.values() for id_ in line["ids"]}
    assert "old lock" in found.text
    assert not shown & named


def test_work_gone_on_with_names_what_stands_in_the_conversation_anyway(memory: Memory, clock: FixedClock) -> None:
    said = "we are porting the billing service to Rust"
    memory.observe([{"role": "user", "content": said}], scope=ANN, session="s1")
    clock.advance(hours=1)
    found = memory.recall("continue with the billing service", scope=ANN, history=[{"role": "user", "content": said}])
    assert reasons(found.trace)["stands in the conversation"]["count"] == 1


def test_a_span_that_ends_before_it_begins_is_refused_with_the_cure(memory: Memory) -> None:
    for ask in (
        lambda: memory.search("boat", scope=ANN, since=LATE, until=EARLY),
        lambda: memory.episodes.list(scope=ANN, since=LATE, until=EARLY),
        lambda: memory.episodes.list(scope=ANN, since="2026-02-01", until="2026-01-01"),
        lambda: memory.episodes.trends("boat", scope=ANN, since=LATE, until=EARLY),
    ):
        with pytest.raises(InvalidInput, match="is after until: swap them"):
            ask()
    assert memory.episodes.list(scope=ANN, since="today", until="today") == []
