"""Turn ids into what a reader sees: the text of a hit and where it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zomem_graph.stores.records import Fact, Turn
from zomem_graph.stores.unit import Unit

__all__ = ["Described", "describe"]


@dataclass(frozen=True, slots=True)
class Described:
    """The text of an item and its metadata as plain data."""

    text: str
    metadata: Mapping[str, Any]


def describe(unit: Unit, things: Sequence[tuple[str, str]]) -> dict[str, Described]:
    """Return text and metadata for (id, kind) pairs; ids that are gone are left out."""
    by_kind: dict[str, list[str]] = {}
    for id_, kind in things:
        by_kind.setdefault(kind, []).append(id_)
    found: dict[str, Described] = {}
    for fact in unit.facts.find(by_kind.get("fact", [])):
        found[fact.id] = Described(fact.text, _of_fact(fact))
    for turn in unit.turns.find(by_kind.get("turn", [])):
        found[turn.id] = Described(f"{turn.speaker}: {turn.content}", _of_turn(turn))
    return found


def _of_fact(fact: Fact) -> dict[str, Any]:
    return {
        **fact.metadata,
        "persona": fact.persona,
        "entity": fact.entity,
        "key": fact.key,
        "value": fact.value,
        "category": fact.category,
        "tier": fact.tier,
        "importance": fact.importance,
        "confidence": fact.confidence,
        "source": fact.source,
        "trust": fact.trust,
        "state": fact.state,
        "superseded_by": fact.superseded_by,
        "turn_id": fact.turn_id,
        "quote": fact.quote,
    }


def _of_turn(turn: Turn) -> dict[str, Any]:
    return {
        **turn.metadata,
        "persona": turn.persona,
        "role": turn.role,
        "speaker": turn.speaker,
        "session": turn.session,
        "thread": turn.thread,
        "position": turn.position,
        "trust": turn.trust,
        "message_id": turn.message_id,
        "state": "current",
    }
