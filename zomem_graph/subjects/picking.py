"""Find the one thing an id means, and say what is near when there is none."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Literal, Protocol, TypeVar

from zomem_graph.nodes.rules.calendar_days import in_calendar, keepable
from zomem_graph.nodes.rules.dates import parse_instant
from zomem_graph.nodes.rules.given import in_order, shown
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput, UnknownName

__all__ = ["When", "kept_moment", "pick", "span"]

When = datetime | str | None
_SHORTEST_PREFIX = 4
_SHORT_ID = 8
_SHOWN = 3


class _Named(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Named)


def pick(
    wanted: str,
    *,
    what: str,
    starting_with: Callable[[str], Sequence[T]],
    known: Callable[[], Sequence[T]],
    title: Callable[[T], str],
) -> T:
    """Return what the id means; the first characters do where they name one thing only.

    Raises UnknownName with the nearest ids and titles.
    """
    if not isinstance(wanted, str) or not wanted.strip():
        raise InvalidInput(f"The id of {what} must be a text, not {shown(wanted)}.")
    wanted = wanted.strip()
    found = starting_with(wanted)
    exact = [one for one in found if one.id == wanted]
    if exact or (len(found) == 1 and len(wanted) >= _SHORTEST_PREFIX):
        return (exact or found)[0]
    everything = known()
    near = _near(wanted, everything, title)
    hint = "; ".join(f"{one.id[:_SHORT_ID]} ({title(one):.60})" for one in near)
    begins = "More than one" if len(found) > 1 else "No"
    raise UnknownName(
        f"{begins} {what} has the id {wanted[:80]!r}. " + (f"Nearest: {hint}." if hint else "There are none here.")
    )


def span(since: When, until: When, *, now: datetime, scope: Scope) -> tuple[datetime | None, datetime | None]:
    """Return the bounds of a question: aware times from datetimes (naive: UTC) or words in the scope's zone."""
    given = _read("since", since, now, scope, "start"), _read("until", until, now, scope, "end")
    begin, end = (None if at is None else in_calendar(at) for at in given)
    in_order(begin, end)
    return begin, end


def kept_moment(
    name: str, value: When, *, now: datetime, scope: Scope, edge: Literal["start", "end"] = "start"
) -> datetime | None:
    """Return a time to keep, read in the same way; raise InvalidInput at the very ends of the calendar."""
    at = _read(name, value, now, scope, edge)
    return None if at is None else keepable(name, at)


def _read(name: str, value: When, now: datetime, scope: Scope, edge: Literal["start", "end"]) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        return parse_instant(value, now=now, time_zone=scope.time_zone, edge=edge)
    if not isinstance(value, datetime):
        raise InvalidInput(f"{name} must be a datetime or words for a time, not {type(value).__name__}.")
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def _near(wanted: str, everything: Sequence[T], title: Callable[[T], str]) -> list[T]:
    by_id = get_close_matches(wanted, [one.id for one in everything], _SHOWN, 0.6)
    by_title = get_close_matches(wanted.lower(), [title(one).lower() for one in everything], _SHOWN, 0.3)
    near = [one for one in everything if one.id in by_id or title(one).lower() in by_title]
    return (near or list(everything))[:_SHOWN]
