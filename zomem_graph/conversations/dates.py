"""Dates as people write them above a chat: "2026-05-18 17:25", "1:56 pm on 8 May, 2023", "May 8, 2023".

All-number forms such as 05/06/2026 are not read: nobody can tell the month from the day.
"""

import re
from datetime import UTC, datetime, timedelta, timezone

__all__ = ["find_datetime", "is_only_a_date"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)"),
    re.compile(rf"(?<!\d){_DAY}\s+(?:of\s+)?{_MONTH},?\s+(?P<year>\d{{4}})(?!\d)", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+{_DAY},?\s+(?P<year>\d{{4}})(?!\d)", re.IGNORECASE),
)
_TIME = re.compile(
    r"(?<![\d:])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?(?:\s?(?P<zulu>Z|UTC)\b|(?P<offset>[+-](?:0\d|1[0-4]):?\d{2}))?",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\b(?:on|at|t)\b|[\s,.()\[\]–—-]",
    re.IGNORECASE,
)


def find_datetime(text: str, *, day: datetime | None = None) -> datetime | None:
    """Return the first date in the text with its time of day, aware; without an offset UTC is meant.

    A time alone counts when `day` says which day it belongs to. None when there is no real date.
    """
    match = next((found for pattern in _DATES if (found := pattern.search(text))), None)
    rest = text if match is None else f"{text[: match.start()]} {text[match.end() :]}"
    # The T of "2026-05-18T17:25" would hide the time behind it.
    time = _TIME.search(re.sub(r"\bT(?=\d)", " ", rest))
    if match is None and (time is None or day is None):
        return None
    try:
        base = _midnight(match) if match else _start_of(day)
        return _with_time(base, time) if time else base
    except ValueError:
        return None


def is_only_a_date(text: str) -> bool:
    """Tell whether a line says a date, perhaps with weekday and time, and nothing else."""
    if find_datetime(text) is None:
        return False
    for pattern in _DATES:
        text = pattern.sub(" ", text, count=1)
    return not _FILLER.sub("", _TIME.sub(" ", text.replace("T", " "), count=1))


def _midnight(match: re.Match[str]) -> datetime:
    month = match["month"]
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    return datetime(int(match["year"]), number, int(match["day"]), tzinfo=UTC)


def _start_of(day: datetime | None) -> datetime:
    if day is None:
        raise ValueError("no day given")
    return day.replace(hour=0, minute=0, second=0, microsecond=0)


def _with_time(base: datetime, match: re.Match[str]) -> datetime:
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    zone = base.tzinfo
    if match["zulu"]:
        zone = UTC
    elif offset := match["offset"]:
        shift = timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:]))
        zone = timezone(-shift if offset[0] == "-" else shift)
    return base.replace(hour=hour, minute=int(match["minute"]), second=int(match["second"] or 0), tzinfo=zone)
