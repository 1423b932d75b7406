"""Open loops: what is unfinished. One open or stale loop a fingerprint and persona, held by the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.columns import alike
from zomem_graph.stores.records import Loop

__all__ = ["PENDING", "Loops"]

PENDING = ("open", "stale")

_t = sql.open_loops.c
_item = sql.items.c


class Loops:
    """Reads and writes `open_loops` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, loop: Loop) -> None:
        """Save a loop; a second open or stale one with its fingerprint is refused by the database."""
        row = {name: getattr(loop, name) for name in Loop.__slots__}
        self._connection.execute(insert(sql.open_loops), [row])

    def twin(self, persona: str, fingerprint: str) -> Loop | None:
        """Return the open or stale loop with this fingerprint."""
        where = (_t.persona == persona, _t.fingerprint == fingerprint, _t.status.in_(PENDING))
        found = self._found(*where, limit=1)
        return found[0] if found else None

    def change(self, loop_id: str, **values: Any) -> None:
        """Change named columns of one loop."""
        self._connection.execute(update(sql.open_loops).where(_t.id == loop_id).values(**values))

    def end(self, ids: Sequence[str], *, status: str, at: datetime, resolution: str | None = None) -> None:
        """Close open and stale loops as resolved or superseded; others stay as they are."""
        if ids:
            self._connection.execute(
                update(sql.open_loops)
                .where(_t.id.in_(list(ids)), _t.status.in_(PENDING))
                .values(status=status, resolved_at=at, updated_at=at, resolution=resolution)
            )

    def waiting(
        self,
        personas: Sequence[str],
        *,
        now: datetime,
        statuses: Sequence[str] = PENDING,
        entity: str | None = None,
        kind: str | None = None,
        without_trust: str | None = None,
        asleep_too: bool = False,
        limit: int = 20,
    ) -> list[Loop]:
        """Return what waits to be done now, last spoken of first: not snoozed, not over, not deleted.

        `entity` is compared without case; `asleep_too` takes snoozed loops as well.
        """
        where = [*_live(personas, now), _t.status.in_(list(statuses))]
        if not asleep_too:
            where.append(or_(_t.snoozed_until.is_(None), _t.snoozed_until <= now))
        if entity is not None:
            where.append(alike(_t.entity, entity))
        if kind is not None:
            where.append(_t.kind == kind)
        if without_trust is not None:
            where.append(_t.trust != without_trust)
        return self._found(*where, limit=limit, live=True)

    def snoozed(self, personas: Sequence[str], *, now: datetime, limit: int = 20) -> list[Loop]:
        """Return the loops that sleep now, last spoken of first."""
        where = (*_live(personas, now), _t.status.in_(PENDING), _t.snoozed_until > now)
        return self._found(*where, limit=limit, live=True)

    def open_at(
        self, personas: Sequence[str], moment: datetime, *, without_trust: str | None = None, limit: int = 20
    ) -> list[Loop]:
        """Return the loops that were open at a moment of the past, last spoken of first."""
        where = [
            _t.persona.in_(list(personas)),
            _t.created_at <= moment,
            or_(_t.resolved_at.is_(None), _t.resolved_at > moment),
        ]
        if without_trust is not None:
            where.append(_t.trust != without_trust)
        return self._found(*where, limit=limit)

    def ended(self, personas: Sequence[str], *, status: str, limit: int = 20) -> list[Loop]:
        """Return resolved or superseded loops, last closed first."""
        return self._found(_t.persona.in_(list(personas)), _t.status == status, limit=limit)

    def find(self, ids: Sequence[str]) -> list[Loop]:
        """Return loops by id, in any status."""
        found: list[Loop] = []
        for start in range(0, len(ids), 500):
            part = list(ids[start : start + 500])
            found += self._found(_t.id.in_(part), limit=len(part))
        return found

    def starting_with(self, personas: Sequence[str], prefix: str) -> list[Loop]:
        """Return at most two loops whose id begins like this."""
        where = (_t.persona.in_(list(personas)), _t.id.startswith(prefix, autoescape=True))
        return self._found(*where, limit=2)

    def pending(self, *, untouched_since: datetime, limit: int = 100_000) -> list[Loop]:
        """Return open and stale loops of everybody that nobody spoke of since, for maintenance."""
        return self._found(_t.status.in_(PENDING), _t.updated_at <= untouched_since, limit=limit)

    def over(self, *, now: datetime, limit: int) -> list[Loop]:
        """Return open and stale loops of everybody whose own end has come, for maintenance."""
        return self._found(_t.status.in_(PENDING), _t.expires_at <= now, limit=limit)

    def purge(self, ids: Sequence[str]) -> int:
        """Remove loops for good."""
        gone = 0
        for start in range(0, len(ids), 500):
            part = list(ids[start : start + 500])
            gone += self._connection.execute(delete(sql.open_loops).where(_t.id.in_(part))).rowcount
        return gone

    def counts(self) -> dict[str, int]:
        """Return how many loops are in each status (spec F14)."""
        rows = self._connection.execute(select(_t.status, func.count()).group_by(_t.status))
        return {row[0]: row[1] for row in rows}

    def _found(self, *where: ColumnElement[bool], limit: int, live: bool = False) -> list[Loop]:
        loops = sql.open_loops.join(sql.items, _item.id == _t.id) if live else sql.open_loops
        rows = self._connection.execute(
            select(sql.open_loops)
            .select_from(loops)
            .where(*where)
            .order_by(_t.updated_at.desc(), _t.created_at.desc(), _t.id)
            .limit(limit)
        ).mappings()
        return [Loop(**row) for row in rows]


def _live(personas: Sequence[str], now: datetime) -> list[ColumnElement[bool]]:
    """Return the conditions for loops that are neither deleted nor over."""
    return [
        _t.persona.in_(list(personas)),
        _item.state == "current",
        or_(_t.expires_at.is_(None), _t.expires_at > now),
    ]
