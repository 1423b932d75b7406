"""Route a task: gather what memory holds of each executor, and choose (spec F134)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.breaker import breaker_of
from zomem_graph.nodes.rules.entities import entities, entity_key
from zomem_graph.nodes.rules.executors import affinity, pressure, profile_of, weighed, weighed_together
from zomem_graph.nodes.rules.given import checked_name, choice, if_given, listed, names, number, shown
from zomem_graph.nodes.rules.routing import STRATEGIES, Candidate, Choice, Standing, choose
from zomem_graph.nodes.rules.task_words import category_of
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.work_records import ExecutorHistory, ExecutorRun, Procedure

__all__ = ["RouteRequest", "candidates_of", "named_in", "route"]

_CATEGORY_RUNS: Final = 200  # what came before weighs less than 2 % of the latest
_RECENT_RUNS: Final = 30
_TEMPORAL: Final = timedelta(days=7)
_READ: Final = 4_000  # characters of a task in which names are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """One task that needs an executor. Without a category, the words of the task give it.

    No candidates means every executor that memory knows.
    """

    task: str
    candidates: tuple[Candidate, ...] = ()
    strategy: str = "balanced"
    category: str | None = None
    scope: Scope = field(default_factory=Scope)

    def checked(self) -> "RouteRequest":
        """Return the request itself; raise InvalidInput when it makes no sense."""
        if not isinstance(self.task, str) or not self.task.strip():
            raise InvalidInput("The task is empty. Say in a sentence what is to be done.")
        choice("strategy", self.strategy, STRATEGIES)
        if_given(checked_name, "category", self.category)
        return self


def candidates_of(executors: Iterable[Any]) -> tuple[Candidate, ...]:
    """Return names or `Candidate`s as candidates; raise InvalidInput for none, for doubles and for other things."""
    if isinstance(executors, str):
        executors = [executors]
    given = listed("executors", executors, of="names or candidates")
    found = [_described(one) if isinstance(one, Candidate) else _described(Candidate(name=one)) for one in given]
    if not found:
        raise InvalidInput("There is no executor to choose from. Name at least one.")
    names = [one.name for one in found]
    if doubles := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"The executor {doubles[0]!r} is named twice.")
    return tuple(found)


def _described(one: Candidate) -> Candidate:
    """Return a candidate with every part of it looked at; raise InvalidInput."""
    name = checked_name("executor", one.name)
    if not isinstance(one.fit, Mapping):
        raise InvalidInput(f"fit of {name!r} must be a dict of tiers and numbers, not {type(one.fit).__name__}.")
    fits = {tier: number(f"fit of {name!r} for {shown(tier)}", fit, least=0, most=1) for tier, fit in one.fit.items()}
    return replace(
        one, name=name, fit=fits, expertise=names(f"expertise of {name!r}", one.expertise, such_as='("python",)')
    )


def route(services: Services, request: RouteRequest) -> Flow[Choice]:
    """Return who should get a task, and why; nothing is written."""
    request = request.checked()
    choice: Choice = yield from work(lambda: _choose(services, request))
    return choice


def named_in(task: str) -> list[str]:
    """Return the normal forms of the names in a task. Its first word is capitalised anyway, so it is none."""
    first = entity_key(task.split(maxsplit=1)[0]) if len(task.split(maxsplit=1)) > 1 else ""
    found = (entity_key(name) for name in entities(task[:_READ]))
    return list(dict.fromkeys(key for key in found if key and key != first))


def _choose(services: Services, request: RouteRequest) -> Choice:
    options, now = services.options.routing, services.clock()
    category = request.category.strip() if request.category else category_of(request.task)
    with services.stores.read() as unit:
        personas = [*readable(unit, request.scope)]
        candidates = request.candidates or tuple(Candidate(name=name) for name in unit.executors.names(personas))
        if not candidates:
            raise InvalidInput("Memory knows no executor yet. Name them: executors=[…].")
        gathered = _Gathered.of(unit, personas, request.task, category, now)
        standings = {one.name: _standing(unit, personas, one.name, gathered) for one in candidates}
    latest = gathered.runs[-1].at.isoformat() if gathered.runs else ""
    seed = content_hash(str(options.seed), request.task, category, latest, str(len(gathered.runs)))
    choice = choose(
        request.task,
        candidates,
        standings,
        strategy=request.strategy,
        seed=int(seed[:15], 16),
        # A low draw is bad luck, and no reason to go by the order in which executors are named.
        fallback=options.fallback or (None if request.strategy == "explore" else candidates[0].name),
    )
    return replace(choice, category=category)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gathered:
    """What is read once for all executors."""

    category: str
    now: datetime
    runs: Sequence[ExecutorRun]
    together: Mapping[str, tuple[float, float]]
    imported: Mapping[str, ExecutorHistory]
    tallies: Mapping[str, tuple[int, int]]
    procedures: Sequence[Procedure]
    named: Sequence[str]

    @classmethod
    def of(cls, unit: Unit, personas: Sequence[str], task: str, category: str, now: datetime) -> "_Gathered":
        named = named_in(task)
        # What a task is about only breaks ties, and reading it for each run costs as much as all the rest.
        runs = unit.executors.of_category(personas, category, limit=_CATEGORY_RUNS, brief=not named)
        imported = {one.executor: one for one in unit.executors.taken_in(personas, category=category)}
        return cls(
            category=category,
            now=now,
            runs=runs,
            together=weighed_together(runs, now=now),
            imported=imported,
            tallies=unit.executors.tallies(personas, since=now - _TEMPORAL),
            procedures=unit.procedures.latest(personas),
            named=named,
        )


def _standing(unit: Unit, personas: Sequence[str], executor: str, gathered: _Gathered) -> Standing:
    now = gathered.now
    own = [run for run in gathered.runs if run.executor == executor]
    imported = gathered.imported.get(executor)
    recent = unit.executors.of_executor(personas, executor, limit=_RECENT_RUNS, brief=True)
    well = [run.at for run in recent if run.outcome == "success"]
    profile = profile_of(executor, gathered.category, own, imported, now=now) if gathered.named else None
    classes = [run.failure_class for run in recent if run.outcome == "failure"]
    history = weighed(own, imported, now=now)
    return Standing(
        history=history,
        drawn_from=_added(gathered.together.get(executor, (0.0, 0.0)), weighed((), imported, now=now)),
        procedure=_procedures(executor, gathered),
        temporal=gathered.tallies.get(executor, (0, 0)),
        breaker=breaker_of(recent, now=now),
        pressure=pressure(recent),
        success_hours=(now - well[-1]).total_seconds() / 3600 if well else None,
        affinity=affinity(profile.entity_affinities if profile else {}, gathered.named),
        repeats=classes.count(classes[-1]) if classes else 0,
    )


def _procedures(executor: str, gathered: _Gathered) -> tuple[int, int]:
    """Return (successes, runs) of the procedures for this category, or any, in which an executor has a step."""
    having = [
        one
        for one in gathered.procedures
        if one.category in (None, gathered.category) and any(step.get("executor") == executor for step in one.steps)
    ]
    successes = sum(one.success_count for one in having)
    return successes, successes + sum(one.failure_count for one in having)


def _added(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return one[0] + other[0], one[1] + other[1]
