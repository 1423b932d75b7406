"""How often something went well, day by day, week by week or month by month (spec F52)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, Literal

__all__ = ["GRANULARITIES", "Granularity", "Trend", "sparkline", "trend_of"]

Granularity = Literal["day", "week", "month"]
GRANULARITIES: Final = ("day", "week", "month")

_BARS: Final = "▁▂▃▄▅▆▇█"
_NOTHING: Final = "·"
_WIDEST: Final = 60


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


def sparkline(trends: Sequence[Trend], *, granularity: Granularity) -> str:
    """Return one sign a period, the share of what is over that went well as its height.

    Periods between without anything finished are dots; of more than 60 periods the last 60 are shown.
    """
    if not trends:
        return ""
    rates = {trend.period: trend.finished_rate for trend in trends}
    periods = list(_periods(trends[0].period, trends[-1].period, granularity))[-_WIDEST:]
    return "".join(_bar(rates.get(period)) for period in periods)


def _bar(rate: float | None) -> str:
    return _NOTHING if rate is None else _BARS[min(len(_BARS) - 1, int(rate * len(_BARS)))]


def _periods(first: str, last: str, granularity: Granularity) -> Iterator[str]:
    """Yield every period from the first to the last."""
    day = _start(first, granularity)
    period = first
    while period < last:
        yield period
        try:
            day += timedelta(days=1)
            while (following := _period(day, granularity)) == period:
                day += timedelta(days=1)
        except OverflowError:
            break
        period = following
    yield last


def _start(period: str, granularity: Granularity) -> date:
    match granularity:
        case "day":
            return date.fromisoformat(period)
        case "month":
            return date.fromisoformat(f"{period}-01")
        case "week":
            return date.fromisocalendar(int(period[:4]), int(period[6:]), 1)


def _period(day: date, granularity: Granularity) -> str:
    if granularity == "day":
        return day.isoformat()
    if granularity == "month":
        return day.isoformat()[:7]
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"
