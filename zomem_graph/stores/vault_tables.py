"""The tables of the vault, as SQLModel classes; `tables.py` has all the others and lists these too."""

from datetime import datetime

from sqlmodel import SQLModel

from zomem_graph.stores.table_fields import text_field, time_field

__all__ = ["VaultFactRow", "VaultSessionRow"]


class VaultFactRow(SQLModel, table=True):
    """A fact that the vault mirrors, and how active it was at a time (spec T29)."""

    __tablename__ = "vault_facts"
    fact_id: str = text_field(primary_key=True)
    activation: float
    as_of: datetime = time_field()
    band: str = text_field()


class VaultSessionRow(SQLModel, table=True):
    """A session log the vault has read."""

    __tablename__ = "vault_sessions"
    name: str = text_field(primary_key=True)
    size: int
    changed: float
    turns: int
    first_at: datetime | None = time_field(default=None)
    last_at: datetime | None = time_field(default=None)
    read_at: datetime = time_field()
