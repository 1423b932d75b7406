"""`memory.loops`: what is unfinished, listed, opened, put to sleep and closed (spec F63-F67)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import choice, flag, if_given, name_of, whole
from zomem_graph.nodes.rules.given import text as text_given
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.episodes import unfinish
from zomem_graph.nodes.steps.loops import (
    NewLoop,
    Tended,
    close_loops,
    reopen_loop,
    resolve_by_text,
    spared_by,
    store_loop,
    tend_loops,
)
from zomem_graph.nodes.steps.upkeep import holding_together
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Loop, LoopStatus
from zomem_graph.stores.unit import Unit
from zomem_graph.subjects.picking import When, kept_moment, pick

__all__ = ["LOOP_LISTS", "OpenLoops"]

LOOP_LISTS = (*get_args(LoopStatus), "snoozed")
"""What `list` can show: a status, or the loops that sleep."""

_ANY = 200
_Listed = list[Loop]  # inside the class `list` is the verb


class OpenLoops:
    """What is unfinished; every verb reads only what the scope may see and changes only what is its own or shared.

    A loop is named by its id or by the first characters of it, as recall shows them.
    """

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def list(
        self,
        *,
        status: str = "open",
        scope: Scope | None = None,
        entity: str | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> _Listed:
        """Return loops of a status, last spoken of first; snoozed ones only under "snoozed" (spec F66)."""
        choice("status", status, LOOP_LISTS)
        if_given(text_given, "entity", entity)
        if_given(text_given, "kind", kind)
        limit = whole("limit", limit, least=1)
        now = self._memory.clock()
        with self._memory.stores.read() as unit:
            personas = [*readable(unit, scope_given(scope))]
            match status:
                case "open" | "stale":
                    return unit.loops.waiting(
                        personas, now=now, statuses=[status], entity=entity, kind=kind, limit=limit
                    )
                case "snoozed":
                    found = unit.loops.snoozed(personas, now=now, limit=_ANY)
                case _:
                    found = unit.loops.ended(personas, status=status, limit=_ANY)
        wanted = entity.lower() if entity is not None else None
        return [
            loop for loop in found if wanted in (None, (loop.entity or "").lower()) and kind in (None, loop.kind)
        ][:limit]

    def show(self, id: str, *, scope: Scope | None = None) -> Loop:  # noqa: A002  # the name users know
        """Return one loop in any status. Raises UnknownName with the nearest."""
        with self._memory.stores.read() as unit:
            return self._pick(unit, id, scope)

    def create(
        self,
        title: str,
        *,
        summary: str = "",
        kind: str | None = None,
        priority: float | None = None,
        entity: str | None = None,
        owner: str | None = None,
        snooze_until: When = None,
        expires_at: When = None,
        related_episode_id: str | None = None,
        source: str = "api",
        metadata: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
    ) -> Loop:
        """Open a loop and return it; one that is open already under this title is refreshed (spec F64).

        Kind and priority are read from the title when they are not given. Times are datetimes or words.
        """
        who, now = scope_given(scope), self._memory.clock()
        new = NewLoop(
            title=title,
            summary=summary,
            kind=kind,
            priority=priority,
            entity=entity,
            owner=owner,
            persona=who.persona,
            thread=who.thread,
            session=who.thread,
            source=source,
            related_episode_id=related_episode_id,
            snoozed_until=kept_moment("snooze_until", snooze_until, now=now, scope=who),
            expires_at=kept_moment("expires_at", expires_at, now=now, scope=who, edge="end"),
            metadata={} if metadata is None else metadata,
        ).checked(self._memory.options.write)
        with self._memory.stores.write() as unit:
            filed = store_loop(unit, new, now=now)
        self._memory.wake_worker()
        return filed.loop

    def resolve(
        self,
        id: str,  # noqa: A002  # the name users know
        *,
        note: str | None = None,
        scope: Scope | None = None,
    ) -> Loop:
        """Resolve one loop; it leaves recall for good and stays listed as resolved."""
        return self._close(id, "resolved", note, scope)

    def resolve_from(self, text: str, *, scope: Scope | None = None) -> Sequence[Loop]:
        """Resolve the loops that a text says are done, and return them (spec F65)."""
        said, mine = text_given("text", text), writable(scope_given(scope))
        with self._memory.stores.write() as unit:
            resolved = resolve_by_text(unit, said, mine, now=self._memory.clock())
        self._memory.wake_worker()
        return resolved

    def supersede(
        self,
        id: str,  # noqa: A002  # the name users know
        *,
        note: str | None = None,
        scope: Scope | None = None,
    ) -> Loop:
        """Close one loop because something else took its place or it no longer matters."""
        return self._close(id, "superseded", note, scope)

    def reopen(self, id: str, *, scope: Scope | None = None) -> Loop:  # noqa: A002  # as above
        """Open a closed or stale loop again. Raises InvalidInput when the same one is open already."""
        now = self._memory.clock()
        with self._memory.stores.write() as unit:
            loop = reopen_loop(unit, self._own(unit, id, scope), now=now)
            unfinish(unit, loop, now=now, zone=scope_given(scope).zone)
        self._memory.wake_worker()
        return loop

    def snooze(self, id: str, until: When, *, scope: Scope | None = None) -> Loop:  # noqa: A002
        """Keep one loop out of lists and recall until a time; None wakes it now."""
        now = self._memory.clock()
        at = kept_moment("until", until, now=now, scope=scope_given(scope))
        if at is not None and at <= now:
            raise InvalidInput(f"{until} is not in the future, so there is nothing to sleep for.")
        return self._change(id, scope, snoozed_until=at)

    def assign(self, id: str, owner: str | None, *, scope: Scope | None = None) -> Loop:  # noqa: A002
        """Say who is to do it; None says nobody yet."""
        if_given(name_of, "owner", owner)
        return self._change(id, scope, owner=owner)

    def tend(self, *, dry_run: bool = False) -> Tended:
        """Let time do its work on everybody's loops: stale after 14 quiet days, over after 30 more."""
        with self._memory.stores.write() as unit:
            spared = spared_by(unit, holding_together(unit))
            return tend_loops(unit, now=self._memory.clock(), spared=spared, dry_run=flag("dry_run", dry_run))

    def _close(self, id_: str, status: str, note: str | None, scope: Scope | None) -> Loop:
        if_given(text_given, "note", note)
        with self._memory.stores.write() as unit:
            loop = self._own(unit, id_, scope)
            (closed,) = close_loops(unit, [loop], status=status, now=self._memory.clock(), note=note)
        self._memory.wake_worker()
        return closed

    def _change(self, id_: str, scope: Scope | None, **values: datetime | str | None) -> Loop:
        with self._memory.stores.write() as unit:
            loop = self._own(unit, id_, scope)
            unit.loops.change(loop.id, **values)
            return unit.loops.find([loop.id])[0]

    def _pick(self, unit: Unit, id_: str, scope: Scope | None) -> Loop:
        return self._among(unit, id_, [*readable(unit, scope_given(scope))])

    def _own(self, unit: Unit, id_: str, scope: Scope | None) -> Loop:
        """Return a loop that may be changed: what a pool or a parent lends is for reading."""
        return self._among(unit, id_, writable(scope_given(scope)))

    def _among(self, unit: Unit, id_: str, personas: Sequence[str]) -> Loop:
        return pick(
            id_,
            what="loop",
            starting_with=lambda prefix: unit.loops.starting_with(personas, prefix),
            known=lambda: unit.loops.waiting(personas, now=self._memory.clock(), asleep_too=True, limit=_ANY),
            title=lambda loop: loop.title,
        )
