"""Going on with earlier work: "weiter" brings the last session back, a topic brings what belongs to it."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from zomem_graph import Memory, Scope, create_recall_graph
from zomem_graph.nodes.values import Recollection
from zomem_graph.testing import FixedClock, SmallEmbedder

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")
BARE = ["continue", "Continue.", "go ahead", "weiter", "继续", "sigue", "続けて", "I'm back. Where were we?"]
LISTED = Path(__file__).resolve().parent.parent / "data" / "going_on_messages.jsonl"
GOING_ON = [row for row in map(json.loads, LISTED.read_text(encoding="utf-8").splitlines()) if row["topic"] == ""]
REPORT = [
    {"role": "user", "content": "Let us write the Lisbon report. I still need to check the rent table."},
    {"role": "assistant", "content": "I have drafted the introduction and the rent table."},
]


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def report(memory: Memory, clock: FixedClock) -> Memory:
    """A memory that has two finished sessions of Ann's, the report the later one."""
    memory.capture([{"role": "user", "content": "Let us paint the kitchen blue."}], scope=ANN, session="s1")
    clock.advance(hours=5)
    memory.capture(REPORT, scope=ANN, session="s2")
    clock.advance(days=1)
    memory.flush()
    return memory


def kinds(found: Recollection) -> set[str]:
    return {hit.kind for hit in found.hits}


def text(found: Recollection) -> str:
    return "\n".join(hit.text for hit in found.hits)


# -- a bare word to go on --------------------------------------------------------------------------


@pytest.mark.parametrize("message", BARE)
def test_a_bare_word_brings_the_last_session_and_what_it_left_open(report: Memory, message: str) -> None:
    found = report.recall(message, scope=ANN)

    assert (found.decision, found.method) == ("inject", "continuation")
    assert {"turn", "loop"} <= kinds(found)
    assert "I have drafted the introduction" in found.text
    assert "check the rent table" in found.text


@pytest.mark.parametrize("language", sorted({row["language"] for row in GOING_ON}))
def test_every_way_to_say_it_brings_the_last_turns_and_what_is_open(report: Memory, language: str) -> None:
    for message in (row["text"] for row in GOING_ON if row["language"] == language):
        found = report.recall(message, scope=ANN)

        assert (found.decision, found.method) == ("inject", "continuation"), message
        assert {"turn", "loop"} <= kinds(found), message
        assert "I have drafted the introduction" in found.text, message


def test_the_last_session_comes_before_the_one_before(report: Memory) -> None:
    found = report.recall("weiter", scope=ANN)
    sessions = [hit.metadata["session"] for hit in found.hits if hit.kind == "turn"]

    assert sessions[:2] == ["s2", "s2"]


def test_nothing_to_go_on_with_says_so(memory: Memory) -> None:
    assert memory.recall("continue", scope=ANN).decision == "empty"


def test_another_persona_gets_nothing_of_it(report: Memory) -> None:
    assert report.recall("continue", scope=BOB).decision == "empty"


def test_a_resolved_loop_never_comes_back(report: Memory) -> None:
    (loop,) = report.loops.list(scope=ANN)
    report.loops.resolve(loop.id, scope=ANN)

    for message in (
        "weiter",
        "what is still open?",
        "any news on the rent table?",
        "tell me about the rent table",
    ):
        assert "loop" not in kinds(report.recall(message, scope=ANN)), message


def test_a_finished_item_said_to_be_done_never_comes_back(report: Memory) -> None:
    done = [{"role": "user", "content": "I am done: I have checked the rent table, it is finished."}]
    report.capture(done, scope=ANN, session="s3")

    assert "loop" not in kinds(report.recall("continue", scope=ANN))


def test_a_snoozed_loop_waits(report: Memory, clock: FixedClock) -> None:
    (loop,) = report.loops.list(scope=ANN)
    report.loops.snooze(loop.id, "in 3 days", scope=ANN)

    assert "loop" not in kinds(report.recall("continue", scope=ANN))
    clock.advance(days=3)
    assert "loop" in kinds(report.recall("continue", scope=ANN))


def test_after_two_weeks_only_what_is_open_comes_back(report: Memory, clock: FixedClock) -> None:
    clock.advance(days=15)

    assert kinds(report.recall("continue", scope=ANN)) == {"loop"}


def test_an_urgent_loop_comes_before_an_ordinary_one(memory: Memory) -> None:
    memory.loops.create("Water the plants", scope=ANN)
    memory.loops.create("Renew the certificate", priority=0.9, scope=ANN)

    found = memory.recall("what is still open?", scope=ANN)
    assert [hit.metadata["title"] for hit in found.hits] == ["Renew the certificate", "Water the plants"]


def test_a_thread_goes_on_with_itself(report: Memory) -> None:
    found = report.recall("continue", scope=Scope(persona="ann", thread="s1"))

    assert "paint the kitchen" in found.hits[0].text


def test_at_most_six_things_come_back(memory: Memory) -> None:
    for number in range(20):
        memory.loops.create(f"Chapter {number}", scope=ANN)

    assert len(memory.recall("continue", scope=ANN).hits) == 6
    assert len(memory.recall("continue", scope=ANN, limit=2).hits) == 2


# -- a topic ---------------------------------------------------------------------------------------


def test_a_named_topic_brings_what_belongs_to_it(report: Memory) -> None:
    found = report.recall("where did we leave off on the kitchen?", scope=ANN)

    assert found.method == "continuation"
    assert "paint the kitchen blue" in text(found)
    assert "rent table" not in text(found)


def test_facts_episodes_loops_and_turns_come_together(report: Memory) -> None:
    report.remember("lisbon report", "deadline", "Friday", persona="ann")

    found = report.continuation("any progress on the Lisbon report rent table?", scope=ANN)
    assert kinds(found) == {"fact", "episode", "loop", "turn"}


def test_imported_archives_stay_out_of_the_way(memory: Memory, clock: FixedClock) -> None:
    memory.remember("chatgpt.report", "summary", "an old Lisbon report", persona="ann")
    memory.remember("lisbon report", "deadline", "Friday", persona="ann")

    found = memory.recall("any news on the Lisbon report?", scope=ANN)
    assert [hit.metadata["entity"] for hit in found.hits] == ["lisbon report"]


def test_older_work_is_found_when_the_last_days_hold_none(report: Memory, clock: FixedClock) -> None:
    clock.advance(days=60)

    found = report.recall("where did we leave off on the kitchen?", scope=ANN)
    assert "paint the kitchen blue" in text(found)
    assert found.trace[1]["widened"]


def test_every_hit_says_what_its_score_is_made_of(report: Memory) -> None:
    for hit in report.recall("continue", scope=ANN).hits:
        assert hit.score == pytest.approx(min(1.0, sum(hit.explanation.boosts.values())))


def test_the_past_can_be_replayed(report: Memory, clock: FixedClock) -> None:
    then = clock()
    (loop,) = report.loops.list(scope=ANN)
    clock.advance(days=1)
    report.loops.resolve(loop.id, scope=ANN)

    assert loop.id in [hit.id for hit in report.recall("continue", scope=ANN, as_of=then).hits]


def test_it_works_by_words_alone_and_says_so(home: Path, clock: FixedClock) -> None:
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        memory.capture(REPORT, scope=ANN, session="s2")
        found = memory.recall("weiter", scope=ANN)

        assert "rent table" in found.text
        assert any("words only" in note for note in found.degraded)


# -- the conversation says what is meant -----------------------------------------------------------


def test_the_second_one_is_the_second_of_the_list(memory: Memory) -> None:
    memory.observe([{"role": "user", "content": "For the Porto trip we want a room with a balcony."}], scope=ANN)
    memory.observe([{"role": "user", "content": "For the Lyon trip we want the early train."}], scope=ANN)
    history = [
        HumanMessage("Which trips are there?"),
        AIMessage("There are two:\n1. the Lyon trip\n2. the Porto trip"),
    ]

    found = memory.recall("let us go with the second one", scope=ANN, history=history)
    assert "balcony" in found.hits[0].text


def test_it_is_what_the_conversation_is_about(home: Path) -> None:
    memory = Memory.open(home, embeddings="none")
    for place, thing in (("Porto", "a balcony"), ("Lyon", "the early train"), ("Rome", "two bicycles")):
        said = f"For {place} we want {thing}."
        memory.observe([{"role": "user", "content": said}], scope=ANN, session=place)
    history = [HumanMessage("I am packing for Porto."), AIMessage("Good. Shall I look at the room?")]

    found = memory.recall("what did I tell you about it?", scope=ANN, history=history)
    memory.close()
    assert "balcony" in found.hits[0].text


def test_what_stands_in_the_conversation_is_not_recalled_again(report: Memory) -> None:
    history = [HumanMessage(REPORT[0]["content"]), AIMessage(REPORT[1]["content"])]

    found = report.recall("continue", scope=ANN, history=history)
    assert "turn" not in kinds(found)
    assert "loop" in kinds(found)


# -- through the graph -----------------------------------------------------------------------------

CONFIG: dict[str, Any] = {"configurable": {"persona": "ann", "thread_id": "new"}}


@pytest.mark.parametrize("message", ["weiter", "where did we leave off on the kitchen?", "go with the second one"])
def test_the_graph_and_memory_recall_agree(report: Memory, message: str) -> None:
    before = [HumanMessage("Kitchen or report?"), AIMessage("Shall we do the kitchen or the report?")]
    plain = report.recall(message, scope=Scope(persona="ann", thread="new"), history=before)
    app: Any = create_recall_graph(report).compile()
    through = app.invoke({"messages": [*before, HumanMessage(message)]}, CONFIG)

    assert through["memory_context"] == plain.text != ""
    assert through["memory_decision"]["method"] == plain.method == "continuation"


def test_sync_and_async_agree(report: Memory) -> None:
    assert asyncio.run(report.arecall("weiter", scope=ANN)).text == report.recall("weiter", scope=ANN).text


def test_custom_events_name_the_step(report: Memory) -> None:
    app: Any = create_recall_graph(report).compile()
    events = list(app.stream({"messages": [HumanMessage("weiter")]}, CONFIG, stream_mode="custom"))

    assert [event["memory"] for event in events] == ["gate", "continuation", "compose"]


def test_a_continuation_is_recalled_whatever_the_gate_thinks(report: Memory) -> None:
    assert report.recall("hello", scope=ANN).decision == "skip"
    assert report.continuation("hello", scope=ANN).decision == "inject"
