"""The machine's time zone by its name, because "yesterday" on the command line is the user's yesterday."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

__all__ = ["machine_zone"]

_LINK = Path("/etc/localtime")
_NAME = Path("/etc/timezone")
_MONTH_SECONDS = 30 * 86_400


def machine_zone() -> str:
    """Return the IANA name of the machine's time zone, "UTC" when no zone keeps this machine's time.

    Where the process goes by another zone than the machine (TZ), it is a zone with the same clock all year.
    """
    now = time.time()
    moments = [now + months * _MONTH_SECONDS for months in range(12)]
    return next((name for name in _candidates() if _agrees(name, moments)), "UTC")


def _candidates() -> Iterator[str]:
    target = str(_LINK.resolve())
    if "/zoneinfo/" in target:
        yield target.rpartition("/zoneinfo/")[2]
    if _NAME.is_file():
        yield _NAME.read_text("utf-8", "replace").strip()
    yield "UTC"
    yield from sorted(available_timezones())


def _agrees(name: str, moments: list[float]) -> bool:
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return all(_reading(zone, moment) == _machine_reading(moment) for moment in moments)


def _reading(zone: ZoneInfo, moment: float) -> tuple[str | None, float]:
    there = datetime.fromtimestamp(moment, UTC).astimezone(zone)
    offset = there.utcoffset()
    return there.tzname(), offset.total_seconds() if offset is not None else 0.0


def _machine_reading(moment: float) -> tuple[str, int]:
    here = time.localtime(moment)
    return here.tm_zone, here.tm_gmtoff
