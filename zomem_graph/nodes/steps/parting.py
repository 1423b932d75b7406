"""A value that was joined of several, when one of them is forgotten: the joined one goes, the others stand again."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from zomem_graph.nodes.steps.settle import join_values
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit

__all__ = ["joined_from", "parts_left", "parts_of", "stand_again"]

_PART = "merged"
_JOIN = "merge"  # how what was joined was learned


def joined_from(unit: Unit, known: Mapping[str, Fact], parts: Iterable[Fact]) -> dict[str, Fact]:
    """Return the facts among the known ones that were joined from these, and what was joined from those again."""
    found: dict[str, Fact] = {}
    waiting = [part.superseded_by for part in parts if part.state == _PART]
    while waiting:
        id_ = waiting.pop()
        if id_ is None or id_ in found or id_ not in known or not _is_joined(unit, id_):
            continue
        found[id_] = known[id_]
        if known[id_].state == _PART:
            waiting.append(known[id_].superseded_by)
    return found


def parts_of(unit: Unit, known: Mapping[str, Fact], joined: Iterable[Fact]) -> dict[str, Fact]:
    """Return the facts among the known ones from which these were joined, down to the first of them."""
    found: dict[str, Fact] = {}
    waiting = [one.id for one in joined]
    while waiting:
        id_ = waiting.pop()
        if not _is_joined(unit, id_):
            continue
        for part in known.values():
            if part.superseded_by == id_ and part.state == _PART and part.id not in found:
                found[part.id] = part
                waiting.append(part.id)
    return found


def parts_left(unit: Unit, gone: Mapping[str, Fact]) -> dict[tuple[str, str], list[str]]:
    """Return the ids of the parts that stay of each current value which goes, by persona and slot, oldest first."""
    left: dict[tuple[str, str], list[str]] = {}
    for fact in gone.values():
        if fact.state != "current" or not _is_joined(unit, fact.id):
            continue
        found: dict[str, Fact] = {}
        waiting = [fact.id]
        while waiting:
            for part in unit.conflicts.ousted_by(waiting.pop()):
                if part.state != _PART:
                    continue
                if part.id in gone:
                    waiting.append(part.id)
                else:
                    found[part.id] = part
        if found:
            left[(fact.persona, fact.slot)] = sorted(found, key=lambda id_: found[id_].created_at)
    return left


def stand_again(unit: Unit, left: Mapping[tuple[str, str], list[str]], *, now: datetime) -> None:
    """Let the parts that stay be the current value of their slot: the one there is, or several joined anew."""
    for (persona, slot), ids in left.items():
        found = {fact.id: fact for fact in unit.facts.find(ids)}
        parts = [one for id_ in ids if (one := found[id_]).expires_at is None or one.expires_at > now]
        if not parts or unit.facts.current(persona, slot) is not None:
            continue
        for part in parts:  # its confidence was halved when it was joined
            unit.facts.change(part.id, confidence=min(1.0, part.confidence * 2))
        if len(parts) == 1:
            unit.conflicts.revive(parts[0].id)
            unit.provenance.ended([parts[0].id], at=None, superseded_by=None, now=now)
        else:
            standing = {fact.id: fact for fact in unit.facts.find([part.id for part in parts])}
            join_values(unit, [standing[part.id] for part in parts], persona=persona, now=now)


def _is_joined(unit: Unit, fact_id: str) -> bool:
    return any(origin.capture_method == _JOIN for origin in unit.provenance.of([fact_id]))
