"""Episodes: told by hand, one for each captured session, listed by time, outcome and entity."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from zomem_graph import Memory, MemoryOptions, Scope
from zomem_graph.nodes.options import CaptureOptions
from zomem_graph.stores.errors import InvalidInput, SecretRefused, UnknownName
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def summaries(memory: Memory, **named: object) -> list[str]:
    return [episode.summary for episode in memory.episodes.list(**named)]  # type: ignore[arg-type]


# -- told by hand ----------------------------------------------------------------------------------


def test_an_episode_is_found_by_search_with_its_outcome(memory: Memory) -> None:
    memory.episodes.create("Moved the site to the new host", outcome="failure", entities=["nginx"])

    (hit,) = memory.search("nginx host", kinds=["episode"])
    assert hit.text == "Moved the site to the new host (failure)"
    assert hit.metadata["entities"] == ["nginx"]


def test_the_newest_comes_first_and_filters_narrow(memory: Memory, clock: FixedClock) -> None:
    memory.episodes.create("Deployed on Monday", entities=["Site"])
    clock.advance(days=1)
    memory.episodes.create("Deployed on Tuesday", outcome="failure", entities=["site", "Mail"])

    assert summaries(memory) == ["Deployed on Tuesday", "Deployed on Monday"]
    assert summaries(memory, outcome="failure") == ["Deployed on Tuesday"]
    assert summaries(memory, entity="SITE", limit=1) == ["Deployed on Tuesday"]
    assert summaries(memory, entity="mail", outcome="success") == []


def test_until_a_day_includes_that_day(memory: Memory, clock: FixedClock) -> None:
    memory.episodes.create("Deployed on Monday")
    clock.advance(days=1)

    assert summaries(memory, since="yesterday", until="yesterday") == ["Deployed on Monday"]
    assert summaries(memory, since="today") == []
    assert summaries(memory, until="2026-01-05") == ["Deployed on Monday"]


def test_a_day_is_a_day_of_whoever_asks(memory: Memory, clock: FixedClock) -> None:
    clock.set(datetime(2026, 1, 5, 22, 30, tzinfo=UTC))
    memory.episodes.create("Deployed late", scope=ANN)
    clock.advance(hours=1)
    east = Scope(persona="ann", time_zone="Europe/Moscow")

    assert summaries(memory, since="2026-01-06", scope=east) == ["Deployed late"]
    assert summaries(memory, since="2026-01-06", scope=ANN) == []


def test_what_cannot_be_read_as_a_time_names_the_forms(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="3 days ago"):
        memory.episodes.list(since="the other day or so")


@pytest.mark.parametrize(
    "happened_at",
    [
        datetime(2026, 1, 4, 12),  # without a zone: UTC
        datetime(2026, 1, 5, 2, tzinfo=timezone(timedelta(hours=14))),
        datetime(2026, 1, 4, 1, tzinfo=timezone(timedelta(hours=-11))),
        "2026-01-04T12:00:00",
    ],
)
def test_times_with_and_without_a_zone_are_the_same_instant(memory: Memory, happened_at: datetime | str) -> None:
    assert memory.episodes.create("Deployed", happened_at=happened_at).happened_at == datetime(
        2026, 1, 4, 12, tzinfo=UTC
    )


@pytest.mark.parametrize("year", [1, 9999])
def test_an_episode_of_any_year_is_listed_and_counted(memory: Memory, year: int) -> None:
    memory.episodes.create("Dug at the mill", entities=["mill"], happened_at=datetime(year, 6, 1, tzinfo=UTC))

    assert summaries(memory) == ["Dug at the mill"]
    (trend,) = memory.episodes.trends("mill", since=datetime(1, 1, 1, tzinfo=UTC))
    assert (trend.period[:4], trend.total) == (f"{year:04}", 1)


def test_a_clock_that_jumps_back_loses_no_episode(memory: Memory, clock: FixedClock) -> None:
    memory.episodes.create("Deployed on Monday")
    clock.advance(days=-400)
    memory.episodes.create("Deployed long ago")

    assert summaries(memory) == ["Deployed on Monday", "Deployed long ago"]


def test_two_personas_stay_apart(memory: Memory) -> None:
    episode = memory.episodes.create("Ann moved house", scope=ANN)

    assert summaries(memory, scope=BOB) == []
    assert memory.search("moved house", scope=BOB) == []
    with pytest.raises(UnknownName, match="There are none here"):
        memory.episodes.show(episode.id, scope=BOB)


def test_an_unknown_id_names_the_nearest(memory: Memory) -> None:
    episode = memory.episodes.create("Moved the site")

    assert memory.episodes.show(episode.id[:8]) == episode
    with pytest.raises(UnknownName, match=rf"{episode.id[:8]} \(Moved the site\)"):
        memory.episodes.show("moved site")


def test_a_deleted_episode_is_not_listed(memory: Memory) -> None:
    memory.delete(memory.episodes.create("Moved the site").id)

    assert summaries(memory) == []


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"summary": ""}, "needs a summary"),
        ({"summary": "x", "outcome": "fine"}, "success, failure, resolved, ongoing"),
        ({"summary": "x", "entities": "Lyon"}, "list of names"),
        ({"summary": "x", "duration_ms": -1}, "duration_ms"),
        ({"summary": "x", "happened_at": 7}, "happened_at must be"),
    ],
)
def test_bad_episodes_are_refused(memory: Memory, named: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        memory.episodes.create(**named)  # type: ignore[arg-type]
    assert summaries(memory) == []


def test_an_episode_with_a_secret_is_refused(memory: Memory) -> None:
    with pytest.raises(SecretRefused):
        memory.episodes.create("Rotated the key", metadata={"note": "ghp_" + "a1B2" * 9})


def test_trends_count_what_went_well_by_iso_week(memory: Memory, clock: FixedClock) -> None:
    clock.set(datetime(2026, 12, 31, 12, tzinfo=UTC))
    for outcome in ("success", "failure", "resolved", "ongoing"):
        memory.episodes.create("Deployed the site", outcome=outcome, entities=["Site"])
    clock.set(datetime(2027, 1, 4, 12, tzinfo=UTC))
    memory.episodes.create("Deployed the site", entities=["site"])
    memory.episodes.create("Ordered seeds", entities=["garden"])

    old, new = memory.episodes.trends("SITE")
    assert (old.period, old.total, old.succeeded, old.failed) == ("2026-W53", 4, 2, 1)
    assert old.rate == 0.5
    assert old.finished_rate == pytest.approx(2 / 3)
    assert (new.period, new.rate) == ("2027-W01", 1.0)
    assert [trend.period for trend in memory.episodes.trends("site", granularity="month")] == [
        "2026-12",
        "2027-01",
    ]


def test_trends_by_the_day_are_days_of_whoever_asks(memory: Memory, clock: FixedClock) -> None:
    clock.set(datetime(2026, 1, 5, 22, 30, tzinfo=UTC))
    memory.episodes.create("Deployed the site", entities=["Site"])
    east = Scope(time_zone="Pacific/Kiritimati")

    assert memory.episodes.trends("site", granularity="day")[0].period == "2026-01-05"
    assert memory.episodes.trends("site", granularity="day", scope=east)[0].period == "2026-01-06"


# -- one for each captured session -----------------------------------------------------------------


def test_a_captured_session_leaves_one_episode(memory: Memory, clock: FixedClock) -> None:
    first = [user("Let us plan the garden for spring."), {"role": "assistant", "content": "Gladly."}]
    memory.capture(first, scope=ANN, session="s1")
    clock.advance(minutes=5)
    memory.capture([*first, user("We still need to order the seeds.")], scope=ANN, session="s1")

    (episode,) = memory.episodes.list(scope=ANN)
    assert episode.summary.startswith("Talked about: “Let us plan the garden for spring.”")
    assert episode.duration_ms == pytest.approx(300_000, abs=1)
    assert (episode.metadata["turns"], episode.metadata["loops"]) == (3, 1)
    assert "capture.api" in episode.entities


def test_what_a_session_learned_is_found_through_its_episode(memory: Memory) -> None:
    memory.capture([user("Let us plan the garden.")], scope=ANN, session="s1")
    memory.capture([user("My dog is called Rex.")], scope=ANN, session="s1")

    (hit,) = memory.search("dog Rex", scope=ANN, kinds=["episode"])
    assert "Learned: " in hit.text


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (["We still need to order the seeds."], "ongoing"),
        (["We still need to order the seeds.", "I like tea."], "ongoing"),
        (["I need to call the bank.", "I called the bank, done."], "success"),
        (["I deployed to staging, but it failed with a timeout."], "failure"),
        (["The build is green.", "The tests fail with a KeyError.", "Thanks!"], "failure"),
        (["I tried to restart nginx but it didn't work.", "A reboot fixed it, it works now."], "success"),
        (["The tests no longer fail."], "success"),
    ],
)
def test_what_is_left_open_or_failed_last_is_no_success(said: list[str], outcome: str, memory: Memory) -> None:
    for text in said:
        memory.capture([user(text)], scope=ANN, session="s1")

    assert [episode.outcome for episode in memory.episodes.list(scope=ANN)] == [outcome]


def test_a_settled_contradiction_makes_the_outcome_resolved(memory: Memory) -> None:
    memory.capture([user("My dog is called Rex.")], scope=ANN, session="s1")
    memory.capture([user("I live in Lyon.")], scope=ANN, session="s2")
    memory.capture([user("I live in Porto.")], scope=ANN, session="s3")

    assert [episode.outcome for episode in memory.episodes.list(scope=ANN)].count("resolved") == 1


def test_what_a_model_reads_out_later_is_told_too(home: Path, clock: FixedClock) -> None:
    fact = {
        "entity": "garden",
        "key": "tree",
        "value": "an old walnut tree",
        "confidence": 1.0,
        "source_quote": "the old walnut tree must stay",
    }
    chat = ScriptedChat(by_workload={"extraction": {"facts": [fact]}})
    with Memory.open(home, embeddings="none", chat_model=chat, clock=clock) as memory:
        said = "Let us plan the garden, the old walnut tree must stay."
        memory.capture([user(said)], scope=ANN, session="s1", inline=True)

        (episode,) = memory.episodes.list(scope=ANN)
        assert "garden tree: an old walnut tree" in episode.summary
        assert (episode.metadata["turns"], episode.metadata["facts"]) == (1, 1)


def test_a_long_pause_begins_another_episode(memory: Memory, clock: FixedClock) -> None:
    memory.capture([user("Let us plan the garden.")], scope=ANN, session="s1")
    clock.advance(hours=7)
    memory.capture([user("Let us paint the kitchen.")], scope=ANN, session="s1")

    assert len(memory.episodes.list(scope=ANN)) == 2


def test_courtesies_alone_are_no_episode(memory: Memory) -> None:
    report = memory.capture([user("hello"), {"role": "assistant", "content": "Hi!"}], scope=ANN)

    assert report.episode_id is None
    assert summaries(memory, scope=ANN) == []


def test_a_replayed_conversation_leaves_no_second_episode(memory: Memory) -> None:
    said = [user("Let us plan the garden.")]
    memory.capture(said, scope=ANN)
    memory.capture(said, scope=ANN)

    assert len(memory.episodes.list(scope=ANN)) == 1


def test_episodes_and_loops_can_be_left_out_of_capture(home: Path) -> None:
    options = MemoryOptions(capture=CaptureOptions(loops=False, episodes=False))
    with Memory.open(home, embeddings="none", options=options) as memory:
        memory.capture([user("We still need to fix the login page.")])

        assert memory.episodes.list() == []
        assert memory.loops.list() == []


# -- finished --------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["success", "failure", "resolved"])
def test_an_episode_that_goes_on_can_be_finished(memory: Memory, clock: FixedClock, outcome: str) -> None:
    going_on = memory.episodes.create("Move the site", outcome="ongoing", scope=ANN)
    done = memory.episodes.finish(going_on.id[:8], outcome, duration_ms=90_000, scope=ANN)
    assert (done.outcome, done.duration_ms) == (outcome, 90_000)
    assert memory.episodes.finish(going_on.id, outcome, scope=ANN) == done
    assert memory.episodes.list(outcome=outcome, scope=ANN) == [done]
    assert memory.checkpoints.save("Move on", scope=ANN).pending_episodes == []


def test_an_end_is_not_rewritten(memory: Memory) -> None:
    done = memory.episodes.create("Moved the site", outcome="failure", scope=ANN)
    with pytest.raises(InvalidInput, match="has ended already, as failure"):
        memory.episodes.finish(done.id, "success", scope=ANN)
    assert memory.episodes.show(done.id, scope=ANN).outcome == "failure"


@pytest.mark.parametrize("outcome", ["ongoing", "odd", None])
def test_an_end_is_one_of_three(memory: Memory, outcome: str) -> None:
    going_on = memory.episodes.create("Move the site", outcome="ongoing", scope=ANN)
    with pytest.raises(InvalidInput, match="outcome"):
        memory.episodes.finish(going_on.id, outcome, scope=ANN)


def test_only_what_is_ones_own_can_be_finished(memory: Memory) -> None:
    going_on = memory.episodes.create("Move the site", outcome="ongoing", scope=ANN)
    for id_, scope in ((going_on.id, BOB), ("nothing", ANN)):
        with pytest.raises(UnknownName, match="No episode has the id"):
            memory.episodes.finish(id_, scope=scope)


def test_what_nobody_finished_for_a_month_is_no_longer_pending(memory: Memory, clock: FixedClock) -> None:
    memory.episodes.create("Move the site", outcome="ongoing", scope=ANN)
    clock.advance(days=29)
    assert len(memory.checkpoints.save("Move on", scope=ANN).pending_episodes) == 1
    clock.advance(days=2)
    assert memory.checkpoints.save("Move on", scope=ANN).pending_episodes == []
