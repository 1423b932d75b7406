"""`memory.profiles`: which executor did what how well (spec F90, F91)."""

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import text
from zomem_graph.nodes.rules.history_file import read_history, written_history
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.access import readable
from zomem_graph.nodes.steps.executors import (
    ExecutorProfile,
    NewRun,
    known_of,
    read_profile,
    record_runs,
    take_in_history,
)
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.paths import path_given
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.work_records import ExecutorRun

__all__ = ["Profiles"]

_Listed = list[ExecutorProfile]  # inside the class `list` is the verb
_LARGEST_FILE = 50_000_000  # bytes


class Profiles:
    """Executors as the scope's personas know them; what is recorded belongs to the scope's own persona."""

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def list(self, *, scope: Scope | None = None) -> _Listed:
        """Return every known executor's profile, by name."""
        with self._memory.stores.read() as unit:
            return self._all(unit, scope)

    def show(self, executor: str, *, scope: Scope | None = None) -> ExecutorProfile:
        """Return one executor's profile. Raises UnknownName with the nearest."""
        text("executor", executor)
        with self._memory.stores.read() as unit:
            personas = [*readable(unit, scope_given(scope))]
            found = read_profile(unit, personas, executor, now=self._memory.clock())
            if found is not None:
                return found
            names = unit.executors.names(personas)
        near = get_close_matches(executor, names, 3, 0.4) or names[:3]
        hint = f"Nearest: {', '.join(near)}." if near else "Memory knows no executor yet."
        raise UnknownName(f"No executor is called {executor!r:.80}. {hint}")

    def record(
        self,
        executor: str,
        *,
        success: bool,
        category: str = "general",
        error: str | None = None,
        failure_class: str | None = None,
        duration_ms: float | None = None,
        episode_id: str | None = None,
        entities: Sequence[str] = (),
        scope: Scope | None = None,
    ) -> ExecutorRun:
        """Store one attempt of an executor and return it; a failure's class is read from its error."""
        new = NewRun(
            executor=executor,
            success=success,
            category=category,
            error=error,
            failure_class=failure_class,
            duration_ms=duration_ms,
            episode_id=episode_id,
            entities=entities,
            persona=scope_given(scope).persona,
        ).checked()
        return written(self._memory.stores, lambda unit: record_runs(unit, [new], now=self._memory.clock()))[0]

    def import_file(self, path: str | Path, *, scope: Scope | None = None) -> int:
        """Take in the original's executor-history.json or an export of ours; return how many entries.

        All or none. It counts beside our own runs; those an export carries are stored where they are not known.
        The same file again changes nothing; another one about an executor and category takes the place of the one
        before.
        """
        place = path_given("path", path, of="a file")
        try:
            if place.stat().st_size > _LARGEST_FILE:
                raise InvalidInput(f"{path} is larger than {_LARGEST_FILE // 1_000_000} MB; that is no history.")
            written_there = place.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{path} is no UTF-8 text, so it is no executor history: {error}.") from error
        now, persona = self._memory.clock(), scope_given(scope).persona
        told = read_history(written_there, persona=persona, now=now)

        def take_in(unit: Unit) -> None:
            personas = [*readable(unit, scope_given(scope))]
            take_in_history(unit, told, persona=persona, personas=personas, now=now)

        written(self._memory.stores, take_in)
        return told.entries

    def export_file(self, path: str | Path, *, scope: Scope | None = None) -> int:
        """Write all profiles in the original's form; return how many entries."""
        place = path_given("path", path, of="a file")
        with self._memory.stores.read() as unit:
            personas, now = [*readable(unit, scope_given(scope))], self._memory.clock()
            names = unit.executors.names(personas)
            known = [one for name in names for one in known_of(unit, personas, name, now=now)]
        try:
            place.write_text(json.dumps(written_history(known), indent=2) + "\n", "utf-8")
        except OSError as error:
            raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from error
        return len(known)

    def _all(self, unit: Unit, scope: Scope | None) -> _Listed:
        personas, now = [*readable(unit, scope_given(scope))], self._memory.clock()
        found = (read_profile(unit, personas, name, now=now) for name in unit.executors.names(personas))
        return [one for one in found if one is not None]
