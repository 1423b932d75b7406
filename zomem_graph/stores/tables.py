"""The schema as SQLModel classes: what Alembic migrates and what you query with `memory.session()`.

No behaviour here. Column names equal the records' field names.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, text
from sqlmodel import Field, SQLModel

from zomem_graph.stores.care_tables import AccessRow, ActiveDayRow, CareMoveRow, CareRunRow
from zomem_graph.stores.metric_tables import ModelCallRow, OperationRow
from zomem_graph.stores.persona_tables import InheritanceRow, PoolMemberRow, PoolRow
from zomem_graph.stores.summary_tables import ContextBudgetRow, SummaryRow, SummarySourceRow
from zomem_graph.stores.table_fields import json_field as _json
from zomem_graph.stores.table_fields import text_field as _text
from zomem_graph.stores.table_fields import time_field as _time
from zomem_graph.stores.token_tables import ItemTokensRow, PieceCountRow
from zomem_graph.stores.vault_tables import VaultFactRow, VaultSessionRow
from zomem_graph.stores.work_tables import ExecutorHistoryRow, ExecutorRunRow, ProcedureEpisodeRow, ProcedureRow

__all__ = [
    "AccessRow", "ActiveDayRow", "CareMoveRow", "CareRunRow",
    "CaptureRow", "CollectionRow", "ConflictRow", "DocumentRow", "EmbeddingCacheRow", "EpisodeEntityRow",
    "EpisodeRow", "ExtractionRow", "FactRow", "GateRow", "ImportRow", "InheritanceRow", "ItemRow", "ItemTokensRow",
    "LinkRow", "LoopRow", "MentionRow", "MetaRow", "OriginRow", "OutboxRow", "PieceCountRow",
    "PoolMemberRow", "PoolRow", "SpeakerRow", "TombstoneRow", "TurnRow", "VaultFactRow", "VaultSessionRow",
    "ExecutorHistoryRow", "ExecutorRunRow", "ProcedureEpisodeRow", "ProcedureRow",
    "ContextBudgetRow", "ModelCallRow", "OperationRow", "SummaryRow", "SummarySourceRow",
]  # fmt: skip

_NO_VECTOR, _HAS_VECTOR = text("embedding is null"), text("embedding is not null")
_BIG = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts rows only in INTEGER columns


class ItemRow(SQLModel, table=True):
    """What the words leg and the vector leg know of a fact, turn, episode or loop."""

    __tablename__ = "items"
    __table_args__ = (
        Index("ix_items_collection", "persona", "kind", "state", "vec_seq"),
        Index("ix_items_session", "persona", "session"),
        Index("ix_items_created", "persona", "created_at"),
        Index("ix_items_vec_seq", "vec_seq"),
        Index("ix_items_expires", "expires_at", sqlite_where=text("expires_at is not null")),
        Index("ix_items_pending", "state", sqlite_where=_NO_VECTOR, postgresql_where=_NO_VECTOR),
        Index("ix_items_text", "text_hash", sqlite_where=_HAS_VECTOR, postgresql_where=_HAS_VECTOR),
        {"sqlite_autoincrement": True},
    )
    num: int | None = Field(default=None, sa_column=Column("num", _BIG, primary_key=True, autoincrement=True))
    id: str = _text(unique=True)
    kind: str = _text()
    persona: str = _text()
    thread: str | None = _text(default=None)
    session: str | None = _text(default=None)
    speaker: str | None = _text(default=None)
    state: str = _text()
    created_at: datetime = _time()
    ended_at: datetime | None = _time(default=None)
    expires_at: datetime | None = _time(default=None)
    text: str = _text()
    words_scope: str = _text()
    words_self: str = _text()
    words_prev: str = _text()
    words_next: str = _text()
    words_date: str = _text()
    words_title: str = _text()
    text_hash: str = _text()
    embedder: str | None = _text(default=None)
    embedding: bytes | None = Field(default=None, sa_column=Column("embedding", LargeBinary))
    vec_seq: int | None = Field(default=None, sa_column=Column("vec_seq", BigInteger))


class FactRow(SQLModel, table=True):
    """Something known (spec T1); one current value a slot and persona."""

    __tablename__ = "facts"
    __table_args__ = (
        Index(
            "uq_facts_slot",
            "persona",
            "slot",
            unique=True,
            sqlite_where=text("state = 'current'"),
            postgresql_where=text("state = 'current'"),
        ),
        Index("ix_facts_entity", "persona", "entity", "key"),
        Index("ix_facts_slot", "persona", "slot", "created_at"),
        Index("ix_facts_turn", "turn_id"),
    )
    id: str = _text(primary_key=True)
    persona: str = _text()
    entity: str = _text()
    key: str | None = _text(default=None)
    value: str = _text()
    text: str = _text()
    category: str = _text()
    tier: str = _text()
    importance: float
    confidence: float
    source: str = _text()
    trust: str = _text()
    state: str = _text()
    slot: str = _text()
    many: bool
    created_at: datetime = _time()
    ended_at: datetime | None = _time(default=None)
    expires_at: datetime | None = _time(default=None)
    last_accessed: datetime | None = _time(default=None)
    access_count: int
    superseded_by: str | None = _text(default=None)
    turn_id: str | None = _text(default=None)
    quote: str | None = _text(default=None)
    details: dict[str, Any] = _json("metadata")
    given_tier: str | None = _text(default=None)
    kept_since: datetime | None = _time(default=None)


class TurnRow(SQLModel, table=True):
    """One message as it was said."""

    __tablename__ = "turns"
    __table_args__ = (
        Index("uq_turns_place", "persona", "session", "position", unique=True),
        Index("ix_turns_thread", "persona", "thread"),
    )
    id: str = _text(primary_key=True)
    persona: str = _text()
    thread: str | None = _text(default=None)
    session: str = _text()
    position: int
    role: str = _text()
    speaker: str = _text()
    content: str = _text()
    at: datetime = _time()
    digest: str = _text()
    message_id: str | None = _text(default=None)
    trust: str = _text()
    details: dict[str, Any] = _json("metadata")


class LinkRow(SQLModel, table=True):
    """A typed, weighted arrow between two items (spec T5)."""

    __tablename__ = "links"
    __table_args__ = (Index("ix_links_target", "target_id"),)
    source_id: str = _text(primary_key=True)
    target_id: str = _text(primary_key=True)
    relation: str = _text(primary_key=True)
    weight: float
    created_at: datetime = _time()


class MentionRow(SQLModel, table=True):
    """An item names an entity."""

    __tablename__ = "mentions"
    __table_args__ = (Index("ix_mentions_entity", "persona", "entity"),)
    num: int = Field(sa_column=Column("num", _BIG, primary_key=True, autoincrement=False))
    entity: str = _text(primary_key=True)
    persona: str = _text()


class OutboxRow(SQLModel, table=True):
    """A change the vector index has yet to follow; written in the transaction of the change."""

    __tablename__ = "outbox"
    __table_args__ = ({"sqlite_autoincrement": True},)
    seq: int | None = Field(default=None, sa_column=Column("seq", _BIG, primary_key=True, autoincrement=True))
    item_id: str = _text()
    collection: str = _text()
    op: str = _text()


class CollectionRow(SQLModel, table=True):
    """How many live vectors a persona has of a kind in a space, kept in step by every write."""

    __tablename__ = "collections"
    persona: str = _text(primary_key=True)
    kind: str = _text(primary_key=True)
    embedder: str = _text(primary_key=True)
    live: int


class MetaRow(SQLModel, table=True):
    """Small facts about the store: the embedder, the index generation, what the index has seen."""

    __tablename__ = "meta"
    key: str = _text(primary_key=True)
    value: str = _text()


class SpeakerRow(SQLModel, table=True):
    """Who has spoken, for the speaker signal of the ranking."""

    __tablename__ = "speakers"
    persona: str = _text(primary_key=True)
    name: str = _text(primary_key=True)


class CaptureRow(SQLModel, table=True):
    """One capture of a conversation (spec T6)."""

    __tablename__ = "capture_log"
    __table_args__ = (Index("ix_capture_digest", "persona", "digest"),)
    id: str = _text(primary_key=True)
    persona: str = _text()
    thread: str | None = _text(default=None)
    source: str = _text()
    digest: str = _text()
    mode: str = _text()
    model: str = _text()
    turns: int
    facts: int
    skipped: int
    superseded: int
    redacted: int
    status: str = _text()
    error: str | None = _text(default=None)
    created_at: datetime = _time()
    duration_ms: float


class ExtractionRow(SQLModel, table=True):
    """The durable queue of turns a model has yet to read."""

    __tablename__ = "extractions"
    __table_args__ = (Index("ix_extractions_due", "status", "not_before"),)
    id: str = _text(primary_key=True)
    persona: str = _text()
    thread: str | None = _text(default=None)
    session: str = _text()
    turn_ids: list[str] = _json("turn_ids")
    source: str = _text()
    model: str | None = _text(default=None)
    status: str = _text()
    attempts: int
    error: str | None = _text(default=None)
    not_before: datetime = _time()
    created_at: datetime = _time()


class GateRow(SQLModel, table=True):
    """One decision of the gate (spec T20); the message is kept as a hash."""

    __tablename__ = "gate_log"
    __table_args__ = (Index("ix_gate_created", "created_at"),)
    id: str = _text(primary_key=True)
    persona: str = _text()
    decision: str = _text()
    method: str = _text()
    reason: str = _text()
    exit_code: int
    latency_ms: float
    message_hash: str = _text()
    keywords: list[str] = _json("keywords")
    created_at: datetime = _time()


class EmbeddingCacheRow(SQLModel, table=True):
    """Vectors already paid for, by model and text (spec T11)."""

    __tablename__ = "embedding_cache"
    model: str = _text(primary_key=True)
    text_hash: str = _text(primary_key=True)
    vector: bytes = Field(sa_column=Column("vector", LargeBinary, nullable=False))
    created_at: datetime = _time()


class EpisodeRow(SQLModel, table=True):
    """Something that happened, with its outcome (spec T7); its searchable side is an item (spec T12)."""

    __tablename__ = "episodes"
    __table_args__ = (
        Index("ix_episodes_happened", "persona", "happened_at"),
        Index("ix_episodes_outcome", "outcome"),
        Index("ix_episodes_session", "persona", "session"),
    )
    id: str = _text(primary_key=True)
    persona: str = _text()
    thread: str | None = _text(default=None)
    session: str | None = _text(default=None)
    summary: str = _text()
    outcome: str = _text()
    happened_at: datetime = _time()
    duration_ms: float | None = None
    procedure_id: str | None = _text(default=None)
    source: str = _text()
    trust: str = _text()
    created_at: datetime = _time()
    details: dict[str, Any] = _json("metadata")


class EpisodeEntityRow(SQLModel, table=True):
    """An entity that took part in an episode (spec T8)."""

    __tablename__ = "episode_entities"
    __table_args__ = (Index("ix_episode_entities_entity", "entity"),)
    episode_id: str = _text(primary_key=True)
    entity: str = _text(primary_key=True)
    name: str = _text()


class LoopRow(SQLModel, table=True):
    """Something unfinished (spec T13); one open or stale loop a fingerprint and persona."""

    __tablename__ = "open_loops"
    __table_args__ = (
        Index(
            "uq_loops_fingerprint",
            "persona",
            "fingerprint",
            unique=True,
            sqlite_where=text("status in ('open', 'stale')"),
            postgresql_where=text("status in ('open', 'stale')"),
        ),
        Index("ix_loops_status", "persona", "status", "updated_at"),
    )
    id: str = _text(primary_key=True)
    persona: str = _text()
    thread: str | None = _text(default=None)
    session: str | None = _text(default=None)
    title: str = _text()
    summary: str = _text()
    kind: str = _text()
    status: str = _text()
    priority: float
    entity: str | None = _text(default=None)
    owner: str | None = _text(default=None)
    source: str = _text()
    trust: str = _text()
    turn_id: str | None = _text(default=None)
    related_episode_id: str | None = _text(default=None)
    fingerprint: str = _text()
    created_at: datetime = _time()
    updated_at: datetime = _time()
    snoozed_until: datetime | None = _time(default=None)
    expires_at: datetime | None = _time(default=None)
    resolved_at: datetime | None = _time(default=None)
    resolution: str | None = _text(default=None)
    details: dict[str, Any] = _json("metadata")


class ConflictRow(SQLModel, table=True):
    """Two facts that cannot both hold (spec T23)."""

    __tablename__ = "fact_conflicts"
    __table_args__ = (
        Index("ix_conflicts_fact", "fact_id"),
        Index("ix_conflicts_other", "conflicting_fact_id"),
        Index("ix_conflicts_resolution", "persona", "resolution", "created_at"),
    )
    id: str = _text(primary_key=True)
    persona: str = _text()
    fact_id: str = _text()
    conflicting_fact_id: str = _text()
    conflict_type: str = _text()
    resolution: str = _text()
    detector: str = _text()
    score: float | None = None
    note: str = _text()
    created_at: datetime = _time()
    resolved_at: datetime | None = _time(default=None)


class OriginRow(SQLModel, table=True):
    """Where a fact came from (spec T24); one row a fact, source and turn."""

    __tablename__ = "fact_provenance"
    __table_args__ = (
        Index("uq_provenance_source", "fact_id", "source", "turn_id", unique=True),
        Index("ix_provenance_turn", "turn_id"),
    )
    id: str = _text(primary_key=True)
    fact_id: str = _text()
    persona: str = _text()
    source: str = _text()
    turn_id: str = _text()
    capture_method: str = _text()
    captured_at: datetime = _time()
    effective_from: datetime = _time()
    effective_until: datetime | None = _time(default=None)
    superseded_by: str | None = _text(default=None)
    superseded_at: datetime | None = _time(default=None)
    quote: str | None = _text(default=None)
    details: dict[str, Any] = _json("metadata")


class TombstoneRow(SQLModel, table=True):
    """A keyed hash of something that was erased; says nothing of what it was."""

    __tablename__ = "tombstones"
    digest: str = _text(primary_key=True)
    kind: str = _text()
    said_at: datetime | None = _time(default=None)
    created_at: datetime = _time()


class ImportRow(SQLModel, table=True):
    """What came of one conversation or note of an import; names and content are kept as hashes."""

    __tablename__ = "imports"
    __table_args__ = (Index("ix_imports_digest", "persona", "source", "digest"),)
    persona: str = _text(primary_key=True)
    source: str = _text(primary_key=True)
    item: str = _text(primary_key=True)
    digest: str = _text()
    parts: list[list[str]] = _json("parts")
    first_at: datetime = _time()
    last_at: datetime = _time()


class DocumentRow(SQLModel, table=True):
    """A value in the key-value store of graphs; what of it is searchable is an item with the same id."""

    __tablename__ = "documents"
    __table_args__ = (
        Index("uq_documents_key", "namespace", "key", unique=True),
        Index("ix_documents_expires", "expires_at", sqlite_where=text("expires_at is not null")),
        {"sqlite_autoincrement": True},
    )
    num: int | None = Field(default=None, sa_column=Column("num", _BIG, primary_key=True, autoincrement=True))
    id: str = _text(unique=True)
    namespace: str = _text()
    key: str = _text()
    value: dict[str, Any] = _json("value")
    created_at: datetime = _time()
    updated_at: datetime = _time()
    expires_at: datetime | None = _time(default=None)
    ttl: float | None = None
