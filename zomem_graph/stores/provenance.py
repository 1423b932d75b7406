"""Where each fact came from, and what took its place."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.overtaken import Overtaken, overtaken
from zomem_graph.stores.records import Origin

__all__ = ["Origins"]

_t = sql.fact_provenance.c


class Origins:
    """Reads and writes `fact_provenance` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def add(self, new: Sequence[Origin]) -> None:
        """Save origins; the same fact from the same source and turn is kept as it was first seen."""
        if new:
            rows = [{name: getattr(one, name) for name in Origin.__slots__} for one in new]
            self._connection.execute(self._dialect.insert_new(sql.fact_provenance), rows)

    def of(self, fact_ids: Sequence[str]) -> list[Origin]:
        """Return the origins of these facts, earliest first."""
        found: list[Origin] = []
        for start in range(0, len(fact_ids), 500):
            where = _t.fact_id.in_(list(fact_ids[start : start + 500]))
            rows = self._connection.execute(select(sql.fact_provenance).where(where).order_by(_t.captured_at, _t.id))
            found += [Origin(**row) for row in rows.mappings()]
        return found

    def from_turns(self, turn_ids: Sequence[str]) -> list[Origin]:
        """Return what was learned from these turns."""
        found: list[Origin] = []
        for start in range(0, len(turn_ids), 500):
            where = _t.turn_id.in_(list(turn_ids[start : start + 500]))
            rows = self._connection.execute(select(sql.fact_provenance).where(where))
            found += [Origin(**row) for row in rows.mappings()]
        return found

    def overtaken(
        self, turn_ids: Sequence[str], fact_ids: Sequence[str], *, readers: Collection[str], moment: datetime
    ) -> list[Overtaken]:
        """Return what these turns told, or these facts took the place of, that holds no longer at a moment."""
        return overtaken(self._connection, turn_ids=turn_ids, fact_ids=fact_ids, readers=readers, moment=moment)

    def ended(
        self, fact_ids: Sequence[str], *, at: datetime | None, superseded_by: str | None, now: datetime
    ) -> None:
        """Record until when facts held and what took their place; None for `at`: they hold again."""
        if fact_ids:
            self._change(
                _t.fact_id.in_(list(fact_ids)),
                effective_until=at,
                superseded_by=superseded_by,
                superseded_at=now if superseded_by is not None else None,
            )

    def leave_turns(self, turn_ids: Sequence[str]) -> None:
        """Cut the way back to turns that are gone, with the words that were quoted from them."""
        for origin in self.from_turns(turn_ids):
            self._connection.execute(delete(sql.fact_provenance).where(_t.id == origin.id))
            self.add([replace(origin, turn_id="", quote=None)])

    def purge(self, fact_ids: Sequence[str]) -> int:
        """Remove the origins of facts that are gone for good."""
        gone = 0
        for start in range(0, len(fact_ids), 500):
            where = _t.fact_id.in_(list(fact_ids[start : start + 500]))
            gone += self._connection.execute(delete(sql.fact_provenance).where(where)).rowcount
        return gone

    def _change(self, where: Any, **values: Any) -> None:
        self._connection.execute(update(sql.fact_provenance).where(where).values(**values))
