"""Care: how things were used and on which days, and what maintenance did about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.care_records import CareMove, CareRun
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.records import Access, Fact
from zomem_graph.stores.words import scope_words

__all__ = ["Care", "Listed"]

_fact = sql.facts.c
_item = sql.items.c
_use = sql.access_log.c
_run = sql.care_runs.c
_move = sql.care_moves.c
# What every search asks, built once: to build a statement costs as much as to run it.
_USES = select(sql.access_log).where(_use.item_id.in_(bindparam("ids", expanding=True))).order_by(_use.at)
_DAYS = select(sql.active_days.c.day).order_by(sql.active_days.c.day)


@dataclass(frozen=True, slots=True)
class Listed:
    """What merging looks at of a fact."""

    id: str
    persona: str
    entity: str
    key: str | None
    value: str
    text: str

    @property
    def address(self) -> tuple[str, str, str]:
        """Return whose, of what and under which key it is, letter case apart."""
        return self.persona, self.entity.lower(), (self.key or "").lower()


class Care:
    """Reads and writes active days, uses, runs and moves within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    # -- days and uses -------------------------------------------------------------------------

    def in_use(self, now: datetime) -> None:
        """Note that memory was in use on this UTC day."""
        day = now.astimezone(UTC).date().isoformat()
        self._connection.execute(self._dialect.insert_new(sql.active_days), [{"day": day}])

    def active_days(self) -> tuple[date, ...]:
        """Return the UTC days on which memory was in use, in order."""
        return tuple(date.fromisoformat(row[0]) for row in self._connection.execute(_DAYS))

    def uses_of(self, item_ids: Sequence[str]) -> dict[str, list[Access]]:
        """Return every use of these items, oldest first."""
        found: dict[str, list[Access]] = {}
        for part in _parts(item_ids):
            for row in self._connection.execute(_USES, {"ids": list(part)}).mappings():
                found.setdefault(row["item_id"], []).append(Access(**row))
        return found

    def inherit_uses(self, heir: str, from_id: str) -> list[str]:
        """Count the uses of one item as uses of another too; return the turns that were new to it."""
        known = {use.turn_key for use in self.uses_of([heir]).get(heir, ())}
        new = [use for use in self.uses_of([from_id]).get(from_id, ()) if use.turn_key not in known]
        rows = [
            {"item_id": heir, "turn_key": use.turn_key, "at": use.at, "kind": use.kind, "persona": use.persona}
            for use in new
        ]
        if rows:
            self._connection.execute(insert(sql.access_log), rows)
        return [use.turn_key for use in new]

    def uncount(self, item_id: str, turn_keys: Sequence[str]) -> None:
        """Take back uses that were inherited."""
        for part in _parts(turn_keys):
            self._connection.execute(delete(sql.access_log).where(_use.item_id == item_id, _use.turn_key.in_(part)))

    # -- what may change -----------------------------------------------------------------------

    def facts_after(self, fact_id: str, *, limit: int) -> list[Fact]:
        """Return current facts by id after this one, for walking over all of them in short reads.

        Not those of a vault: their activation alone decides what becomes of them (spec F133).
        """
        of_a_vault = select(sql.vault_facts.c.fact_id)
        where = (_fact.state == "current", _fact.id > fact_id, _fact.id.not_in(of_a_vault))
        rows = self._connection.execute(select(sql.facts).where(*where).order_by(_fact.id).limit(limit))
        return [Fact(**row) for row in rows.mappings()]

    def listed(self) -> list[Listed]:
        """Return the current facts of list-like keys, by persona, entity and key, the newest first in each.

        Only there can two facts say the same: any other address has one current value.
        """
        columns = (_fact.id, _fact.persona, _fact.entity, _fact.key, _fact.value, _fact.text)
        rows = self._connection.execute(
            select(*columns)
            .where(_fact.state == "current", _fact.many.is_(True))
            .order_by(_fact.created_at.desc(), _fact.id)
        )
        groups: dict[tuple[str, str, str], list[Listed]] = {}
        for row in rows:
            one = Listed(*row)
            groups.setdefault(one.address, []).append(one)
        return [one for group in sorted(groups) for one in groups[group]]

    def parted(self) -> set[tuple[str, str]]:
        """Return pairs of ids (ended, kept) whose merge was undone: they are to stay apart."""
        rows = self._connection.execute(
            select(_move.item_id, _move.after)
            .select_from(sql.care_moves.join(sql.care_runs, _run.id == _move.run_id))
            .where(_run.status == "undone", _move.move == "merged")
        )
        return {(row[0], str(row[1].get("into"))) for row in rows}

    def ties(self) -> Iterator[tuple[str, str]]:
        """Return every link between two current things, as pairs of ids."""
        link, target = sql.links.c, sql.items.alias("target")
        rows = self._connection.execute(
            select(link.source_id, link.target_id)
            .select_from(
                sql.links.join(sql.items, _item.id == link.source_id).join(target, target.c.id == link.target_id)
            )
            .where(_item.state == "current", target.c.state == "current")
        )
        return ((row[0], row[1]) for row in rows)

    def revive(self, item_id: str, kind: str, persona: str) -> None:
        """Make something that ended searchable again; it waits for its vector like a new one."""
        scope = scope_words(persona, kind, live=True)
        nothing = {"embedder": None, "embedding": None, "vec_seq": None}
        self._connection.execute(
            update(sql.items)
            .where(_item.id == item_id)
            .values(state="current", ended_at=None, words_scope=scope, **nothing)
        )

    def cap_vector_cache(self, most: int) -> int:
        """Forget the oldest cached vectors beyond this many; return how many went (spec T11)."""
        t = sql.embedding_cache.c
        total = self._connection.execute(select(func.count()).select_from(sql.embedding_cache)).scalar_one()
        if total <= most:
            return 0
        edge = select(t.created_at).order_by(t.created_at).offset(total - most).limit(1).scalar_subquery()
        return self._connection.execute(delete(sql.embedding_cache).where(t.created_at < edge)).rowcount

    # -- runs ----------------------------------------------------------------------------------

    def begin(self, run_id: str, *, now: datetime) -> int:
        """Write down that a run begins; return how many before it were cut short. The caller holds the lock."""
        cut = update(sql.care_runs).where(_run.status == "running").values(status="interrupted")
        interrupted = self._connection.execute(cut).rowcount
        row = {"id": run_id, "started_at": now, "finished_at": None, "status": "running", "moves": 0}
        self._connection.execute(insert(sql.care_runs), [row])
        return interrupted

    def running(self) -> CareRun | None:
        """Return the run that has begun and not ended, as far as is written down."""
        row = self._connection.execute(select(sql.care_runs).where(_run.status == "running")).mappings().first()
        return None if row is None else CareRun(**row)

    def seen(self, run_id: str, *, now: datetime) -> None:
        """Write down that a node of a graph's run has ended and the run goes on."""
        where = (_run.id == run_id, _run.status == "running")
        self._connection.execute(update(sql.care_runs).where(*where).values(finished_at=now))

    def close(self, run_id: str, *, status: str, now: datetime) -> None:
        """Write down how a run ended."""
        moves = select(func.count()).select_from(sql.care_moves).where(_move.run_id == run_id).scalar_subquery()
        values: dict[str, Any] = {"status": status, "finished_at": now, "moves": moves}
        self._connection.execute(update(sql.care_runs).where(_run.id == run_id).values(**values))

    def runs(self, *, limit: int) -> list[CareRun]:
        """Return the newest runs first."""
        rows = self._connection.execute(
            select(sql.care_runs).order_by(_run.started_at.desc(), _run.id.desc()).limit(limit)
        )
        return [CareRun(**row) for row in rows.mappings()]

    def last_with_moves(self) -> CareRun | None:
        """Return the newest run that changed something and was not undone."""
        changed = select(_move.run_id).distinct()
        row = (
            self._connection.execute(
                select(sql.care_runs)
                .where(_run.status != "undone", _run.id.in_(changed))
                .order_by(_run.started_at.desc(), _run.id.desc())
                .limit(1)
            )
            .mappings()
            .first()
        )
        return None if row is None else CareRun(**row)

    def moved(self, moves: Sequence[CareMove]) -> None:
        """Write down moves, in the transaction that makes them."""
        if moves:
            rows = [{name: getattr(move, name) for name in CareMove.__slots__} for move in moves]
            self._connection.execute(insert(sql.care_moves), rows)

    def moves_made(self, run_id: str) -> int:
        """Return how many moves of a run are written down."""
        return self._connection.execute(
            select(func.count()).select_from(sql.care_moves).where(_move.run_id == run_id)
        ).scalar_one()

    def moves_of(self, run_id: str) -> list[CareMove]:
        """Return what a run did, in order."""
        rows = self._connection.execute(select(sql.care_moves).where(_move.run_id == run_id).order_by(_move.position))
        return [CareMove(**row) for row in rows.mappings()]


def _parts(ids: Sequence[str], size: int = 500) -> Iterator[list[str]]:
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])
