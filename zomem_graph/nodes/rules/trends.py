"""How often something went well, day by day, week by week or month by month (spec F52)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Final, Literal

__all__ = ["GRANULARITIES", "Granularity", "Trend", "trend_of"]

Granularity = Literal["day", "week", "month"]
GRANULARITIES: Final = ("day", "week", "month")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One period, such as 2026-01-05, 2026-W02 or 2026-01, and how its episodes ended.

    `succeeded` counts success and resolved. `rate` is its share of all, `finished_rate` of those that are
    over; None when there are none.
    """

    period: str
    total: int
    succeeded: int
    failed: int

    @property
    def rate(self) -> float | None:
        """The share of all episodes that went well."""
        return self.succeeded / self.total if self.total else None

    @property
    def finished_rate(self) -> float | None:
        """The share of the finished episodes that went well."""
        finished = self.succeeded + self.failed
        return self.succeeded / finished if finished else None


def trend_of(episodes: Iterable[tuple[datetime, str]], *, granularity: Granularity, zone: tzinfo) -> list[Trend]:
    """Return the periods with episodes, oldest first, from (time, outcome); days are those of the zone."""
    outcomes: dict[str, list[str]] = {}
    for at, outcome in episodes:
        outcomes.setdefault(_period(at.astimezone(zone).date(), granularity), []).append(outcome)
    return [
        Trend(
            period=period,
            total=len(ended),
            succeeded=ended.count("success") + ended.count("resolved"),
            failed=ended.count("failure"),
        )
        for period, ended in sorted(outcomes.items())
    ]


def _period(day: date, granularity: Granularity) -> str:
    if granularity == "day":
        return day.isoformat()
    if granularity == "month":
        return f"{day:%Y-%m}"
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"
