"""Episodes: what happened, how it ended, and who or what took part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.records import Episode, EpisodeEntity

__all__ = ["Episodes"]

_t = sql.episodes.c
_e = sql.episode_entities.c
_item = sql.items.c
_COLUMNS = [name for name in Episode.__slots__ if name != "entities"]


class Episodes:
    """Reads and writes `episodes` and `episode_entities` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, episode: Episode, entities: Mapping[str, str]) -> None:
        """Save an episode with its entities, given as normal form → name."""
        row = {name: getattr(episode, name) for name in _COLUMNS}
        self._connection.execute(insert(sql.episodes), [row])
        self.join(episode.id, entities)

    def join(self, episode_id: str, entities: Mapping[str, str]) -> None:
        """Add entities to an episode; those it has stay as they are."""
        known = {row[0] for row in self._connection.execute(select(_e.entity).where(_e.episode_id == episode_id))}
        new = [EpisodeEntity(episode_id=episode_id, entity=e, name=n) for e, n in entities.items() if e not in known]
        if new:
            rows = [{name: getattr(one, name) for name in EpisodeEntity.__slots__} for one in new]
            self._connection.execute(insert(sql.episode_entities), rows)

    def change(self, episode_id: str, **values: Any) -> None:
        """Change named columns of one episode."""
        self._connection.execute(update(sql.episodes).where(_t.id == episode_id).values(**values))

    def newest(
        self,
        personas: Sequence[str],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        outcome: str | None = None,
        entity: str | None = None,
        without_trust: str | None = None,
        limit: int = 20,
    ) -> list[Episode]:
        """Return episodes that are not deleted, newest first; the time range is closed-open (spec F50).

        `entity` is a normal form.
        """
        where: list[ColumnElement[bool]] = [_t.persona.in_(list(personas)), _item.state == "current"]
        if since is not None:
            where.append(_t.happened_at >= since)
        if until is not None:
            where.append(_t.happened_at < until)
        if outcome is not None:
            where.append(_t.outcome == outcome)
        if entity is not None:
            where.append(_t.id.in_(select(_e.episode_id).where(_e.entity == entity)))
        if without_trust is not None:
            where.append(_t.trust != without_trust)
        joined = sql.episodes.join(sql.items, _item.id == _t.id)
        return self._found(select(sql.episodes).select_from(joined).where(*where), limit)

    def outcomes(
        self, personas: Sequence[str], *, entity: str, since: datetime, until: datetime
    ) -> list[tuple[datetime, str]]:
        """Return time and outcome of the episodes of an entity (normal form) in a closed-open range."""
        where = (
            _t.persona.in_(list(personas)),
            _item.state == "current",
            _t.id.in_(select(_e.episode_id).where(_e.entity == entity)),
            _t.happened_at >= since,
            _t.happened_at < until,
        )
        joined = sql.episodes.join(sql.items, _item.id == _t.id)
        rows = self._connection.execute(select(_t.happened_at, _t.outcome).select_from(joined).where(*where))
        return [(at, outcome) for at, outcome in rows]

    def find(self, ids: Sequence[str]) -> list[Episode]:
        """Return episodes by id, deleted ones too, newest first."""
        found: list[Episode] = []
        for start in range(0, len(ids), 500):
            part = list(ids[start : start + 500])
            found += self._found(select(sql.episodes).where(_t.id.in_(part)), len(part))
        return found

    def starting_with(self, personas: Sequence[str], prefix: str) -> list[Episode]:
        """Return at most two episodes whose id begins like this."""
        where = (_t.persona.in_(list(personas)), _t.id.startswith(prefix, autoescape=True))
        return self._found(select(sql.episodes).where(*where), 2)

    def of_session(self, persona: str, session: str, *, source: str) -> Episode | None:
        """Return the newest episode of a session from one source, unless it was deleted."""
        where = (
            _t.persona == persona,
            _t.session == session,
            _t.source == source,
            _item.state == "current",
        )
        joined = sql.episodes.join(sql.items, _item.id == _t.id)
        found = self._found(select(sql.episodes).select_from(joined).where(*where), 1)
        return found[0] if found else None

    def of_sessions(self, persona: str, sessions: Sequence[str]) -> list[Episode]:
        """Return the current episodes of these sessions, whatever they came from."""
        joined = sql.episodes.join(sql.items, _item.id == _t.id)
        found: list[Episode] = []
        for start in range(0, len(sessions), 500):
            part = list(sessions[start : start + 500])
            where = (_t.persona == persona, _t.session.in_(part), _item.state == "current")
            found += self._found(select(sql.episodes).select_from(joined).where(*where), 10_000)
        return found

    def telling(self, persona: str, words: str) -> list[Episode]:
        """Return the current episodes whose summary holds these very words, newest first."""
        joined = sql.episodes.join(sql.items, _item.id == _t.id)
        where = (_t.persona == persona, _t.summary.contains(words, autoescape=True), _item.state == "current")
        return self._found(select(sql.episodes).select_from(joined).where(*where), 10_000)

    def purge(self, ids: Sequence[str]) -> int:
        """Remove episodes and their entities for good."""
        gone = 0
        for start in range(0, len(ids), 500):
            part = list(ids[start : start + 500])
            self._connection.execute(delete(sql.episode_entities).where(_e.episode_id.in_(part)))
            gone += self._connection.execute(delete(sql.episodes).where(_t.id.in_(part))).rowcount
        return gone

    def leave(self, entity: str, personas: Sequence[str]) -> int:
        """Take an entity (normal form) out of every episode of these personas; return of how many."""
        ours = select(_t.id).where(_t.persona.in_(list(personas)))
        return self._connection.execute(
            delete(sql.episode_entities).where(_e.entity == entity, _e.episode_id.in_(ours))
        ).rowcount

    def count(self, *, since: datetime | None = None) -> int:
        """Return how many episodes there are (since a time)."""
        counted = select(func.count()).select_from(sql.episodes)
        if since is not None:
            counted = counted.where(_t.happened_at >= since)
        return self._connection.execute(counted).scalar_one()

    def _found(self, statement: Any, limit: int) -> list[Episode]:
        rows = self._connection.execute(
            statement.order_by(_t.happened_at.desc(), _t.created_at.desc(), _t.id).limit(limit)
        ).mappings()
        found = [Episode(**row) for row in rows]
        names = self._entities([episode.id for episode in found])
        return [replace(episode, entities=tuple(names.get(episode.id, ()))) for episode in found]

    def _entities(self, ids: Iterable[str]) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        rows = self._connection.execute(
            select(_e.episode_id, _e.name).where(_e.episode_id.in_(list(ids))).order_by(_e.name)
        )
        for episode_id, name in rows:
            names.setdefault(episode_id, []).append(name)
        return names
