"""Summaries of episodes: what was summed up into what, and what still waits for it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.summary_records import Summary, SummarySource

__all__ = ["Summaries"]

_T = TypeVar("_T")
_t = sql.episode_summaries.c
_s = sql.summary_sources.c
_episode = sql.episodes.c
_item = sql.items.c
_COLUMNS = [name for name in Summary.__slots__ if name != "sources"]
_ENDED = _episode.outcome != "ongoing"  # what goes on is not summed up yet
_LOOSE_EPISODE = _episode.id.not_in(select(_s.source_id))
_LOOSE_SUMMARY = _t.id.not_in(select(_s.source_id))


class Summaries:
    """Reads and writes `episode_summaries` and `summary_sources` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, summary: Summary) -> None:
        """Save a summary and what it was made from; a source that is in another one already is refused."""
        row = {name: getattr(summary, name) for name in _COLUMNS}
        self._connection.execute(insert(sql.episode_summaries), [row])
        sources = [
            SummarySource(source_id=source, summary_id=summary.id, place=place)
            for place, source in enumerate(summary.sources)
        ]
        rows = [{name: getattr(one, name) for name in SummarySource.__slots__} for one in sources]
        self._connection.execute(insert(sql.summary_sources), rows)

    def waiting(self) -> dict[tuple[str, int], int]:
        """Return by (persona, level) how many things are in no summary yet; level 0 are the episodes."""
        episodes = self._connection.execute(
            select(_episode.persona, func.count())
            .select_from(sql.episodes.join(sql.items, _item.id == _episode.id))
            .where(_item.state == "current", _ENDED, _LOOSE_EPISODE)
            .group_by(_episode.persona)
        )
        summaries = self._connection.execute(
            select(_t.persona, _t.level, func.count()).where(_LOOSE_SUMMARY).group_by(_t.persona, _t.level)
        )
        found = {(persona, 0): count for persona, count in episodes}
        return found | {(persona, level): count for persona, level, count in summaries}

    def loose_episodes(self, persona: str, *, before: datetime, limit: int) -> list[str]:
        """Return the ids of the oldest episodes of a persona that are in no summary yet."""
        rows = self._connection.execute(
            select(_episode.id)
            .select_from(sql.episodes.join(sql.items, _item.id == _episode.id))
            .where(
                _episode.persona == persona,
                _item.state == "current",
                _ENDED,
                _LOOSE_EPISODE,
                _episode.happened_at < before,
            )
            .order_by(_episode.happened_at, _episode.id)
            .limit(limit)
        )
        return [row[0] for row in rows]

    def loose_summaries(self, persona: str, *, level: int, limit: int) -> list[Summary]:
        """Return the oldest summaries of a persona and level that are in no other one yet."""
        where = (_t.persona == persona, _t.level == level, _LOOSE_SUMMARY)
        statement = select(sql.episode_summaries).where(*where).order_by(_t.first_at, _t.id).limit(limit)
        return self._found(statement)

    def taken(self, ids: Sequence[str]) -> set[str]:
        """Return which of these are in a summary already."""
        found: set[str] = set()
        for part in _parts(ids):
            found |= {row[0] for row in self._connection.execute(select(_s.source_id).where(_s.source_id.in_(part)))}
        return found

    def newest(
        self, personas: Sequence[str], *, level: int | None = None, source: str | None = None, limit: int = 20
    ) -> list[Summary]:
        """Return summaries, those of the latest times first; of one level, or made from one source."""
        where: list[ColumnElement[bool]] = [_t.persona.in_(list(personas))]
        where += [_t.level == level] if level is not None else []
        where += [_t.id.in_(select(_s.summary_id).where(_s.source_id == source))] if source is not None else []
        statement = select(sql.episode_summaries).where(*where)
        return self._found(statement.order_by(_t.last_at.desc(), _t.level.desc(), _t.id).limit(limit))

    def starting_with(self, personas: Sequence[str], prefix: str) -> list[Summary]:
        """Return at most two summaries whose id begins like this."""
        where = (_t.persona.in_(list(personas)), _t.id.startswith(prefix, autoescape=True))
        return self._found(select(sql.episode_summaries).where(*where).limit(2))

    def find(self, ids: Sequence[str]) -> list[Summary]:
        """Return summaries by id."""
        found: list[Summary] = []
        for part in _parts(ids):
            found += self._found(select(sql.episode_summaries).where(_t.id.in_(part)))
        return found

    def endings(self, ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return by summary how often each outcome is among all the episodes below it, through every level."""
        found: dict[str, dict[str, int]] = {id_: {} for id_ in ids}
        below = [(id_, id_) for id_ in ids]  # (the summary that is asked about, one below it)
        while below:
            whose: dict[str, str] = {lower: top for top, lower in below}
            below = []
            for part in _parts([*whose]):
                rows = self._connection.execute(
                    select(_s.summary_id, _s.source_id, _episode.outcome)
                    .select_from(sql.summary_sources.outerjoin(sql.episodes, _episode.id == _s.source_id))
                    .where(_s.summary_id.in_(part))
                )
                for summary_id, source_id, outcome in rows:
                    top = whose[summary_id]
                    if outcome is None:
                        below.append((top, source_id))
                    else:
                        found[top][outcome] = found[top].get(outcome, 0) + 1
        return found

    def above(self, source_ids: Sequence[str]) -> list[Summary]:
        """Return every summary that any of these went into, directly or through others."""
        ids: dict[str, None] = {}
        level = list(source_ids)
        while level:
            upward: list[str] = []
            for part in _parts(level):
                rows = self._connection.execute(select(_s.summary_id).where(_s.source_id.in_(part)).distinct())
                upward += [row[0] for row in rows]
            level = [one for one in dict.fromkeys(upward) if one not in ids]
            ids.update(dict.fromkeys(level))
        return self.find(list(ids))

    def purge(self, ids: Sequence[str]) -> int:
        """Remove summaries; what they were made from waits to be summed up again."""
        gone = 0
        for part in _parts(ids):
            self._connection.execute(delete(sql.summary_sources).where(_s.summary_id.in_(part)))
            gone += self._connection.execute(delete(sql.episode_summaries).where(_t.id.in_(part))).rowcount
        return gone

    def count(self, persona: str | None = None) -> int:
        """Return how many summaries there are, of everybody or of one persona."""
        table = sql.episode_summaries
        where = [] if persona is None else [table.c.persona == persona]
        return self._connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one()

    def _found(self, statement: Any) -> list[Summary]:
        rows = self._connection.execute(statement).mappings().all()
        found = [Summary(**row) for row in rows]
        sources: dict[str, list[str]] = {}
        for part in _parts([one.id for one in found]):
            named = self._connection.execute(
                select(_s.summary_id, _s.source_id).where(_s.summary_id.in_(part)).order_by(_s.place)
            )
            for summary_id, source_id in named:
                sources.setdefault(summary_id, []).append(source_id)
        return [replace(one, sources=tuple(sources.get(one.id, ()))) for one in found]


def _parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), 400):
        yield values[start : start + 400]
