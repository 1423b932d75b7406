"""What is asked of the driver itself, where SQLAlchemy's dress costs as much as the answer."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import Connection, CursorResult

__all__ = ["marks", "plain"]


def plain(rows: CursorResult[Any]) -> Sequence[Any]:
    """Return all rows as the driver gives them, with no types applied."""
    cursor: Any = rows.cursor
    return cast("Sequence[Any]", cursor.fetchall())


def marks(connection: Connection, number: int) -> str:
    """Return so many placeholders as the driver writes them."""
    return ", ".join(["?" if connection.dialect.paramstyle == "qmark" else "%s"] * number)
