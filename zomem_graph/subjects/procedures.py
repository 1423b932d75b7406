"""`memory.procedures`: how things are done, version by version (spec F54-F58)."""

from collections.abc import Mapping, Sequence
from typing import Any

from zomem_graph.nodes.flow import arun, run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import whole
from zomem_graph.nodes.rules.procedures import read_steps
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.learn_procedures import learn_from_successes
from zomem_graph.nodes.steps.procedures import (
    Evolution,
    NewProcedure,
    evolve,
    give_feedback,
    named_procedure,
    store_procedure,
)
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.work_records import Procedure

__all__ = ["ProcedureBook"]

_Listed = list[Procedure]  # inside the class `list` is the verb


class ProcedureBook:
    """How things are done. A procedure is named by its name (then its latest version is meant) or by its id.

    Every verb reads only what the scope may see and changes only what is its own or shared.
    """

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def list(self, *, scope: Scope | None = None, limit: int = 100) -> _Listed:
        """Return the latest version of every procedure, by name."""
        limit = whole("limit", limit, least=1)
        with self._memory.stores.read() as unit:
            return unit.procedures.latest([*readable(unit, scope_given(scope))], limit=limit)

    def show(self, name: str, *, version: int | None = None, scope: Scope | None = None) -> Procedure:
        """Return one procedure with its steps. Raises UnknownName with the nearest."""
        with self._memory.stores.read() as unit:
            return named_procedure(unit, [*readable(unit, scope_given(scope))], name, version=version)

    def versions(self, name: str, *, scope: Scope | None = None) -> Sequence[Procedure]:
        """Return every version of a procedure, newest first; each names the one it came from."""
        with self._memory.stores.read() as unit:
            found = named_procedure(unit, [*readable(unit, scope_given(scope))], name)
            return unit.procedures.versions([found.persona], found.name)

    def create(
        self,
        name: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        category: str | None = None,
        rationale: str = "",
        source: str = "api",
        scope: Scope | None = None,
    ) -> Procedure:
        """Store a procedure; under a name that is there, its next version.

        A step is {"executor", "task_pattern"?, "timeout_seconds"?, "fallback_executor"?, "notes"?}, in the original's
        spelling too. Raises InvalidInput for no steps, a step without an executor, the same steps again.
        """
        new = NewProcedure(
            name=name,
            steps=read_steps(steps),
            category=category,
            rationale=rationale,
            source=source,
            persona=scope_given(scope).persona,
        ).checked()
        now = self._memory.clock()
        return written(self._memory.stores, lambda unit: store_procedure(unit, new, now=now))

    def feedback(
        self, name: str, *, success: bool, episode_id: str | None = None, scope: Scope | None = None
    ) -> Procedure:
        """Count how a run of a procedure ended, and in which episode; return it with the new counts."""
        now = self._memory.clock()

        def count(unit: Unit) -> Procedure:
            found = named_procedure(unit, writable(scope_given(scope)), name)
            return give_feedback(unit, found, success=success, now=now, episode_id=episode_id)

        return written(self._memory.stores, count)

    def evolve(self, name: str, *, model: str | None = None, scope: Scope | None = None) -> Evolution:
        """Make the next version from what failed, by the model where there is one, else by rules.

        `model` is a "provider:model". The answer says why when nothing changed.
        """
        return run(evolve(self._memory, name, scope=scope_given(scope), model=model))

    async def aevolve(self, name: str, *, model: str | None = None, scope: Scope | None = None) -> Evolution:
        """Do the same as `evolve` without blocking the event loop."""
        return await arun(evolve(self._memory, name, scope=scope_given(scope), model=model))

    def learn(self, entity: str, *, name: str | None = None, scope: Scope | None = None) -> Procedure:
        """Make a procedure of what executors did well about an entity, at least twice in 30 days."""
        who, now = scope_given(scope), self._memory.clock()

        def make(unit: Unit) -> Procedure:
            return learn_from_successes(
                unit, entity, name=name, persona=who.persona, personas=[*readable(unit, who)], now=now
            )

        return written(self._memory.stores, make)
