"""`memory.episodes`: what happened and how it ended (spec F50)."""

from collections.abc import Mapping, Sequence
from typing import Any

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.calendar_days import EARLIEST, LATEST
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.given import choice, if_given, text, whole
from zomem_graph.nodes.rules.trends import GRANULARITIES, Granularity, Trend, trend_of
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.episodes import OUTCOMES, NewEpisode, finish_episode, store_episode
from zomem_graph.stores.records import Episode
from zomem_graph.stores.unit import Unit
from zomem_graph.subjects.picking import When, kept_moment, pick, span

__all__ = ["EpisodeLog"]

_ANY = 200
_Listed = list[Episode]  # inside the class `list` is the verb


class EpisodeLog:
    """What happened; every verb reads only what the scope's personas may see."""

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def list(
        self,
        *,
        since: When = None,
        until: When = None,
        outcome: str | None = None,
        entity: str | None = None,
        limit: int = 20,
        scope: Scope | None = None,
    ) -> _Listed:
        """Return episodes, newest first.

        Times are datetimes or words such as "yesterday" and "7d"; `until` a day includes it.
        """
        who, now = scope_given(scope), self._memory.clock()
        if_given(choice, "outcome", outcome, known=OUTCOMES)
        if_given(text, "entity", entity)
        limit = whole("limit", limit, least=1)
        begin, end = span(since, until, now=now, scope=who)
        with self._memory.stores.read() as unit:
            return unit.episodes.newest(
                [*readable(unit, who)],
                since=begin,
                until=end,
                outcome=outcome,
                entity=None if entity is None else entity_key(entity),
                limit=limit,
            )

    def trends(
        self,
        entity: str,
        *,
        granularity: Granularity = "week",
        since: When = "90d",
        until: When = None,
        scope: Scope | None = None,
    ) -> Sequence[Trend]:
        """Return how often an entity's episodes went well, by day, ISO week or month, oldest first."""
        who, now = scope_given(scope), self._memory.clock()
        text("entity", entity)
        choice("granularity", granularity, GRANULARITIES)
        begin, end = span(since, until, now=now, scope=who)
        with self._memory.stores.read() as unit:
            found = unit.episodes.outcomes(
                [*readable(unit, who)],
                entity=entity_key(entity),
                since=begin or EARLIEST,
                until=end or LATEST,
            )
        return trend_of(found, granularity=granularity, zone=who.zone)

    def show(self, id: str, *, scope: Scope | None = None) -> Episode:  # noqa: A002  # the name users know
        """Return one episode, by its id or how that begins. Raises UnknownName with the nearest."""
        with self._memory.stores.read() as unit:
            return self._pick(unit, id, scope)

    def create(
        self,
        summary: str,
        *,
        outcome: str = "success",
        entities: Sequence[str] = (),
        duration_ms: float | None = None,
        happened_at: When = None,
        procedure_id: str | None = None,
        source: str = "api",
        metadata: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
    ) -> Episode:
        """Store what happened and return it; `outcome` is success, failure, resolved or ongoing."""
        who, now = scope_given(scope), self._memory.clock()
        new = NewEpisode(
            summary=summary,
            outcome=outcome,
            entities=entities,
            duration_ms=duration_ms,
            happened_at=kept_moment("happened_at", happened_at, now=now, scope=who),
            persona=who.persona,
            thread=who.thread,
            session=who.thread,
            procedure_id=procedure_id,
            source=source,
            metadata={} if metadata is None else metadata,
        ).checked(self._memory.options.write)
        with self._memory.stores.write() as unit:
            episode = store_episode(unit, new, now=now, zone=who.zone)
        self._memory.wake_worker()
        return episode

    def finish(
        self,
        id: str,  # noqa: A002  # the name users know
        outcome: str = "success",
        *,
        duration_ms: float | None = None,
        scope: Scope | None = None,
    ) -> Episode:
        """Say how an ongoing episode has ended: success, failure or resolved; return it as it is now.

        The same outcome twice changes nothing. Raises UnknownName for an id that names none of the scope's own
        episodes, InvalidInput for one that has ended otherwise already.
        """
        with self._memory.stores.write() as unit:
            episode = self._among(unit, id, [*writable(scope_given(scope))])
            return finish_episode(unit, episode, outcome, duration_ms=duration_ms)

    def _pick(self, unit: Unit, id_: str, scope: Scope | None) -> Episode:
        return self._among(unit, id_, [*readable(unit, scope_given(scope))])

    def _among(self, unit: Unit, id_: str, personas: Sequence[str]) -> Episode:
        return pick(
            id_,
            what="episode",
            starting_with=lambda prefix: unit.episodes.starting_with(personas, prefix),
            known=lambda: unit.episodes.newest(personas, limit=_ANY),
            title=lambda episode: episode.summary,
        )
