"""The tools that read: search, recall, continuation, lookup, stats."""

from collections.abc import Sequence
from typing import Annotated, Literal

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from zomem_graph.nodes.rules.changed import since_then
from zomem_graph.nodes.rules.fence import Line, fence
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Hit, Hits, Recollection
from zomem_graph.server.answers import Counts, FactList, FoundFact, FoundItem, Recalled, SearchAnswer
from zomem_graph.server.desk import Desk, Persona, Time, TimeZone, helpful

__all__ = ["Finding"]

Kind = Literal["fact", "turn", "episode", "loop"]
Message = Annotated[str, Field(description="The message that is about to be answered.")]
Budget = Annotated[int, Field(ge=1, le=100_000, description="The most tokens the block may take.")]
Most = Annotated[int, Field(ge=1, le=100)]
_WIDEST = 1_000


class Finding:
    """Tools over what is known. Recalled text is fenced as data in the text of an answer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def memory_search(
        self,
        query: Annotated[str, Field(description="A question or some words; any text is a legal query.")],
        category: Annotated[str | None, Field(description="Only facts of this category, such as decision.")] = None,
        kinds: Annotated[list[Kind] | None, Field(description="Only these kinds; all when left out.")] = None,
        limit: Most = 6,
        since: Time = None,
        until: Time = None,
        persona: Persona = None,
        time_zone: TimeZone = "UTC",
    ) -> Annotated[CallToolResult, SearchAnswer]:
        """Search long-term memory for what was said, decided, preferred or done. Best match first."""
        with helpful():
            scope = self._desk.scope(persona, time_zone)
            begin, end = self._desk.instant(since, scope), self._desk.instant(until, scope, edge="end")
            asked = limit
            while True:
                found = await self._desk.memory.asearch(
                    query,
                    scope=scope,
                    kinds=["fact"] if category else kinds,
                    limit=asked,
                    since=begin,
                    until=end,
                )
                hits = [hit for hit in found if category is None or hit.metadata.get("category") == category]
                if len(hits) >= limit or len(found) < asked or asked == _WIDEST:
                    break
                asked = min(asked * 8, _WIDEST)
            notes = [] if hits else await self._desk.ask(lambda: self._desk.note(scope))
        answer = SearchAnswer(items=[FoundItem.of(hit) for hit in hits[:limit]], degraded=[*_degraded(found), *notes])
        return _told(_listed(hits[:limit], scope), answer, nothing="Memory holds nothing about that.")

    async def memory_recall(
        self,
        message: Message,
        limit: Most = 10,
        token_budget: Budget = 1_000,
        persona: Persona = None,
        time_zone: TimeZone = "UTC",
    ) -> Annotated[CallToolResult, Recalled]:
        """Decide whether a message needs memory; if so return the block to read before answering it."""
        with helpful():
            scope = self._desk.scope(persona, time_zone)
            found = await self._desk.memory.arecall(message, scope=scope, limit=limit, token_budget=token_budget)
        return _recalled(found)

    async def memory_continuation(
        self,
        message: Message,
        limit: Most = 6,
        token_budget: Budget = 1_000,
        persona: Persona = None,
        time_zone: TimeZone = "UTC",
    ) -> Annotated[CallToolResult, Recalled]:
        """Recall what goes on with earlier work: facts, episodes and open loops of the last 14 days."""
        with helpful():
            scope = self._desk.scope(persona, time_zone)
            found = await self._desk.memory.acontinuation(
                message, scope=scope, limit=limit, token_budget=token_budget
            )
        return _recalled(found)

    async def memory_lookup(
        self,
        entity: Annotated[str, Field(description="What is asked about, such as ana or project.site.")],
        key: Annotated[str | None, Field(description="One property of it; all when left out.")] = None,
        persona: Persona = None,
    ) -> FactList:
        """List the facts that hold now about one entity, surest first."""
        with helpful():
            scope = self._desk.scope(persona)
            facts = await self._desk.ask(lambda: self._desk.memory.lookup(entity, key, scope=scope))
            notes = [] if facts else await self._desk.ask(lambda: self._desk.note(scope))
        return FactList(facts=[FoundFact.of(fact) for fact in facts], degraded=notes)

    async def memory_stats(self, persona: Persona = None) -> Counts:
        """Count what there is of what a persona may read."""
        with helpful():
            scope = self._desk.scope(persona)
        return Counts.of(await self._desk.ask(lambda: self._desk.memory.stats(scope=scope)))


def _recalled(found: Recollection) -> CallToolResult:
    answer = Recalled(
        decision=found.decision,
        reason=found.reason,
        text=found.text,
        tokens=found.tokens,
        items=[FoundItem.of(hit) for hit in found.hits],
        degraded=[*found.degraded],
    )
    return _told(found.text, answer, nothing=f"Nothing to recall: {found.reason}")


def _listed(hits: Sequence[Hit], scope: Scope) -> str:
    lines = [
        Line(text=f"{hit.text} ({_about(hit)})", at=hit.created_at, kind=hit.kind, since=since_then(hit.metadata))
        for hit in hits
    ]
    return fence(lines, zone=scope.zone)


def _about(hit: Hit) -> str:
    named = (hit.metadata.get("category"), hit.metadata.get("source"))
    return ", ".join([f"score {hit.score:.2f}", *(str(name) for name in named if name), f"id {hit.id}"])


def _degraded(hits: Hits) -> list[str]:
    return [*hits.degraded]


def _told(text: str, answer: BaseModel, *, nothing: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text or nothing)], structured_content=answer.model_dump(mode="json")
    )
