"""The append-only trail: accesses, captures, gate decisions, and the small values of `meta`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.records import Access, CaptureRun, Extraction, GateDecision

__all__ = ["EMBEDDER_KEY", "Journal"]

_use = sql.access_log.c
# Every search asks it, so it is built once.
_COUNTED = select(_use.item_id).where(
    _use.turn_key == bindparam("turn"), _use.item_id.in_(bindparam("ids", expanding=True))
)
EMBEDDER_KEY = "embedder"  # in `meta`: the identity of the embedder whose vectors the store holds


class Journal:
    """Reads and writes the logs, the extraction queue and `meta`."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def accessed(self, uses: Sequence[Access]) -> list[str]:
        """Record uses; return the ids that were not yet counted in their turn."""
        if not uses:
            return []
        asked = {"turn": uses[0].turn_key, "ids": [use.item_id for use in uses]}
        seen = {row[0] for row in self._connection.execute(_COUNTED, asked)}
        new = [use for use in uses if use.item_id not in seen]
        if new:
            self._connection.execute(self._dialect.insert_new(sql.access_log), [_values(use) for use in new])
        return [use.item_id for use in new]

    def captured(self, run: CaptureRun) -> None:
        """Record one capture."""
        self._connection.execute(insert(sql.capture_log), [_values(run)])

    def captures(self, limit: int) -> list[CaptureRun]:
        """Return the newest captures first."""
        rows = self._connection.execute(
            select(sql.capture_log).order_by(sql.capture_log.c.created_at.desc()).limit(limit)
        )
        return [CaptureRun(**row) for row in rows.mappings()]

    def capture_totals(self) -> dict[str, int]:
        """Return sums over all captures (spec F44)."""
        t = sql.capture_log.c
        sums = [
            func.coalesce(func.sum(t[name]), 0).label(name) for name in ("turns", "facts", "skipped", "superseded")
        ]
        row = self._connection.execute(select(func.count().label("captures"), *sums)).mappings().one()
        return {name: int(value) for name, value in row.items()}

    def decided(self, decision: GateDecision) -> None:
        """Record one decision of the gate."""
        self._connection.execute(insert(sql.gate_log), [_values(decision)])

    def decisions(self, limit: int) -> list[GateDecision]:
        """Return the newest gate decisions first."""
        rows = self._connection.execute(select(sql.gate_log).order_by(sql.gate_log.c.created_at.desc()).limit(limit))
        return [GateDecision(**row) for row in rows.mappings()]

    def queue(self, job: Extraction) -> None:
        """Put turns into the durable extraction queue."""
        self._connection.execute(insert(sql.extractions), [_values(job)])

    def due(
        self, now: datetime, limit: int, *, job_id: str | None = None, named_only: bool = False
    ) -> list[Extraction]:
        """Return waiting jobs whose time has come, oldest first: one, those with a model of their own, or any."""
        t = sql.extractions.c
        where = [t.status == "waiting", t.not_before <= now]
        where += [t.id == job_id] if job_id is not None else []
        where += [t.model.is_not(None)] if named_only else []
        rows = self._connection.execute(
            select(sql.extractions).where(*where).order_by(t.created_at, t.id).limit(limit)
        )
        return [Extraction(**row) for row in rows.mappings()]

    def settle(self, job_id: str, **values: Any) -> None:
        """Change status, attempts, error or the next time of a job."""
        self._connection.execute(update(sql.extractions).where(sql.extractions.c.id == job_id).values(**values))

    def read_on(self, run_id: str, gained: Mapping[str, int], *, status: str, error: str | None, model: str) -> None:
        """Add what a model read of a capture, and say how the capture stands now."""
        t = sql.capture_log.c
        sums = {name: t[name] + count for name, count in gained.items()}
        said = {"model": model} if model else {}
        self._connection.execute(
            update(sql.capture_log).where(t.id == run_id).values(**sums, **said, status=status, error=error)
        )

    def retry(self, now: datetime) -> int:
        """Let jobs that failed be read again now; return how many there are."""
        t = sql.extractions.c
        failed = (t.status.in_(("waiting", "failed")), t.error.is_not(None))
        changed = update(sql.extractions).where(*failed).values(status="waiting", attempts=0, not_before=now)
        return self._connection.execute(changed).rowcount

    def unread(self, limit: int) -> list[Extraction]:
        """Return jobs that no model has read yet, oldest first; `error` says why, where it was tried."""
        t = sql.extractions.c
        rows = self._connection.execute(
            select(sql.extractions)
            .where(t.status.in_(("waiting", "failed")))
            .order_by(t.created_at, t.id)
            .limit(limit)
        )
        return [Extraction(**row) for row in rows.mappings()]

    def queue_depth(self) -> dict[str, int]:
        """Return how many extraction jobs are in each status."""
        t = sql.extractions.c
        rows = self._connection.execute(select(t.status, func.count()).group_by(t.status))
        return {row[0]: row[1] for row in rows}

    def meta(self, key: str) -> str | None:
        """Return one small value of the store."""
        return self._connection.execute(select(sql.meta.c.value).where(sql.meta.c.key == key)).scalar()

    def set_meta(self, key: str, value: str) -> None:
        """Set one small value of the store."""
        self._connection.execute(self._dialect.upsert(sql.meta, ["key"], ["value"]), [{"key": key, "value": value}])


def _values(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).__slots__}
