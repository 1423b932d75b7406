"""The tools for work that goes on: episodes, open loops, and closing them."""

from typing import Annotated, Literal

from pydantic import Field

from zomem_graph.server.answers import EpisodeList, LoopList, OpenLoop, PastEpisode
from zomem_graph.server.desk import Desk, Persona, Time, TimeZone, helpful
from zomem_graph.stores.errors import InvalidInput

__all__ = ["Working"]

Outcome = Literal["success", "failure", "resolved", "ongoing"]
Status = Literal["open", "stale", "snoozed", "resolved", "superseded"]
Most = Annotated[int, Field(ge=1, le=200)]


class Working:
    """Tools over what happened and what is unfinished."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def memory_episodes(
        self,
        entity: Annotated[str | None, Field(description="Only episodes in which this took part.")] = None,
        outcome: Annotated[Outcome | None, Field(description="Only those that ended so.")] = None,
        since: Time = None,
        until: Time = None,
        limit: Most = 20,
        persona: Persona = None,
        time_zone: TimeZone = "UTC",
    ) -> EpisodeList:
        """List what happened and how it ended, newest first."""
        with helpful():
            scope = self._desk.scope(persona, time_zone)
        found = await self._desk.ask(
            lambda: self._desk.memory.episodes.list(
                entity=entity, outcome=outcome, since=since, until=until, limit=limit, scope=scope
            )
        )
        return EpisodeList(episodes=[PastEpisode.of(each) for each in found])

    async def memory_open_loops(
        self,
        status: Annotated[Status, Field(description="Which ones.")] = "open",
        entity: Annotated[str | None, Field(description="Only those about this.")] = None,
        limit: Most = 20,
        persona: Persona = None,
    ) -> LoopList:
        """List what is unfinished: tasks, bugs, approvals and promises that nobody has closed."""
        with helpful():
            scope = self._desk.scope(persona)
        found = await self._desk.ask(
            lambda: self._desk.memory.loops.list(status=status, entity=entity, limit=limit, scope=scope)
        )
        return LoopList(loops=[OpenLoop.of(loop) for loop in found])

    async def memory_resolve_loop(
        self,
        text: Annotated[str | None, Field(description='What was done, such as "the login is fixed".')] = None,
        id: Annotated[str | None, Field(description="One loop by its id.")] = None,  # noqa: A002  # what callers know
        persona: Persona = None,
    ) -> LoopList:
        """Close an open loop by its id, or every loop that a text says is done; return what was closed."""
        loops = self._desk.memory.loops
        with helpful():
            scope = self._desk.scope(persona)
            if not text and id is None:
                raise InvalidInput("Say what is done: text, or the id of a loop.")
        if id is not None:
            closed = [await self._desk.ask(lambda: loops.resolve(id, note=text, scope=scope))]
        else:
            closed = [*await self._desk.ask(lambda: loops.resolve_from(text or "", scope=scope))]
        return LoopList(loops=[OpenLoop.of(loop) for loop in closed])
