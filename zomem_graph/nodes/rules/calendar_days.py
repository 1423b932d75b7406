"""Calendar days, weeks, months and years of a time zone, as closed-open ranges of UTC.

Everything is counted in days of the zone, so a day may last 23 or 25 hours. The ends of the
calendar are clamped: the years 1 and 9999 are as good as any other.
"""

from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from zomem_graph.stores.errors import InvalidInput

__all__ = [
    "EARLIEST",
    "LATEST",
    "Range",
    "ago",
    "days",
    "in_calendar",
    "keepable",
    "local_time",
    "month",
    "months_away",
    "shifted",
    "to_utc",
    "week_of",
    "year",
    "zone_named",
]

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)
_LAST_DAY: Final = date.max.toordinal()
_FIRST_TIME: Final = datetime(MINYEAR, 1, 3, tzinfo=UTC)
_LAST_TIME: Final = datetime(MAXYEAR, 12, 29, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Range:
    """From `start` up to but not including `end`, both aware and in UTC; start <= end."""

    start: datetime
    end: datetime


def zone_named(name: str) -> tzinfo:
    """Return the zone of an IANA name, of "UTC" or of an offset such as "+02:00". Raises InvalidInput."""
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        if name[:1] in ("+", "-"):
            return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo or UTC
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"No time zone is called {name[:60]!r}. Use an IANA name such as Europe/Lisbon, "
            "UTC, or an offset such as +02:00."
        ) from None


def to_utc(moment: datetime) -> datetime:
    """Return an aware moment in UTC, clamped to the years 1 to 9999."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return EARLIEST if moment.year == MINYEAR else LATEST


def in_calendar(moment: datetime) -> datetime:
    """Return an aware moment, no nearer to the ends of the calendar than every zone has room for."""
    return min(max(moment, _FIRST_TIME), _LAST_TIME)


def keepable(name: str, moment: datetime) -> datetime:
    """Return an aware moment that is to be kept; raise InvalidInput where not every zone has room for it."""
    if in_calendar(moment) != moment:
        raise InvalidInput(
            f"{name} is {moment.isoformat()}; times are kept from {_FIRST_TIME.date()} to {_LAST_TIME.date()}, "
            "which leaves room for every time zone. Leave it out where no time is meant."
        )
    return moment


def ago(moment: datetime, length: timedelta) -> datetime:
    """Return what was so long before an aware moment, at the earliest the beginning of the calendar."""
    return moment - length if moment - EARLIEST > length else EARLIEST


def local_time(moment: datetime, zone: tzinfo) -> datetime:
    """Return an aware moment on the clock of the zone; at the ends of the calendar, on its own clock."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.replace(tzinfo=zone)


def days(first: int, count: int, zone: tzinfo) -> Range:
    """Return `count` calendar days from the day with this ordinal on."""
    return Range(_start_of_day(first, zone), _start_of_day(first + count, zone))


def week_of(ordinal: int, zone: tzinfo) -> Range:
    """Return the ISO week, Monday to Sunday, that holds the day."""
    return days(ordinal - (ordinal - 1) % 7, 7, zone)


def month(year_number: int, month_number: int, zone: tzinfo) -> Range:
    """Return a calendar month."""
    first = date(year_number, month_number, 1).toordinal()
    return days(first, _days_in_month(year_number, month_number), zone)


def year(number: int, zone: tzinfo) -> Range:
    """Return a calendar year."""
    first = date(number, 1, 1).toordinal()
    return days(first, date(number, 12, 31).toordinal() - first + 1, zone)


def months_away(day: date, count: int) -> date:
    """Return the same day of another month, or that month's last; raises OverflowError out of range."""
    index = day.year * 12 + day.month - 1 + count
    year_number, month_number = index // 12, index % 12 + 1
    if not MINYEAR <= year_number <= MAXYEAR:
        raise OverflowError("date value out of range")
    return date(year_number, month_number, min(day.day, _days_in_month(year_number, month_number)))


def shifted(moment: datetime, amount: timedelta) -> datetime:
    """Return an aware moment moved by elapsed time, in UTC; raises OverflowError out of range."""
    return to_utc(moment) + amount


def _start_of_day(ordinal: int, zone: tzinfo) -> datetime:
    if ordinal < 1:
        return EARLIEST
    if ordinal > _LAST_DAY:
        return LATEST
    # A midnight that a clock change skips counts as the moment of the change.
    return to_utc(datetime.combine(date.fromordinal(ordinal), time.min, zone))


def _days_in_month(year_number: int, month_number: int) -> int:
    if month_number == 12:
        return 31
    return (date(year_number, month_number + 1, 1) - date(year_number, month_number, 1)).days
