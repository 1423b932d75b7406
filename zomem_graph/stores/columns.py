"""Column types that behave alike on every database.

Text comes back exactly as it went in, even with NUL or lone surrogates, which neither database can
hold; times are aware in Python and seconds since 1970 (UTC, float) in the database.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func
from sqlalchemy.engine import Dialect
from sqlalchemy.types import Float, Text, TypeDecorator

__all__ = ["ESCAPED", "FaithfulText", "JsonText", "UtcTime", "alike", "faithful", "unescaped"]

ESCAPED = "\ufdd0"  # a noncharacter: says that the rest is escaped
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The ends of the calendar, less what every zone needs: a float that was rounded beyond could not be read again.
_FIRST = (datetime(1, 1, 3, tzinfo=UTC) - _EPOCH).total_seconds()
_LAST = (datetime(9999, 12, 29, tzinfo=UTC) - _EPOCH).total_seconds()


def _needs_escape(text: str) -> bool:
    if "\x00" in text or text.startswith(ESCAPED):
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def faithful(text: str) -> str:
    """Return a text as the tables keep it: escaped where the database cannot hold it."""
    return ESCAPED + text.encode("unicode_escape", "surrogatepass").decode("ascii") if _needs_escape(text) else text


def unescaped(value: str | None) -> str | None:
    """Return stored text as it went in."""
    if value is None or not value.startswith(ESCAPED):
        return value
    return value[1:].encode("ascii").decode("unicode_escape")


def alike(column: Any, text: str) -> ColumnElement[bool]:
    """Return the condition that a column of text says the same as a text, whatever their letter case."""
    return func.lower(column) == faithful(text.lower())


class FaithfulText(TypeDecorator[str]):
    """Text that survives NUL and lone surrogates unchanged."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape what the database cannot hold."""
        return None if value is None else faithful(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Undo the escape."""
        return unescaped(value)


class UtcTime(TypeDecorator[datetime]):
    """An aware datetime, kept as seconds since 1970 in UTC."""

    impl = Float(53)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> float | None:
        """Return seconds; a naive time is a fault of ours and raises."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive time {value!r} must not reach the database")
        return min(max((value - _EPOCH) / timedelta(seconds=1), _FIRST), _LAST)

    def process_result_value(self, value: float | None, dialect: Dialect) -> datetime | None:
        """Return an aware time in UTC."""
        return None if value is None else _EPOCH + timedelta(seconds=min(max(value, _FIRST), _LAST))


class JsonText(TypeDecorator[Any]):
    """A plain value as compact JSON text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Return JSON in ASCII, so that no surrogate reaches the database."""
        if value is None:
            return None
        if isinstance(value, Mapping):
            value = dict(value)
        return json.dumps(value, separators=(",", ":"), default=str)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the value."""
        return None if value is None else json.loads(value)
