"""Dates, weekdays and times inside a short value, so that two values can be compared as moments.

No calendar arithmetic: a moment holds only what was written, and "3 May" has no year.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ["Moment", "has_moment", "moments_clash", "moments_in", "same_moments"]

_MONTHS: Final[tuple[str, ...]] = (
    "january jan januar jänner enero ene janvier janv",
    "february feb februar febrero février fevrier févr",
    "march mar märz maerz marzo mars",
    "april apr abril abr avril avr",
    "may mai mayo",
    "june jun juni junio juin",
    "july jul juli julio juillet juil",
    "august aug agosto ago août aout",
    "september sept sep septiembre septembre",
    "october oct oktober okt octubre octobre",
    "november nov noviembre novembre",
    "december dec dezember dez diciembre dic décembre decembre déc",
)
_WEEKDAYS: Final[tuple[str, ...]] = (
    "monday mondays montag lunes lundi 星期一 周一",
    "tuesday tuesdays dienstag martes mardi 星期二 周二",
    "wednesday wednesdays mittwoch miércoles mercredi 星期三 周三",
    "thursday thursdays donnerstag jueves jeudi 星期四 周四",
    "friday fridays freitag viernes vendredi 星期五 周五",
    "saturday saturdays samstag sonnabend sábado samedi 星期六 周六",
    "sunday sundays sonntag domingo dimanche 星期日 星期天 周日",
)


def _numbered(lines: Iterable[str]) -> dict[str, int]:
    return {name: number for number, names in enumerate(lines, start=1) for name in names.split()}


_MONTH: Final = _numbered(_MONTHS)
_WEEKDAY: Final = _numbered(_WEEKDAYS)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_UNSAID: Final = {"year": 0, "month": 0, "day": 0, "weekday": 0, "hour": -1, "minute": -1}
_MONTH_NAME: Final = f"(?:{_any_of(_MONTH)})"
_SHAPES: Final[tuple[re.Pattern[str], ...]] = (
    re.compile(
        r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?![\d-])"
        r"(?:[t ](?P<hour>\d{2}):(?P<minute>\d{2})(?::\d{2}(?:\.\d{1,6})?)?(?:z|[+-]\d{2}:?\d{2})?)?"
    ),
    re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]?"),
    re.compile(r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?![\d.]\d)"),
    re.compile(
        r"(?<![\w.])(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?\s?(?:of |de )?"
        rf"(?P<name>{_MONTH_NAME})\b\.?(?:,? (?:de |of )?(?P<year>\d{{4}})\b)?"
    ),
    re.compile(
        rf"\b(?P<name>{_MONTH_NAME})\b\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)"
        r"(?:,? (?P<year>\d{4})\b)?"
    ),
    re.compile(rf"\b(?P<name>{_MONTH_NAME})\b\.?,? (?:de |of )?(?P<year>\d{{4}})\b"),
    re.compile(r"(?<![\d:])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?(?![\d:]) ?(?P<half>[ap]\.?m\b\.?)?"),
    re.compile(r"(?<![\d:.])(?P<hour>\d{1,2}) ?(?P<half>[ap]\.?m\b\.?)"),
    re.compile(r"(?<![\d:.])(?P<hour>\d{1,2}) ?(?:uhr|o'clock)\b"),
    re.compile(rf"(?<!\w)(?P<weekday>{_any_of(_WEEKDAY)})(?![a-z])"),
)


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """What a text says about one point in time; 0 (for times -1) stands for not said."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0
    hour: int = -1
    minute: int = -1


def moments_in(text: str) -> tuple[list[Moment], str]:
    """Return the moments in a normalised text, and the text without them."""
    found: list[Moment] = []
    for shape in _SHAPES:
        pieces: list[str] = []
        end = 0
        for match in shape.finditer(text):
            moment = _moment(match)
            if moment is not None:
                found.append(moment)
                pieces.append(text[end : match.start()])
                end = match.end()
        text = " ".join([*pieces, text[end:]]) if pieces else text
    return sorted(found), text


def has_moment(text: str) -> bool:
    """Return whether a text names a date, a weekday or a time of day."""
    return bool(moments_in(text.casefold())[0])


def same_moments(a: list[Moment], b: list[Moment]) -> bool:
    """Return whether two texts name the same moments, equally precisely."""
    return a == b


def moments_clash(a: list[Moment], b: list[Moment]) -> bool:
    """Return whether both name days (or weekdays, or times) and they cannot be the same ones."""
    for parts in (("year", "month", "day"), ("weekday",), ("hour", "minute")):
        of_a = [said for moment in a if (said := _said(moment, parts))]
        of_b = [said for moment in b if (said := _said(moment, parts))]
        if of_a and of_b and not any(_fits(one, other) for one in of_a for other in of_b):
            return True
    return False


def _moment(match: re.Match[str]) -> Moment | None:
    """Return the moment a match stands for, or None for a day or an hour that does not exist."""
    said = match.groupdict()
    month = _MONTH[said["name"]] if said.get("name") else int(said.get("month") or 0)
    day = int(said.get("day") or 0)
    hour = int(said["hour"]) if said.get("hour") else -1
    minute = int(said["minute"]) if said.get("minute") else (0 if hour >= 0 else -1)
    if half := said.get("half"):
        if hour > 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    if month > 12 or day > 31 or hour > 24 or minute > 59:
        return None
    weekday = _WEEKDAY[said["weekday"]] if said.get("weekday") else 0
    return Moment(int(said.get("year") or 0), month, day, weekday, hour, minute)


def _said(moment: Moment, parts: tuple[str, ...]) -> dict[str, int]:
    """Return the named parts of a moment that were really written."""
    return {part: value for part in parts if (value := getattr(moment, part)) > (0 if part[0] in "ymdw" else -1)}


def _fits(a: dict[str, int], b: dict[str, int]) -> bool:
    return all(b.get(part, value) == value for part, value in a.items())
