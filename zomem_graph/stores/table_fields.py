"""Fields of the SQLModel classes in our own column types."""

from typing import Any

from sqlalchemy import Column
from sqlmodel import Field

from zomem_graph.stores.columns import FaithfulText, JsonText, UtcTime

__all__ = ["json_field", "text_field", "time_field"]


def text_field(**options: Any) -> Any:
    """Return a field for text that comes back exactly as it went in."""
    return Field(sa_type=FaithfulText, **options)


def time_field(**options: Any) -> Any:
    """Return a field for an aware time."""
    return Field(sa_type=UtcTime, **options)


def json_field(name: str) -> Any:
    """Return a field for plain data in a column of this name."""
    return Field(sa_column=Column(name, JsonText, nullable=False))
