"""Fading is one fold: whoever asks, and however often, a fact has the same fate."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.fading import Fading, Fate, Life, Use, fate
from zomem_graph.stores.errors import InvalidInput

BORN = datetime(2024, 1, 1, 9, tzinfo=UTC)
FIRST = BORN.date()
DAY = timedelta(days=1)
VAULT = Fading(archive_below=0.05)

instants = st.integers(0, 400 * 24 * 4).map(lambda quarter: BORN + quarter * timedelta(minutes=15))
lives = st.builds(
    Life,
    as_of=st.just(BORN),
    tier=st.sampled_from(["permanent", "stable", "active", "session", "checkpoint", None]),
    importance=st.sampled_from([0.5, 1.0, 1.5]),
    activation=st.floats(0, 1),
    protected=st.booleans(),
)
uses = st.lists(instants.map(Use), max_size=40)


def every_day(count: int, *, start: date = FIRST) -> list[date]:
    return [start + number * DAY for number in range(count)]


def lived(
    tier: str, days: float, *, used: Sequence[float] = (), idle_store: bool = False, importance: float = 1.0
) -> Fate:
    now = BORN + days * DAY
    active = [] if idle_store else every_day(int(days) + 1)
    return fate(
        Life(as_of=BORN, tier=tier, importance=importance), [Use(BORN + at * DAY) for at in used], active, now
    )


@st.composite
def stories(draw: st.DrawFn) -> tuple[Life, list[Use], list[date], datetime, datetime]:
    happened = draw(uses)
    days = {use.at.date() for use in happened} | {at.date() for at in draw(st.lists(instants, max_size=40))}
    if draw(st.booleans()):
        days |= set(every_day(400))
    first, second = sorted([draw(instants), draw(instants)])
    return draw(lives), happened, sorted(days), first, second


@given(stories(), st.booleans(), st.sampled_from([Fading(), VAULT, Fading(allow_permanent=True)]))
def test_what_was_said_earlier_stays_true(
    story: tuple[Life, list[Use], list[date], datetime, datetime], by_calendar: bool, rules: Fading
) -> None:
    life, happened, days, first, second = story
    known = [day for day in days if day <= first.date()]
    early = fate(life, [u for u in happened if u.at <= first], None if by_calendar else known, first, rules=rules)
    late = fate(life, happened, None if by_calendar else days, second, rules=rules)
    assert early.moves == tuple(move for move in late.moves if move.at <= first)
    assert (early.ended_at is None) or early.ended_at == late.ended_at


@given(stories())
def test_activation_folds_in_parts_as_it_does_at_once(
    story: tuple[Life, list[Use], list[date], datetime, datetime],
) -> None:
    life, happened, _days, first, second = story
    plain = Life(as_of=BORN, tier=None, importance=life.importance, activation=life.activation)
    at_once = fate(plain, happened, None, second)
    part = fate(plain, happened, None, first)
    rest = fate(
        Life(as_of=first, tier=None, importance=life.importance, activation=part.activation), happened, None, second
    )
    assert rest.activation == pytest.approx(at_once.activation, abs=1e-9)


@given(stories())
def test_the_order_of_the_log_and_repeats_of_a_turn_mean_nothing(
    story: tuple[Life, list[Use], list[date], datetime, datetime],
) -> None:
    life, happened, days, _first, now = story
    named = [Use(use.at, turn=use.at.isoformat()) for use in happened]
    again = [Use(use.at + DAY / 7, turn=use.turn) for use in named]
    probes = [Use(use.at + DAY / 3, probe=True) for use in happened]
    assert fate(life, [*reversed(again), *probes, *reversed(named)], days, now) == fate(life, named, days, now)


@given(stories())
def test_tiers_move_one_rung_a_day(story: tuple[Life, list[Use], list[date], datetime, datetime]) -> None:
    life, happened, days, _first, now = story
    moves = fate(life, happened, days, now).moves
    rungs = [move for move in moves if move.to is not None]
    assert all(later.at - earlier.at >= DAY for earlier, later in pairwise(rungs))
    assert all({move.tier, move.to} in ({"session", "active"}, {"active", "stable"}) for move in rungs)
    assert all(move.to is None for move in moves) or life.tier not in ("permanent", "checkpoint", None)


@given(stories())
def test_what_matters_stays(story: tuple[Life, list[Use], list[date], datetime, datetime]) -> None:
    life, happened, days, _first, now = story
    found = fate(life, happened, days, now)
    if life.tier == "permanent" or life.importance >= 1.5:
        assert found.activation >= 0.15
    if life.tier == "permanent" or (life.importance >= 1.5 and life.tier in ("stable", "active")):
        assert found.ended_at is None
        assert not [move for move in found.moves if move.kind == "demoted"]


@given(lives.filter(lambda life: life.tier in ("permanent", "stable", "active")), st.integers(1, 5000))
def test_a_store_left_alone_moves_nothing(life: Life, days: int) -> None:
    assert fate(life, [], [BORN.date()], BORN + days * DAY).moves == ()


def test_activation_halves_in_thirty_days() -> None:
    assert lived("stable", 30).activation == pytest.approx(0.5, abs=1e-12)
    assert lived("stable", 29.9).activation > 0.5 > lived("stable", 30.1).activation


def test_a_use_gives_back_three_tenths_of_what_is_missing() -> None:
    assert lived("stable", 30, used=[30]).activation == pytest.approx(0.65, abs=1e-12)


def test_a_trivial_thing_read_a_thousand_times_in_a_loop_does_not_live_for_ever() -> None:
    loop = [5 + number / 1e6 for number in range(1000)]
    assert lived("active", 6, used=loop).tier == "active"
    assert lived("active", 40, used=loop).state == "archived"


@pytest.mark.parametrize(
    ("tier", "alive", "gone", "kind"),
    [
        ("checkpoint", 3.9 / 24, 4 / 24, "expired"),
        ("session", 23.9 / 24, 1, "expired"),
        ("active", 14.5, 15, "archived"),
        ("stable", 90.5, 91, "archived"),
    ],
)
def test_each_tier_lives_its_time(tier: str, alive: float, gone: float, kind: str) -> None:
    assert lived(tier, alive).ended_at is None
    found = lived(tier, gone + 0.1)
    assert (found.state, found.moves[-1].kind) == ("archived", kind)


def test_the_clock_runs_for_a_session_while_the_store_sleeps() -> None:
    assert lived("session", 1, idle_store=True).state == "archived"
    assert lived("active", 60, idle_store=True).ended_at is None


def test_a_use_starts_a_lifetime_anew() -> None:
    assert lived("stable", 120, used=[50]).ended_at is None
    assert lived("stable", 145, used=[50]).state == "archived"


def test_frequent_use_promotes_and_silence_demotes() -> None:
    found = lived("session", 100, used=[0.1, 0.2, 0.3, 2, 3, 4, 5, 6])
    assert [(move.kind, move.to) for move in found.moves[:3]] == [
        ("promoted", "active"),
        ("promoted", "stable"),
        ("demoted", "active"),
    ]
    assert found.moves[0].at == BORN + 0.3 * DAY
    assert all(move.why for move in found.moves)


def test_only_a_daily_habit_of_weeks_and_a_word_from_the_user_makes_it_permanent() -> None:
    habit = [Use(BORN + (day + 0.5) * DAY) for day in range(25)]
    life = Life(as_of=BORN, tier="stable", importance=1.0)
    now = BORN + 26 * DAY
    assert fate(life, habit, every_day(27), now).tier == "stable"
    assert fate(life, habit, every_day(27), now, rules=Fading(allow_permanent=True)).tier == "permanent"


def test_what_holds_the_graph_together_is_not_demoted() -> None:
    life = Life(as_of=BORN, tier="stable", protected=True)
    assert fate(life, [], every_day(80), BORN + 80 * DAY).tier == "stable"


def test_an_allergy_said_once_outlives_the_mood_of_yesterday() -> None:
    allergy = lived("stable", 700, importance=1.8)
    mood = lived("active", 700, used=[680.0])
    assert allergy.state == "active"
    assert mood.state == "archived"


def test_a_vault_archives_by_activation_and_calendar() -> None:
    life = Life(as_of=BORN, tier=None)
    states = {days: fate(life, [], None, BORN + days * DAY, rules=VAULT).state for days in (82, 83, 129, 130)}
    assert states == {82: "active", 83: "fading", 129: "fading", 130: "archived"}
    found = fate(life, [Use(BORN + 140 * DAY)], None, BORN + 150 * DAY, rules=VAULT)
    assert found.ended_at is not None
    assert (found.ended_at - BORN) / DAY == pytest.approx(129.658, abs=0.01)


def test_the_thresholds_themselves_belong_above() -> None:
    for activation, state in ((0.15, "active"), (0.05, "fading"), (0.049, "archived")):
        life = Life(as_of=BORN, tier=None, activation=activation)
        assert fate(life, [], None, BORN, rules=VAULT).state == state


def test_an_instant_is_the_same_in_every_zone() -> None:
    far = [timezone(timedelta(hours=14)), timezone(timedelta(hours=-11))]
    used = [BORN + day * DAY for day in (1, 2, 3, 4, 5.9)]
    plain = fate(Life(as_of=BORN, tier="active"), map(Use, used), every_day(40), BORN + 39 * DAY)
    for zone in far:
        moved = fate(
            Life(as_of=BORN.astimezone(zone), tier="active"),
            [Use(at.astimezone(zone)) for at in used],
            every_day(40),
            (BORN + 39 * DAY).astimezone(zone),
        )
        assert moved == plain


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="says no time zone"):
        fate(Life(as_of=BORN), [], [], datetime(2024, 5, 1))
    with pytest.raises(InvalidInput, match="says no time zone"):
        fate(Life(as_of=datetime(2024, 5, 1)), [], [], BORN)


@pytest.mark.parametrize("tier", ["stable", "session", None])
def test_the_ends_of_the_calendar_are_times_like_others(tier: str | None) -> None:
    first = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-11)))
    assert fate(Life(as_of=first, tier=tier), [Use(last)], [date.min, date.max], last).activation <= 1
    assert fate(Life(as_of=last, tier=tier), [Use(first)], None, last, rules=VAULT).ended_at is None


def test_a_clock_that_was_set_back_takes_nothing() -> None:
    found = fate(Life(as_of=BORN), [Use(BORN + DAY)], every_day(3), BORN - 5 * DAY)
    assert (found.activation, found.moves) == (1.0, ())
