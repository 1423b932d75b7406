"""Erasing rows: everything in the database that holds what is to be forgotten, in one transaction.

What has a `persona` column is erased with the persona, also in tables that later versions add. What stays
outside the tables (the index, free pages, backups, files) is the business of `remains.py`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, TableClause, delete, func, or_, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.index_meta import IndexMeta
from zomem_graph.stores.records import Episode, Fact, Loop, Turn
from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import scope_token

__all__ = ["Erasure", "Selection", "Vanishing"]

_T = TypeVar("_T")
_item = sql.items.c
_fact = sql.facts.c
_turn = sql.turns.c
_part = 400


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to go, by kind and id."""

    facts: dict[str, Fact] = field(default_factory=dict)
    turns: dict[str, Turn] = field(default_factory=dict)
    episodes: dict[str, Episode] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """Every id, facts first."""
        return [*self.facts, *self.turns, *self.episodes, *self.loops]

    def __len__(self) -> int:
        return len(self.facts) + len(self.turns) + len(self.episodes) + len(self.loops)


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
        return None if row is None else (row.kind, row.persona)

    def everything_of(self, persona: str) -> Selection:
        """Return all that a persona has, in any state."""
        return Selection(
            facts={one.id: one for one in self._all(sql.facts, Fact, persona)},
            turns={one.id: one for one in self._all(sql.turns, Turn, persona)},
            episodes={one.id: one for one in self._episodes(persona)},
            loops={one.id: one for one in self._all(sql.open_loops, Loop, persona)},
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

    def texts(self) -> Iterator[str]:
        """Yield every text that is remembered, row by row; logs and queues hold none of their own."""
        for table in (
            sql.items,
            sql.facts,
            sql.turns,
            sql.episodes,
            sql.open_loops,
            sql.documents,
            sql.episode_summaries,
        ):
            for row in self._connection.execute(select(table)):
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
            "followed": self._delete(sql.procedure_episodes, ids, sql.procedure_episodes.c.episode_id),
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

    def sweep_logs(self, persona: str, holds: Callable[[str], bool]) -> dict[str, int]:
        """Remove a persona's lines in logs, attempts and procedures that hold any of the words to be forgotten."""
        return {
            "captures": self._sweep(sql.capture_log, persona, ("source", "error"), holds),
            "decisions": self._sweep(sql.gate_log, persona, ("reason", "keywords"), holds),
            "extractions": self._sweep(sql.extractions, persona, ("source", "error"), holds),
            "attempts": self._sweep(sql.executor_runs, persona, ("executor", "category", "error", "entities"), holds),
            "procedures": self._sweep(sql.procedures, persona, ("name", "steps", "category", "rationale"), holds),
        }

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

    def _sweep(self, table: TableClause, persona: str, columns: Sequence[str], holds: Callable[[str], bool]) -> int:
        named = [table.c[name] for name in columns]
        rows = self._connection.execute(select(table.c.id, *named).where(table.c.persona == persona)).all()
        ids = [row[0] for row in rows if any(holds(_told(value)) for value in row[1:] if value)]
        return self._delete(table, ids, table.c.id)


def _next_kept(gone: Mapping[str, Fact], fact_id: str) -> str | None:
    """Return the id of the first fact in the line of successors that does not go; None when the line ends."""
    passed: set[str] = set()
    after: str | None = fact_id
    while after is not None and after in gone and after not in passed:
        passed.add(after)
        after = gone[after].superseded_by
    return None if after in passed else after


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), _part):
        yield values[start : start + _part]
