"""The tables of what was done, as SQLModel classes; `tables.py` lists them too."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, Index, Integer
from sqlmodel import Field, SQLModel

from zomem_graph.stores.table_fields import text_field, time_field

__all__ = ["ModelCallRow", "OperationRow"]

_BIG = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts rows only in INTEGER columns


class OperationRow(SQLModel, table=True):
    """One search, recall or the like (spec T18)."""

    __tablename__ = "operations"
    __table_args__ = (Index("ix_operations_created", "created_at"),)
    num: int | None = Field(default=None, sa_column=Column("num", _BIG, primary_key=True, autoincrement=True))
    name: str = text_field()
    persona: str = text_field()
    latency_ms: float
    results: int
    imagined: bool
    failed: bool
    created_at: datetime = time_field()


class ModelCallRow(SQLModel, table=True):
    """One call of a chat model, in numbers (spec F148)."""

    __tablename__ = "model_calls"
    __table_args__ = (Index("ix_model_calls_created", "created_at"),)
    num: int | None = Field(default=None, sa_column=Column("num", _BIG, primary_key=True, autoincrement=True))
    workload: str = text_field()
    provider: str = text_field()
    model: str = text_field()
    latency_ms: float
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    failed: bool
    created_at: datetime = time_field()
