"""Reads untyped JSON without trusting it: a field is a text, a mapping, a list, a time, or nothing."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

__all__ = ["flat_texts", "listing", "mapping", "moment", "plain_text", "text"]

_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2200
_MILLISECONDS: Final = 100_000_000_000  # as seconds this would be the year 5138


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def listing(value: Any) -> Sequence[Any]:
    """Return the value when it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def text(value: Any) -> str:
    """Return the value when it is a text, else ""."""
    return value if isinstance(value, str) else ""


def plain_text(value: Any) -> str:
    """Return a text or a number as text, anything else as ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def flat_texts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers of a list, or a single one."""
    for part in listing(value) or (value,):
        if found := plain_text(part):
            yield found


def moment(*values: Any) -> datetime | None:
    """Return the first value that is a time, in UTC: seconds or milliseconds since 1970, or ISO 8601.

    Years in which nobody sent messages are how programs write "unknown".
    """
    for value in values:
        found = _moment(value)
        if found is not None and _FIRST_YEAR <= found.year <= _LAST_YEAR:
            return found
    return None


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        return _written(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = value / 1_000 if abs(value) >= _MILLISECONDS else value
        # 0 is how some exports write "unknown".
        return datetime.fromtimestamp(seconds, UTC) if seconds and math.isfinite(seconds) else None
    except (ValueError, OverflowError, OSError):
        return None


def _written(value: str) -> datetime | None:
    try:
        return _moment(float(value))
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(value)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
