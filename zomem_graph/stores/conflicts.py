"""Conflicts between facts, and what a new fact has to be held against."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, insert, literal, or_, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.columns import UtcTime
from zomem_graph.stores.records import Conflict, Fact
from zomem_graph.stores.words import scope_words

__all__ = ["OPEN", "Conflicts", "Stated"]

OPEN = ("pending", "flagged")
"""The resolutions that leave something to decide."""

_t = sql.fact_conflicts.c
_fact = sql.facts.c
_item = sql.items.c
_LONGEST = 300  # characters of a value that is compared by its wording; longer ones are texts, not statements
_MOST_AROUND = 200  # facts of one entity that a new one is compared with
_SEPARATOR = "\x1f"  # between the parts of a slot
_BEHIND_SEPARATOR = " "  # sorts right behind it
_OF_ENTITY = and_(_fact.slot >= bindparam("first"), _fact.slot < bindparam("behind"))
_STANDS = and_(_fact.state == "current", func.length(_fact.value) <= _LONGEST)
_WENT = and_(
    _fact.slot == bindparam("where"),
    or_(_fact.created_at >= bindparam("since"), _fact.state == "retracted"),
    _fact.state != "current",
)
_AROUND = (  # every new fact asks it, so it is built once
    select(_fact.id, _fact.key, _fact.value, _fact.created_at, _fact.state)
    .where(_fact.persona == bindparam("whose"), _OF_ENTITY, or_(_STANDS, _WENT))  # one range of an index
    .limit(_MOST_AROUND)
)
_newer, _older = sql.facts.alias("newer"), sql.facts.alias("older")
_SIDES = sql.fact_conflicts.join(_newer, _newer.c.id == _t.fact_id).join(
    _older, _older.c.id == _t.conflicting_fact_id
)
_STANDING = ("current", "flagged")
_GONE = ("retracted", "deleted")
# Both sides stand; or one waits, also when what it was held against ended; or it is a swing, which is of the past.
_WAITS = or_(
    and_(_newer.c.state.in_(_STANDING), _older.c.state.in_(_STANDING)),
    and_(
        or_(_newer.c.state == "flagged", _older.c.state == "flagged", _t.detector == "oscillation"),
        _newer.c.state.notin_(_GONE),
        _older.c.state.notin_(_GONE),
    ),
)
_TOLD = or_(_t.resolution.notin_(OPEN), _WAITS)
_WHO: Any = bindparam("personas", expanding=True)
_READ_BY = and_(  # in a form no index serves: SQLite would begin at all facts of the personas
    func.coalesce(_newer.c.persona, "").in_(_WHO), func.coalesce(_older.c.persona, "").in_(_WHO)
)
_EITHER: Any = bindparam("ids", expanding=True)
_WITH_EITHER = or_(_t.fact_id.in_(_EITHER), _t.conflicting_fact_id.in_(_EITHER))
_OF_FACTS = select(sql.fact_conflicts).where(_WITH_EITHER).order_by(_t.created_at.desc(), _t.id).limit(10_000)
_DOUBTS = (  # every search asks it
    select(_t.fact_id, _t.conflicting_fact_id)
    .select_from(_SIDES)
    .where(_WITH_EITHER, _t.resolution.in_(OPEN), _WAITS, _READ_BY)
    .limit(10_000)
)
_PART = 400  # ids in one statement


@dataclass(frozen=True, slots=True)
class Stated:
    """What is compared of a fact by its wording."""

    id: str
    key: str | None
    value: str
    at: datetime
    state: str


class Conflicts:
    """Reads and writes `fact_conflicts`, and reads rivals and histories, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, new: Sequence[Conflict]) -> None:
        """Save conflicts."""
        if new:
            rows = [{name: getattr(one, name) for name in Conflict.__slots__} for one in new]
            self._connection.execute(insert(sql.fact_conflicts), rows)

    def find(self, conflict_id: str) -> Conflict | None:
        """Return one conflict."""
        found = self._found(_t.id == conflict_id, limit=1)
        return found[0] if found else None

    def starting_with(self, personas: Sequence[str], prefix: str) -> list[Conflict]:
        """Return at most two conflicts whose id begins so, both sides of which are of these personas."""
        return self._between_facts_of(personas, _t.id.startswith(prefix, autoescape=True), limit=2)

    def listed(
        self, personas: Sequence[str], *, resolutions: Sequence[str] = OPEN, limit: int = 100
    ) -> list[Conflict]:
        """Return conflicts both sides of which are of these personas, newest first.

        What is pending or flagged is left out once one side is no more and nothing waits for a decision.
        """
        return self._between_facts_of(personas, _t.resolution.in_(list(resolutions)), _TOLD, limit=limit)

    def of_facts(self, fact_ids: Sequence[str]) -> list[Conflict]:
        """Return the conflicts that have one of these facts in them, of all resolutions, newest first."""
        found: dict[str, Conflict] = {}
        for start in range(0, len(fact_ids), _PART):
            rows = self._connection.execute(_OF_FACTS, {"ids": list(fact_ids[start : start + _PART])})
            found.update((row["id"], Conflict(**row)) for row in rows.mappings())
        return list(found.values())

    def doubts(self, fact_ids: Sequence[str], personas: Sequence[str]) -> list[tuple[str, str]]:
        """Return the pairs that wait for a decision and have one of these facts in them, within these personas."""
        found: list[tuple[str, str]] = []
        for start in range(0, len(fact_ids), _PART):
            given = {"ids": list(fact_ids[start : start + _PART]), "personas": list(personas)}
            found += [(row[0], row[1]) for row in self._connection.execute(_DOUBTS, given)]
        return found

    def can_wait(self, conflict_id: str) -> bool:
        """Return whether there is anything to decide between the two sides as they stand now."""
        found = select(_t.id).select_from(_SIDES).where(_t.id == conflict_id, _WAITS)
        return self._connection.execute(found).first() is not None

    def between(self, one: str, other: str) -> Conflict | None:
        """Return the newest conflict between two facts, whichever is the newer."""
        pairs = or_(
            and_(_t.fact_id == one, _t.conflicting_fact_id == other),
            and_(_t.fact_id == other, _t.conflicting_fact_id == one),
        )
        found = self._found(pairs, limit=1)
        return found[0] if found else None

    def change(self, conflict_id: str, **values: Any) -> None:
        """Change named columns of one conflict."""
        self._connection.execute(update(sql.fact_conflicts).where(_t.id == conflict_id).values(**values))

    def counts(self, personas: Sequence[str], column: str) -> dict[str, int]:
        """Return how many conflicts `listed` would tell of, by resolution, conflict_type or detector."""
        by = _t[column]
        told = select(by, func.count()).select_from(_SIDES).where(_READ_BY, _TOLD)
        rows = self._connection.execute(told.group_by(by).order_by(by), {"personas": list(personas)})
        return {row[0]: row[1] for row in rows}

    # -- what a fact is held against -----------------------------------------------------------

    def history(self, persona: str, slot: str) -> list[Fact]:
        """Return every value a slot ever had, in any state, oldest first."""
        return self._facts(_fact.persona == persona, _fact.slot == slot)

    def about(self, persona: str, prefix: str, *, live_only: bool = True, most: int = 200) -> list[Fact]:
        """Return facts of a slot, or of an entity when `prefix` ends with the separator, the newest first.

        "Ann" never takes in "Annabel", nor the key "port" the key "port range".
        """
        where = [_fact.persona == persona, *_under(prefix), _fact.state != "stub"]  # a name alone is no value
        if live_only:
            where.append(_fact.state == "current")
        told = select(sql.facts).outerjoin(sql.items, _item.id == _fact.id).where(*where)
        newest = told.order_by(_fact.created_at.desc(), func.coalesce(_item.num, 0).desc(), _fact.id)
        return [Fact(**row) for row in self._connection.execute(newest.limit(most)).mappings()]

    def around(self, persona: str, slot: str, *, since: datetime) -> list[Stated]:
        """Return what is stated of the entity of a slot in few words, and what the slot had and lost of late.

        With every value of the slot that was never true, however long ago it was retracted.

        Of an entity with very many facts those without a key come first; the rest is for `detect`.
        """
        name = slot[: slot.index(_SEPARATOR)]
        rows = self._connection.execute(
            _AROUND,
            {
                "whose": persona,
                "first": name + _SEPARATOR,
                "behind": name + _BEHIND_SEPARATOR,
                "where": slot,
                "since": since,
            },
        )
        return [Stated(*row) for row in rows]

    def everything_stated(self, personas: Sequence[str], *, most: int) -> list[Fact]:
        """Return current facts in few words of these personas, by entity, the newest first in each."""
        where = (
            _fact.persona.in_(list(personas)),
            _fact.state == "current",
            func.length(_fact.value) <= _LONGEST,
        )
        rows = self._connection.execute(
            select(sql.facts).where(*where).order_by(_fact.slot, _fact.created_at.desc()).limit(most)
        )
        return [Fact(**row) for row in rows.mappings()]

    def halve_confidence(self, fact_ids: Sequence[str]) -> None:
        """Halve the confidence of facts that were contradicted (spec F38)."""
        if fact_ids:
            self._connection.execute(
                update(sql.facts).where(_fact.id.in_(list(fact_ids))).values(confidence=_fact.confidence * 0.5)
            )

    def end_at(self, fact_id: str, *, at: datetime, superseded_by: str | None) -> None:
        """Move the end of a fact that is not current: what came after it turned out to be another one."""
        self._connection.execute(
            update(sql.facts).where(_fact.id == fact_id).values(ended_at=at, superseded_by=superseded_by)
        )
        self._connection.execute(update(sql.items).where(_item.id == fact_id).values(ended_at=at))

    def set_state(self, item_id: str, state: str, *, at: datetime) -> None:
        """Give something that has ended, or just now ends, another state; the time of its end stays."""
        for table in (sql.facts, sql.items):
            c = table.c
            self._connection.execute(
                update(table)
                .where(c.id == item_id)
                .values(state=state, ended_at=func.coalesce(c.ended_at, literal(at, UtcTime())))
            )

    def ousted_by(self, fact_id: str) -> list[Fact]:
        """Return the facts another one took the place of, oldest first."""
        return self._facts(_fact.superseded_by == fact_id)

    def revive(self, fact_id: str, *, since: datetime | None = None) -> None:
        """Make a fact that ended current again; it waits for its vector like a new one.

        `since` is when it begins to hold, where it never did before. The database refuses it while its slot has
        another current value.
        """
        fact = self._facts(_fact.id == fact_id)[0]
        stands = {"state": "current", "ended_at": None, "created_at": since or fact.created_at}
        self._connection.execute(update(sql.facts).where(_fact.id == fact_id).values(**stands, superseded_by=None))
        self._connection.execute(
            update(sql.items)
            .where(_item.id == fact_id)
            .values(
                **stands,
                words_scope=scope_words(fact.persona, "fact", live=True),
                embedder=None,
                embedding=None,
                vec_seq=None,
            )
        )

    def _facts(self, *where: Any) -> list[Fact]:
        # Of one instant in the order of storing, which only the item keeps.
        told = select(sql.facts).outerjoin(sql.items, _item.id == _fact.id).where(*where)
        rows = self._connection.execute(told.order_by(_fact.created_at, func.coalesce(_item.num, 0), _fact.id))
        return [Fact(**row) for row in rows.mappings()]

    def _between_facts_of(self, personas: Sequence[str], *where: Any, limit: int) -> list[Conflict]:
        wanted = select(sql.fact_conflicts).select_from(_SIDES).where(_READ_BY, *where)
        ordered = wanted.order_by(_t.created_at.desc(), _t.id).limit(limit)
        rows = self._connection.execute(ordered, {"personas": list(personas)})
        return [Conflict(**row) for row in rows.mappings()]

    def _found(self, *where: Any, limit: int) -> list[Conflict]:
        rows = self._connection.execute(
            select(sql.fact_conflicts).where(*where).order_by(_t.created_at.desc(), _t.id).limit(limit)
        )
        return [Conflict(**row) for row in rows.mappings()]


def _under(prefix: str) -> tuple[Any, ...]:
    """Return the conditions for a slot and what is below it, in a form the index serves."""
    if prefix.endswith(_SEPARATOR):
        return _fact.slot >= prefix, _fact.slot < prefix[:-1] + _BEHIND_SEPARATOR
    below = and_(_fact.slot >= prefix + _SEPARATOR, _fact.slot < prefix + _BEHIND_SEPARATOR)
    return (or_(_fact.slot == prefix, below),)
