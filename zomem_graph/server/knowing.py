"""The tools over ways of working and what is tied to what: procedures, executors, the graph, metrics."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from zomem_graph.nodes.rules.graph_text import connection_lines, gap_lines
from zomem_graph.nodes.rules.procedures import success_rate
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import plain
from zomem_graph.server.desk import Desk, Persona, Time, TimeZone, helpful
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.work_records import Procedure

__all__ = ["Knowing"]

Look = Literal["show", "find_connections", "knowledge_gaps", "ancestors", "descendants", "cycles", "communities"]


class KnownProcedure(BaseModel):
    """One version of how something is done."""

    id: str
    name: str
    version: int
    category: str | None
    steps: list[dict[str, Any]]
    success_rate: float
    success_count: int
    failure_count: int

    @classmethod
    def of(cls, procedure: Procedure) -> "KnownProcedure":
        """Return what is shown of a procedure."""
        names = [name for name in cls.model_fields if name != "success_rate"]
        return cls(**{name: getattr(procedure, name) for name in names}, success_rate=success_rate(procedure))


class ProcedureList(BaseModel):
    """Procedures by name."""

    procedures: list[KnownProcedure]


class ExecutorCategory(BaseModel):
    """How an executor fares in one category of tasks."""

    category: str
    attempts: int
    success_rate: float
    average_seconds: float | None
    recent_episode_ids: list[str]
    failure_patterns: list[str]
    entity_affinities: dict[str, float]
    last_at: datetime


class CognitiveProfile(BaseModel):
    """What is known of an executor, by category."""

    executor_id: str
    categories: list[ExecutorCategory]


class GraphAnswer(BaseModel):
    """What a look at the graph found: `text` for reading where there is one, `found` as data."""

    look: str
    text: str
    found: Any


class Measured(BaseModel):
    """How memory fares, in numbers."""

    measured: dict[str, Any]


class Knowing:
    """Tools over procedures, executors, links and metrics."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def memory_procedures(
        self,
        name: Annotated[str | None, Field(description="One procedure with its steps; all when left out.")] = None,
        persona: Persona = None,
    ) -> ProcedureList:
        """Show how things are done: one procedure step by step, or the latest version of each."""
        book = self._desk.memory.procedures
        with helpful():
            scope = self._desk.scope(persona)
        if name is None:
            found = await self._desk.ask(lambda: book.list(scope=scope))
        else:
            found = [await self._desk.ask(lambda: book.show(name, scope=scope))]
        return ProcedureList(procedures=[KnownProcedure.of(one) for one in found])

    async def cognitive_profile(
        self,
        executor_id: Annotated[str, Field(description="Whose profile, such as claude-code.")],
        persona: Persona = None,
    ) -> CognitiveProfile:
        """Show how an executor fares: rate, time, recent episodes, failures and what it is good with."""
        with helpful():
            scope = self._desk.scope(persona)
        found = await self._desk.ask(lambda: self._desk.memory.profiles.show(executor_id, scope=scope))
        categories = [
            ExecutorCategory(
                category=one.category,
                attempts=one.attempts,
                success_rate=round(one.rate, 3),
                average_seconds=None if one.average_ms is None else round(one.average_ms / 1_000, 3),
                recent_episode_ids=[*one.recent_episode_ids[:5]],
                failure_patterns=[*one.failure_patterns],
                entity_affinities=dict(sorted(one.entity_affinities.items(), key=lambda each: -each[1])[:5]),
                last_at=one.last_at,
            )
            for one in found.categories
        ]
        return CognitiveProfile(executor_id=found.executor, categories=categories)

    async def memory_graph(
        self,
        look: Annotated[Look, Field(description="What to look for.")] = "show",
        what: Annotated[
            str | None, Field(description="An entity, entity.key or id; where a connection begins.")
        ] = None,
        to: Annotated[str | None, Field(description="Where a connection ends.")] = None,
        depth: Annotated[int | None, Field(ge=1, le=10, description="The most hops.")] = None,
        persona: Persona = None,
    ) -> GraphAnswer:
        """Look at what is tied to what: around a thing, between two, up, down, in circles, or what is thin."""
        with helpful():
            scope = self._desk.scope(persona)
            if what is None and look in ("show", "find_connections", "ancestors", "descendants"):
                raise InvalidInput(f"{look} needs what: an entity, entity.key or id.")
            if to is None and look == "find_connections":
                raise InvalidInput("find_connections needs to: where the connection ends.")
        return await self._desk.ask(lambda: self._looked(look, what or "", to or "", depth, scope))

    async def memory_metrics(self, since: Time = None, time_zone: TimeZone = "UTC") -> Measured:
        """Show how memory fares: times, hit rates, what the gate decided, model calls and their cost."""
        with helpful():
            if self._desk.only is not None:
                raise InvalidInput("These numbers are about everybody; this server serves one persona alone.")
            begin = self._desk.instant(since, Scope(time_zone=time_zone))
        return Measured(measured=plain(await self._desk.ask(lambda: self._desk.memory.metrics(since=begin))))

    def _looked(self, look: Look, what: str, to: str, depth: int | None, scope: Scope) -> GraphAnswer:
        graph, lines = self._desk.memory.graph, list[str]()
        found: Any
        if look == "find_connections":
            found = graph.find_connections(what, to, max_depth=depth or 5, scope=scope)
            lines += connection_lines(found)
        elif look == "knowledge_gaps":
            found = graph.knowledge_gaps(scope=scope)
            lines += gap_lines(found)
        elif look == "show":
            found = graph.show(what, depth=depth or 1, scope=scope)
        elif look in ("ancestors", "descendants"):
            walk: Callable[..., Any] = graph.ancestors if look == "ancestors" else graph.descendants
            found = walk(what, max_depth=depth or 10, scope=scope)
        else:
            found = list[Any](_all(graph.cycles if look == "cycles" else graph.communities, scope))
        return GraphAnswer(look=look, text="\n".join(lines), found=plain(found))


def _all(walk: Callable[..., Iterable[Any]], scope: Scope) -> Iterable[Any]:
    return walk(limit=50, scope=scope)
