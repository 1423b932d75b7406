"""What was learned once and holds no longer, by the turn it was learned from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, exists, func, literal, literal_column, or_, select, union_all

from zomem_graph.stores import sql

__all__ = ["Overtaken", "overtaken"]

_o, _l = sql.fact_provenance.c, sql.links.c
_was, _heir, _now = sql.facts.alias("was"), sql.facts.alias("heir"), sql.facts.alias("now")
_again = sql.fact_provenance.alias("again").c
_LEARNED = select(_o.turn_id, _o.fact_id).where(_o.turn_id.in_(bindparam("turns", expanding=True)))
_REPLACED = select(literal("").label("turn_id"), _l.target_id.label("fact_id")).where(
    _l.source_id.in_(bindparam("facts", expanding=True)), _l.relation == "supersedes"
)
_seed = union_all(_LEARNED, _REPLACED).subquery("seed")
_HOLDS = and_(
    _now.c.persona == _was.c.persona,
    _now.c.slot == func.coalesce(_heir.c.slot, _was.c.slot),
    _now.c.state == literal_column("'current'"),  # written out, so that the index of current values serves
    or_(_now.c.expires_at.is_(None), _now.c.expires_at > bindparam("moment", type_=_now.c.expires_at.type)),
)
_OVERTAKEN = (
    select(
        _seed.c.turn_id,
        _was.c.text.label("was"),
        _was.c.value.label("was_value"),
        _was.c.key,
        _now.c.text.label("now"),
        _now.c.value.label("now_value"),
        _now.c.id.label("fact_id"),
        _now.c.turn_id.label("now_turn_id"),
    )
    .select_from(
        _seed.join(_was, _was.c.id == _seed.c.fact_id)
        .outerjoin(_heir, _heir.c.id == _was.c.superseded_by)
        .outerjoin(_now, _HOLDS)
    )
    .where(
        _was.c.state.in_(("superseded", "retracted")),
        _was.c.persona.in_(bindparam("readers", expanding=True)),
        ~exists().where(_again.turn_id == _seed.c.turn_id, _again.fact_id == _now.c.id),
    )
    .order_by(_was.c.created_at, _was.c.id)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overtaken:
    """A fact that holds no longer, and what holds in its place: None in `now` and `fact_id` for nothing.

    `turn_id` is the turn that told it, "" where it was found by what took its place.
    """

    turn_id: str
    was: str
    was_value: str
    key: str | None
    now: str | None
    now_value: str | None
    fact_id: str | None
    now_turn_id: str | None


def overtaken(
    connection: Connection,
    *,
    turn_ids: Sequence[str],
    fact_ids: Sequence[str],
    readers: Collection[str],
    moment: datetime,
) -> list[Overtaken]:
    """Return what these turns told, or these facts took the place of, that holds no longer, in one statement.

    A turn that tells what holds now as well is left out. Only facts of the readers' personas are looked at.
    """
    asked: dict[str, Any] = {"turns": [*turn_ids], "facts": [*fact_ids], "readers": [*readers], "moment": moment}
    return [Overtaken(**row) for row in connection.execute(_OVERTAKEN, asked).mappings()]
