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

    def operations(self, *, since: datetime | None = None, persona: str | None = None) -> list[Operation]:
        """Return what was done, oldest first, for everybody or for one persona."""
        return self._all(Operation, _within(sql.operations, since, persona))

    def model_calls(self, *, since: datetime | None = None) -> list[ModelCall]:
        """Return the calls of chat models, oldest first."""
        return self._all(ModelCall, _within(sql.model_calls, since))

    def decisions(self, *, since: datetime | None = None, persona: str | None = None) -> list[tuple[str, str, float]]:
        """Return method, decision and milliseconds of each decision of the gate."""
        g = sql.gate_log.c
        where = _within(sql.gate_log, since, persona)
        rows = self._connection.execute(select(g.method, g.decision, g.latency_ms).where(*where))
        return [(method, decision, latency_ms) for method, decision, latency_ms in rows]

    def captures(self, *, since: datetime | None = None, persona: str | None = None) -> dict[str, Any]:
        """Return sums over all captures; `last` is when the latest was, None without one."""
        c = sql.capture_log.c
        where = _within(sql.capture_log, since, persona)
        sums = [
            func.coalesce(func.sum(c[name]), 0).label(name)
            for name in ("turns", "facts", "skipped", "superseded", "redacted", "duration_ms")
        ]
        last = func.max(c.created_at, type_=c.created_at.type).label("last")
        row = self._connection.execute(select(func.count().label("captures"), *sums, last).where(*where)).one()
        return dict(row._mapping)

    def kept(self, *, persona: str | None = None) -> dict[str, dict[str, int]]:
        """Return how many facts each tier has, episodes each outcome, loops each status, and how many vectors."""
        f, e, o, i = sql.facts.c, sql.episodes.c, sql.open_loops.c, sql.items.c

        def counted(label: Any, table: TableClause, *where: Any) -> dict[str, int]:
            own = _within(table, None, persona)
            return self._counted(select(label, func.count()).where(*where, *own).group_by(label))

        return {
            "facts": counted(f.tier, sql.facts, f.state == "current"),
            "episodes": counted(e.outcome, sql.episodes),
            "loops": counted(o.status, sql.open_loops),
            "vectors": counted(i.kind, sql.items, i.embedder.is_not(None)),
        }

    def _counted(self, statement: Any) -> dict[str, int]:
        rows = self._connection.execute(statement.order_by(statement.selected_columns[0]))
        return {row[0]: row[1] for row in rows}

    def _all(self, record: type[_R], where: Sequence[Any]) -> list[_R]:
        table = _TABLES[record]
        columns = [column for column in table.c if column.name != "num"]
        rows = self._connection.execute(select(*columns).where(*where).order_by(table.c.num)).mappings()
        return [record(**row) for row in rows]


def _within(table: TableClause, since: datetime | None, persona: str | None = None) -> list[Any]:
    """Return what narrows a table to what was done since then, and for this persona."""
    found: list[Any] = [] if since is None else [table.c.created_at >= since]
    return found if persona is None else [*found, table.c.persona == persona]
