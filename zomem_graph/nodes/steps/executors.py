"""Write down what executors did, and read what is known of one (spec F90, F91)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from zomem_graph.nodes.rules.breaker import Breaker, breaker_of
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.executors import CategoryProfile, Known, pressure, profile_of
from zomem_graph.nodes.rules.failures import FAILURE_CLASSES, failure_class
from zomem_graph.nodes.rules.given import checked_name, choice, flag, if_given, names, number, text
from zomem_graph.nodes.rules.history_file import HistoryFile
from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.nodes.scope import SHARED
from zomem_graph.stores.identity import content_hash, new_id
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.work_records import ExecutorRun

__all__ = ["ExecutorProfile", "NewRun", "known_of", "read_profile", "record_runs", "take_in_history"]

_KEPT: Final = timedelta(days=90)
_LONGEST_ERROR: Final = 500
_MOMENT: Final = timedelta(microseconds=2)
_MOST_ENTITIES: Final = 20
_RUNS_READ: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """One attempt on its way in; the class of a failure is read from its error when it is not given."""

    executor: str
    success: bool
    category: str = "general"
    error: str | None = None
    failure_class: str | None = None
    duration_ms: float | None = None
    episode_id: str | None = None
    procedure_id: str | None = None
    swarm: str | None = None
    entities: Sequence[str] = ()
    persona: str = SHARED
    at: datetime | None = None

    def checked(self) -> "NewRun":
        """Return the run itself; raise InvalidInput when it cannot be stored."""
        checked_name("executor", self.executor)
        checked_name("category", self.category)
        success = flag("success", self.success)
        if_given(choice, "failure_class", self.failure_class, known=FAILURE_CLASSES)
        if_given(text, "error", self.error)
        duration_ms = if_given(number, "duration_ms", self.duration_ms, least=0)
        if_given(text, "episode_id", self.episode_id)
        return replace(self, success=success, duration_ms=duration_ms, entities=names("entities", self.entities))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorProfile:
    """All that is known of one executor: by category, and how it is doing now.

    `pressure` is 0 to .9; `week` (successes, attempts) of the last seven days.
    """

    executor: str
    categories: tuple[CategoryProfile, ...]
    breaker: Breaker
    pressure: float
    week: tuple[int, int]


def record_runs(unit: Unit, new: Sequence[NewRun], *, now: datetime) -> list[ExecutorRun]:
    """Store checked attempts within one transaction; what is older than 90 days goes."""
    runs = []
    for one in new:
        runs.append(_run(one, one.at or _next_moment(unit, one, now)))
        unit.executors.add(runs[-1:])
    for persona, executor in {(run.persona, run.executor) for run in runs}:
        unit.executors.drop_before(persona, executor, now - _KEPT)
    return runs


def read_profile(unit: Unit, personas: Sequence[str], executor: str, *, now: datetime) -> ExecutorProfile | None:
    """Return the profile of an executor as these personas know it; None when they do not."""
    found = known_of(unit, personas, executor, now=now)
    if not found:
        return None
    recent = unit.executors.of_executor(personas, executor, limit=60)
    return ExecutorProfile(
        executor=executor,
        categories=tuple(one.profile for one in found),
        breaker=breaker_of(recent, now=now),
        pressure=pressure(recent),
        week=unit.executors.tallies(personas, since=now - timedelta(days=7)).get(executor, (0, 0)),
    )


def known_of(unit: Unit, personas: Sequence[str], executor: str, *, now: datetime) -> list[Known]:
    """Return what is known of an executor, by category, each with what it was folded from."""
    found = []
    imported = {one.category: one for one in unit.executors.taken_in(personas, executor=executor)}
    for category in unit.executors.categories(personas, executor):
        runs = unit.executors.of_executor(personas, executor, category=category, limit=_RUNS_READ)
        profile = profile_of(executor, category, runs, told := imported.get(category), now=now)
        if profile is not None:
            found.append(Known(profile=profile, runs=runs, imported=told))
    return found


def take_in_history(unit: Unit, told: HistoryFile, *, persona: str, personas: Sequence[str], now: datetime) -> None:
    """Store what a file tells a persona and it does not know yet; the same file again changes nothing.

    A run that the persona may read (`personas`) is known by its id; one that is somebody else's becomes its own.
    """
    before = {(one.executor, one.category): one for one in unit.executors.taken_in([persona])}
    undated = [before.get((one.executor, one.category)) for one in told.histories]
    # A file without times is of the time when it first came.
    unit.executors.take_in(
        [
            old if old is not None and one.last_updated == now and replace(old, last_updated=now) == one else one
            for one, old in zip(told.histories, undated, strict=True)
        ]
    )
    own_ids = {run.id: content_hash(persona, run.id) for run in told.runs}
    owners = unit.executors.owners([*own_ids, *own_ids.values()])
    new: dict[str, ExecutorRun] = {}
    for run in told.runs:
        id_ = own_ids[run.id] if owners.get(run.id, persona) not in personas else run.id
        if id_ not in owners:
            new[id_] = replace(run, id=id_)
    unit.executors.add(list(new.values()))


def _next_moment(unit: Unit, new: NewRun, now: datetime) -> datetime:
    """Return now, or just after the latest attempt: what came first must stay first where a clock is coarse."""
    latest = unit.executors.latest_at(new.persona, new.executor.strip(), new.category.strip())
    return now if latest is None or latest < now else max(now, latest + _MOMENT)


def _run(new: NewRun, at: datetime) -> ExecutorRun:
    error = None if new.success or not new.error else redact(new.error)[0][:_LONGEST_ERROR]
    named = [key for name in new.entities if (key := entity_key(name))]
    return ExecutorRun(
        id=new_id(),
        persona=new.persona,
        executor=new.executor.strip(),
        category=new.category.strip(),
        outcome="success" if new.success else "failure",
        failure_class=None if new.success else new.failure_class or failure_class(new.error or ""),
        error=error,
        duration_ms=new.duration_ms,
        episode_id=new.episode_id,
        procedure_id=new.procedure_id,
        swarm=new.swarm,
        entities=list(dict.fromkeys(named))[:_MOST_ENTITIES],
        at=at,
    )
