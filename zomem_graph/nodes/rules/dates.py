"""One reading of time words for the whole project, in the time zone of who asks (spec F51, W26).

Days are calendar days of the zone, ranges are closed-open and in UTC. Nothing is guessed: what
cannot be read is refused with the accepted forms.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Literal

from zomem_graph.nodes.rules import calendar_days
from zomem_graph.nodes.rules.calendar_days import LATEST, Range, zone_named
from zomem_graph.nodes.rules.date_grammar import Here, Reading, exact, read_tokens, tokens_of
from zomem_graph.stores.errors import InvalidInput

__all__ = ["ACCEPTED_FORMS", "parse_instant"]

ACCEPTED_FORMS: Final = (
    "today, yesterday, last week, this month, last monday, 3 days ago, in 2 hours, last 7 days, "
    "24h, 7d, 2w, 6m (months), 1y, 2024, 2024-05, 2024-05-03, 2024-W18, 2024-05-03T14:30+02:00, 3 May 2024, "
    "March 2025, seconds since 1970"
)
LONGEST_TEXT: Final = 120


def parse_instant(text: str, *, now: datetime, time_zone: str, edge: Literal["start", "end"] = "start") -> datetime:
    """Return a moment in UTC: the exact one, or the edge of the range the words mean. Raises InvalidInput.

    `edge="start"` suits `--since`, `edge="end"` suits `--until`: both then include the day named.
    """
    reading = _reading(text, _here(now, time_zone))
    if reading is None:
        raise _unreadable(text)
    if reading.instant is not None:
        return reading.instant
    return reading.range.start if edge == "start" else reading.range.end


def _here(now: datetime, time_zone: str) -> Here:
    if now.tzinfo is None or now.utcoffset() is None:
        raise InvalidInput("`now` has no time zone. Pass an aware datetime such as datetime.now(UTC).")
    return Here(now, zone_named(time_zone))


def _unreadable(text: str) -> InvalidInput:
    shown = text if len(text) <= 60 else text[:57] + "..."
    return InvalidInput(f"{shown!r} cannot be read as a time. Use one of: {ACCEPTED_FORMS}.")


def _reading(text: str, here: Here) -> Reading | None:
    words = text.strip()
    if not words or len(words) > LONGEST_TEXT:
        return None
    return _numeric(words, here) or read_tokens(tokens_of(words), here)


def _numeric(text: str, here: Here) -> Reading | None:
    """Dates, date-times and seconds written in figures."""
    try:
        if _EPOCH.fullmatch(text):
            return _epoch(float(text))
        for shape, build in _FIGURES:
            match = shape.fullmatch(text)
            if match:
                return Reading(build(*map(int, match.groups()), here.zone))
        if _DATE_TIME.fullmatch(text):
            return _date_time(text, here)
    except (OverflowError, ValueError, OSError):
        # The figures name no day that exists.
        return None
    return None


def _epoch(seconds: float) -> Reading:
    """Seconds since 1970; what would lie after the year 9999 is taken as milliseconds."""
    if seconds > LATEST.timestamp():
        seconds /= 1_000
    return exact(datetime.fromtimestamp(seconds, UTC), timedelta(seconds=1))


def _date_time(text: str, here: Here) -> Reading:
    written = re.sub(r"\s*(utc|gmt|z)$", "+00:00", text, flags=re.IGNORECASE)
    written = re.sub(r"\s+(?=[+-])", "", written)
    moment = datetime.fromisoformat(written.upper())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=here.zone)
    clock = re.split(r"[+-]", written[10:])[0]
    resolution = timedelta(seconds=1) if clock.count(":") == 2 else timedelta(minutes=1)
    return exact(calendar_days.to_utc(moment), resolution)


def _day_in_figures(year: int, month: int, day: int, zone: tzinfo) -> Range:
    return calendar_days.days(date(year, month, day).toordinal(), 1, zone)


def _day_first(day: int, month: int, year: int, zone: tzinfo) -> Range:
    return _day_in_figures(year, month, day, zone)


def _iso_week(year: int, week: int, zone: tzinfo) -> Range:
    return calendar_days.days(date.fromisocalendar(year, week, 1).toordinal(), 7, zone)


_EPOCH: Final = re.compile(r"0|[0-9]{9,14}(?:\.[0-9]{1,9})?", re.ASCII)
_DATE_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?",
    re.ASCII | re.IGNORECASE,
)
_FIGURES: Final[tuple[tuple[re.Pattern[str], Callable[..., Range]], ...]] = (
    (re.compile(r"(\d{4})", re.ASCII), calendar_days.year),
    (re.compile(r"(\d{4})[-/](\d{1,2})", re.ASCII), calendar_days.month),
    (re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})", re.ASCII), _day_in_figures),
    (re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII), _day_in_figures),
    (re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})", re.ASCII), _day_first),
    (re.compile(r"(\d{4})-?W(\d{2})", re.ASCII | re.IGNORECASE), _iso_week),
)
