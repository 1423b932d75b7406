"""Links as a graph: what lies around some things, or all of it. The query leaves out ends that are out of sight."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, or_, select, type_coerce
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.columns import FaithfulText
from zomem_graph.stores.records import Link

__all__ = ["STUB", "Edge", "FactEnd", "GraphReads", "Seen", "Sight"]

STUB = "stub"
"""The state of an entity that a text points to and of which nothing is known: in the graph, in no search."""

_PAST = ("superseded", "merged", "expired", "archived")
_PART = 400
_t = sql.items.c
_l = sql.links.c
_f = sql.facts.c
_m = sql.mentions.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What may be seen: of whom, at which time, and whether values that hold no more are shown too."""

    personas: tuple[str, ...]
    now: datetime
    past: bool = False

    def allows(self, items: Any) -> ColumnElement[bool]:
        """Return the condition on the columns of `items` or of an alias of it."""
        # Joined to nothing, so that no planner begins with all that a persona has: the ids are always fewer.
        mine = type_coerce(items.persona.concat(""), FaithfulText()).in_(self.personas)
        if self.past:
            return and_(mine, items.state.in_(("current", STUB, *_PAST)))
        alive = or_(items.expires_at.is_(None), items.expires_at > self.now)
        return and_(mine, items.state.in_(("current", STUB)), alive)


@dataclass(frozen=True, slots=True)
class Seen:
    """A thing as the tables have it; the last three are a fact's only."""

    id: str
    kind: str
    persona: str
    state: str
    text: str
    entity: str | None
    key: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A link by the numbers of its ends."""

    source: int
    target: int
    relation: str
    weight: float


@dataclass(frozen=True, slots=True)
class FactEnd:
    """A fact by its number, with its address and state."""

    num: int
    slot: str
    state: str


class GraphReads:
    """Reads links together with what they tie, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def around(self, ids: Sequence[str], sight: Sight) -> list[Link]:
        """Return the links that tie these things to others in sight, heaviest first, each once."""
        found: dict[tuple[str, str, str], Link] = {}
        for part in _parts(ids):
            for near, far in ((_l.source_id, _l.target_id), (_l.target_id, _l.source_id)):
                asked = select(sql.links).join(sql.items, _t.id == far).where(near.in_(part), sight.allows(_t))
                for row in self._connection.execute(asked).mappings():
                    link = Link(**row)
                    found[link.source_id, link.target_id, link.relation] = link
        return sorted(found.values(), key=lambda link: (-link.weight, link.created_at, link.relation))

    def things(self, ids: Sequence[str], sight: Sight) -> dict[str, Seen]:
        """Return what is in sight of these, by id."""
        columns = (_t.id, _t.kind, _t.persona, _t.state, _t.text, _f.entity, _f.key, _f.value)
        both = sql.items.outerjoin(sql.facts, _f.id == _t.id)
        found: dict[str, Seen] = {}
        for part in _parts(ids):
            rows = self._connection.execute(
                select(*columns).select_from(both).where(_t.id.in_(part), sight.allows(_t))
            )
            found.update((row[0], Seen(*row)) for row in rows)
        return found

    def starting_with(self, prefix: str, sight: Sight, *, most: int) -> list[str]:
        """Return ids in sight that begin with these hexadecimal digits."""
        where = (_t.id >= prefix, _t.id < f"{prefix}g", sight.allows(_t))
        return [row[0] for row in self._connection.execute(select(_t.id).where(*where).limit(most))]

    def at(self, address: str, sight: Sight, *, most: int) -> list[str]:
        """Return the facts in sight whose slot is this address or begins with it, oldest first."""
        # One range, for an index walks no "or"; between an address and it with a blank come only its own slots.
        within = and_(_f.slot >= address, _f.slot < f"{address}\x20")
        rows = self._connection.execute(
            select(_t.id)
            .join(sql.facts, _f.id == _t.id)
            .where(_f.persona.in_(sight.personas), within, sight.allows(_t))
            .order_by(_f.created_at, _t.num)
            .limit(most)
        )
        return [row[0] for row in rows]

    def entity_names(self, sight: Sight, *, most: int) -> list[str]:
        """Return what facts in sight are about, as it was written."""
        where = (_f.persona.in_(sight.personas), _f.state.in_(("current", STUB)))
        return [row[0] for row in self._connection.execute(select(_f.entity).where(*where).distinct().limit(most))]

    def degrees(self, ids: Sequence[str], sight: Sight) -> int:
        """Return how many links these things have in all."""
        return len(self.around(ids, sight))

    def facts(self, sight: Sight) -> list[FactEnd]:
        """Return every fact in sight."""
        rows = self._connection.execute(
            select(_t.num, _f.slot, _t.state).join(sql.facts, _f.id == _t.id).where(sight.allows(_t))
        )
        return [FactEnd(*row) for row in rows]

    def edges(self, sight: Sight) -> list[Edge]:
        """Return every link with both ends in sight."""
        source, target = sql.items.alias("source"), sql.items.alias("target")
        rows = self._connection.execute(
            select(source.c.num, target.c.num, _l.relation, _l.weight)
            .select_from(sql.links)
            .join(source, source.c.id == _l.source_id)
            .join(target, target.c.id == _l.target_id)
            .where(sight.allows(source.c), sight.allows(target.c))
        )
        return [Edge(*row) for row in rows]

    def together(self, entity: str, sight: Sight, *, least: int, most: int) -> dict[str, int]:
        """Return which entities are mentioned together with one, and in how many things; normal forms."""
        beside = sql.mentions.alias("beside")
        shared = func.count().label("shared")
        rows = self._connection.execute(
            select(beside.c.entity, shared)
            .select_from(sql.mentions)
            .join(beside, beside.c.num == _m.num)
            .join(sql.items, _t.num == _m.num)
            .where(_m.entity == entity, _m.persona.in_(sight.personas), beside.c.entity != entity, sight.allows(_t))
            .group_by(beside.c.entity)
            .having(shared >= least)
            .order_by(shared.desc(), beside.c.entity)
            .limit(most)
        )
        return {row[0]: row[1] for row in rows}

    def mention_counts(self, entities: Sequence[str], sight: Sight) -> dict[str, int]:
        """Return in how many things in sight each entity (normal form) is mentioned."""
        found: dict[str, int] = {}
        for part in _parts(entities):
            rows = self._connection.execute(
                select(_m.entity, func.count())
                .join(sql.items, _t.num == _m.num)
                .where(_m.entity.in_(part), _m.persona.in_(sight.personas), sight.allows(_t))
                .group_by(_m.entity)
            )
            found.update((name, count) for name, count in rows)
        return found

    def facts_mentioning(self, entity: str, sight: Sight, *, most: int) -> list[tuple[str, str]]:
        """Return (id, entity as written) of facts in sight that mention an entity (normal form), oldest first."""
        rows = self._connection.execute(
            select(_f.id, _f.entity)
            .join(sql.items, _t.id == _f.id)
            .join(sql.mentions, _m.num == _t.num)
            .where(_m.entity == entity, _m.persona.in_(sight.personas), _f.state == "current", sight.allows(_t))
            .order_by(_f.created_at, _t.num)
            .limit(most)
        )
        return [(id_, name) for id_, name in rows]

    def count(self, sight: Sight) -> int:
        """Return how many things are in sight."""
        where = (_t.persona.in_(sight.personas), _t.state == "current")
        return self._connection.execute(select(func.count()).select_from(sql.items).where(*where)).scalar_one()

    def stubs(self, persona: str, slots: Sequence[str]) -> list[str]:
        """Return the ids of a persona's stubs at these addresses."""
        found: list[str] = []
        for part in _parts(slots):
            where = (_f.persona == persona, _f.slot.in_(part), _f.state == STUB)
            found += [row[0] for row in self._connection.execute(select(_f.id).where(*where))]
        return found


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _PART):
        yield list(values[start : start + _PART])
