"""Erasing rows: everything in the database that holds what is to be forgotten, in one transaction.

What has a `persona` column is erased with the persona, also in tables that later versions add. What stays
outside the tables (the index, free pages, backups, files) is the business of `remains.py`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, TableClause, delete, false, func, or_, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.documents import labels_of
from zomem_graph.stores.index_meta import IndexMeta
from zomem_graph.stores.records import Episode, Fact, Loop, Turn
from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import scope_token
from zomem_graph.stores.work_records import Procedure

__all__ = ["OWN_WORDS", "Erasure", "LogLine", "Selection", "Vanishing"]

_T = TypeVar("_T")
_item = sql.items.c
_fact = sql.facts.c
_turn = sql.turns.c
_part = 400
_LOGS: dict[str, tuple[TableClause, tuple[str, ...], tuple[str, ...]]] = {
    # kind: where, the columns that are blanked, and those without which a line is none
    "capture": (sql.capture_log, ("source", "error"), ()),
    "decision": (sql.gate_log, ("reason", "keywords"), ()),
    "extraction": (sql.extractions, ("source", "error"), ()),
    "attempt": (sql.executor_runs, ("error", "entities"), ("executor", "category")),
}
OWN_WORDS = frozenset(
    word
    for table in map(sql.__dict__.get, sql.__all__)
    if isinstance(table, TableClause)
    for name in (table.name, *table.c.keys())
    for word in (name, *name.split("_"))
)
"""The names of our tables and columns: words that every file of a database has."""

_FOLLOWED = (sql.procedure_episodes.c.episode_id, sql.procedure_episodes.c.procedure_id)


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to go, by kind and id."""

    facts: dict[str, Fact] = field(default_factory=dict)
    turns: dict[str, Turn] = field(default_factory=dict)
    episodes: dict[str, Episode] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)
    procedures: dict[str, Procedure] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """Every id, facts first."""
        return [*self.facts, *self.turns, *self.episodes, *self.loops, *self.procedures]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a log or queue that tells what is to go, with what stays of it; `left` None: the line goes.

    `kind` is capture, decision, extraction or attempt.
    """

    kind: str
    id: str
    text: str
    left: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Vanishing:
    """The vectors of what is to go, and the (persona, kind) whose collections hold them."""

    vectors: tuple[bytes, ...]
    places: frozenset[tuple[str, str]]


class Erasure:
    """Reads what a persona has, and removes it, within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    # -- what there is -------------------------------------------------------------------------

    def owner(self, item_id: str) -> tuple[str, str] | None:
        """Return (kind, persona) of one thing, or None when there is none."""
        row = self._connection.execute(select(_item.kind, _item.persona).where(_item.id == item_id)).first()
        if row is not None:
            return (row.kind, row.persona)
        p = sql.procedures.c
        whose = self._connection.execute(select(p.persona).where(p.id == item_id)).scalar()
        return None if whose is None else ("procedure", whose)

    def everything_of(self, persona: str) -> Selection:
        """Return all that a persona has, in any state."""
        return Selection(
            facts={one.id: one for one in self._all(sql.facts, Fact, persona)},
            turns={one.id: one for one in self._all(sql.turns, Turn, persona)},
            episodes={one.id: one for one in self._episodes(persona)},
            loops={one.id: one for one in self._all(sql.open_loops, Loop, persona)},
            procedures={one.id: one for one in self._all(sql.procedures, Procedure, persona)},
        )

    def mentioning(self, persona: str, entities: Sequence[str]) -> set[str]:
        """Return the ids of a persona's items that mention any of these entities (normal forms)."""
        m, e = sql.mentions.c, sql.episode_entities.c
        named = list(entities)
        items = select(_item.id).where(_item.num.in_(select(m.num).where(m.persona == persona, m.entity.in_(named))))
        episodes = select(e.episode_id).where(
            e.entity.in_(named),
            e.episode_id.in_(select(sql.episodes.c.id).where(sql.episodes.c.persona == persona)),
        )
        return {row[0] for found in (items, episodes) for row in self._connection.execute(found)}

    def vanishing(self, ids: Sequence[str]) -> Vanishing:
        """Return the vectors of these items and where in the index they are or were."""
        vectors: dict[bytes, None] = {}
        places: set[tuple[str, str]] = set()
        for part in _parts(ids):
            rows = self._connection.execute(
                select(_item.persona, _item.kind, _item.embedding).where(_item.id.in_(part))
            )
            for persona, kind, embedding in rows:
                places.add((persona, kind))
                if embedding:
                    vectors[embedding] = None
        return Vanishing(tuple(vectors), frozenset(places))

    def vectors(self) -> Iterator[bytes]:
        """Yield every vector that is in the tables."""
        rows = self._connection.execute(select(_item.embedding).where(_item.embedding.is_not(None)))
        return (row[0] for row in rows)

    def unheard(self, words: Sequence[str]) -> set[str]:
        """Return the stems of those words that no text in the store has; the full text is up to date."""
        stems = sorted({stem(word) for word in words})
        heard: set[str] = set()
        for part in _parts(stems):
            heard.update(self._dialect.document_frequencies(self._connection, part))
        return set(stems) - heard

    def collections(self, places: Iterable[tuple[str, str]]) -> list[str]:
        """Return the names of the index collections that have or had vectors of these (persona, kind)."""
        starts = tuple(f"{kind}-{scope_token('persona', persona)}-" for persona, kind in places)
        known = IndexMeta(self._connection, self._dialect).editions()
        return sorted(name for name in known if name.startswith(starts))

    def texts(self, *, persona: str | None = None) -> Iterator[str]:
        """Yield every text that is kept, row by row: what is remembered, how things are done, what logs say.

        Of everybody, or of one persona only.
        """
        for table in (
            sql.items,
            sql.facts,
            sql.turns,
            sql.episodes,
            sql.episode_entities,
            sql.open_loops,
            sql.documents,
            sql.episode_summaries,
            sql.procedures,
            *(table for table, _columns, _names in _LOGS.values()),
        ):
            for row in self._connection.execute(select(table).where(*_owned(table, persona))):
                yield "\n".join(_told(value) for value in row if isinstance(value, str | list | dict))

    # -- what goes -----------------------------------------------------------------------------

    def forget_traces(self, gone: Selection) -> dict[str, int]:
        """Remove what other tables know of these: links, uses, conflicts, origins, neighbours' words."""
        ids = gone.ids
        e, p, c = sql.episode_entities.c, sql.fact_provenance.c, sql.fact_conflicts.c
        self._blank_neighbours(gone.turns.values())
        return {
            "links": self._delete(sql.links, ids, sql.links.c.source_id, sql.links.c.target_id),
            "mentions": self._mentions(ids) + self._delete(sql.episode_entities, ids, e.episode_id),
            "uses": self._delete(sql.access_log, ids, sql.access_log.c.item_id),
            "care_moves": self._delete(sql.care_moves, ids, sql.care_moves.c.item_id),
            "conflicts": self._delete(sql.fact_conflicts, ids, c.fact_id, c.conflicting_fact_id),
            "origins": self._delete(sql.fact_provenance, ids, p.fact_id),
            "followed": self._delete(sql.procedure_episodes, ids, *_FOLLOWED),
            "refusals": self._delete(sql.meta, [f"index.refused.{item_id}" for item_id in ids], sql.meta.c.key),
        }

    def leave_turns(self, turn_ids: Sequence[str]) -> None:
        """Cut the way from facts and loops that stay to turns that go, with the words quoted from them."""
        for part in _parts(turn_ids):
            self._connection.execute(
                update(sql.facts).where(_fact.turn_id.in_(part)).values(turn_id=None, quote=None)
            )
            loops = sql.open_loops
            self._connection.execute(update(loops).where(loops.c.turn_id.in_(part)).values(turn_id=None))

    def leave_facts(self, gone: Mapping[str, Fact]) -> None:
        """Close the gaps that facts leave in the histories of their slots: what they followed, the next one follows.

        When a value ended is known still; what took its place is the next value that is kept, or nothing.
        """
        f, p = sql.facts, sql.fact_provenance
        for fact_id in gone:
            after = _next_kept(gone, fact_id)
            self._connection.execute(update(f).where(f.c.superseded_by == fact_id).values(superseded_by=after))
            self._connection.execute(update(p).where(p.c.superseded_by == fact_id).values(superseded_by=after))

    def unqueue(self, turn_ids: Sequence[str]) -> int:
        """Take turns out of the jobs that wait for a model; a job without turns goes. Returns of how many."""
        gone, t = set(turn_ids), sql.extractions.c
        changed = 0
        for job_id, waiting in self._connection.execute(select(t.id, t.turn_ids)).all():
            left = [turn_id for turn_id in waiting if turn_id not in gone]
            if len(left) == len(waiting):
                continue
            changed += 1
            if left:
                self._connection.execute(
                    update(sql.extractions).where(t.id == job_id).values(turn_ids=left, error=None)
                )
            else:
                self._connection.execute(delete(sql.extractions).where(t.id == job_id))
        return changed

    def lines_telling(
        self, persona: str, tells: Callable[[str], bool], *, lone: Set[str] = frozenset()
    ) -> list[LogLine]:
        """Return a persona's lines in logs and queues that tell what is to be forgotten, each with what stays of it.

        `lone` are words that say it where a log keeps single words only.
        """
        found: list[LogLine] = []
        for kind, (table, columns, names) in _LOGS.items():
            wanted = [table.c[name] for name in (*columns, *names)]
            for row in self._connection.execute(select(table.c.id, *wanted).where(table.c.persona == persona)):
                values = {name: row._mapping[name] for name in columns}
                told = [value for value in map(row._mapping.get, names) if value and tells(value)]
                left = {name: _without(value, tells, lone) for name, value in values.items()}
                left = {name: value for name, value in left.items() if value != values[name]}
                if told or left:
                    text = "; ".join([*told, *(_told(values[name]) for name in left)])
                    found.append(LogLine(kind, row.id, text, None if told else left))
        return found

    def blank(self, lines: Iterable[LogLine]) -> dict[str, int]:
        """Take out of lines what they tell; return how many there were, by the plural of their kind."""
        changed: dict[str, int] = {}
        for line in lines:
            table = _LOGS[line.kind][0]
            changed[f"{line.kind}s"] = changed.get(f"{line.kind}s", 0) + 1
            if line.left is None:
                self._connection.execute(delete(table).where(table.c.id == line.id))
            else:
                self._connection.execute(update(table).where(table.c.id == line.id).values(**line.left))
        return changed

    def leave_procedures(self, ids: Sequence[str]) -> None:
        """Remove procedures, and the way to them from versions and attempts that stay."""
        p, r, e = sql.procedures, sql.executor_runs, sql.episodes
        for part in _parts(ids):
            self._connection.execute(delete(p).where(p.c.id.in_(part)))
            self._connection.execute(update(p).where(p.c.evolved_from.in_(part)).values(evolved_from=None))
            for table in (r, e):
                self._connection.execute(
                    update(table).where(table.c.procedure_id.in_(part)).values(procedure_id=None)
                )

    def documents(self) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """Yield namespace, key and text of every document."""
        d = sql.documents.c
        for row in self._connection.execute(select(d.namespace, d.key, d.value)):
            yield labels_of(row.namespace), row.key, _told(row.value)

    def leave_speakers(self, persona: str) -> None:
        """Remove the names of those who said nothing that is kept."""
        s = sql.speakers.c
        heard = select(_item.speaker).where(_item.persona == persona, _item.speaker.is_not(None))
        self._connection.execute(delete(sql.speakers).where(s.persona == persona, s.name.not_in(heard)))

    def clear_question_vectors(self) -> int:
        """Empty the cache of questions' vectors: one may ask for what was erased, and it is only a cache."""
        return self._connection.execute(delete(sql.embedding_cache)).rowcount

    def leave_persona(self, persona: str) -> dict[str, int]:
        """Remove every row that belongs to a persona, in whatever table."""
        gone = {}
        for name in sql.__all__:
            table = getattr(sql, name)
            if isinstance(table, TableClause) and "persona" in table.c:
                gone[name] = self._connection.execute(delete(table).where(table.c.persona == persona)).rowcount
        return gone

    # -- how -----------------------------------------------------------------------------------

    def _all(self, table: TableClause, record: type[_T], persona: str) -> Iterator[_T]:
        rows = self._connection.execute(select(table).where(table.c.persona == persona)).mappings()
        return (record(**row) for row in rows)

    def _episodes(self, persona: str) -> Iterator[Episode]:
        e = sql.episode_entities.c
        names: dict[str, list[str]] = {}
        for episode_id, name in self._connection.execute(select(e.episode_id, e.name)):
            names.setdefault(episode_id, []).append(name)
        where = sql.episodes.c.persona == persona
        for row in self._connection.execute(select(sql.episodes).where(where)).mappings():
            yield Episode(**row, entities=tuple(sorted(names.get(row["id"], []))))

    def _delete(self, table: TableClause, ids: Sequence[str], *columns: Any) -> int:
        gone = 0
        for part in _parts(ids):
            where = or_(*(column.in_(part) for column in columns))
            gone += self._connection.execute(delete(table).where(where)).rowcount
        return gone

    def _mentions(self, ids: Sequence[str]) -> int:
        m = sql.mentions.c
        gone = 0
        for part in _parts(ids):
            nums = select(_item.num).where(_item.id.in_(part))
            gone += self._connection.execute(delete(sql.mentions).where(m.num.in_(nums))).rowcount
        return gone

    def _blank_neighbours(self, turns: Iterable[Turn]) -> None:
        """Take a turn's words out of the turns before and after it, which carry them for search."""
        for turn in turns:
            for step, column in ((-1, "words_next"), (1, "words_prev")):
                beside = select(_turn.id).where(
                    _turn.persona == turn.persona,
                    _turn.session == turn.session,
                    _turn.position == self._nearest(turn, step),
                )
                self._connection.execute(update(sql.items).where(_item.id.in_(beside)).values({column: ""}))

    def _nearest(self, turn: Turn, step: int) -> Any:
        """Return the position of the turn beside one, over places that were erased before."""
        same = (_turn.persona == turn.persona, _turn.session == turn.session)
        if step < 0:
            found = select(func.max(_turn.position)).where(*same, _turn.position < turn.position)
        else:
            found = select(func.min(_turn.position)).where(*same, _turn.position > turn.position)
        return found.scalar_subquery()


def _owned(table: TableClause, persona: str | None) -> list[Any]:
    """Return what tells the rows of a persona in a table; what has no owner is nobody's."""
    if persona is None:
        return []
    if table is sql.episode_entities:
        e = sql.episodes.c
        return [table.c.episode_id.in_(select(e.id).where(e.persona == persona))]
    return [table.c.persona == persona] if "persona" in table.c else [false()]


def _next_kept(gone: Mapping[str, Fact], fact_id: str) -> str | None:
    """Return the id of the first fact in the line of successors that does not go; None when the line ends."""
    passed: set[str] = set()
    after: str | None = fact_id
    while after is not None and after in gone and after not in passed:
        passed.add(after)
        after = gone[after].superseded_by
    return None if after in passed else after


def _without(value: Any, tells: Callable[[str], bool], lone: Set[str]) -> Any:
    """Return what stays of a cell: nothing of a text that tells, and of a list what does not."""
    if isinstance(value, list):
        return [one for one in value if not (tells(_told(one)) or _told(one).casefold() in lone)]
    if not isinstance(value, str) or not value:
        return value
    return "" if tells(value) else value


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), _part):
        yield values[start : start + _part]
