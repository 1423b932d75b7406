"""Turns: what was said, verbatim, in order within a session."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from zomem_graph.stores import sql
from zomem_graph.stores.records import Turn

__all__ = ["Turns"]

_t = sql.turns.c
_FOUND = select(sql.turns).where(_t.id.in_(bindparam("ids", expanding=True))).order_by(_t.session, _t.position)


class Turns:
    """Reads and writes `turns` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, new: Sequence[Turn]) -> None:
        """Append turns; two turns at one place are refused by the database."""
        if new:
            self._connection.execute(
                insert(sql.turns), [{name: getattr(turn, name) for name in Turn.__slots__} for turn in new]
            )

    def tail(self, persona: str, session: str, limit: int) -> list[Turn]:
        """Return the last turns of a session, oldest first."""
        rows = self._connection.execute(
            select(sql.turns)
            .where(_t.persona == persona, _t.session == session)
            .order_by(_t.position.desc())
            .limit(limit)
        )
        return [Turn(**row) for row in rows.mappings()][::-1]

    def said(self, persona: str, session: str, limit: int, *, until: datetime | None = None) -> list[Turn]:
        """Return the last turns of a session that are not deleted, oldest first; `until` bounds their times."""
        where = [_t.persona == persona, _t.session == session, sql.items.c.state == "current"]
        if until is not None:
            where.append(_t.at < until)
        rows = self._connection.execute(
            select(sql.turns)
            .select_from(sql.turns.join(sql.items, _t.id == sql.items.c.id))
            .where(*where)
            .order_by(_t.position.desc())
            .limit(limit)
        )
        return [Turn(**row) for row in rows.mappings()][::-1]

    def latest(self, personas: Sequence[str], *, since: datetime, until: datetime, without_trust: str) -> Turn | None:
        """Return the last turn of these personas in a closed-open range of time, or None."""
        newest: Turn | None = None
        for persona in personas:  # one by one, so that the index gives the order
            row = (
                self._connection.execute(
                    select(sql.turns)
                    .select_from(sql.items.join(sql.turns, _t.id == sql.items.c.id))
                    .where(
                        sql.items.c.persona == persona,
                        sql.items.c.kind == "turn",
                        sql.items.c.state == "current",
                        sql.items.c.created_at >= since,
                        sql.items.c.created_at < until,
                        _t.trust != without_trust,
                    )
                    .order_by(sql.items.c.created_at.desc(), sql.items.c.num.desc())
                    .limit(1)
                )
                .mappings()
                .first()
            )
            if row is not None and (newest is None or row["at"] > newest.at):
                newest = Turn(**row)
        return newest

    def marks(self, persona: str, session: str) -> list[tuple[str, str | None, datetime]]:
        """Return (digest, message id, time) of a whole session, oldest first."""
        rows = self._connection.execute(
            select(_t.digest, _t.message_id, _t.at)
            .where(_t.persona == persona, _t.session == session)
            .order_by(_t.position)
        )
        return [(digest, message_id, at) for digest, message_id, at in rows]

    def ids_known(self, persona: str, session: str, message_ids: Sequence[str]) -> set[str]:
        """Return which of these message ids a session holds."""
        found: set[str] = set()
        for start in range(0, len(message_ids), 500):
            part = list(message_ids[start : start + 500])
            where = (_t.persona == persona, _t.session == session, _t.message_id.in_(part))
            found.update(row[0] for row in self._connection.execute(select(_t.message_id).where(*where)))
        return found

    def find(self, ids: Sequence[str]) -> list[Turn]:
        """Return turns by id, in the order they were said."""
        found: list[Turn] = []
        for start in range(0, len(ids), 500):
            part = list(ids[start : start + 500])
            rows = self._connection.execute(_FOUND, {"ids": part})
            found.extend(Turn(**row) for row in rows.mappings())
        return found

    def neighbours(self, turn: Turn, *, before: int = 1, after: int = 1) -> list[Turn]:
        """Return the turns around one turn, without it, in order."""
        rows = self._connection.execute(
            select(sql.turns)
            .where(
                _t.persona == turn.persona,
                _t.session == turn.session,
                _t.position.between(turn.position - before, turn.position + after),
                _t.position != turn.position,
            )
            .order_by(_t.position)
        )
        return [Turn(**row) for row in rows.mappings()]

    def purge(self, ids: Sequence[str]) -> int:
        """Remove turns for good."""
        gone = 0
        for start in range(0, len(ids), 500):
            part = list(ids[start : start + 500])
            gone += self._connection.execute(delete(sql.turns).where(_t.id.in_(part))).rowcount
        return gone

    def count(self) -> int:
        """Return how many turns there are."""
        return self._connection.execute(select(func.count()).select_from(sql.turns)).scalar_one()

    def sessions(self, personas: Sequence[str]) -> list[dict[str, Any]]:
        """Return each session with its length and the times of its ends."""
        rows = self._connection.execute(
            select(
                _t.session,
                func.count().label("turns"),
                func.min(_t.at).label("first"),
                func.max(_t.at).label("last"),
            )
            .where(_t.persona.in_(list(personas)))
            .group_by(_t.session)
        )
        return [dict(row) for row in rows.mappings()]
