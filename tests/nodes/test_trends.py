"""Trends: periods by the calendar of whoever asks, rates, and the line that shows them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.trends import GRANULARITIES, Granularity, sparkline, trend_of

OUTCOMES = ("success", "failure", "resolved", "ongoing")


@given(
    st.lists(st.tuples(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.sampled_from(OUTCOMES))),
    st.sampled_from(GRANULARITIES),
)
def test_every_episode_is_in_one_period_whatever_the_year(
    told: list[tuple[datetime, str]], granularity: Granularity
) -> None:
    found = trend_of([(at.replace(tzinfo=UTC), how) for at, how in told], granularity=granularity, zone=UTC)

    assert sum(trend.total for trend in found) == len(told)
    assert [trend.period for trend in found] == sorted({trend.period for trend in found})
    assert all(trend.succeeded + trend.failed <= trend.total for trend in found)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.sampled_from(GRANULARITIES))
def test_the_line_has_one_sign_for_each_period_from_first_to_last(days: list[int], granularity: Granularity) -> None:
    start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    whole = trend_of(
        [(start + timedelta(days=day), "success") for day in range(min(days), max(days) + 1)],
        granularity=granularity,
        zone=UTC,
    )
    found = trend_of([(start + timedelta(days=day), "success") for day in days], granularity=granularity, zone=UTC)
    line = sparkline(found, granularity=granularity)

    assert len(line) == min(60, len(whole))
    assert line[-1] == "█"


@pytest.mark.parametrize(("zone", "week"), [("Pacific/Kiritimati", "2026-W02"), ("Pacific/Pago_Pago", "2026-W01")])
def test_a_week_begins_on_the_monday_of_the_zone(zone: str, week: str) -> None:
    (found,) = trend_of([(datetime(2026, 1, 5, 3, tzinfo=UTC), "success")], granularity="week", zone=ZoneInfo(zone))

    assert found.period == week


def test_an_hour_that_comes_twice_is_one_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    told = [(datetime(2026, 10, 25, hour, 30, tzinfo=UTC), "failure") for hour in (0, 1)]
    (found,) = trend_of(told, granularity="day", zone=berlin)

    assert (found.period, found.failed, found.finished_rate) == ("2026-10-25", 2, 0.0)


def test_nothing_has_no_line() -> None:
    assert sparkline([], granularity="day") == ""
