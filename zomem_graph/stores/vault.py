"""The vault's own rows: which facts it mirrors, how active they were, which session logs it has read."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, exists, func, insert, select
from sqlalchemy.sql import Select

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.records import Access, Fact, Origin
from zomem_graph.stores.vault_records import VaultFact, VaultSession

__all__ = ["VaultRows"]

_v = sql.vault_facts.c
_f = sql.facts.c
_s = sql.vault_sessions.c
_a = sql.access_log.c
_t = sql.turns.c
_p = sql.fact_provenance.c
_PART = 500


class VaultRows:
    """Reads and writes `vault_facts` and `vault_sessions` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def put(self, rows: Sequence[VaultFact]) -> None:
        """Save facts of the vault, each in place of what stood there before."""
        if rows:
            values = [{name: getattr(row, name) for name in VaultFact.__slots__} for row in rows]
            change = self._dialect.upsert(sql.vault_facts, ["fact_id"], ["activation", "as_of", "band"])
            self._connection.execute(change, values)

    def of(self, fact_ids: Sequence[str]) -> dict[str, VaultFact]:
        """Return those of these facts that are in the vault, by id."""
        found: dict[str, VaultFact] = {}
        for part in _parts(fact_ids):
            rows = self._connection.execute(select(sql.vault_facts).where(_v.fact_id.in_(part))).mappings()
            found.update((row["fact_id"], VaultFact(**row)) for row in rows)
        return found

    def everything(self) -> list[tuple[Fact, VaultFact]]:
        """Return every fact of the vault in any state, oldest first."""
        joined = sql.facts.join(sql.vault_facts, _v.fact_id == _f.id)
        wanted = select(*_f, _v.activation, _v.as_of, _v.band).select_from(joined).order_by(_f.created_at, _f.id)
        return list(self._pairs(wanted))

    def current(self) -> list[tuple[Fact, VaultFact]]:
        """Return the facts of the vault that hold now, oldest first."""
        joined = sql.facts.join(sql.vault_facts, _v.fact_id == _f.id)
        wanted = select(*_f, _v.activation, _v.as_of, _v.band).select_from(joined).where(_f.state == "current")
        return list(self._pairs(wanted.order_by(_f.created_at, _f.id)))

    def in_band(self, band: str) -> dict[str, datetime]:
        """Return the facts that hold and were last judged to be in a band, with their `as_of`, oldest first."""
        joined = sql.facts.join(sql.vault_facts, _v.fact_id == _f.id)
        where = (_f.state == "current", _v.band == band)
        wanted = select(_f.id, _v.as_of).select_from(joined).where(*where).order_by(_f.created_at, _f.id)
        return {row[0]: row[1] for row in self._connection.execute(wanted)}

    def untold(self) -> list[str]:
        """Return the facts whose band does not say yet that they ended, or that they stand again; oldest first."""
        joined = sql.facts.join(sql.vault_facts, _v.fact_id == _f.id)
        ended = (_f.state != "current") & _v.band.in_(("active", "fading"))
        again = (_f.state == "current") & (_v.band == "ended")
        wanted = select(_f.id).select_from(joined).where(ended | again).order_by(_f.created_at, _f.id)
        return list(self._connection.execute(wanted).scalars())

    def count(self, *, state: str | None = None, band: str | None = None) -> int:
        """Return how many facts the vault has, of one state or band when given."""
        wanted = select(func.count()).select_from(sql.facts.join(sql.vault_facts, _v.fact_id == _f.id))
        if state is not None:
            wanted = wanted.where(_f.state == state)
        if band is not None:
            wanted = wanted.where(_v.band == band)
        return self._connection.execute(wanted).scalar_one()

    def tally(self, of: str, names: Sequence[str] | None = None) -> dict[str, tuple[int, datetime, datetime]]:
        """Return how many current facts there are by entity or key, with the first and last time of each."""
        column = _f.entity if of == "entity" else _f.key
        joined = sql.facts.join(sql.vault_facts, _v.fact_id == _f.id)
        wanted = (
            select(column, func.count(), func.min(_f.created_at), func.max(_f.created_at))
            .select_from(joined)
            .where(_f.state == "current", column.is_not(None))
            .group_by(column)
            .order_by(column)
        )
        found: dict[str, tuple[int, datetime, datetime]] = {}
        for part in [None] if names is None else _parts(names):
            rows = self._connection.execute(wanted if part is None else wanted.where(column.in_(part)))
            found.update((name, (count, first, last)) for name, count, first, last in rows)
        return found

    def successors(self) -> list[Fact]:
        """Return current facts that took the place of one in the vault and are not in it themselves."""
        members = select(_v.fact_id)
        wanted = select(sql.facts).where(
            _f.state == "current",
            _f.id.not_in(members),
            _f.id.in_(select(_f.superseded_by).where(_f.id.in_(members), _f.superseded_by.is_not(None))),
        )
        return [Fact(**row) for row in self._connection.execute(wanted).mappings()]

    def drop_orphans(self) -> int:
        """Forget what is said of facts that are gone for good."""
        gone = delete(sql.vault_facts).where(~exists().where(_f.id == _v.fact_id))
        return self._connection.execute(gone).rowcount

    def drop(self, fact_ids: Sequence[str]) -> None:
        """Take facts out of the vault; the facts themselves stay."""
        for part in _parts(fact_ids):
            self._connection.execute(delete(sql.vault_facts).where(_v.fact_id.in_(part)))

    def uses(self, fact_ids: Sequence[str] | None = None) -> dict[str, list[Access]]:
        """Return the uses of facts of the vault since their `as_of`, by fact."""
        joined = sql.access_log.join(sql.vault_facts, _v.fact_id == _a.item_id)
        wanted = select(sql.access_log).select_from(joined).where(_a.at > _v.as_of)
        found: dict[str, list[Access]] = {}
        parts = [None] if fact_ids is None else list(_parts(fact_ids))
        for part in parts:
            rows = self._connection.execute(wanted if part is None else wanted.where(_v.fact_id.in_(part)))
            for row in rows.mappings():
                found.setdefault(row["item_id"], []).append(Access(**row))
        return found

    def said_in(self, persona: str, session: str) -> list[Origin]:
        """Return where facts came from the turns of one session."""
        joined = sql.fact_provenance.join(sql.turns, _t.id == _p.turn_id)
        wanted = select(sql.fact_provenance).select_from(joined).where(_t.persona == persona, _t.session == session)
        return [Origin(**row) for row in self._connection.execute(wanted).mappings()]

    def said_between(self, persona: str, prefix: str, since: datetime, until: datetime) -> list[tuple[str, str]]:
        """Return (turn id, session) of what was said in sessions under a prefix, in a closed-open range of time."""
        wanted = (
            select(_t.id, _t.session)
            .where(
                _t.persona == persona,
                _t.session.startswith(prefix, autoescape=True),
                _t.at >= since,
                _t.at < until,
            )
            .order_by(_t.at, _t.session, _t.position)
        )
        return [(id_, session) for id_, session in self._connection.execute(wanted)]

    def loops_from(self, turn_ids: Sequence[str]) -> list[str]:
        """Return the ids of the loops that these turns opened, in no particular order."""
        found: list[str] = []
        loop = sql.open_loops.c
        for part in _parts(turn_ids):
            found += [row[0] for row in self._connection.execute(select(loop.id).where(loop.turn_id.in_(part)))]
        return found

    def sessions(self) -> dict[str, VaultSession]:
        """Return every session log that was read, by name."""
        rows = self._connection.execute(select(sql.vault_sessions).order_by(_s.name)).mappings()
        return {row["name"]: VaultSession(**row) for row in rows}

    def put_session(self, session: VaultSession) -> None:
        """Remember that a session log was read."""
        values = {name: getattr(session, name) for name in VaultSession.__slots__}
        self._connection.execute(delete(sql.vault_sessions).where(_s.name == session.name))
        self._connection.execute(insert(sql.vault_sessions), [values])

    def _pairs(self, wanted: Select[Any]) -> Iterator[tuple[Fact, VaultFact]]:
        for row in self._connection.execute(wanted).mappings():
            yield (
                _fact(row),
                VaultFact(fact_id=row["id"], activation=row["activation"], as_of=row["as_of"], band=row["band"]),
            )


def _fact(row: Mapping[Any, Any]) -> Fact:
    return Fact(**{name: row[name] for name in Fact.__slots__})


def _parts(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _PART):
        yield list(ids[start : start + _PART])
