"""Procedures through their life: made, followed, counted, evolved (spec F54-F58)."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Final

from zomem_graph.nodes.flow import Failed, Flow, Question, attempt, work
from zomem_graph.nodes.ports import Ask, ChatModel, Reply, Services
from zomem_graph.nodes.prompts import evolution_ask, repair_ask
from zomem_graph.nodes.rules.given import checked_name, flag, if_given, name_of, text, whole
from zomem_graph.nodes.rules.procedures import Step, changed_by_rules, plain_steps, read_steps
from zomem_graph.nodes.rules.replies import ReplyUnreadable, json_in, shape_of
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.small_samples import expected_share
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.stores.errors import InvalidInput, SecretRefused, UnknownName, ZomemError
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.work_records import ExecutorRun, Procedure

__all__ = ["Evolution", "NewProcedure", "evolve", "give_feedback", "named_procedure", "store_procedure"]

_RECENT: Final = timedelta(days=30)
_MOST_FAILURES: Final = 5
_SHORTEST_PREFIX: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProcedure:
    """A procedure on its way in."""

    name: str
    steps: tuple[Step, ...]
    category: str | None = None
    rationale: str = ""
    source: str = "api"
    persona: str = "shared"

    def checked(self) -> "NewProcedure":
        """Return the procedure itself; raise InvalidInput or SecretRefused when it cannot be stored."""
        checked_name("name", self.name)
        if_given(checked_name, "category", self.category)
        text("source", self.source)
        for said in (text("rationale", self.rationale), *(f"{one.task_pattern} {one.notes}" for one in self.steps)):
            if kind := looks_secret(said):
                raise SecretRefused(f"The procedure holds what looks like a secret ({kind}) and was not stored.")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolution:
    """What came of evolving: the new version, or None with the reason why nothing changed.

    `method` is model, rules or none; `degraded` says what was tried in vain.
    """

    before: Procedure
    after: Procedure | None
    method: str
    rationale: str
    degraded: tuple[str, ...] = ()


def store_procedure(unit: Unit, new: NewProcedure, *, now: datetime) -> Procedure:
    """Store a checked procedure: version 1, or the next one of its name with fresh counts."""
    before = unit.procedures.versions([new.persona], new.name.strip())
    steps = plain_steps(new.steps)
    if before and before[0].steps == steps:
        raise InvalidInput(f"{new.name!r:.80} has these very steps already, as version {before[0].version}.")
    procedure = Procedure(
        id=new_id(),
        persona=new.persona,
        name=new.name.strip(),
        version=before[0].version + 1 if before else 1,
        steps=steps,
        category=new.category.strip() if new.category else before[0].category if before else None,
        success_count=0,
        failure_count=0,
        evolved_from=before[0].id if before else None,
        rationale=new.rationale,
        source=new.source,
        created_at=now,
        last_used_at=None,
    )
    unit.procedures.add(procedure)
    return procedure


def named_procedure(unit: Unit, personas: Sequence[str], name: str, *, version: int | None = None) -> Procedure:
    """Return a procedure by name (its latest version unless one is given), by id or how that begins.

    One's own comes before what others share. Raises UnknownName with the nearest.
    """
    name = name_of("name", name).strip()
    version = if_given(whole, "version", version)
    for persona in personas:
        versions = unit.procedures.versions([persona], name)
        if versions and version is None:
            return versions[0]
        for one in versions:
            if one.version == version:
                return one
        if versions:
            raise UnknownName(f"{name!r:.80} has versions 1 to {versions[0].version}, not {version}.")
    found = unit.procedures.starting_with(personas, name) if len(name) >= _SHORTEST_PREFIX else []
    if len(found) == 1:
        return found[0]
    names = [one.name for one in unit.procedures.latest(personas)]
    near = get_close_matches(name, names, 3, 0.4) or names[:3]
    hint = f"Nearest: {', '.join(near)}." if near else "Make one with `zomem procedures create`."
    raise UnknownName(f"There is no procedure {name!r:.80}. {hint}")


def give_feedback(
    unit: Unit, procedure: Procedure, *, success: bool, now: datetime, episode_id: str | None = None
) -> Procedure:
    """Count a run of a procedure and tie it to its episode; return it as it then is."""
    success = flag("success", success)
    if_given(text, "episode_id", episode_id)
    if episode_id is not None and not unit.episodes.find([episode_id]):
        raise UnknownName(f"There is no episode {episode_id!r:.80}.")
    unit.procedures.counted(procedure.id, success=success, at=now)
    if episode_id is not None:
        unit.procedures.tie(procedure.id, episode_id, procedure.persona)
    (changed,) = unit.procedures.starting_with([procedure.persona], procedure.id)
    return changed


def evolve(services: Services, name: str, *, scope: Scope, model: str | None = None) -> Flow[Evolution]:
    """Return a next version that learns from failures: by the model where there is one, else by rules.

    What the model says must be whole steps by known executors, and something else than before; else rules decide.
    """
    if_given(name_of, "model", model)
    case: _Case = yield from work(lambda: _case(services, name, scope))
    if not case.failures and not case.told:
        why = (
            f"nothing that failed since version {case.before.version} was made is linked to it or was done by its "
            "executors in the last 30 days"
        )
        return Evolution(before=case.before, after=None, method="none", rationale=why)
    asked: ChatModel | None = services.chat("evolution", named=model)
    notes: tuple[str, ...] = ()
    if asked is not None:
        proposal = yield from attempt(_by_model(asked, case))
        if not isinstance(proposal, Failed):
            return (yield from work(lambda: _stored(services, case, proposal, "model", ())))
        notes = (f"evolution: {proposal.error}",)
    steps, why = changed_by_rules(case.steps, case.failures, case.others)
    if steps == case.steps:
        why = "no rule knows a cure for what failed"
        return Evolution(before=case.before, after=None, method="none", rationale=why, degraded=notes)
    return (yield from work(lambda: _stored(services, case, (steps, why), "rules", notes)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """What an evolution goes by: the version before, what failed, and who else could do it, best first."""

    before: Procedure
    steps: tuple[Step, ...]
    failures: tuple[ExecutorRun, ...]
    told: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def known(self) -> list[str]:
        """The executors a new version may name."""
        own = [name for step in self.steps for name in (step.executor, step.fallback_executor) if name]
        return list(dict.fromkeys([*own, *self.others]))


def _case(services: Services, name: str, scope: Scope) -> _Case:
    now = services.clock()
    with services.stores.read() as unit:
        before = named_procedure(unit, writable(scope), name)
        newest = unit.procedures.versions([before.persona], before.name)[0]
        if newest.id != before.id:
            raise InvalidInput(f"{name!r:.80} is version {before.version}; evolve version {newest.version}.")
        personas = [*readable(unit, scope)]
        steps = read_steps(before.steps)
        since = max(before.created_at, now - _RECENT)
        doing = list(dict.fromkeys(step.executor for step in steps))
        failures = [
            run
            for executor in doing
            for run in unit.executors.of_executor(
                personas,
                executor,
                limit=_MOST_FAILURES,
                since=since,
                outcome="failure",
            )
            # What failed when a version was made, the version before has to answer for.
            if before.evolved_from is None or run.at > before.created_at
        ]
        linked = unit.episodes.find(unit.procedures.episodes(before.id))
        told = [one.summary for one in linked if one.outcome == "failure" and one.trust != "import"]
        week = unit.executors.tallies(personas, since=now - _RECENT)
    others = sorted(week, key=lambda executor: (-expected_share(*week[executor]), executor))
    return _Case(
        before=before,
        steps=steps,
        failures=tuple(sorted(failures, key=lambda run: run.at)[-_MOST_FAILURES:]),
        told=tuple(told[-_MOST_FAILURES:]),
        others=tuple(others),
    )


def _by_model(model: ChatModel, case: _Case) -> Flow[tuple[tuple[Step, ...], str]]:
    """Ask for new steps, once more when the reply cannot be used. Raises ModelError."""
    failed = [f"{run.executor}: {run.failure_class} {run.error or ''}".strip() for run in case.failures]
    ask = evolution_ask(case.before.name, json.dumps(case.before.steps), [*case.told, *failed], case.known)
    reply = yield from _question(model, ask)
    try:
        return _proposal(reply.text, case)
    except ZomemError as error:
        again = yield from _question(model, repair_ask(ask, reply.text, str(error)))
        return _proposal(again.text, case)


def _question(model: ChatModel, ask: Ask) -> Flow[Reply]:
    reply: Reply = yield Question(model, ask)
    return reply


def _proposal(text: str, case: _Case) -> tuple[tuple[Step, ...], str]:
    """Return the steps and the reason in a reply; raise where there are none, the same ones or strange ones."""
    given = next((one for one in json_in(text) if _has_steps(one)), None)
    if given is None:
        raise ReplyUnreadable(f"The reply holds no steps. {shape_of(text)}")
    steps = read_steps(given)
    if steps == case.steps:
        raise ReplyUnreadable("The reply holds the same steps as before.")
    named = {name for step in steps for name in (step.executor, step.fallback_executor) if name}
    if strangers := sorted(named - set(case.known)):
        raise ReplyUnreadable(f"The reply names an unknown executor: {strangers[0]!r:.80}.")
    rationale = given.get("rationale") if isinstance(given, Mapping) else None
    return steps, str(rationale or "proposed by the model")[:1_000]


def _has_steps(value: object) -> bool:
    if isinstance(value, Mapping):
        return isinstance(value.get("steps"), list)
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _stored(
    services: Services,
    case: _Case,
    proposal: tuple[tuple[Step, ...], str],
    method: str,
    notes: tuple[str, ...],
) -> Evolution:
    steps, why = proposal
    before = case.before
    new = NewProcedure(
        name=before.name,
        steps=steps,
        category=before.category,
        rationale=why,
        source=f"evolved by {method}",
        persona=before.persona,
    ).checked()
    after = written(services.stores, _saving(new, before, services.clock()))
    return Evolution(before=before, after=after, method=method, rationale=why, degraded=notes)


def _saving(new: NewProcedure, before: Procedure, now: datetime) -> Callable[[Unit], Procedure]:
    def save(unit: Unit) -> Procedure:
        latest = unit.procedures.versions([before.persona], before.name)
        if latest and latest[0].id != before.id:
            raise InvalidInput(f"{before.name!r:.80} was changed meanwhile. Evolve version {latest[0].version}.")
        return store_procedure(unit, new, now=now)

    return save
