"""Time words in the zone of who asks."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.dates import parse_instant
from zomem_graph.stores.errors import InvalidInput

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "Asia/Kolkata",
)
zones = st.sampled_from(ZONES)
moments = st.datetimes(timezones=st.just(UTC))


def edges(text: str, *, now: datetime = NOW, zone: str = "UTC") -> tuple[datetime, datetime]:
    """When what is meant begins, and when it is over."""
    return (
        parse_instant(text, now=now, time_zone=zone, edge="start"),
        parse_instant(text, now=now, time_zone=zone, edge="end"),
    )


def days(text: str, *, now: datetime = NOW, zone: str = "UTC") -> tuple[str, str]:
    """The first day of what is meant and the day after its last, in the zone."""
    start, end = edges(text, now=now, zone=zone)
    return f"{start.astimezone(ZoneInfo(zone)):%Y-%m-%d}", f"{end.astimezone(ZoneInfo(zone)):%Y-%m-%d}"


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("today", "2026-03-18", "2026-03-19"),
        ("yesterday", "2026-03-17", "2026-03-18"),
        ("the day before yesterday", "2026-03-16", "2026-03-17"),
        ("tomorrow", "2026-03-19", "2026-03-20"),
        ("this week", "2026-03-16", "2026-03-23"),
        ("last week", "2026-03-09", "2026-03-16"),
        ("last weekend", "2026-03-14", "2026-03-16"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last monday", "2026-03-16", "2026-03-17"),
        ("last wednesday", "2026-03-11", "2026-03-12"),
        ("next monday", "2026-03-23", "2026-03-24"),
        ("3 days ago", "2026-03-15", "2026-03-16"),
        ("two weeks ago", "2026-03-04", "2026-03-05"),
        ("a couple of months ago", "2026-01-18", "2026-01-19"),
        ("1 year ago", "2025-03-18", "2025-03-19"),
        ("in 3 days", "2026-03-21", "2026-03-22"),
        ("2024-05-03", "2024-05-03", "2024-05-04"),
        ("2024-05", "2024-05-01", "2024-06-01"),
        ("2024", "2024-01-01", "2025-01-01"),
        ("2024-W18", "2024-04-29", "2024-05-06"),
        ("March 2025", "2025-03-01", "2025-04-01"),
        ("3 May 2024", "2024-05-03", "2024-05-04"),
        ("May 3rd, 2024", "2024-05-03", "2024-05-04"),
        ("december", "2025-12-01", "2026-01-01"),
        ("29 February", "2024-02-29", "2024-03-01"),
        ("03.05.2024", "2024-05-03", "2024-05-04"),
        ("vorgestern", "2026-03-16", "2026-03-17"),
        ("letzte Woche", "2026-03-09", "2026-03-16"),
        ("vor 3 Tagen", "2026-03-15", "2026-03-16"),
        ("la semana pasada", "2026-03-09", "2026-03-16"),
        ("hace 3 días", "2026-03-15", "2026-03-16"),
        ("avant-hier", "2026-03-16", "2026-03-17"),
        ("l'année dernière", "2025-01-01", "2026-01-01"),
        ("il y a 3 jours", "2026-03-15", "2026-03-16"),
        ("上周", "2026-03-09", "2026-03-16"),
        ("3日前", "2026-03-15", "2026-03-16"),
    ],
)
def test_days_are_calendar_days_and_the_end_is_left_out(text: str, first: str, after: str) -> None:
    assert days(text) == (first, after)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", NOW),
        ("2 hours ago", NOW - timedelta(hours=2)),
        ("24h", NOW - timedelta(hours=24)),
        ("7d", NOW - timedelta(days=7)),
        ("1w", NOW - timedelta(weeks=1)),
        ("90 min", NOW - timedelta(minutes=90)),
        ("1m", datetime(2026, 2, 18, 15, 30, tzinfo=UTC)),
        ("2y", datetime(2024, 3, 18, 15, 30, tzinfo=UTC)),
        ("in 2 hours", NOW + timedelta(hours=2)),
        ("2024-05-03T14:30:05Z", datetime(2024, 5, 3, 14, 30, 5, tzinfo=UTC)),
        ("2024-05-03 14:30 +02:00", datetime(2024, 5, 3, 12, 30, tzinfo=UTC)),
        ("1714694400", datetime(2024, 5, 3, tzinfo=UTC)),
        ("1714694400000", datetime(2024, 5, 3, tzinfo=UTC)),
    ],
)
def test_a_moment_is_the_same_at_either_edge(text: str, moment: datetime) -> None:
    assert parse_instant(text, now=NOW, time_zone="UTC") == moment
    assert parse_instant(text, now=NOW, time_zone="UTC", edge="end") == moment


def test_until_a_day_includes_that_day() -> None:
    assert parse_instant("2024-05-03", now=NOW, time_zone="UTC", edge="end") == datetime(2024, 5, 4, tzinfo=UTC)


def test_a_day_is_the_day_of_who_asks() -> None:
    at_home = datetime(2026, 3, 17, 22, 30, tzinfo=UTC)  # 00:30 at +2

    assert days("today", now=at_home, zone="Africa/Cairo") == ("2026-03-18", "2026-03-19")
    assert days("today", now=at_home, zone="America/New_York") == ("2026-03-17", "2026-03-18")
    assert days("yesterday", now=at_home, zone="Pacific/Kiritimati") == ("2026-03-17", "2026-03-18")


def test_a_time_without_a_zone_is_in_the_zone_of_who_asks() -> None:
    moment = parse_instant("2024-07-01T09:00", now=NOW, time_zone="America/New_York")

    assert moment == datetime(2024, 7, 1, 13, tzinfo=UTC)


@pytest.mark.parametrize(("day", "hours"), [("2025-03-30", 23), ("2025-10-26", 25), ("2025-06-01", 24)])
def test_a_day_of_a_clock_change_is_shorter_or_longer(day: str, hours: int) -> None:
    start, end = edges(day, zone="Europe/Berlin")

    assert end - start == timedelta(hours=hours)


def test_a_midnight_that_does_not_exist_is_the_moment_of_the_change() -> None:
    start, end = edges("2018-11-04", zone="America/Sao_Paulo")

    assert start == datetime(2018, 11, 4, 3, tzinfo=UTC)
    assert end - start == timedelta(hours=23)


def test_a_month_back_from_its_31st_is_the_last_day_of_the_month_before() -> None:
    assert days("1 month ago", now=datetime(2026, 3, 31, 12, tzinfo=UTC)) == ("2026-02-28", "2026-03-01")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "blah",
        "30 february",
        "2024-13-01",
        "03/05/2024",
        "10:30",
        "12",
        "1.5h",
        "may be",
        "since",
        "..",
        "2024-04..2024-05",
        "since yesterday",
        "99999999 days ago",
        "9999999 years ago",
        "in 9999 years",
        "2024-05-03T25:00",
        "2024-W60",
        "x" * 5000,
    ],
)
def test_what_cannot_be_read_is_refused_with_the_accepted_forms(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"last week.*2024-05-03"):
        parse_instant(text, now=NOW, time_zone="UTC")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "+99:00", "a\0b", "x" * 5_000])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidInput, match="No time zone"):
        parse_instant("today", now=NOW, time_zone=zone)


def test_an_offset_is_a_zone() -> None:
    assert parse_instant("2024-05-03", now=NOW, time_zone="+02:00") == datetime(2024, 5, 2, 22, tzinfo=UTC)


def test_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="aware"):
        parse_instant("today", now=datetime(2026, 1, 1), time_zone="UTC")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("text", ["0001", "0001-01-01", "9999", "9999-12", "9999-12-31"])
def test_the_ends_of_the_calendar_are_years_like_others(text: str, zone: str) -> None:
    start, end = edges(text, zone=zone)

    assert start < end


@given(
    moments,
    zones,
    st.sampled_from(["today", "yesterday", "last week", "7d", "2 hours ago", "last month", "1 year ago"]),
)
def test_any_clock_and_zone_will_do(now: datetime, zone: str, text: str) -> None:
    try:
        start, end = edges(text, now=now, zone=zone)
    except InvalidInput:
        assert now.year <= 2  # there is no day before the first
        return
    assert start <= end
    assert start.tzinfo is UTC
    assert end.tzinfo is UTC


@given(st.dates(), zones)
def test_a_day_written_in_figures_comes_back(day: date, zone: str) -> None:
    start, end = edges(day.isoformat(), zone=zone)
    noon = start + (end - start) / 2

    assert start < noon < end
    if 1 < day.year < 9999:
        assert noon.astimezone(ZoneInfo(zone)).date() == day


@given(st.dates(date(2, 1, 1), date(9998, 12, 30)), zones)
def test_neighbouring_days_touch_and_never_overlap(day: date, zone: str) -> None:
    assert edges(day.isoformat(), zone=zone)[1] == edges((day + timedelta(days=1)).isoformat(), zone=zone)[0]


def is_within(now: datetime, text: str, zone: str) -> bool:
    start, end = edges(text, now=now, zone=zone)
    return start <= now < end


@given(moments, zones)
def test_now_is_today_and_not_yesterday(now: datetime, zone: str) -> None:
    if 2 <= now.year <= 9998:
        assert is_within(now, "today", zone)
        assert is_within(now, "this week", zone)
        assert is_within(now, "this month", zone)
        assert not is_within(now, "yesterday", zone)
        assert not is_within(now, "last week", zone)


@given(st.integers(1, 400), st.sampled_from(["hour", "day", "week", "month"]), zones)
def test_longer_ago_is_earlier(count: int, unit: str, zone: str) -> None:
    later = parse_instant(f"{count} {unit}s ago", now=NOW, time_zone=zone)
    earlier = parse_instant(f"{count + 1} {unit}s ago", now=NOW, time_zone=zone)

    assert earlier < later < NOW


@given(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)), zones)
def test_a_moment_written_in_iso_comes_back(moment: datetime, zone: str) -> None:
    written = moment.replace(tzinfo=UTC, microsecond=0)

    assert parse_instant(written.isoformat(), now=NOW, time_zone=zone) == written


@given(st.text(max_size=80) | st.text(alphabet="0123456789 -:.TZdaysgomthweki上周前", max_size=40))
def test_no_string_makes_it_fail(text: str) -> None:
    try:
        start, end = edges(text, zone="Europe/Berlin")
    except InvalidInput:
        return
    assert start <= end
