"""Routing, breakers, profiles and failure classes as pure folds."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.breaker import Breaker, breaker_of
from zomem_graph.nodes.rules.executors import (
    aged,
    pressure,
    profile_of,
    weighed,
    weighed_together,
)
from zomem_graph.nodes.rules.failures import FAILURE_CLASSES, failure_class
from zomem_graph.nodes.rules.routing import STRATEGIES, WEIGHTS, Candidate, Standing, choose, tier_of
from zomem_graph.nodes.rules.small_samples import expected_share, share_interval
from zomem_graph.nodes.rules.task_words import CATEGORIES, category_of, similarity, tidied
from zomem_graph.stores.work_records import ExecutorHistory, ExecutorRun

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
ANN, BOB = Candidate(name="ann"), Candidate(name="bob")


def attempt(
    success: bool = True,
    *,
    ago: timedelta = timedelta(0),
    executor: str = "ann",
    failure: str = "unknown",
    took: float | None = None,
    entities: Sequence[str] = (),
    episode: str | None = None,
) -> ExecutorRun:
    return ExecutorRun(
        id="r",
        persona="shared",
        executor=executor,
        category="code",
        outcome="success" if success else "failure",
        failure_class=None if success else failure,
        error=None,
        duration_ms=took,
        episode_id=episode,
        procedure_id=None,
        swarm=None,
        entities=list(entities),
        at=NOW - ago,
    )


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


# -- failure classes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("Task timed out after 300 s", "timeout"),
        ("deadline exceeded", "timeout"),
        ("mutation verification failed: expected file a.py", "mutation_failed"),
        ("SyntaxError: unexpected token ')'", "syntax_error"),
        ("permission check: ENOENT no such file", "file_not_found"),
        ("EACCES: permission denied", "permission_denied"),
        ("HTTP 429 Too Many Requests", "rate_limited"),
        ("the context window was exceeded", "context_overflow"),
        ("TypeError: x is not a function", "runtime_error"),
        ("it just went wrong", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_failure_is_classed_by_its_words(error: str, kind: str) -> None:
    assert failure_class(error) == kind


@given(st.text())
def test_any_error_has_a_class(error: str) -> None:
    assert failure_class(error) in FAILURE_CLASSES


# -- small samples ---------------------------------------------------------------------------------


def test_one_lucky_run_is_no_certainty() -> None:
    assert expected_share(0, 0) == 0.5
    assert 0.5 < expected_share(1, 1) < expected_share(9, 9) < 1.0


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_interval_holds_the_share(successes: int, failures: int) -> None:
    low, high = share_interval(successes, successes + failures)
    assert 0.0 <= low <= high <= 1.0
    if successes + failures:
        assert low - 1e-9 <= successes / (successes + failures) <= high + 1e-9


# -- ageing ----------------------------------------------------------------------------------------


@given(st.floats(0, 100), st.floats(0, 40), st.floats(0, 40))
def test_ageing_at_once_or_in_steps_comes_to_the_same(weight: float, first: float, then: float) -> None:
    once = aged(weight, timedelta(days=first) + timedelta(days=then))
    assert aged(aged(weight, timedelta(days=first)), timedelta(days=then)) == pytest.approx(once)


def test_a_profile_read_a_hundred_times_is_the_same() -> None:
    runs = [attempt(ago=timedelta(days=8)), attempt(False, ago=timedelta(days=1))]
    assert len({str(profile_of("ann", "code", runs, now=NOW)) for _ in range(100)}) == 1


def test_a_week_without_work_halves_what_is_known_and_a_month_ends_it() -> None:
    runs = [attempt()]
    assert weighed(runs, None, now=NOW + timedelta(days=7)) == pytest.approx((0.5, 0.5))
    assert weighed(runs, None, now=NOW + timedelta(days=31)) == (0.0, 0.0)


@given(st.lists(st.booleans(), max_size=300))
def test_more_than_fifty_runs_never_count_more_than_fifty(outcomes: list[bool]) -> None:
    successes, runs = weighed([attempt(well) for well in outcomes], None, now=NOW)
    assert 0.0 <= successes <= runs <= 50.0 + 1e-9


def test_an_imported_history_counts_beside_later_runs_and_ages_too() -> None:
    told = ExecutorHistory(
        persona="shared",
        executor="ann",
        category="code",
        attempts=10,
        successes=9,
        avg_duration_ms=1_000.0,
        last_updated=NOW - timedelta(days=7),
        failure_patterns=["timeout"],
    )
    profile = profile_of("ann", "code", [attempt(False, failure="rate_limited")], told, now=NOW)
    assert profile is not None
    assert (profile.attempts, profile.successes) == (11, 9)
    assert profile.failure_patterns == ("rate_limited", "timeout")
    assert profile.weight == pytest.approx(1 + 10 / 2 * 0.98)


def test_a_history_counts_beside_earlier_runs_and_hides_none() -> None:
    told = ExecutorHistory(
        persona="shared",
        executor="ann",
        category="code",
        attempts=1,
        successes=1,
        avg_duration_ms=0.0,
        last_updated=NOW,
    )
    profile = profile_of("ann", "code", [attempt(ago=seconds(1))], told, now=NOW)
    assert profile is not None
    assert profile.attempts == 2
    assert profile.weight == pytest.approx(2, abs=0.01)


def test_affinities_follow_outcomes_by_a_moving_average() -> None:
    runs = [attempt(entities=["site"]), attempt(entities=["site"]), attempt(False, entities=["site"])]
    profile = profile_of("ann", "code", runs, now=NOW)
    assert profile is not None
    assert profile.entity_affinities["site"] == pytest.approx(0.7 * (0.7 * 0.65 + 0.3) + 0.0)


def test_a_profile_keeps_the_last_ten_episodes_newest_first() -> None:
    runs = [attempt(episode=f"e{number}") for number in range(14)]
    profile = profile_of("ann", "code", runs, now=NOW)
    assert profile is not None
    assert profile.recent_episode_ids == tuple(f"e{number}" for number in range(13, 3, -1))


def test_who_was_not_tried_for_long_is_uncertain_again() -> None:
    runs = [attempt(), *(attempt(executor="bob") for _ in range(100))]
    assert weighed_together(runs, now=NOW)["ann"][1] < 0.2


# -- breaker ---------------------------------------------------------------------------------------


def test_two_timeouts_open_the_breaker_for_thirty_seconds() -> None:
    runs = [attempt(False, failure="timeout", ago=seconds(20)), attempt(False, failure="timeout", ago=seconds(10))]
    assert breaker_of(runs[:1], now=NOW).state == "closed"
    assert breaker_of(runs, now=NOW).state == "open"
    assert breaker_of(runs, now=NOW + seconds(20)).state == "half-open"


@pytest.mark.parametrize(("failure", "needed"), [("rate_limited", 1), ("permission_denied", 1), ("runtime_error", 3)])
def test_each_class_has_its_own_patience(failure: str, needed: int) -> None:
    runs = [attempt(False, failure=failure) for _ in range(needed)]
    assert breaker_of(runs, now=NOW).state == "open"
    assert breaker_of(runs[1:], now=NOW).state == "closed"


def test_a_failed_probe_doubles_the_time_and_a_good_one_closes_it() -> None:
    first = attempt(False, failure="rate_limited", ago=seconds(70))
    probe = attempt(False, failure="rate_limited", ago=seconds(5))
    opened = breaker_of([first, probe], now=NOW)
    assert opened.until == NOW - seconds(5) + seconds(120)
    assert breaker_of([first, attempt(ago=seconds(5))], now=NOW) == Breaker()


def test_what_failed_more_than_an_hour_ago_is_forgotten() -> None:
    runs = [attempt(False, failure="permission_denied", ago=timedelta(minutes=61))]
    assert breaker_of(runs, now=NOW) == Breaker()


def test_ten_slow_runs_after_quick_ones_are_pressure() -> None:
    quick = [attempt(took=10_000.0) for _ in range(60)]
    assert pressure(quick) == 0.0
    assert pressure([*quick, *(attempt(took=60_000.0) for _ in range(10))]) == 0.9


# -- choosing --------------------------------------------------------------------------------------


def test_every_strategy_has_weights_that_sum_to_one() -> None:
    assert {name: round(sum(weights.values()), 9) for name, weights in WEIGHTS.items()} == dict.fromkeys(
        STRATEGIES, 1.0
    )


@pytest.mark.parametrize(("length", "tier"), [(99, "trivial"), (100, "simple"), (300, "moderate"), (800, "complex")])
def test_a_task_is_as_complex_as_it_is_long(length: int, tier: str) -> None:
    assert tier_of("x" * length) == tier


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_who_did_it_well_gets_it(strategy: str) -> None:
    standings = {
        "ann": Standing(history=(18, 20), drawn_from=(18, 20)),
        "bob": Standing(history=(1, 20), drawn_from=(1, 20)),
    }
    chosen = {choose("do", [BOB, ANN], standings, strategy=strategy, seed=seed).executor for seed in range(20)}
    assert chosen == {"ann"}


def test_expertise_decides_where_nothing_is_remembered() -> None:
    able = Candidate(name="ann", expertise=("Python testing",))
    other = Candidate(name="bob", expertise=("SQL reports",))
    assert choose("Write python tests", [other, able], {}, strategy="balanced", seed=1).executor == "ann"


def test_the_same_seed_makes_the_same_choice_and_others_explore() -> None:
    def chosen(seed: int) -> str:
        return choose("do", [ANN, BOB], {}, strategy="explore", seed=seed).executor

    assert [chosen(7) for _ in range(5)] == [chosen(7)] * 5
    assert {chosen(seed) for seed in range(20)} == {"ann", "bob"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_open_breaker_comes_last_whatever_the_past(strategy: str) -> None:
    broken = Standing(
        history=(20, 20), drawn_from=(20, 20), breaker=Breaker(state="open", failures=3, because="timeout")
    )
    choice = choose("do", [ANN, BOB], {"ann": broken}, strategy=strategy, seed=1)
    assert choice.order == ("bob", "ann")
    assert "left alone after 3 failures (timeout)" in choice.scores[-1].reason


def test_the_fallback_gets_what_nobody_is_good_for() -> None:
    broken = Standing(breaker=Breaker(state="open", failures=3))
    choice = choose("do", [ANN, BOB], {"ann": broken, "bob": broken}, strategy="fast", seed=1, fallback="bob")
    assert choice.executor == "bob"
    assert "fallback" in choice.reason


def test_affinity_and_failure_classes_only_break_ties() -> None:
    liked = {"ann": Standing(affinity=0.9), "bob": Standing(affinity=0.1)}
    assert {choose("do", [ANN, BOB], liked, strategy="balanced", seed=s).executor for s in range(9)} == {"ann"}
    better = {**liked, "bob": Standing(affinity=0.1, history=(1, 1))}
    assert choose("do", [ANN, BOB], better, strategy="balanced", seed=1).executor == "bob"


@given(st.text(max_size=200), st.sampled_from(STRATEGIES), st.integers(0, 2**60))
def test_every_score_is_a_share(task: str, strategy: str, seed: int) -> None:
    choice = choose(task, [ANN, BOB], {}, strategy=strategy, seed=seed)
    for score in choice.scores:
        assert 0.0 <= score.total <= 1.0
        assert all(0.0 <= value <= 1.0 for value in score.signals.values())


# -- what a task says ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "category"),
    [
        ("Fix the crash in the login", "fix"),
        ("Write unit tests for the parser", "test"),
        ("Summarize the sources on sleep", "research"),
        ("Hand the parcel over", "general"),
    ],
)
def test_the_words_of_a_task_tell_its_category(task: str, category: str) -> None:
    assert category_of(task) == category


@given(st.text())
def test_any_task_has_a_category(task: str) -> None:
    assert category_of(task) in CATEGORIES


def test_ballast_goes_and_words_stay() -> None:
    text = "<p>One &amp; two</p>\n<script>x()</script>\nSame   line\nSame line\n“quoted” if a < b"
    assert tidied(text) == 'One & two\nSame line\n"quoted" if a < b'


def test_the_same_answer_is_all_alike_and_another_is_not() -> None:
    assert similarity("the cat sat", "the cat sat") == 1.0
    assert similarity("the cat sat", "a dog ran") == 0.0
