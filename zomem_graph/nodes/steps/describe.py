"""Turn ids into what a reader sees: the text of a hit and where it came from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from zomem_graph.nodes.rules.changed import SINCE_THEN
from zomem_graph.stores.records import Episode, Fact, Loop, Turn
from zomem_graph.stores.summary_records import Summary
from zomem_graph.stores.unit import Unit

__all__ = ["Described", "describe", "told"]


@dataclass(frozen=True, slots=True)
class Described:
    """The text of an item and its metadata as plain data.

    A snoozed loop sleeps until a time. `fact` is the record of what is a fact.
    """

    text: str
    metadata: Mapping[str, Any]
    sleeps_until: datetime | None = None
    fact: Fact | None = None

    def sleeps_at(self, moment: datetime) -> bool:
        """Return whether it must not come up yet."""
        return self.sleeps_until is not None and moment < self.sleeps_until


def describe(unit: Unit, things: Sequence[tuple[str, str]], *, readers: Collection[str]) -> dict[str, Described]:
    """Return text and metadata for (id, kind) pairs; ids that are gone are left out.

    `readers` are the personas that whoever asks may read: of others' facts not even a contradiction is told.
    """
    by_kind: dict[str, list[str]] = {}
    for id_, kind in things:
        by_kind.setdefault(kind, []).append(id_)
    found: dict[str, Described] = {}
    doubts = _doubts(unit, by_kind.get("fact", []), readers)
    for fact in unit.facts.find(by_kind.get("fact", [])):
        found[fact.id] = Described(fact.text, {**_of_fact(fact), **doubts.get(fact.id, {})}, fact=fact)
    for turn in unit.turns.find(by_kind.get("turn", [])):
        found[turn.id] = Described(f"{turn.speaker}: {turn.content}", _of_turn(turn))
    for episode in unit.episodes.find(by_kind.get("episode", [])):
        found[episode.id] = Described(f"{episode.summary} ({episode.outcome})", _of_episode(episode))
    for loop in unit.loops.find(by_kind.get("loop", [])):
        found[loop.id] = Described(told(loop), _of_loop(loop), sleeps_until=loop.snoozed_until)
    for summary in unit.summaries.find(by_kind.get("summary", [])):
        found[summary.id] = Described(summary.summary, _of_summary(summary))
    return found


def told(loop: Loop) -> str:
    """Return an open loop in one line: its title, and its summary where that says more."""
    return f"{loop.title} — {loop.summary}" if loop.summary and loop.summary != loop.title else loop.title


def _doubts(unit: Unit, fact_ids: Sequence[str], readers: Collection[str]) -> dict[str, dict[str, list[str]]]:
    """Return which other facts those of these that nobody has decided on contradict."""
    against: dict[str, set[str]] = {}
    for newer, older in unit.conflicts.doubts(fact_ids, [*readers]):
        against.setdefault(newer, set()).add(older)
        against.setdefault(older, set()).add(newer)
    return {id_: {"conflicts_with": sorted(others)} for id_, others in against.items()}


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
        "last_accessed": fact.last_accessed.isoformat() if fact.last_accessed else None,
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
        SINCE_THEN: [],
    }


def _of_episode(episode: Episode) -> dict[str, Any]:
    return {
        **episode.metadata,
        "persona": episode.persona,
        "outcome": episode.outcome,
        "entities": list(episode.entities),
        "session": episode.session,
        "thread": episode.thread,
        "duration_ms": episode.duration_ms,
        "source": episode.source,
        "trust": episode.trust,
        "state": "current",
        SINCE_THEN: [],
    }


def _of_loop(loop: Loop) -> dict[str, Any]:
    return {
        **loop.metadata,
        "persona": loop.persona,
        "title": loop.title,
        "kind": loop.kind,
        "status": loop.status,
        "priority": loop.priority,
        "entity": loop.entity,
        "owner": loop.owner,
        "session": loop.session,
        "thread": loop.thread,
        "source": loop.source,
        "trust": loop.trust,
        "turn_id": loop.turn_id,
        "updated_at": loop.updated_at.isoformat(),
        "state": "current" if loop.status == "open" else loop.status,
    }


def _of_summary(summary: Summary) -> dict[str, Any]:
    return {
        "persona": summary.persona,
        "level": summary.level,
        "key_decisions": list(summary.key_decisions),
        "key_outcomes": list(summary.key_outcomes),
        "episodes": summary.episodes,
        "sources": list(summary.sources),
        "first_at": summary.first_at.isoformat(),
        "last_at": summary.last_at.isoformat(),
        "source": summary.method,
        "state": "current",
    }
