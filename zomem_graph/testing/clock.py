"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta

__all__ = ["FixedClock"]


class FixedClock:
    """Call it for the time; it stays at `start` (a Monday noon, UTC) until `advance` or `set`."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 12, tzinfo=UTC)) -> None:
        """Start at an aware datetime."""
        self._now = _aware(start)

    def __call__(self) -> datetime:
        """Return the time it is."""
        return self._now

    def advance(self, **amount: float) -> datetime:
        """Move on by a timedelta given in words, for example days=2 or minutes=5; return the new time."""
        self._now += timedelta(**amount)
        return self._now

    def set(self, moment: datetime) -> datetime:
        """Move to an aware datetime, also back; return it."""
        self._now = _aware(moment)
        return self._now


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("A clock needs a time zone: pass datetime(..., tzinfo=UTC).")
    return moment
