"""The small grammar of time words: tokens in, a range of time out.

`tokens_of` turns any of the languages into canonical tokens, `read_tokens` reads a run of them.
A reading knows whether it names a moment ("2 hours ago") or a stretch ("last week").
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta, tzinfo
from typing import Final

from zomem_graph.nodes.rules import calendar_days
from zomem_graph.nodes.rules.calendar_days import LATEST, Range
from zomem_graph.nodes.rules.date_words import (
    LONGEST_PHRASE,
    MONTHS,
    NUMBERS,
    TOKENS,
    UNITS,
    UNSPACED,
    WEEKDAYS,
)
from zomem_graph.nodes.rules.phrases import fold

__all__ = ["Here", "Reading", "exact", "read_tokens", "tokens_of"]

Token = str | int

_DAY_UNITS: Final = frozenset(UNITS[3:])
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_NAMED_DAYS: Final = {
    "today": 0,
    "yesterday": -1,
    "day before yesterday": -2,
    "tomorrow": 1,
    "day after tomorrow": 2,
}
_STEPS: Final = {"this": 0, "last": -1, "past": -1, "next": 1}
_PIECE: Final = re.compile(
    "|".join(map(re.escape, UNSPACED)) + r"|\d+|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff]"
)
_ORDINAL_ENDINGS: Final = frozenset("st nd rd th er".split())


@dataclass(frozen=True, slots=True)
class Here:
    """The moment and the zone in which time words are meant."""

    now: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        """The calendar day of the zone."""
        return calendar_days.local_time(self.now, self.zone).date()


@dataclass(frozen=True, slots=True)
class Reading:
    """What time words mean: a range, and the exact moment if they name one."""

    range: Range
    instant: datetime | None = None


def exact(moment: datetime, resolution: timedelta) -> Reading:
    """Return the reading of one moment; its range is as long as its resolution."""
    try:
        end = moment + resolution
    except OverflowError:
        end = LATEST
    return Reading(Range(moment, end), moment)


def tokens_of(text: str) -> list[Token]:
    """Return canonical tokens; unknown words stay as they are, fillers become ""."""
    pieces = _PIECE.findall(fold(text))
    tokens: list[Token] = []
    position = 0
    while position < len(pieces):
        token, used = _token_at(pieces, position, tokens)
        position += used
        if token is not None:
            tokens.append(token)
    return tokens


def _token_at(pieces: list[str], position: int, before: list[Token]) -> tuple[Token | None, int]:
    piece = pieces[position]
    for length in range(min(LONGEST_PHRASE, len(pieces) - position), 0, -1):
        token = TOKENS.get(tuple(pieces[position : position + length]))
        if token is not None:
            return token, length
    if piece.isdecimal():
        return (int(piece), 1) if len(piece) <= 7 else (piece, 1)
    number = NUMBERS.get(piece)
    if number is not None:
        if number in (2, 3) and before[-1:] == [1]:
            before.pop()  # "a couple of", "a few"
        return number, 1
    if piece in _ORDINAL_ENDINGS and before and isinstance(before[-1], int):
        return None, 1
    return piece, 1


def read_tokens(tokens: Sequence[Token], here: Here) -> Reading | None:
    """Return what the whole run of tokens means, or None."""
    words = [token for token in tokens if token != ""]
    introduced = words[:1] == ["in"] and not (len(words) == 3 and words[2] in UNITS)
    words = words[introduced:]
    if words[:1] == ["year"] and len(words) == 2:
        words = words[1:]
    if not words:
        return None
    try:
        return _named(words, here) or _relative(words, here) or _counted(words, here) or _dated(words, here)
    except (OverflowError, ValueError):
        # No such day ("30 February"), or one outside the years 1 to 9999.
        return None


def _named(words: list[Token], here: Here) -> Reading | None:
    if len(words) != 1:
        return None
    word, today = words[0], here.today.toordinal()
    if word == "now":
        return exact(calendar_days.to_utc(here.now), timedelta(seconds=1))
    if word in _NAMED_DAYS:
        return _day(today + _NAMED_DAYS[str(word)], here)
    if word == "last night":
        evening, morning = _day(today - 1, here).range, _day(today, here).range
        return Reading(Range(evening.start + timedelta(hours=18), morning.start + timedelta(hours=6)))
    if word in WEEKDAYS:
        return _day(today - (today - 1 - WEEKDAYS.index(str(word))) % 7, here)
    return None


def _relative(words: list[Token], here: Here) -> Reading | None:
    """Read "this week", "last monday", "next month"; the adjective may follow."""
    if len(words) == 1 and isinstance(words[0], str) and words[0].partition(" ")[0] in _STEPS:
        words = list(words[0].split())
    if len(words) != 2:
        return None
    first, second = words
    if second in ("last", "next"):
        first, second = second, first
    if first not in _STEPS or not isinstance(second, str):
        return None
    step = _STEPS[str(first)]
    if first == "past" and second in UNITS:
        return _back(1, second, here)
    if second in WEEKDAYS:
        return _weekday(WEEKDAYS.index(second), step, here)
    if second in MONTHS:
        return _month_named(MONTHS.index(second) + 1, step, here)
    return _period(second, step, here)


def _period(unit: str, step: int, here: Here) -> Reading | None:
    today, zone = here.today, here.zone
    ordinal = today.toordinal()
    if unit == "day":
        return _day(ordinal + step, here)
    if unit == "week":
        return Reading(calendar_days.week_of(ordinal + 7 * step, zone))
    if unit == "weekend":
        return Reading(calendar_days.days(ordinal - (ordinal - 1) % 7 + 7 * step + 5, 2, zone))
    if unit == "month":
        there = calendar_days.months_away(today.replace(day=1), step)
        return Reading(calendar_days.month(there.year, there.month, zone))
    if unit == "year":
        return Reading(calendar_days.year(today.year + step, zone))
    return None


def _weekday(weekday: int, step: int, here: Here) -> Reading:
    today = here.today.toordinal()
    since = (today - 1 - weekday) % 7
    if step < 0:
        return _day(today - (since or 7), here)
    if step > 0:
        return _day(today - since + 7, here)
    return _day(today - (today - 1) % 7 + weekday, here)


def _month_named(number: int, step: int, here: Here) -> Reading:
    today = here.today
    year = today.year
    if step < 0 and number >= today.month:
        year -= 1
    if step > 0 and number <= today.month:
        year += 1
    return Reading(calendar_days.month(year, number, here.zone))


def _counted(words: list[Token], here: Here) -> Reading | None:
    """Read "3 days ago", "in 2 hours", "last 7 days", and plain "7 days"."""
    if len(words) == 2:
        words = ["past", *words]
    if len(words) != 3:
        return None
    first, second, third = words
    if third in ("ago>", "hence>"):
        first, second, third = ("ago<" if third == "ago>" else "in"), first, second
    if not isinstance(second, int) or third not in UNITS:
        return None
    unit = str(third)
    if first in ("ago<", "in"):
        return _away(-second if first == "ago<" else second, unit, here)
    if first in ("last", "past"):
        return _back(second, unit, here)
    return None


def _away(count: int, unit: str, here: Here) -> Reading:
    """Hours are counted to the moment, days and more to the calendar day."""
    if unit not in _DAY_UNITS:
        step = timedelta(seconds=_SECONDS[unit])
        return exact(calendar_days.shifted(here.now, step * count), step)
    today = here.today
    if unit in ("day", "week"):
        there = today.toordinal() + count * (7 if unit == "week" else 1)
        date.fromordinal(there)
        return Reading(calendar_days.days(there, 1, here.zone))
    there_day = calendar_days.months_away(today, count * (12 if unit == "year" else 1))
    return Reading(calendar_days.days(there_day.toordinal(), 1, here.zone))


def _back(count: int, unit: str, here: Here) -> Reading:
    """Return the stretch from so long ago until now."""
    now = calendar_days.to_utc(here.now)
    if unit in _SECONDS:
        start = calendar_days.shifted(now, -timedelta(seconds=_SECONDS[unit] * count))
    else:
        local = calendar_days.local_time(now, here.zone)
        day = calendar_days.months_away(local.date(), -count * (12 if unit == "year" else 1))
        start = calendar_days.to_utc(datetime.combine(day, local.timetz()))
    return Reading(Range(start, now), start)


def _dated(words: list[Token], here: Here) -> Reading | None:
    """Read "3 May 2024", "May 3", "March 2025", "May", "2024"."""
    if len(words) > 1 and words[0] in WEEKDAYS:
        words = words[1:]
    months = [word for word in words if word in MONTHS]
    numbers = [word for word in words if isinstance(word, int)]
    if len(months) + len(numbers) != len(words) or len(months) > 1 or len(words) > 3:
        return None
    if not months:
        lone_year = len(numbers) == 1 and 1_000 <= numbers[0] <= MAXYEAR
        return Reading(calendar_days.year(numbers[0], here.zone)) if lone_year else None
    month = MONTHS.index(str(months[0])) + 1
    if len(numbers) == 2:
        day, year = numbers if numbers[0] <= 31 else numbers[::-1]
        return _day(date(_year(year), month, day).toordinal(), here)
    if numbers and numbers[0] > 31:
        return Reading(calendar_days.month(_year(numbers[0]), month, here.zone))
    if numbers:
        return _day(_latest(month, numbers[0], here.today).toordinal(), here)
    return _month_named(month, -1 if month > here.today.month else 0, here)


def _year(number: int) -> int:
    if not MINYEAR <= number <= MAXYEAR:
        raise ValueError(f"no such year: {number}")
    return number


def _latest(month: int, day: int, today: date) -> date:
    """Return the most recent such day; 29 February may lie up to eight years back."""
    for year in range(today.year, max(today.year - 9, 0), -1):
        try:
            there = date(year, month, day)
        except ValueError:
            continue
        if there <= today:
            return there
    raise ValueError("no such day")


def _day(ordinal: int, here: Here) -> Reading:
    date.fromordinal(ordinal)  # raises ValueError outside the calendar
    return Reading(calendar_days.days(ordinal, 1, here.zone))
