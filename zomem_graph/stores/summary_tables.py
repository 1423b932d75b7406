"""The tables of summaries and of context budgets, as SQLModel classes; `tables.py` lists them too."""

from datetime import datetime

from sqlalchemy import Index
from sqlmodel import SQLModel

from zomem_graph.stores.table_fields import json_field, text_field, time_field

__all__ = ["ContextBudgetRow", "SummaryRow", "SummarySourceRow"]


class SummaryRow(SQLModel, table=True):
    """Several episodes, or several summaries, in a few sentences (spec T16)."""

    __tablename__ = "episode_summaries"
    __table_args__ = (Index("ix_summaries_level", "persona", "level", "first_at"),)
    id: str = text_field(primary_key=True)
    persona: str = text_field()
    level: int
    summary: str = text_field()
    key_decisions: list[str] = json_field("key_decisions")
    key_outcomes: list[str] = json_field("key_outcomes")
    method: str = text_field()
    first_at: datetime = time_field()
    last_at: datetime = time_field()
    episodes: int
    original_tokens: int
    tokens: int
    created_at: datetime = time_field()


class SummarySourceRow(SQLModel, table=True):
    """What a summary was made from; nothing goes into two of them."""

    __tablename__ = "summary_sources"
    __table_args__ = (Index("ix_summary_sources_summary", "summary_id"),)
    source_id: str = text_field(primary_key=True)
    summary_id: str = text_field()
    place: int


class ContextBudgetRow(SQLModel, table=True):
    """How full the prompt of a thread is (spec T14)."""

    __tablename__ = "context_budgets"
    persona: str = text_field(primary_key=True)
    thread: str = text_field(primary_key=True)
    max_tokens: int
    warn_at: float
    critical_at: float
    used: int
    warning_fired: bool
    critical_fired: bool
    saved: bool
    updated_at: datetime = time_field()
