"""The frozen values the stores hand out, one class a subject.

A record has the columns of its table under the same names (a test holds it); `sql.py` makes the
light Core tables of the hot path from them. Times are aware datetimes in UTC. Only `Episode.entities`
is no column: it comes from a table of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

__all__ = [
    "Access",
    "CaptureRun",
    "Conflict",
    "ConflictType",
    "Document",
    "Episode",
    "EpisodeEntity",
    "Extraction",
    "Fact",
    "GateDecision",
    "ImportRecord",
    "Inheritance",
    "Item",
    "ItemTokens",
    "Kind",
    "Link",
    "Loop",
    "LoopStatus",
    "Mention",
    "Origin",
    "Outcome",
    "PieceCount",
    "Pool",
    "PoolMember",
    "Resolution",
    "Strategy",
    "State",
    "Tombstone",
    "Turn",
]

Kind = Literal["fact", "turn", "episode", "loop"]
Outcome = Literal["success", "failure", "resolved", "ongoing"]
LoopStatus = Literal["open", "resolved", "stale", "superseded"]
State = Literal["current", "superseded", "retracted", "expired", "archived", "deleted", "merged", "flagged", "stub"]
ConflictType = Literal["semantic", "temporal", "exact"]
Resolution = Literal["superseded", "merged", "flagged", "pending"]
Strategy = Literal["supersede", "merge", "flag", "pending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One searchable thing: what the words leg and the vector leg know of a fact, turn, episode or loop.

    The `words_*` columns hold search text (`words.search_text`), never display text. `vec_seq` is the
    outbox number of the last change of its vector, so that a reader can scan what its index lacks.
    """

    num: int
    id: str
    kind: str
    persona: str
    thread: str | None
    session: str | None
    speaker: str | None
    state: str
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None
    text: str
    words_scope: str
    words_self: str
    words_prev: str
    words_next: str
    words_date: str
    words_title: str
    text_hash: str
    embedder: str | None
    embedding: bytes | None
    vec_seq: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something known: entity, key, value, and where it came from.

    `tier` is one of permanent, stable, active, session, checkpoint (spec T1). `importance` is 0-2,
    1 is ordinary; `confidence` 0-1. `slot` is the address that has one current value per persona.
    `given_tier` is the tier before maintenance moved it, None when it never did; `kept_since` is when it came
    into the store or was last said again, None for `created_at`.
    """

    id: str
    persona: str
    entity: str
    key: str | None
    value: str
    text: str
    category: str
    tier: str
    importance: float
    confidence: float
    source: str
    trust: str
    state: str
    slot: str
    many: bool
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None
    last_accessed: datetime | None
    access_count: int
    superseded_by: str | None
    turn_id: str | None
    quote: str | None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    given_tier: str | None = None
    kept_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message as it was said. `position` counts from 0 within persona and session."""

    id: str
    persona: str
    thread: str | None
    session: str
    position: int
    role: str
    speaker: str
    content: str
    at: datetime
    digest: str
    message_id: str | None
    trust: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A typed, weighted arrow between two items."""

    source_id: str
    target_id: str
    relation: str
    weight: float
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """An item names an entity; `entity` is its normal form."""

    num: int
    entity: str
    persona: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One use of an item: returned to a caller or injected. Probes leave none."""

    item_id: str
    at: datetime
    kind: str
    persona: str
    turn_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRun:
    """One capture of a conversation and what came of it."""

    id: str
    persona: str
    thread: str | None
    source: str
    digest: str
    mode: str
    model: str
    turns: int
    facts: int
    skipped: int
    superseded: int
    redacted: int
    status: str
    error: str | None
    created_at: datetime
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """One waiting or finished job of the durable extraction queue: turns a model has yet to read.

    `model` is the one that was asked for, None for the settings' choice.
    """

    id: str
    persona: str
    thread: str | None
    session: str
    turn_ids: list[str]
    source: str
    model: str | None = None
    status: str
    attempts: int
    error: str | None
    not_before: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """One decision of the gate, for metrics and audit; the message itself is kept as a hash only."""

    id: str
    persona: str
    decision: str
    method: str
    reason: str
    exit_code: int
    latency_ms: float
    message_hash: str
    keywords: list[str]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Something that happened, with its outcome (spec T7). `entities` are names as they were written."""

    id: str
    persona: str
    thread: str | None
    session: str | None
    summary: str
    outcome: str
    happened_at: datetime
    duration_ms: float | None
    procedure_id: str | None
    source: str
    trust: str
    created_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEntity:
    """An entity that took part in an episode (spec T8); `entity` is its normal form, `name` as written."""

    episode_id: str
    entity: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Something unfinished (spec T13). `priority` is 0-1; `fingerprint` is one among open and stale loops.

    `updated_at` is when it was last spoken of. Until `snoozed_until` it stays out of recall; after
    `expires_at` it is over. `resolution` says what closed it.
    """

    id: str
    persona: str
    thread: str | None
    session: str | None
    title: str
    summary: str
    kind: str
    status: str
    priority: float
    entity: str | None
    owner: str | None
    source: str
    trust: str
    turn_id: str | None
    related_episode_id: str | None
    fingerprint: str
    created_at: datetime
    updated_at: datetime
    snoozed_until: datetime | None
    expires_at: datetime | None
    resolved_at: datetime | None
    resolution: str | None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two facts that cannot both hold, and what was done about it (spec T23).

    `fact_id` is the newer one. `persona` is whose it is to decide: where one side is shared, the other side's
    persona. `detector` names the rule that saw it, `score` its certainty where it has
    one. `resolved_at` is None while somebody may still decide: pending and flagged.
    """

    id: str
    persona: str
    fact_id: str
    conflicting_fact_id: str
    conflict_type: str
    resolution: str
    detector: str
    score: float | None
    note: str
    created_at: datetime
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a fact came from, one for each source and turn that said it (spec T24).

    `capture_method` is api, rule, model, import or merge. It was said to hold from `effective_from`, and held until
    `effective_until`; the fact's `created_at` is later where it had to wait for a decision. `turn_id` is empty when
    no turn is behind it.
    """

    id: str
    fact_id: str
    persona: str
    source: str
    turn_id: str
    capture_method: str
    captured_at: datetime
    effective_from: datetime
    effective_until: datetime | None
    superseded_by: str | None
    superseded_at: datetime | None
    quote: str | None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A keyed hash of something that was erased; `said_at` is when it was last said, where that is known."""

    digest: str
    kind: str
    said_at: datetime | None
    created_at: datetime

    def was_said_since(self, at: datetime | None) -> bool:
        """Return whether what is said at a time was said anew; what tells no time of its own was not."""
        return at is not None and at > max(self.created_at, self.said_at or self.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRecord:
    """What came of one conversation or note of an import, so that the next import knows it again.

    `item` and `digest` are hashes of its name and content: what is erased elsewhere leaves no word here.
    `parts` are pairs of the hash of a message or piece and the id it was stored under.
    """

    persona: str
    source: str
    item: str
    digest: str
    parts: list[list[str]]
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTokens:
    """The token vectors of an item in one model's space, in the form of `tokens.TOKEN`."""

    num: int
    model: str
    count: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceCount:
    """In how many items a word piece of a model occurs; piece -1 counts the items."""

    model: str
    piece: int
    frequency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A named circle of personas that read each other (spec T21)."""

    id: str
    name: str
    description: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMember:
    """A persona in a pool (spec T21)."""

    pool_id: str
    persona: str
    added_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Inheritance:
    """A child reads what its parent has (spec T22); `depth` is 1, the rest follows from the chain."""

    child_persona: str
    parent_persona: str
    depth: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One value in the key-value store that graphs use (LangGraph's BaseStore).

    `namespace` is the path of `documents.path_of`. `ttl` is in minutes; reading may move `expires_at` by it.
    Of two documents the later one has the larger `num`. `id` is the item that search knows it by.
    """

    num: int
    id: str
    namespace: str
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    ttl: float | None
