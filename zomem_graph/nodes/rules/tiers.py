"""Tiers and how long each lives (spec T3, design §5)."""

from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Final

__all__ = [
    "CATEGORIES",
    "LIFETIMES",
    "TIERS",
    "USUAL_TIER",
    "WALL_CLOCK_TIERS",
    "lived_tier",
    "tier_note",
    "wall_clock_expiry",
]

LIFETIMES: Final[dict[str, timedelta | None]] = {
    "permanent": None,
    "stable": timedelta(days=90),
    "active": timedelta(days=14),
    "session": timedelta(hours=24),
    "checkpoint": timedelta(hours=4),
}
TIERS: Final = tuple(LIFETIMES)
USUAL_TIER: Final = "stable"
CATEGORIES: Final = ("preference", "fact", "decision", "convention", "other", "reference", "project")

WALL_CLOCK_TIERS: Final = ("session", "checkpoint")
"""These live by the clock; the others count active days, and maintenance moves them."""


def lived_tier(tier: str) -> str:
    """Return the tier that a fact is kept in: the one it was given, the usual one for one that nobody knows."""
    return tier if tier in TIERS else USUAL_TIER


def tier_note(tier: str) -> str | None:
    """Return a warning for a tier that nobody knows, with the one that may have been meant."""
    if tier in TIERS:
        return None
    near = get_close_matches(tier.strip().casefold(), TIERS, 1, 0.0)
    return (
        f"unknown tier {tier!r:.40}, so the fact is kept as {USUAL_TIER}. Did you mean {near[0]}? "
        f"Known: {', '.join(TIERS)}"
    )


def wall_clock_expiry(tier: str, now: datetime) -> datetime | None:
    """Return when a new fact of this tier leaves recall by the clock alone; None for the slower tiers."""
    lifetime = LIFETIMES.get(tier)
    return now + lifetime if lifetime is not None and tier in WALL_CLOCK_TIERS else None
