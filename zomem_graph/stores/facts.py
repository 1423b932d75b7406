"""Facts: save, find, end, touch. One current value a slot and persona, held by the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.columns import alike
from zomem_graph.stores.records import Fact

__all__ = ["Facts"]

_t = sql.facts.c
# What every write asks, built once: to build a statement costs as much as to run it.
_CURRENT = select(sql.facts).where(
    _t.persona == bindparam("whose"), _t.slot == bindparam("where"), _t.state == "current"
)
_FOUND = select(sql.facts).where(_t.id.in_(bindparam("ids", expanding=True))).order_by(_t.created_at.desc())
_SHORT = select(_t.id, _t.value).where(
    _t.id.in_(bindparam("ids", expanding=True)), func.length(_t.value) <= bindparam("longest")
)
_TOUCH = (
    update(sql.facts)
    .where(_t.id.in_(bindparam("ids", expanding=True)))
    .values(last_accessed=bindparam("at"), access_count=_t.access_count + 1)
)
_PART = 500  # ids in one statement
_i = sql.items.c
_older = sql.facts.alias("older").c
_OVER = select(_i.id).where(
    _i.expires_at.is_not(None), _i.expires_at <= bindparam("now", type_=_i.expires_at.type), _i.state == "current"
)
_LAPSED = (
    select(sql.facts)
    .where(
        _t.id.in_(bindparam("ids", expanding=True)),
        _t.state == "current",
        exists().where(
            _older.persona == _t.persona,
            _older.slot == _t.slot,
            _older.superseded_by == _t.id,
            _older.state == "superseded",
        ),
    )
    .order_by(_t.created_at)
)


class Facts:
    """Reads and writes `facts` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, new: Sequence[Fact]) -> None:
        """Save facts; a second current value in a slot is refused by the database."""
        if new:
            self._connection.execute(insert(sql.facts), [_row(fact) for fact in new])

    def current(self, persona: str, slot: str) -> Fact | None:
        """Return the current value of a slot."""
        row = self._connection.execute(_CURRENT, {"whose": persona, "where": slot}).mappings().first()
        return None if row is None else Fact(**row)

    def about(self, persona: str, entity: str, key: str | None) -> list[Fact]:
        """Return the current facts of one persona, entity and key, newest first."""
        same_key = _t.key.is_(None) if key is None else alike(_t.key, key)
        return self._many(_t.persona == persona, alike(_t.entity, entity), same_key, _t.state == "current")

    def lookup(self, personas: Sequence[str], address: str, *, now: datetime) -> list[Fact]:
        """Return current facts whose slot is this address or begins with it, surest first, then newest (spec F7)."""
        # One range, for an index walks no "or"; between an address and it with a blank come only its own slots.
        within = and_(_t.slot >= address, _t.slot < f"{address}\x20")
        alive = or_(_t.expires_at.is_(None), _t.expires_at > now)
        where = (_t.persona.in_(list(personas)), _t.state == "current", within, alive)
        rows = self._connection.execute(
            select(sql.facts).where(*where).order_by(_t.confidence.desc(), _t.created_at.desc())
        )
        return [Fact(**row) for row in rows.mappings()]

    def beginning(self, personas: Sequence[str], entity: str, key: str) -> list[Fact]:
        """Return the current facts of an entity, and of those whose name goes on after a space, newest first."""
        longer = and_(_t.entity >= f"{entity} ", _t.entity < f"{entity}!")
        named = or_(_t.entity == entity, longer)
        return self._many(_t.persona.in_(list(personas)), named, _t.key == key, _t.state == "current")

    def weightiest(
        self, personas: Sequence[str], *, limit: int, category: str | None = None, now: datetime | None = None
    ) -> list[Fact]:
        """Return current facts by importance, the newest first among equals; not those whose time has come."""
        where = [_t.persona.in_(list(personas)), _t.state == "current"]
        where += [_t.category == category] if category is not None else []
        where += [or_(_t.expires_at.is_(None), _t.expires_at > now)] if now is not None else []
        order = (_t.importance.desc(), _t.created_at.desc(), _t.id)
        rows = self._connection.execute(select(sql.facts).where(*where).order_by(*order).limit(limit))
        return [Fact(**row) for row in rows.mappings()]

    def history(self, persona: str, entity: str, key: str | None) -> list[Fact]:
        """Return every value a key ever had, oldest first, those of one instant in the order of storing."""
        where = [_t.persona == persona, alike(_t.entity, entity)]
        if key is not None:
            where.append(alike(_t.key, key))
        told = select(sql.facts).outerjoin(sql.items, _i.id == _t.id).where(*where)
        rows = self._connection.execute(told.order_by(_t.created_at, func.coalesce(_i.num, 0), _t.id))
        return [Fact(**row) for row in rows.mappings()]

    def of_source(self, persona: str, source: str) -> list[Fact]:
        """Return a persona's current facts from exactly this source, newest first."""
        return self._many(_t.persona == persona, _t.state == "current", _t.source == source)

    def lapsed(self, now: datetime) -> list[Fact]:
        """Return current facts that the clock has ended and that had taken the place of others, oldest first."""
        over = self._connection.execute(_OVER, {"now": now}).scalars().all()
        parts = [over[start : start + _PART] for start in range(0, len(over), _PART)]
        return [Fact(**row) for ids in parts for row in self._connection.execute(_LAPSED, {"ids": ids}).mappings()]

    def find(self, ids: Sequence[str]) -> list[Fact]:
        """Return facts by id, in any state, newest first."""
        parts = [list(ids[start : start + _PART]) for start in range(0, len(ids), _PART)]
        found = [Fact(**row) for one in parts for row in self._connection.execute(_FOUND, {"ids": one}).mappings()]
        return found if len(parts) < 2 else sorted(found, key=lambda fact: fact.created_at, reverse=True)

    def short_values(self, ids: Sequence[str], *, longest: int) -> dict[str, str]:
        """Return the values of these facts that have at most so many characters."""
        if not ids:
            return {}
        rows = self._connection.execute(_SHORT, {"ids": list(ids), "longest": longest})
        return {row.id: row.value for row in rows}

    def end(self, ids: Sequence[str], *, state: str, at: datetime, superseded_by: str | None = None) -> None:
        """Give current facts another state from this time on."""
        if ids:
            self._connection.execute(
                update(sql.facts)
                .where(_t.id.in_(list(ids)), _t.state == "current")
                .values(state=state, ended_at=at, superseded_by=superseded_by)
            )

    def end_each(self, ends: Mapping[str, datetime], *, state: str) -> None:
        """Give current facts another state, each from a time of its own on."""
        if ends:
            self._connection.execute(
                update(sql.facts)
                .where(_t.id == bindparam("fact_id"), _t.state == "current")
                .values(state=state, ended_at=bindparam("at"), superseded_by=None),
                [{"fact_id": id_, "at": at} for id_, at in ends.items()],
            )

    def change(self, fact_id: str, **values: Any) -> None:
        """Change named columns of one fact."""
        self._connection.execute(update(sql.facts).where(_t.id == fact_id).values(**values))

    def touch(self, ids: Sequence[str], *, at: datetime) -> None:
        """Count one access and move `last_accessed`."""
        if ids:
            self._connection.execute(_TOUCH, {"ids": list(ids), "at": at})

    def purge(self, ids: Sequence[str]) -> int:
        """Remove facts for good."""
        if not ids:
            return 0
        return self._connection.execute(delete(sql.facts).where(_t.id.in_(list(ids)))).rowcount

    def count(self, *, state: str = "current", persona: str | None = None) -> int:
        """Return how many facts are in a state, of everybody or of one persona."""
        where = [_t.state == state, *([] if persona is None else [_t.persona == persona])]
        return self._connection.execute(select(func.count()).select_from(sql.facts).where(*where)).scalar_one()

    def _many(self, *where: ColumnElement[bool]) -> list[Fact]:
        rows = self._connection.execute(select(sql.facts).where(*where).order_by(_t.created_at.desc()))
        return [Fact(**row) for row in rows.mappings()]


def _row(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in Fact.__slots__}
