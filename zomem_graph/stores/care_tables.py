"""The tables of care, as SQLModel classes; `tables.py` has all the others and lists these too."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlmodel import Field, SQLModel

from zomem_graph.stores.table_fields import json_field, text_field, time_field

__all__ = ["AccessRow", "ActiveDayRow", "CareMoveRow", "CareRunRow"]


class AccessRow(SQLModel, table=True):
    """One use of an item (spec T28); once a turn."""

    __tablename__ = "access_log"
    __table_args__ = (Index("ix_access_at", "at"),)
    item_id: str = text_field(primary_key=True)
    turn_key: str = text_field(primary_key=True)
    at: datetime = time_field()
    kind: str = text_field()
    persona: str = text_field()


class ActiveDayRow(SQLModel, table=True):
    """A UTC day on which memory was in use."""

    __tablename__ = "active_days"
    day: str = text_field(primary_key=True)


class CareRunRow(SQLModel, table=True):
    """One run of maintenance."""

    __tablename__ = "care_runs"
    id: str = text_field(primary_key=True)
    started_at: datetime = time_field()
    finished_at: datetime | None = time_field(default=None)
    status: str = text_field()
    moves: int


class CareMoveRow(SQLModel, table=True):
    """One change of a run, and how to take it back."""

    __tablename__ = "care_moves"
    __table_args__ = (Index("ix_care_moves_item", "item_id"),)
    run_id: str = text_field(primary_key=True)
    position: int = Field(primary_key=True)
    at: datetime = time_field()
    step: str = text_field()
    move: str = text_field()
    kind: str = text_field()
    item_id: str = text_field()
    why: str = text_field()
    before: dict[str, Any] = json_field("before")
    after: dict[str, Any] = json_field("after")
