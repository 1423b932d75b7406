"""Numbers about what was done: kept in memory until somebody writes anyway, then saved with that write."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, TableClause, delete, func, insert, select

from zomem_graph.stores import sql
from zomem_graph.stores.metric_records import ModelCall, Operation

__all__ = ["Ledger", "Metrics", "Note"]

Note = Operation | ModelCall
_R = TypeVar("_R", Operation, ModelCall)
_MOST_WAITING = 5_000
_MOST_KEPT = 200_000  # rows of each kind; more is cut once a process
_TABLES: dict[type, TableClause] = {Operation: sql.operations, ModelCall: sql.model_calls}


class Ledger:
    """What was done and is not written yet; safe between threads. Of too many the oldest go."""

    def __init__(self) -> None:
        self._waiting: deque[Note] = deque(maxlen=_MOST_WAITING)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, note: Note) -> None:
        """Remember one thing that was done."""
        self._waiting.append(note)

    def take(self) -> list[Note]:
        """Return all that waits, and wait for nothing of it any more."""
        taken: list[Note] = []
        while self._waiting:
            try:
                taken.append(self._waiting.popleft())
            except IndexError:
                break  # another thread was faster
        return taken

    def give_back(self, notes: Sequence[Note]) -> None:
        """Take back what could not be written, before what came since."""
        self._waiting.extendleft(reversed(notes))


class Metrics:
    """Reads and writes `operations` and `model_calls`, and counts the other tables, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, notes: Sequence[Note]) -> None:
        """Save what was done."""
        for record, table in _TABLES.items():
            rows = [
                {name: getattr(note, name) for name in record.__slots__}  # type: ignore[attr-defined]  # both have them
                for note in notes
                if isinstance(note, record)
            ]
            if rows:
                self._connection.execute(insert(table), rows)

    def trim(self) -> None:
        """Keep the newest rows only."""
        for table in _TABLES.values():
            newest = select(func.coalesce(func.max(table.c.num), 0)).scalar_subquery()
            self._connection.execute(delete(table).where(table.c.num <= newest - _MOST_KEPT))

    def operations(self, *, since: datetime | None = None) -> list[Operation]:
        """Return what was done, oldest first."""
        return self._all(Operation, since)

    def model_calls(self, *, since: datetime | None = None) -> list[ModelCall]:
        """Return the calls of chat models, oldest first."""
        return self._all(ModelCall, since)

    def decisions(self, *, since: datetime | None = None) -> list[tuple[str, str, float]]:
        """Return method, decision and milliseconds of each decision of the gate."""
        g = sql.gate_log.c
        where = [g.created_at >= since] if since is not None else []
        rows = self._connection.execute(select(g.method, g.decision, g.latency_ms).where(*where))
        return [(method, decision, latency_ms) for method, decision, latency_ms in rows]

    def captures(self, *, since: datetime | None = None) -> dict[str, Any]:
        """Return sums over all captures; `last` is when the latest was, None without one."""
        c = sql.capture_log.c
        where = [c.created_at >= since] if since is not None else []
        sums = [
            func.coalesce(func.sum(c[name]), 0).label(name)
            for name in ("turns", "facts", "skipped", "superseded", "redacted", "duration_ms")
        ]
        last = func.max(c.created_at, type_=c.created_at.type).label("last")
        row = self._connection.execute(select(func.count().label("captures"), *sums, last).where(*where)).one()
        return dict(row._mapping)

    def kept(self) -> dict[str, dict[str, int]]:
        """Return how many facts each tier has, episodes each outcome, loops each status, and how many vectors."""
        f, e, o, i = sql.facts.c, sql.episodes.c, sql.open_loops.c, sql.items.c
        embedded = select(i.kind, func.count()).where(i.embedder.is_not(None)).group_by(i.kind)
        return {
            "facts": self._counted(select(f.tier, func.count()).where(f.state == "current").group_by(f.tier)),
            "episodes": self._counted(select(e.outcome, func.count()).group_by(e.outcome)),
            "loops": self._counted(select(o.status, func.count()).group_by(o.status)),
            "vectors": self._counted(embedded),
        }

    def _counted(self, statement: Any) -> dict[str, int]:
        rows = self._connection.execute(statement.order_by(statement.selected_columns[0]))
        return {row[0]: row[1] for row in rows}

    def _all(self, record: type[_R], since: datetime | None) -> list[_R]:
        table = _TABLES[record]
        where = [table.c.created_at >= since] if since is not None else []
        columns = [column for column in table.c if column.name != "num"]
        rows = self._connection.execute(select(*columns).where(*where).order_by(table.c.num)).mappings()
        return [record(**row) for row in rows]
