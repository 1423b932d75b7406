"""Tiers and how long each lives (spec T3, design §5)."""

from datetime import datetime, timedelta
from typing import Final

__all__ = ["CATEGORIES", "LIFETIMES", "TIERS", "WALL_CLOCK_TIERS", "wall_clock_expiry"]

LIFETIMES: Final[dict[str, timedelta | None]] = {
    "permanent": None,
    "stable": timedelta(days=90),
    "active": timedelta(days=14),
    "session": timedelta(hours=24),
    "checkpoint": timedelta(hours=4),
}
TIERS: Final = tuple(LIFETIMES)
CATEGORIES: Final = ("preference", "fact", "decision", "convention", "other", "reference", "project")

WALL_CLOCK_TIERS: Final = ("session", "checkpoint")
"""These live by the clock; the others count active days, and maintenance moves them."""


def wall_clock_expiry(tier: str, now: datetime) -> datetime | None:
    """Return when a new fact of this tier leaves recall by the clock alone; None for the slower tiers."""
    lifetime = LIFETIMES.get(tier)
    return now + lifetime if lifetime is not None and tier in WALL_CLOCK_TIERS else None
