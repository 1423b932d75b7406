"""The tool that lets time do its work: prune, and the whole of maintenance, always in a dry run first if wished."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from zomem_graph.server.desk import Desk, helpful
from zomem_graph.stores.errors import InvalidInput

__all__ = ["Caring"]

Step = Literal["expire", "tiers", "merge", "loops", "summaries", "reconcile"]
_MOST_SHOWN = 100


class Moved(BaseModel):
    """One thing that was moved, or would be, and why."""

    id: str
    kind: str
    move: str
    text: str
    why: str


class Maintained(BaseModel):
    """What maintenance did, or would do in a dry run; at most the first hundred changes."""

    dry_run: bool
    changes: int
    moved: list[Moved]
    degraded: list[str]


class Caring:
    """Tools over what time does to memory. Nothing is deleted; `zomem maintain undo` takes the last run back."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def memory_prune(
        self,
        dry_run: Annotated[bool, Field(description="Say what would be archived and why; change nothing.")] = False,
    ) -> Maintained:
        """Archive what is past its time, of every persona: facts and loops that have expired."""
        return await self._maintained(["expire"], dry_run=dry_run)

    async def memory_maintain(
        self,
        only: Annotated[list[Step] | None, Field(description="Only these steps; all when left out.")] = None,
        dry_run: Annotated[bool, Field(description="Say what would be done and why; change nothing.")] = False,
    ) -> Maintained:
        """Let time do its work for every persona: expire, tiers, merge, loops, summaries, reconcile."""
        return await self._maintained(only, dry_run=dry_run)

    async def _maintained(self, only: list[Step] | list[str] | None, *, dry_run: bool) -> Maintained:
        with helpful():
            if self._desk.only is not None:
                raise InvalidInput("Maintenance is about everybody; this server serves one persona alone.")
        report = await self._desk.ask(lambda: self._desk.memory.maintain(only=only, dry_run=dry_run))
        moved = [
            Moved(id=one.id, kind=one.kind, move=one.move, text=one.text, why=one.why)
            for one in report.changes[:_MOST_SHOWN]
        ]
        return Maintained(
            dry_run=report.dry_run, changes=len(report.changes), moved=moved, degraded=[*report.degraded]
        )
