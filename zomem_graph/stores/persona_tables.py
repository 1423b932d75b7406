"""The tables of who reads whom, as SQLModel classes; `tables.py` has all the others and lists these too."""

from datetime import datetime

from sqlalchemy import Index
from sqlmodel import SQLModel

from zomem_graph.stores.table_fields import text_field, time_field

__all__ = ["InheritanceRow", "PoolMemberRow", "PoolRow"]


class PoolRow(SQLModel, table=True):
    """A named circle of personas that read each other (spec T21)."""

    __tablename__ = "persona_pools"
    id: str = text_field(primary_key=True)
    name: str = text_field(unique=True)
    description: str = text_field()
    created_at: datetime = time_field()


class PoolMemberRow(SQLModel, table=True):
    """A persona in a pool (spec T21)."""

    __tablename__ = "persona_pool_members"
    __table_args__ = (Index("ix_pool_members_persona", "persona"),)
    pool_id: str = text_field(primary_key=True)
    persona: str = text_field(primary_key=True)
    added_at: datetime = time_field()


class InheritanceRow(SQLModel, table=True):
    """A child reads what its parent has (spec T22); a child may have several parents."""

    __tablename__ = "persona_inheritance"
    child_persona: str = text_field(primary_key=True)
    parent_persona: str = text_field(primary_key=True)
    depth: int
    created_at: datetime = time_field()
