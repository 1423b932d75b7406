"""Procedures: how something is done, version by version, and in which episodes it was followed."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.work_records import Procedure

__all__ = ["Procedures"]

_t = sql.procedures.c
_link = sql.procedure_episodes.c


class Procedures:
    """Reads and writes `procedures` and `procedure_episodes` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, procedure: Procedure) -> None:
        """Save a version; a second one of the same persona, name and number is refused by the database."""
        row = {each.name: getattr(procedure, each.name) for each in fields(Procedure)}
        self._connection.execute(insert(sql.procedures), [row])

    def latest(self, personas: Sequence[str], *, limit: int = 1_000) -> list[Procedure]:
        """Return the latest version of each name, by name."""
        newest = (
            select(_t.persona, _t.name, func.max(_t.version).label("version"))
            .where(_t.persona.in_(list(personas)))
            .group_by(_t.persona, _t.name)
            .subquery()
        )
        same = (_t.persona == newest.c.persona, _t.name == newest.c.name, _t.version == newest.c.version)
        joined = sql.procedures.join(newest, same[0] & same[1] & same[2])
        rows = self._connection.execute(
            select(sql.procedures).select_from(joined).order_by(_t.name, _t.persona).limit(limit)
        ).mappings()
        return [Procedure(**row) for row in rows]

    def versions(self, personas: Sequence[str], name: str) -> list[Procedure]:
        """Return every version of a name, newest first."""
        return self._found(_t.persona.in_(list(personas)), _t.name == name, limit=1_000)

    def starting_with(self, personas: Sequence[str], prefix: str) -> list[Procedure]:
        """Return at most two versions whose id begins like this."""
        return self._found(_t.persona.in_(list(personas)), _t.id.startswith(prefix, autoescape=True), limit=2)

    def counted(self, procedure_id: str, *, success: bool, at: datetime) -> None:
        """Count one more success or failure."""
        column = _t.success_count if success else _t.failure_count
        self._connection.execute(
            update(sql.procedures).where(_t.id == procedure_id).values({column.name: column + 1, "last_used_at": at})
        )

    def tie(self, procedure_id: str, episode_id: str, persona: str) -> None:
        """Say that a procedure was followed in an episode; twice is once."""
        known = select(_link.episode_id).where(_link.procedure_id == procedure_id, _link.episode_id == episode_id)
        if self._connection.execute(known).first() is None:
            row = {"procedure_id": procedure_id, "episode_id": episode_id, "persona": persona}
            self._connection.execute(insert(sql.procedure_episodes), [row])

    def episodes(self, procedure_id: str) -> list[str]:
        """Return the ids of the episodes in which a version was followed."""
        rows = self._connection.execute(select(_link.episode_id).where(_link.procedure_id == procedure_id))
        return [row[0] for row in rows]

    def count(self, personas: Sequence[str] | None = None) -> int:
        """Return how many names there are."""
        named = select(_t.persona, _t.name).distinct()
        if personas is not None:
            named = named.where(_t.persona.in_(list(personas)))
        return self._connection.execute(select(func.count()).select_from(named.subquery())).scalar_one()

    def _found(self, *where: ColumnElement[bool], limit: int) -> list[Procedure]:
        rows = self._connection.execute(
            select(sql.procedures).where(*where).order_by(_t.version.desc(), _t.created_at.desc()).limit(limit)
        ).mappings()
        return [Procedure(**row) for row in rows]
