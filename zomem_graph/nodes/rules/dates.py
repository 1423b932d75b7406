"""One reading of time words for the whole project, in the time zone of who asks (spec F51, W26).

Days are calendar days of the zone, ranges are closed-open and in UTC. Nothing is guessed: what
cannot be read is refused with the accepted forms.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Literal

from zomem_graph.nodes.rules import calendar_days
from zomem_graph.nodes.rules.calendar_days import EARLIEST, LATEST, Range, zone_named
from zomem_graph.nodes.rules.date_grammar import Here, Reading, Token, exact, read_tokens, tokens_of
from zomem_graph.nodes.rules.date_words import TOKENS
from zomem_graph.nodes.rules.phrases import fold
from zomem_graph.stores.errors import InvalidInput

__all__ = ["ACCEPTED_FORMS", "Range", "dates_in", "parse_instant", "parse_range"]

ACCEPTED_FORMS: Final = (
    "today, yesterday, last week, this month, last monday, 3 days ago, in 2 hours, last 7 days, "
    "24h, 7d, 2w, 6m (months), 1y, 2024, 2024-05, 2024-05-03, 2024-W18, 2024-05-03T14:30+02:00, 3 May 2024, "
    "March 2025, seconds since 1970, or A..B, since A, until B"
)
LONGEST_TEXT: Final = 120
LONGEST_QUESTION: Final = 600
LONGEST_MENTION: Final = 7


def parse_range(text: str, *, now: datetime, time_zone: str) -> Range:
    """Return the range the words mean, aware and in UTC. Raises InvalidInput, naming the accepted forms."""
    here = _here(now, time_zone)
    reading = _reading(text, here)
    if reading is not None:
        return reading.range
    bounds = _bounds(fold(text).strip(), here) if len(text) <= LONGEST_TEXT else None
    if bounds is None:
        raise _unreadable(text)
    if bounds.end <= bounds.start:
        raise InvalidInput(f"{text!r} ends before it starts. Put the earlier time first.")
    return bounds


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


def dates_in(text: str, *, now: datetime, time_zone: str) -> Range | None:
    """Return the range that holds every time a sentence speaks of, or None; for a soft filter.

    Amounts are taken as coarsely as they are meant: "two weeks ago" is that whole week.
    """
    here = _here(now, time_zone)
    found = [*_numeric_mentions(text[:LONGEST_QUESTION], here), *_mentions(text[:LONGEST_QUESTION], here)]
    if not found:
        return None
    hull = found[0]
    for other in found[1:]:
        hull = hull.hull(other)
    return hull


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


def _bounds(text: str, here: Here) -> Range | None:
    """Read "A..B", "from A to B", "between A and B", "since A", "until B", "before A", "after A"."""
    first, dots, last = text.partition("..")
    if dots:
        return _between(first, last, here)
    for opening, joints in _SPANS:
        if text.startswith(opening):
            for joint in joints:
                first, found, last = text[len(opening) :].partition(joint)
                if found:
                    return _between(first, last, here)
    for openings, bound in _BOUNDS:
        for opening in openings:
            if text.startswith(opening):
                reading = _reading(text[len(opening) :], here)
                return bound(reading.range) if reading else None
    return None


def _between(first: str, last: str, here: Here) -> Range | None:
    """Return the range from one to the other; an end left out is open."""
    start = _reading(first, here) if first.strip() else Reading(Range(EARLIEST, EARLIEST))
    end = _reading(last, here) if last.strip() else Reading(Range(LATEST, LATEST))
    if start is None or end is None or not (first.strip() or last.strip()):
        return None
    return Range(start.range.start, end.range.end)


def _since(named: Range) -> Range:
    return Range(named.start, LATEST)


def _until(named: Range) -> Range:
    return Range(EARLIEST, named.end)


def _before(named: Range) -> Range:
    return Range(EARLIEST, named.start)


def _after(named: Range) -> Range:
    return Range(named.end, LATEST)


def _numeric_mentions(text: str, here: Here) -> list[Range]:
    readings = (_numeric(written, here) for written in _MENTIONED_FIGURES.findall(text))
    return [reading.range for reading in readings if reading is not None]


def _mentions(text: str, here: Here) -> list[Range]:
    tokens = tokens_of(_MENTIONED_FIGURES.sub(" , ", text))
    found: list[Range] = []
    position = 0
    while position < len(tokens):
        reading, used = _mention_at(tokens, position, here)
        if reading is not None:
            before = tokens[position - 1] if position else ""
            bound = _AROUND.get(str(before))
            found.append(bound(_as_coarse(reading, here)) if bound else _as_coarse(reading, here))
        position += used
    return found


def _mention_at(tokens: list[Token], position: int, here: Here) -> tuple[Reading | None, int]:
    """Return the longest mention that starts here and its length."""
    end = position
    while end < len(tokens) and end - position < LONGEST_MENTION and _is_known(tokens[end]):
        end += 1
    placed = position > 0 and tokens[position - 1] in _AROUND
    for stop in range(end, position, -1):
        reading = read_tokens(tokens[position:stop], here, embedded=True, placed=placed)
        if reading is not None:
            return reading, stop - position
    return None, 1


def _is_known(token: Token) -> bool:
    return isinstance(token, int) or token in _CANONICAL


def _as_coarse(reading: Reading, here: Here) -> Range:
    """Widen an amount: "two weeks ago" to that week, "two hours ago" by an hour each way."""
    start = calendar_days.local_time(reading.range.start, here.zone)
    if reading.unit == "week":
        return calendar_days.week_of(start.toordinal(), here.zone)
    if reading.unit == "month":
        return calendar_days.month(start.year, start.month, here.zone)
    if reading.unit == "year":
        return calendar_days.year(start.year, here.zone)
    if reading.unit in ("second", "minute", "hour"):
        width = reading.range.end - reading.range.start
        return Range(max(reading.range.start, EARLIEST + width) - width, reading.range.end)
    return reading.range


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
_MENTIONED_FIGURES: Final = re.compile(
    r"(?<![\w.-])(?:\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?Z?|\d{4}-\d{2}(?:-\d{2})?|\d{1,2}\.\d{1,2}\.\d{4}|\d{4}-W\d{2})(?![\w-])",
    re.ASCII,
)
_SPANS: Final = (
    ("from ", (" to ", " until ", " till ")),
    ("between ", (" and ",)),
    ("von ", (" bis ",)),
    ("vom ", (" bis ",)),
    ("zwischen ", (" und ",)),
    ("desde ", (" hasta ", " ate ")),
    ("de ", (" a ",)),
    ("entre ", (" y ", " et ", " e ")),
    ("", (" to ", " until ", " bis ", " hasta ")),
)
_BOUNDS: Final = (
    (("since ", "from ", "seit ", "ab ", "desde ", "depuis ", "a partir de "), _since),
    (("until ", "till ", "up to ", "bis ", "hasta ", "jusqu'a ", "jusqu'au ", "ate "), _until),
    (("before ", "vor ", "antes de ", "antes del ", "avant "), _before),
    (("after ", "nach ", "despues de ", "despues del ", "apres ", "depois de "), _after),
)
_AROUND: Final = {"since": _since, "until": _until, "before": _before, "after": _after}
_CANONICAL: Final = frozenset(TOKENS.values())
