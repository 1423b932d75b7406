"""What executors did, one row an attempt, and what imported histories say. Rows are added, never changed."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.work_records import ExecutorHistory, ExecutorRun

__all__ = ["Executors"]

_t = sql.executor_runs.c
_BRIEF = (_t.executor, _t.category, _t.outcome, _t.failure_class, _t.duration_ms, _t.at)
_AT_ONCE = 500
_h = sql.executor_history.c


class Executors:
    """Reads and writes `executor_runs` and `executor_history` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, runs: Sequence[ExecutorRun]) -> None:
        """Save attempts."""
        if runs:
            rows = [{each.name: getattr(run, each.name) for each in fields(ExecutorRun)} for run in runs]
            self._connection.execute(insert(sql.executor_runs), rows)

    def of_category(
        self, personas: Sequence[str], category: str, *, limit: int, brief: bool = False
    ) -> list[ExecutorRun]:
        """Return the latest attempts at tasks of a category, oldest first; `brief` without ids and texts."""
        return self._latest(_t.persona.in_(list(personas)), _t.category == category, limit=limit, brief=brief)

    def of_executor(
        self,
        personas: Sequence[str],
        executor: str,
        *,
        limit: int,
        category: str | None = None,
        since: datetime | None = None,
        outcome: str | None = None,
        brief: bool = False,
    ) -> list[ExecutorRun]:
        """Return the latest attempts of an executor, oldest first; `brief` without ids and texts."""
        where: list[ColumnElement[bool]] = [_t.persona.in_(list(personas)), _t.executor == executor]
        if category is not None:
            where.append(_t.category == category)
        if since is not None:
            where.append(_t.at >= since)
        if outcome is not None:
            where.append(_t.outcome == outcome)
        return self._latest(*where, limit=limit, brief=brief)

    def about(self, personas: Sequence[str], entity: str, *, since: datetime, limit: int) -> list[ExecutorRun]:
        """Return the latest successes that were about an entity (normal form), oldest first."""
        recent = self._latest(
            _t.persona.in_(list(personas)), _t.at >= since, _t.outcome == "success", limit=20 * limit
        )
        return [run for run in recent if entity in run.entities][-limit:]

    def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the persona of each of these attempts that there is, by id."""
        found: dict[str, str] = {}
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            rows = self._connection.execute(select(_t.id, _t.persona).where(_t.id.in_(some)))
            found.update((id_, persona) for id_, persona in rows)
        return found

    def latest_at(self, persona: str, executor: str, category: str) -> datetime | None:
        """Return when something was last added for a persona, by this executor or in this category."""
        latest: datetime | None = None
        for same in (_t.executor == executor, _t.category == category):
            found = self._connection.execute(select(func.max(_t.at)).where(_t.persona == persona, same)).scalar()
            if found is not None:
                latest = found if latest is None else max(latest, found)
        return latest

    def tallies(self, personas: Sequence[str], *, since: datetime) -> dict[str, tuple[int, int]]:
        """Return (successes, attempts) by executor since a time."""
        rows = self._connection.execute(
            select(_t.executor, func.count(_t.id).filter(_t.outcome == "success"), func.count(_t.id))
            .where(_t.persona.in_(list(personas)), _t.at >= since)
            .group_by(_t.executor)
        )
        return {executor: (successes, attempts) for executor, successes, attempts in rows}

    def names(self, personas: Sequence[str]) -> list[str]:
        """Return every executor that is known, by name."""
        ran = select(_t.executor).where(_t.persona.in_(list(personas)))
        told = select(_h.executor).where(_h.persona.in_(list(personas)))
        rows = self._connection.execute(ran.union(told))
        return sorted(row[0] for row in rows)

    def categories(self, personas: Sequence[str], executor: str) -> list[str]:
        """Return the categories an executor is known in, by name."""
        ran = select(_t.category).where(_t.persona.in_(list(personas)), _t.executor == executor)
        told = select(_h.category).where(_h.persona.in_(list(personas)), _h.executor == executor)
        rows = self._connection.execute(ran.union(told))
        return sorted(row[0] for row in rows)

    def take_in(self, histories: Sequence[ExecutorHistory]) -> None:
        """Save imported histories; one of the same persona, executor and category takes the old one's place."""
        for one in histories:
            same = (_h.persona == one.persona, _h.executor == one.executor, _h.category == one.category)
            self._connection.execute(delete(sql.executor_history).where(*same))
        if histories:
            rows = [{each.name: getattr(one, each.name) for each in fields(ExecutorHistory)} for one in histories]
            self._connection.execute(insert(sql.executor_history), rows)

    def taken_in(
        self, personas: Sequence[str], *, category: str | None = None, executor: str | None = None
    ) -> list[ExecutorHistory]:
        """Return imported histories, the latest last."""
        where: list[ColumnElement[bool]] = [_h.persona.in_(list(personas))]
        if category is not None:
            where.append(_h.category == category)
        if executor is not None:
            where.append(_h.executor == executor)
        rows = self._connection.execute(
            select(sql.executor_history).where(*where).order_by(_h.last_updated)
        ).mappings()
        return [ExecutorHistory(**row) for row in rows]

    def drop_before(self, persona: str, executor: str, at: datetime) -> int:
        """Remove an executor's attempts from before a time; return how many."""
        old = (_t.persona == persona, _t.executor == executor, _t.at < at)
        return self._connection.execute(delete(sql.executor_runs).where(*old)).rowcount

    def count(self, personas: Sequence[str] | None = None) -> int:
        """Return how many attempts there are."""
        counted = select(func.count()).select_from(sql.executor_runs)
        if personas is not None:
            counted = counted.where(_t.persona.in_(list(personas)))
        return self._connection.execute(counted).scalar_one()

    def _latest(self, *where: ColumnElement[bool], limit: int, brief: bool = False) -> list[ExecutorRun]:
        wanted = select(*_BRIEF) if brief else select(sql.executor_runs)
        rows = self._connection.execute(wanted.where(*where).order_by(_t.at.desc(), _t.id).limit(limit)).mappings()
        if not brief:
            return [ExecutorRun(**row) for row in reversed(rows.all())]
        left_out: dict[str, Any] = dict.fromkeys(("error", "episode_id", "procedure_id", "swarm"))
        return [ExecutorRun(id="", persona="", entities=[], **left_out, **row) for row in reversed(rows.all())]
