"""Tiers and how long each lives (spec T3, design §5)."""

from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any, Final

from zomem_graph.nodes.rules.given import shown
from zomem_graph.stores.errors import InvalidInput

__all__ = ["CATEGORIES", "LIFETIMES", "TIERS", "WALL_CLOCK_TIERS", "known_tier", "wall_clock_expiry"]

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


def known_tier(tier: Any) -> str:
    """Return a tier; raise InvalidInput for one that nobody knows, which would never fade."""
    if isinstance(tier, str) and tier in TIERS:
        return tier
    near = get_close_matches(tier.strip().casefold(), TIERS, 1) if isinstance(tier, str) else []
    meant = f"Did you mean {near[0]}? " if near else ""
    raise InvalidInput(f"tier {shown(tier)} is not known. {meant}Use {', '.join(TIERS)}.")


def wall_clock_expiry(tier: str, now: datetime) -> datetime | None:
    """Return when a new fact of this tier leaves recall by the clock alone; None for the slower tiers."""
    lifetime = LIFETIMES.get(tier)
    return now + lifetime if lifetime is not None and tier in WALL_CLOCK_TIERS else None
