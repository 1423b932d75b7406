"""The tables of procedures and executors, as SQLModel classes; `tables.py` has all the others and lists these too."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlmodel import SQLModel

from zomem_graph.stores.table_fields import json_field, text_field, time_field

__all__ = ["ExecutorHistoryRow", "ExecutorRunRow", "ProcedureEpisodeRow", "ProcedureRow"]


class ProcedureRow(SQLModel, table=True):
    """One version of how something is done (spec T9)."""

    __tablename__ = "procedures"
    __table_args__ = (Index("uq_procedures_version", "persona", "name", "version", unique=True),)
    id: str = text_field(primary_key=True)
    persona: str = text_field()
    name: str = text_field()
    version: int
    steps: list[dict[str, Any]] = json_field("steps")
    category: str | None = text_field(default=None)
    success_count: int
    failure_count: int
    evolved_from: str | None = text_field(default=None)
    rationale: str = text_field()
    source: str = text_field()
    created_at: datetime = time_field()
    last_used_at: datetime | None = time_field(default=None)


class ProcedureEpisodeRow(SQLModel, table=True):
    """An episode in which a procedure was followed (spec T10)."""

    __tablename__ = "procedure_episodes"
    __table_args__ = (Index("ix_procedure_episodes_episode", "episode_id"),)
    procedure_id: str = text_field(primary_key=True)
    episode_id: str = text_field(primary_key=True)
    persona: str = text_field()


class ExecutorRunRow(SQLModel, table=True):
    """One attempt of an executor at one task; rows are added and never changed."""

    __tablename__ = "executor_runs"
    __table_args__ = (
        Index("ix_executor_runs_executor", "persona", "executor", "at"),
        Index("ix_executor_runs_category", "persona", "category", "at"),
    )
    id: str = text_field(primary_key=True)
    persona: str = text_field()
    executor: str = text_field()
    category: str = text_field()
    outcome: str = text_field()
    failure_class: str | None = text_field(default=None)
    error: str | None = text_field(default=None)
    duration_ms: float | None = None
    episode_id: str | None = text_field(default=None)
    procedure_id: str | None = text_field(default=None)
    swarm: str | None = text_field(default=None)
    entities: list[str] = json_field("entities")
    at: datetime = time_field()


class ExecutorHistoryRow(SQLModel, table=True):
    """What an imported history file says of an executor and category (spec F90)."""

    __tablename__ = "executor_history"
    persona: str = text_field(primary_key=True)
    executor: str = text_field(primary_key=True)
    category: str = text_field(primary_key=True)
    attempts: int
    successes: int
    avg_duration_ms: float
    last_updated: datetime = time_field()
    recent_episode_ids: list[str] = json_field("recent_episode_ids")
    failure_patterns: list[str] = json_field("failure_patterns")
    entity_affinities: dict[str, float] = json_field("entity_affinities")
