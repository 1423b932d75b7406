"""The tools that write: store, capture, link, delete, retract, forget."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from zomem_graph.server.answers import Captured, Deleted, Forgotten, FoundFact, Linked, Stored
from zomem_graph.server.desk import Desk, Persona, TimeZone, helpful
from zomem_graph.stores.errors import InvalidInput

__all__ = ["Keeping", "SaidMessage"]

Tier = Literal["permanent", "stable", "active", "session", "checkpoint"]
Id = Annotated[str, Field(description="The id, as memory_search shows it.")]
_SOURCE = "mcp"


class SaidMessage(BaseModel):
    """One message of a conversation."""

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    name: str | None = None
    at: str | None = Field(default=None, description="When it was said, ISO 8601.")


class Keeping:
    """Tools that change what is known."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def memory_store(
        self,
        entity: Annotated[str, Field(description="What it is about, such as ana or project.site.")],
        value: Annotated[str, Field(description="What holds now.")],
        key: Annotated[str | None, Field(description="One property of it, such as city.")] = None,
        category: Annotated[str, Field(description="fact, preference, decision, …")] = "fact",
        decay_class: Annotated[Tier, Field(description="How long it lives.")] = "stable",
        importance: Annotated[
            float | None, Field(ge=0, le=2, description="1 is ordinary, and what a new fact has.")
        ] = None,
        persona: Persona = None,
    ) -> Stored:
        """Store one lasting fact. A new value of a single-valued key takes the old one's place."""
        memory = self._desk.memory
        with helpful():
            scope = self._desk.scope(persona)
            fact = await memory.aremember(
                entity,
                key,
                value,
                persona=scope.persona,
                category=category,
                tier=decay_class,
                importance=importance,
                source=_SOURCE,
            )
        waiting = await self._desk.ask(memory.background.unembedded)
        state = "none" if memory.embedder is None else "waiting" if waiting else "stored"
        return Stored(fact=FoundFact.of(fact), embedding=state)

    async def memory_capture(
        self,
        conversation: Annotated[
            list[SaidMessage] | str, Field(description="Messages, or a transcript of `Name: …` lines.")
        ],
        source: Annotated[str, Field(description="A label for where it comes from.")] = _SOURCE,
        session: Annotated[str | None, Field(description="Name of the conversation; the same one grows.")] = None,
        dry_run: Annotated[bool, Field(description="Show what would be learned; change nothing.")] = False,
        persona: Persona = None,
        time_zone: TimeZone = "UTC",
    ) -> Captured:
        """Learn from a conversation: its turns, and the facts and open loops in them. Repeats change nothing."""
        said = conversation if isinstance(conversation, str) else [_plain(one) for one in conversation]
        with helpful():
            report = await self._desk.memory.acapture(
                said,
                scope=self._desk.scope(persona, time_zone),
                source=source,
                session=session,
                dry_run=dry_run,
            )
        return Captured.of(report)

    async def memory_link(
        self,
        source: Annotated[str, Field(description="The id where the arrow begins.")],
        target: Annotated[str, Field(description="The id where it ends.")],
        relation: Annotated[str, Field(description="Such as depends_on.")] = "related",
        weight: Annotated[float, Field(ge=0, description="How much it counts.")] = 1.0,
        persona: Persona = None,
    ) -> Linked:
        """Tie two remembered things together, so that finding one helps to find the other."""
        with helpful():
            scope = self._desk.scope(persona)
        link = await self._desk.ask(lambda: self._desk.memory.link(source, target, relation, weight, scope=scope))
        return Linked(source=link.source_id, target=link.target_id, relation=link.relation, weight=link.weight)

    async def memory_unlink(
        self,
        source: Annotated[str, Field(description="The id where the arrow begins.")],
        target: Annotated[str, Field(description="The id where it ends.")],
        relation: Annotated[str | None, Field(description="Only this relation; all when left out.")] = None,
        persona: Persona = None,
    ) -> Linked:
        """Untie two remembered things."""
        with helpful():
            scope = self._desk.scope(persona)
        gone = await self._desk.ask(lambda: self._desk.memory.unlink(source, target, relation, scope=scope))
        return Linked(source=source, target=target, relation=relation, removed=gone)

    async def memory_delete(self, id: Id, persona: Persona = None) -> Deleted:  # noqa: A002  # the name callers know
        """Take one thing out of memory; it stays in the archive."""
        with helpful():
            scope = self._desk.scope(persona)
        await self._desk.ask(lambda: self._desk.memory.delete(id, scope=scope))
        return Deleted(id=id)

    async def memory_retract(
        self,
        id: Id,  # noqa: A002  # as above
        reason: Annotated[str, Field(description="Why it was never true.")],
        persona: Persona = None,
    ) -> Deleted:
        """Say that a fact was never true; the value it had taken the place of holds again."""
        with helpful():
            scope = self._desk.scope(persona)
        await self._desk.ask(lambda: self._desk.memory.retract(id, reason, scope=scope))
        return Deleted(id=id)

    async def memory_forget(
        self,
        id: Annotated[str | None, Field(description="One thing by its id.")] = None,  # noqa: A002  # as above
        entity: Annotated[str | None, Field(description="An entity and everything that mentions it.")] = None,
        matching: Annotated[str | None, Field(description="Everything that holds this piece of text.")] = None,
        dry_run: Annotated[bool, Field(description="List what would go; change nothing.")] = False,
        persona: Persona = None,
    ) -> Forgotten:
        """Erase for good, when the user asks for it: one thing, an entity, or what holds a piece of text."""
        with helpful():
            scope = self._desk.scope(persona)
            if id is None and entity is None and matching is None:
                raise InvalidInput("Say what to forget: id, entity or matching.")
        report = await self._desk.ask(
            lambda: self._desk.memory.forget(
                persona=scope.persona, id=id, entity=entity, matching=matching, dry_run=dry_run
            )
        )
        return Forgotten.of(report)


def _plain(message: SaidMessage) -> dict[str, str]:
    return {name: value for name, value in message.model_dump().items() if value is not None}
