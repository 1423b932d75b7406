"""Say of what was found what has changed since, and let what holds now stand before it (field report rows 53, 68)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from zomem_graph.nodes.rules.changed import SINCE_THEN, current_first
from zomem_graph.nodes.rules.keys import same_value
from zomem_graph.nodes.rules.told import LEARNED, without_item
from zomem_graph.nodes.values import Hit
from zomem_graph.stores.overtaken import Overtaken
from zomem_graph.stores.unit import Unit

__all__ = ["in_force_first", "with_changes"]


def with_changes(unit: Unit, hits: Sequence[Hit], *, readers: Collection[str], moment: datetime) -> list[Hit]:
    """Return the hits with what has changed since in their metadata, in the order of `in_force_first`.

    A turn is outdated by a fact that was learned from it and holds no longer, an episode where it tells such a fact.
    One statement, none without a turn or an episode that it could be about.
    """
    turns = [hit.id for hit in hits if hit.kind == "turn"]
    episodes = any(hit.kind == "episode" for hit in hits)
    facts = [hit.id for hit in hits if hit.kind == "fact"] if episodes else []
    if not turns and not facts:
        return list(hits)
    changes = [
        change
        for change in unit.provenance.overtaken(turns, facts, readers=readers, moment=moment)
        if change.now_value is None or not same_value(change.was_value, change.now_value, key=change.key)
    ]
    if not changes:
        return list(hits)
    return in_force_first([_with(hit, [one for one in changes if _outdates(one, hit)]) for hit in hits])


def in_force_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with each that is outdated behind what took its place, where that is among them."""
    return [hits[place] for place in current_first([(hit.id, hit.metadata) for hit in hits])]


def _outdates(change: Overtaken, hit: Hit) -> bool:
    if hit.kind == "turn":
        return hit.id == change.turn_id
    if hit.kind != "episode" or not _tells(hit.text, change.was):
        return False
    return change.now is None or not _tells(hit.text, change.now)


def _tells(text: str, learned: str) -> bool:
    return without_item(text, LEARNED, learned) != text.strip()


def _with(hit: Hit, changes: Sequence[Overtaken]) -> Hit:
    if not changes:
        return hit
    told: list[dict[str, Any]] = [
        {"was": one.was, "now": one.now, "fact_id": one.fact_id, "turn_id": one.now_turn_id} for one in changes
    ]
    seen = {(one["was"], one["now"]): one for one in told}
    return replace(hit, metadata={**hit.metadata, SINCE_THEN: list(seen.values())})
