"""Who reads whom: pools, parents, and every persona there is."""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, literal, null, or_, select, update
from sqlalchemy.sql import Select

from zomem_graph.stores import sql
from zomem_graph.stores.columns import FaithfulText
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.records import Inheritance, Pool, PoolMember

__all__ = ["LONGEST_LINE", "Kin", "Personas", "PoolSize"]

LONGEST_LINE = 32
"""Generations that are followed; a line of parents longer than this is refused when it is drawn."""

_pool = sql.persona_pools.c
_member = sql.persona_pool_members.c
_heir = sql.persona_inheritance.c
_item = sql.items.c
_fact = sql.facts.c


class Kin(NamedTuple):
    """One step of the closure of a persona: itself or an ancestor, or (with `pool`) a peer of one of them."""

    depth: int
    persona: str
    pool: str | None = None
    peer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSize:
    """A pool with its members and how many current facts each of them has (spec F86)."""

    pool: Pool
    members: dict[str, int]

    @property
    def facts(self) -> int:
        """Return how many current facts the members have together."""
        return sum(self.members.values())


class Personas:
    """Reads and writes the three persona tables within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def kin(self, persona: str) -> tuple[list[Kin], bool]:
        """Return a persona's ancestors and all their pool peers, and whether the persona is known; one query."""
        rows = self._connection.execute(_KIN, {"me": persona}).all()
        known = any(row.depth < 0 for row in rows)
        kin = [Kin(*row) for row in rows if row.depth >= 0]
        return kin, known or len(kin) > 1

    def names(self) -> list[str]:
        """Return every persona that has an item, a pool, a parent or a child, in order."""
        rows = self._connection.execute(_NAMES)
        return sorted({row[0] for row in rows if row[0] is not None})

    def add_pool(self, pool: Pool) -> None:
        """Save a pool; a second one of the same name is refused by the database."""
        self._connection.execute(insert(sql.persona_pools), [_values(pool)])

    def pool(self, name: str) -> Pool | None:
        """Return the pool of this name."""
        row = self._connection.execute(select(sql.persona_pools).where(_pool.name == name)).mappings().first()
        return None if row is None else Pool(**row)

    def pool_names(self) -> list[str]:
        """Return the names of all pools, in order."""
        return [row[0] for row in self._connection.execute(select(_pool.name).order_by(_pool.name))]

    def pools(self) -> list[PoolSize]:
        """Return every pool by name, with its members in the order they came and their current facts."""
        rows = self._connection.execute(select(sql.persona_pools).order_by(_pool.name)).mappings()
        pools = [Pool(**row) for row in rows]
        facts = (
            select(func.count())
            .select_from(sql.facts)
            .where(_fact.persona == _member.persona, _fact.state == "current")
            .scalar_subquery()
        )
        members = self._connection.execute(
            select(_member.pool_id, _member.persona, facts).order_by(_member.added_at, _member.persona)
        ).all()
        return [
            PoolSize(pool=pool, members={persona: count for where, persona, count in members if where == pool.id})
            for pool in pools
        ]

    def join_pool(self, member: PoolMember) -> bool:
        """Add a persona to a pool; return whether it was not in it."""
        return self._new(sql.persona_pool_members, member)

    def leave_pool(self, pool_id: str, persona: str) -> bool:
        """Take a persona out of a pool; return whether it was in it."""
        where = (_member.pool_id == pool_id, _member.persona == persona)
        return self._connection.execute(delete(sql.persona_pool_members).where(*where)).rowcount > 0

    def drop_pool(self, pool_id: str) -> None:
        """Remove a pool and who is in it."""
        self._connection.execute(delete(sql.persona_pool_members).where(_member.pool_id == pool_id))
        self._connection.execute(delete(sql.persona_pools).where(_pool.id == pool_id))

    def inherit(self, line: Inheritance) -> bool:
        """Let a child read a parent; return whether it did not yet."""
        return self._new(sql.persona_inheritance, line)

    def disinherit(self, child: str, parent: str) -> bool:
        """End what `inherit` began; return whether there was something to end."""
        where = (_heir.child_persona == child, _heir.parent_persona == parent)
        return self._connection.execute(delete(sql.persona_inheritance).where(*where)).rowcount > 0

    def lines(self) -> list[tuple[str, str]]:
        """Return every (child, parent), in the order they were drawn."""
        rows = self._connection.execute(
            select(_heir.child_persona, _heir.parent_persona).order_by(_heir.created_at, _heir.parent_persona)
        )
        return [(child, parent) for child, parent in rows]

    def hold(self) -> None:
        """Keep other writers of parents out until the transaction ends, so that no two lines close a ring."""
        self._connection.execute(update(sql.persona_inheritance).where(_heir.depth < 0).values(depth=_heir.depth))

    def leave(self, persona: str) -> int:
        """Remove a persona from all pools and lines; return how many rows went."""
        gone = self._connection.execute(delete(sql.persona_pool_members).where(_member.persona == persona)).rowcount
        line = or_(_heir.child_persona == persona, _heir.parent_persona == persona)
        return gone + self._connection.execute(delete(sql.persona_inheritance).where(line)).rowcount

    def _new(self, table: Any, record: PoolMember | Inheritance) -> bool:
        return self._connection.execute(self._dialect.insert_new(table), _values(record)).rowcount > 0


def _closure() -> Select[Any]:
    """Return the one statement behind `kin`: the ancestors, their peers, and a mark for one who has items."""
    me = bindparam("me", type_=FaithfulText())
    up = select(literal(0).label("depth"), me.label("persona")).cte("up", recursive=True)
    above = select(up.c.depth + 1, _heir.parent_persona).where(
        _heir.child_persona == up.c.persona, up.c.depth < LONGEST_LINE
    )
    up = up.union(above)
    mate = sql.persona_pool_members.alias("mate")
    none = null().cast(FaithfulText())
    peers = (
        select(up.c.depth, up.c.persona, _pool.name, mate.c.persona)
        .join_from(up, sql.persona_pool_members, _member.persona == up.c.persona)
        .join(sql.persona_pools, _pool.id == _member.pool_id)
        .join(mate, and_(mate.c.pool_id == _member.pool_id, mate.c.persona != up.c.persona))
    )
    known = select(literal(-1), me, none, none).where(exists().where(_item.persona == me))
    own = select(up.c.depth.label("depth"), up.c.persona.label("persona"), none.label("pool"), none.label("peer"))
    return own.union_all(peers, known)  # type: ignore[return-value]  # a compound of selects


def _everybody() -> Select[Any]:
    """Return the statement behind `names`; it jumps from one persona's items to the next one's."""
    # Documents belong to no persona, and their items name none.
    first = select(func.min(_item.persona).label("persona")).where(_item.persona > "").cte("owners", recursive=True)
    following = select(func.min(_item.persona)).where(_item.persona > first.c.persona).scalar_subquery()
    owners = first.union_all(select(following).where(first.c.persona.is_not(None)))
    return select(owners.c.persona).union(  # type: ignore[return-value]  # a compound of selects
        select(_member.persona), select(_heir.child_persona), select(_heir.parent_persona)
    )


_KIN = _closure()
_NAMES = _everybody()


def _values(record: Pool | PoolMember | Inheritance) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}
