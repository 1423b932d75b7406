"""A known fact that is told again: its life begins anew, and what is told of it anew holds."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from zomem_graph.nodes.rules.given import bounded_metadata, is_large
from zomem_graph.nodes.rules.tiers import WALL_CLOCK_TIERS, wall_clock_expiry
from zomem_graph.nodes.steps.fading import given_tier, kept_since, renew
from zomem_graph.nodes.steps.settle import item_of
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit

__all__ = ["confirm", "tell_anew"]


def confirm(
    unit: Unit, kept: Fact, offered: Fact, *, confidence: float | None, importance: float | None, now: datetime
) -> None:
    """Raise what the repetition makes surer, and let the life of a kept fact begin anew.

    `confidence` and `importance` are what came with the repetition, None where nothing was said of them.
    """
    surer = max(kept.confidence, kept.confidence if confidence is None else confidence)
    weightier = max(kept.importance, kept.importance if importance is None else importance)
    if (surer, weightier) != (kept.confidence, kept.importance):
        unit.facts.change(kept.id, confidence=surer, importance=weightier)
    if given_tier(kept) in WALL_CLOCK_TIERS and offered.tier not in WALL_CLOCK_TIERS:
        # Said for longer than the session: it lives on by that.
        _move(unit, kept, offered.tier, now)
    elif offered.created_at > kept_since(kept):
        renew(unit, kept, now=now)


def tell_anew(
    unit: Unit, kept: Fact, offered: Fact, *, details: Collection[str] | None, now: datetime
) -> tuple[Fact, tuple[str, ...]]:
    """Take over what was told of a known fact with it; return the fact as it stands now, and what was not taken.

    `details` are the fields that somebody gave by hand; None for what a text says again, which only adds
    metadata that the fact lacks.
    """
    changes: dict[str, Any] = {}
    metadata = {**offered.metadata, **kept.metadata} if details is None else {**kept.metadata, **offered.metadata}
    if details is not None:
        metadata = bounded_metadata("metadata with what the fact has already", metadata)
    if metadata != kept.metadata and not is_large(metadata):
        changes["metadata"] = metadata
    for name in ("category", "importance", "confidence", "text"):
        if name in (details or ()) and getattr(offered, name) != getattr(kept, name):
            changes[name] = getattr(offered, name)
    if changes:
        unit.facts.change(kept.id, **changes)
    notes = _tell_tier(unit, kept, offered.tier, now) if "tier" in (details or ()) else ()
    found = unit.facts.find([kept.id])
    fact = found[0] if found else kept
    if "text" in changes:
        _reword(unit, kept, fact)
    return fact, notes


def _tell_tier(unit: Unit, kept: Fact, tier: str, now: datetime) -> tuple[str, ...]:
    """Give a fact the tier that was told; what was said for longer than a session stays so, and that is said."""
    stands = given_tier(kept)
    if stands == tier:
        return ()
    if tier in WALL_CLOCK_TIERS and stands not in WALL_CLOCK_TIERS:
        return (f"{kept.text!r:.80} is kept as {stands}: it was told for longer than a {tier}",)
    _move(unit, kept, tier, now)
    return ()


def _move(unit: Unit, kept: Fact, tier: str, now: datetime) -> None:
    expires = wall_clock_expiry(tier, now)
    unit.facts.change(kept.id, tier=tier, given_tier=None, kept_since=now, expires_at=expires)
    unit.items.set_expiry(kept.id, expires)


def _reword(unit: Unit, before: Fact, fact: Fact) -> None:
    """Let a fact be found by its new words and no longer by its old ones; what was named beside them stays."""
    number = unit.items.numbers_of([fact.id])[fact.id]
    beside = set(unit.items.entities_of([number]).get(number, ())).difference(item_of(before).entities)
    unit.items.purge([fact.id])
    unit.items.add([item_of(fact)])
    unit.imports.mention(fact.persona, [fact.id], sorted(beside))
    if fact.state != "current":
        unit.items.end([fact.id], state=fact.state, at=fact.ended_at or fact.created_at)
