"""Summaries: old and many episodes in short, then the summaries themselves; nothing is lost, nothing erased stays."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, MemoryOptions, Scope
from zomem_graph.nodes.options import SummaryOptions
from zomem_graph.nodes.ports import Ask
from zomem_graph.nodes.rules.budget import tokens
from zomem_graph.stores.errors import InvalidInput, ModelError, UnknownName
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")
THINGS = ("boiler", "roof", "garden", "kitchen", "cellar", "porch", "attic", "fence")
SMALL = MemoryOptions(summaries=SummaryOptions(threshold=3, most=5))
GOOD: dict[str, object] = {
    "summary": "The house was looked after room by room.",
    "key_decisions": ["The boiler stays."],
    "key_outcomes": ["The roof leaked once."],
}


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def with_model(home: Path, clock: FixedClock, script: Any, options: MemoryOptions | None = None) -> Memory:
    chat = ScriptedChat(by_workload={"summarization": script})
    return Memory.open(home, embeddings="none", chat_model=chat, clock=clock, options=options)


def live_through(
    memory: Memory, clock: FixedClock, episodes: int, *, scope: Scope = ANN, first: int = 0
) -> list[str]:
    ids = []
    for number in range(first, first + episodes):
        thing = THINGS[number % len(THINGS)]
        told = f"Looked after the {thing} with Marek. We decided to repaint the {thing} in shade {100 + number}."
        outcome = "failure" if number % 7 == 3 else "success"
        ids.append(memory.episodes.create(told, outcome=outcome, entities=[thing], scope=scope).id)
        clock.advance(days=1)
    return ids


# -- when ------------------------------------------------------------------------------------------


def test_twenty_episodes_or_young_ones_are_left_alone(memory: Memory, clock: FixedClock) -> None:
    live_through(memory, clock, 20)
    clock.advance(days=30)
    assert memory.summaries.run().written == ()

    with_young = live_through(memory, clock, 10, first=20)
    (summary,) = memory.summaries.run().written
    assert summary.episodes == 11  # 30 - 20 + 1
    assert not set(with_young) & set(summary.sources)


def test_the_oldest_are_summed_up_first_and_only_once(memory: Memory, clock: FixedClock) -> None:
    ids = live_through(memory, clock, 30)
    clock.advance(days=30)

    (summary,) = memory.summaries.run().written
    assert list(summary.sources) == ids[:11]
    assert memory.summaries.run().written == ()
    assert memory.summaries.list(source=ids[3], scope=ANN) == [summary]


def test_what_goes_on_is_not_summed_up(memory: Memory, clock: FixedClock) -> None:
    going_on = memory.episodes.create("Rebuilding the mill", outcome="ongoing", scope=ANN)
    live_through(memory, clock, 25)
    clock.advance(days=30)

    (summary,) = memory.summaries.run().written
    assert going_on.id not in summary.sources


def test_summaries_are_summed_up_too(home: Path, clock: FixedClock) -> None:
    with Memory.open(home, embeddings="none", clock=clock, options=SMALL) as memory:
        live_through(memory, clock, 40)
        clock.advance(days=30)
        memory.summaries.run(limit=100)

        (top,) = [one for one in memory.summaries.list(limit=100, scope=ANN) if one.level == 2][:1]
        below = [memory.summaries.show(source, scope=ANN) for source in top.sources]
        assert {one.level for one in below} == {1}
        assert top.episodes == sum(one.episodes for one in below)
        assert (top.first_at, top.last_at) == (below[0].first_at, below[-1].last_at)
        assert memory.summaries.run(limit=100).written == ()


def test_each_persona_has_its_own(memory: Memory, clock: FixedClock) -> None:
    live_through(memory, clock, 22, scope=ANN)
    live_through(memory, clock, 22, scope=BOB)
    clock.advance(days=30)
    assert len(memory.summaries.run().written) == 2

    (ours,) = memory.summaries.list(scope=ANN)
    assert memory.summaries.list(scope=BOB) != [ours]
    with pytest.raises(UnknownName):
        memory.summaries.show(ours.id, scope=BOB)


def test_a_dry_run_shows_and_writes_nothing(home: Path, clock: FixedClock) -> None:
    with with_model(home, clock, [AssertionError("no model is asked")]) as memory:
        live_through(memory, clock, 25)
        clock.advance(days=30)

        assert memory.summaries.run(dry_run=True).written[0].method == "rules"
        assert memory.summaries.list(scope=ANN) == []


@pytest.mark.parametrize("named", [{"limit": 0}, {"level": 0}])
def test_bad_numbers_are_refused(memory: Memory, named: dict[str, int]) -> None:
    with pytest.raises(InvalidInput):
        memory.summaries.list(**named)  # type: ignore[arg-type]


# -- what ------------------------------------------------------------------------------------------


def test_without_a_model_it_says_what_was_told_in_less_than_half(memory: Memory, clock: FixedClock) -> None:
    live_through(memory, clock, 60)
    clock.advance(days=30)

    (summary,) = memory.summaries.run().written
    assert summary.method == "rules"
    assert summary.summary.startswith("2026-01-05 to 2026-02-14: 35 of 41 went well, 6 failed.")
    assert summary.tokens <= 400
    assert summary.ratio > 0.5
    assert "boiler" in summary.summary
    assert summary.key_outcomes[-1].startswith("Failed: ")
    assert "decided to repaint" in summary.key_decisions[-1]


def test_a_summary_answers_only_when_it_is_asked_for(memory: Memory, clock: FixedClock) -> None:
    live_through(memory, clock, 25)
    clock.advance(days=30)
    (summary,) = memory.summaries.run().written
    memory.flush()

    assert {hit.kind for hit in memory.search("Who looked after the boiler?", scope=ANN)} == {"episode"}
    (hit,) = memory.search("Who looked after the boiler?", kinds=["summary"], scope=ANN)
    assert (hit.id, hit.metadata["episodes"]) == (summary.id, 6)
    assert memory.search("boiler", kinds=["summary"], scope=BOB) == []


def test_what_was_summed_up_stays_and_is_linked(memory: Memory, clock: FixedClock) -> None:
    ids = live_through(memory, clock, 25)
    clock.advance(days=30)
    (summary,) = memory.summaries.run().written

    assert memory.episodes.show(ids[0], scope=ANN).summary.startswith("Looked after the boiler")
    with memory.stores.read() as unit:
        links = unit.links.touching([ids[0]])
    assert [(link.source_id, link.relation) for link in links] == [(summary.id, "derived_from")]


def test_the_model_of_the_workload_writes_it(home: Path, clock: FixedClock) -> None:
    with with_model(home, clock, GOOD) as memory:
        live_through(memory, clock, 25)
        clock.advance(days=30)
        done = memory.summaries.run()

    (summary,) = done.written
    assert (summary.method, summary.summary) == ("testing:scripted", GOOD["summary"])
    assert (list(summary.key_decisions), done.degraded) == (GOOD["key_decisions"], ())


def first_line(ask: Ask) -> str:
    return ask.prompt.splitlines()[1].partition(": ")[2]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("", "no JSON"),
        ({"summary": "  ", "key_decisions": [], "key_outcomes": []}, "it says nothing"),
        (lambda ask: {"summary": ask.prompt}, "no shorter"),
        (lambda ask: {"summary": first_line(ask)}, "repeats one episode"),
        ({"summary": "Invoice 48213 was paid."}, "tells of 48213"),
        (ModelError("the model is down"), "the model is down"),
    ],
    ids=["nothing", "blank", "the same text", "one episode", "a strange number", "down"],
)
def test_what_a_model_gets_wrong_is_done_by_rules_and_said(
    home: Path, clock: FixedClock, script: Any, said: str
) -> None:
    with with_model(home, clock, script) as memory:
        live_through(memory, clock, 25)
        clock.advance(days=30)
        done = memory.summaries.run()

    assert done.written[0].method == "rules"
    assert tokens(done.written[0].summary) < done.written[0].original_tokens
    assert "summary by rules" in done.degraded[0]
    assert said in done.degraded[0]


def test_a_model_that_always_says_the_same_is_believed_once(home: Path, clock: FixedClock) -> None:
    with with_model(home, clock, GOOD, SMALL) as memory:
        live_through(memory, clock, 12)
        clock.advance(days=30)
        done = memory.summaries.run()

    assert [one.method for one in done.written][:2] == ["testing:scripted", "rules"]
    assert "the same text as an earlier summary" in done.degraded[0]


def test_a_reply_that_cannot_be_read_is_asked_for_once_more(home: Path, clock: FixedClock) -> None:
    with with_model(home, clock, ["Sure! Here it is:", GOOD]) as memory:
        live_through(memory, clock, 25)
        clock.advance(days=30)
        assert memory.summaries.run().written[0].summary == GOOD["summary"]


def test_a_secret_in_a_models_summary_is_cut_out(home: Path, clock: FixedClock) -> None:
    leaking = {**GOOD, "summary": "The house was kept; password: hunter-and-gatherer-Qx"}
    with with_model(home, clock, leaking) as memory:
        live_through(memory, clock, 25)
        clock.advance(days=30)
        assert "gatherer" not in memory.summaries.run().written[0].summary


def test_what_changes_while_the_model_thinks_is_left_for_the_next_run(home: Path, clock: FixedClock) -> None:
    opened: list[Memory] = []
    ids: list[str] = []

    def delete_first(_ask: Ask) -> dict[str, object]:
        opened[0].delete(ids[0], scope=ANN)
        return GOOD

    with with_model(home, clock, [delete_first, GOOD]) as memory:
        opened.append(memory)
        ids += live_through(memory, clock, 25)
        clock.advance(days=30)
        done = memory.summaries.run()
        assert (done.written, done.changed) == ((), 1)

        (summary,) = memory.summaries.run().written
        assert ids[0] not in summary.sources


def test_two_runs_at_once_sum_nothing_up_twice(home: Path, clock: FixedClock) -> None:
    def meanwhile(_ask: Ask) -> dict[str, object]:
        with Memory.open(home, embeddings="none", clock=clock) as other:
            assert len(other.summaries.run().written) == 1
        return GOOD

    with with_model(home, clock, meanwhile) as memory:
        live_through(memory, clock, 25)
        clock.advance(days=30)
        done = memory.summaries.run()

        (kept,) = memory.summaries.list(scope=ANN)
    assert (done.written, done.changed, kept.method) == ((), 1, "rules")


def test_every_year_can_be_summed_up(memory: Memory, clock: FixedClock) -> None:
    for number in range(25):
        year = 1 if number % 2 else 2025
        memory.episodes.create(f"Dig {number} at the mill", happened_at=clock().replace(year=year), scope=ANN)

    assert memory.summaries.run().written[0].first_at.year == 1


# -- erasing ---------------------------------------------------------------------------------------


def test_forgetting_a_source_removes_its_summaries_and_the_rest_is_summed_up_anew(
    home: Path, clock: FixedClock, embedder: SmallEmbedder
) -> None:
    options = MemoryOptions(summaries=SummaryOptions(threshold=3, most=8))
    with Memory.open(home, embeddings=embedder, clock=clock, options=options) as memory:
        ids = [memory.episodes.create("Met Wilhelmina Quandt at the Zeppelin museum", scope=ANN).id]
        clock.advance(days=1)
        ids += live_through(memory, clock, 40)
        clock.advance(days=30)
        memory.summaries.run(limit=100)
        assert any("Quandt" in one.summary for one in memory.summaries.list(scope=ANN, limit=100))

        report = memory.forget(persona="ann", matching="Quandt")

        assert report.clean, report.traces
        assert report.counts["summaries"] >= 2  # the summary and the one above it
        assert not any("Quandt" in hit.text for hit in memory.search("Quandt", kinds=["summary"], scope=ANN))
        memory.summaries.run(limit=100)
        told = memory.summaries.list(scope=ANN, limit=100)
        assert not any("Quandt" in one.summary for one in told)
        assert ids[0] not in {source for one in told for source in one.sources}


def test_a_deleted_episode_is_no_longer_told(memory: Memory, clock: FixedClock) -> None:
    ids = live_through(memory, clock, 30)
    clock.advance(days=30)
    memory.summaries.run()
    memory.delete(ids[0], scope=ANN)

    assert memory.summaries.list(scope=ANN) == []
    assert ids[0] not in memory.summaries.run().written[0].sources


def test_a_summary_can_be_forgotten_by_its_id_and_a_persona_with_all_of_them(
    memory: Memory, clock: FixedClock
) -> None:
    live_through(memory, clock, 30)
    clock.advance(days=30)
    (summary,) = memory.summaries.run().written

    assert memory.forget(persona="ann", id=summary.id).counts["summaries"] == 1
    memory.summaries.run()
    assert memory.forget(persona="ann", everything=True).clean
    assert memory.summaries.list(scope=ANN) == []
    assert memory.verify()["ok"]


def test_the_clock_may_jump_back(memory: Memory, clock: FixedClock) -> None:
    live_through(memory, clock, 30)
    clock.advance(days=30)
    memory.summaries.run()
    clock.set(clock() - timedelta(days=400))

    assert memory.summaries.run().written == ()


# -- summaries of summaries by rules ---------------------------------------------------------------


@pytest.mark.parametrize("threshold", [3, 6])
def test_each_level_tells_the_totals_of_all_that_is_below_it(home: Path, clock: FixedClock, threshold: int) -> None:
    options = MemoryOptions(summaries=SummaryOptions(threshold=threshold, most=threshold + 1))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as memory:
        live_through(memory, clock, 90)
        clock.advance(days=30)
        memory.summaries.run(limit=100)
        found = memory.summaries.list(limit=100, scope=ANN)
        assert max(one.level for one in found) >= 2

        def below(id_: str) -> list[str]:
            try:
                return [each for source in memory.summaries.show(id_, scope=ANN).sources for each in below(source)]
            except UnknownName:
                return [memory.episodes.show(id_, scope=ANN).outcome]

        for one in found:
            ended = below(one.id)
            failed = ended.count("failure")
            told = f"{ended.count('success')} of {len(ended)} went well" + (f", {failed} failed" if failed else "")
            assert one.summary.startswith(f"{one.first_at.date()} to {one.last_at.date()}: {told}.")
            assert one.episodes == len(ended)
            assert one.summary.count(" went well") == one.summary.count(" to 20") == 1
            assert bool(one.key_outcomes) == bool(failed) or threshold == 3  # too little to tell of in half of it
            assert 0 < one.ratio < 1
