"""What every tool works with: the memory, who asks, and errors that a model can act on."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from zomem_graph.memory import Memory
from zomem_graph.nodes.rules.dates import parse_instant
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.stores.errors import InvalidInput, ZomemError

__all__ = ["Desk", "Persona", "Time", "TimeZone", "helpful"]

R = TypeVar("R")

Persona = Annotated[str | None, Field(description="Whose memory; this server's own persona when left out.")]
Time = Annotated[str | None, Field(description='Words such as "yesterday", "last week", 3d, or 2026-05-03.')]
TimeZone = Annotated[str, Field(description="Where calendar words are meant, such as Europe/Paris.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A memory at the disposal of tools. With `only`, every call is held to this one persona."""

    memory: Memory
    only: str | None = None

    def scope(self, persona: str | None, time_zone: str = "UTC") -> Scope:
        """Return who asks. Raises InvalidInput when that is another persona than the one served."""
        if self.only is not None and persona not in (None, self.only):
            raise InvalidInput(f"This server serves the persona {self.only!r} alone. Leave persona out.")
        named = persona or self.only or self.memory.settings.persona
        return Scope(persona=named or SHARED, time_zone=time_zone)

    def note(self, scope: Scope) -> list[str]:
        """Return a note when nobody knows the persona of a scope."""
        note = self.memory.personas.note(scope)
        return [] if note is None else [note]

    async def ask(self, call: Callable[[], R]) -> R:
        """Run a call that blocks on a thread; what fails is told to the model."""
        with helpful():
            return await asyncio.to_thread(call)

    def instant(self, text: str | None, scope: Scope, *, edge: Literal["start", "end"] = "start") -> datetime | None:
        """Return the moment that words mean in the scope's time zone; None for None."""
        if text is None:
            return None
        return parse_instant(text, now=self.memory.clock(), time_zone=scope.time_zone, edge=edge)


@contextmanager
def helpful() -> Iterator[None]:
    """Turn our errors into what the protocol shows to the model; each says what to do."""
    try:
        yield
    except ZomemError as error:
        raise ToolError(str(error)) from error
