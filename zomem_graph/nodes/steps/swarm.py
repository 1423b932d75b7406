"""What memory does for a swarm: tell each task what it needs, and learn from how it went (spec F135-F138)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.options import SwarmOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.budget import tokens, trim
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.fence import Line, fence
from zomem_graph.nodes.rules.loops import fingerprint, kind_of
from zomem_graph.nodes.rules.procedures import executors_of
from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.nodes.rules.swarm import STAGNANT, Task, outcome_of, stagnation
from zomem_graph.nodes.rules.task_words import similarity, tidied
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.compose import compose
from zomem_graph.nodes.steps.episodes import NewEpisode, store_episode
from zomem_graph.nodes.steps.executors import NewRun, record_runs
from zomem_graph.nodes.steps.gate import ask_in_doubt, decide
from zomem_graph.nodes.steps.learn_procedures import learn_from_successes, learn_from_swarm
from zomem_graph.nodes.steps.loops import NewLoop, close_loops, store_loop
from zomem_graph.nodes.steps.procedures import give_feedback, named_procedure
from zomem_graph.nodes.steps.recall import RecallRequest, conclude, go_on, search_for
from zomem_graph.nodes.steps.retrieve import Retrieved
from zomem_graph.nodes.steps.routing import named_in
from zomem_graph.nodes.values import GateVerdict, Hit, Recollection
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms
from zomem_graph.stores.work_records import ExecutorRun, Procedure

__all__ = ["Told", "Worked", "finish_swarm", "learn_from_task", "tell_task"]

_READ: Final = 4_000  # characters of a task that are looked up
_WORKING_TOKENS: Final = 150
_LEAST_RELATED: Final = 0.2
_TITLE: Final = 110
_NOTICED: Final = 160
_SOURCE: Final = "swarm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a task is told: the block, its price, and how it came about."""

    text: str
    tokens: int
    recalled: Recollection


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """How a task went: its attempts as plain data, the last one counts."""

    task: Task
    category: str
    attempts: Sequence[Mapping[str, Any]]

    @property
    def outcome(self) -> str:
        """Success, resolved when another executor had to step in, or failure."""
        if not self.attempts or not self.attempts[-1]["success"]:
            return "failure"
        return "resolved" if len(self.attempts) > 1 else "success"


def tell_task(
    services: Services,
    task: str,
    earlier: Sequence[Mapping[str, str]],
    *,
    scope: Scope,
    budget: int,
    options: SwarmOptions,
) -> Flow[Told]:
    """Return what a task is told: related results of this run, and what memory holds where the gate sees a need."""
    verdict = yield from decide(services, task[:_READ], scope)
    alone = verdict.decision == "skip" and not options.always
    working = "" if alone else _working(task, earlier, budget=budget // 2, options=options)
    left = max(1, budget - tokens(working))
    request = RecallRequest(
        message=task[:_READ],
        scope=scope,
        limit=options.long_term,
        token_budget=left,
        without_source=_SOURCE,  # what a swarm wrote of this very task tells it nothing
    )
    recalling = _recall_always(services, request) if options.always else _recall(services, request, verdict, options)
    recalled = yield from recalling
    text = "\n".join(block for block in (recalled.text, working) if block)
    return Told(text=text, tokens=tokens(text), recalled=recalled)


def learn_from_task(
    services: Services, worked: Worked, *, swarm: str, scope: Scope, options: SwarmOptions
) -> dict[str, Any]:
    """Write down how a task went: episode, attempts, procedure, loop; return their ids. One transaction."""
    now = services.clock()

    def learn(unit: Unit) -> dict[str, Any]:
        episode_id = _tell_episode(unit, services, worked, swarm, scope, now)
        procedure = _procedure_of(unit, worked, scope)
        if procedure is not None:
            _count_procedure(unit, procedure, worked, episode_id, now)
        runs = record_runs(unit, _runs(worked, swarm, scope, episode_id, procedure), now=now)
        loop_id = _tend_loop(unit, worked, scope, episode_id, now) if options.loops else None
        return {"episode_id": episode_id, "loop_id": loop_id, "run_ids": [run.id for run in runs]}

    learned = written(services.stores, learn)
    services.wake_worker()
    return learned


def finish_swarm(
    services: Services,
    tasks: Sequence[Task],
    results: Sequence[Mapping[str, Any]],
    *,
    swarm: str,
    scope: Scope,
    options: SwarmOptions,
) -> dict[str, Any]:
    """Tell of the whole run in one episode, make procedures of what went well, and return the sum of it."""
    now = services.clock()
    outcomes = [str(result["outcome"]) for result in results]
    counts = {name: outcomes.count(name) for name in ("success", "resolved", "failure")}
    retries = sum(len(result["attempts"]) - 1 for result in results)
    answers = [str(result["answer"]) for result in results]
    stagnant = stagnation(retries, (options.attempts - 1) * len(results), answers, counts["failure"], len(results))
    summary: dict[str, Any] = {
        "swarm": swarm,
        "outcome": outcome_of(outcomes),
        **counts,
        "tasks": len(results),
        "memory_tokens": sum(result["memory"]["tokens"] for result in results),
        "told": sum(result["memory"]["tokens"] > 0 for result in results),
        "stagnation": round(stagnant, 3),
        "stagnant": stagnant > STAGNANT,
    }

    def tell(unit: Unit) -> dict[str, Any]:
        told: dict[str, Any] = {"episode_id": None, "procedures": []}
        if len(results) > 1:
            told["episode_id"] = _tell_run(unit, services, tasks, results, summary, scope, now)
        if options.procedures:
            told["procedures"] = _learned(unit, tasks, results, scope, now)
        return told

    told = written(services.stores, tell)
    services.wake_worker()
    return {**summary, **told}


def _recall(
    services: Services, request: RecallRequest, verdict: GateVerdict, options: SwarmOptions
) -> Flow[Recollection]:
    """Recall as `steps.recall` does, each item cut to what has to do with the task."""
    started = services.clock()
    found = Retrieved()
    if verdict.continuation:
        found = yield from go_on(services, request)
    elif verdict.decision != "skip":
        found = yield from search_for(services, request)
        verdict, found = yield from ask_in_doubt(services, request.message, verdict, found)
    found = replace(found, hits=tuple(_cut(hit, request.message, options.item_tokens) for hit in found.hits))
    result: Recollection = yield from work(lambda: conclude(services, request, verdict, found, started))
    return result


def _cut(hit: Hit, task: str, most: int) -> Hit:
    text = tidied(hit.text)
    return replace(hit, text=trim(text, set(terms(task)), most) or text)


def _recall_always(services: Services, request: RecallRequest) -> Flow[Recollection]:
    """Return the best of memory for a task, however little it has to do with it: no gate and no floor."""
    found = yield from search_for(services, request)
    block = compose(found.hits, request.message, token_budget=request.token_budget, zone=request.scope.zone)
    return Recollection(
        decision="inject" if block.text else "empty",
        method="always",
        reason="memory is asked for every task",
        hits=block.hits,
        text=block.text,
        tokens=block.tokens,
        degraded=found.degraded,
    )


def _working(task: str, earlier: Sequence[Mapping[str, str]], *, budget: int, options: SwarmOptions) -> str:
    """Return the latest results of this run that have to do with a task, as a block of data."""
    wanted = set(terms(task[:_READ]))
    lines: list[Line] = []
    for result in reversed(earlier):
        related = similarity(task, f"{result['task']} {result['answer']}") >= _LEAST_RELATED
        # An answer that takes up none of the task's words ("Done.") says nothing about it.
        if len(lines) == options.working or not related or wanted.isdisjoint(terms(result["answer"])):
            continue
        said = trim(tidied(result["answer"]), wanted, _WORKING_TOKENS)
        if said is not None:
            lines.append(Line(text=f"{' '.join(result['task'].split())[:_NOTICED]} -> {said}", kind="earlier result"))
    block = fence(lines[::-1]) if lines else ""
    return block if tokens(block) <= budget else ""


def _tell_episode(unit: Unit, services: Services, worked: Worked, swarm: str, scope: Scope, now: datetime) -> str:
    last = worked.attempts[-1] if worked.attempts else {"executor": "nobody", "failure_class": "unknown"}
    tried = " after ".join(str(one["executor"]) for one in reversed(worked.attempts)) or "nobody"
    ended = "failed" if worked.outcome == "failure" else "done"
    why = f" ({last['failure_class']})" if worked.outcome == "failure" else ""
    executors = dict.fromkeys(f"executor.{one['executor']}" for one in worked.attempts)
    episode = NewEpisode(
        summary=f"Task {ended} by {tried}{why}: {_short(worked.task.task, _NOTICED)}",
        outcome=worked.outcome,
        entities=[*executors, f"swarm.{swarm}", *worked.task.tags],
        duration_ms=sum(float(one["duration_ms"]) for one in worked.attempts),
        persona=scope.persona,
        thread=scope.thread,
        session=scope.thread,
        source=_SOURCE,
        metadata={"category": worked.category, "attempts": len(worked.attempts)},
    ).checked(services.options.write)
    return store_episode(unit, episode, now=now, zone=scope.zone).id


def _procedure_of(unit: Unit, worked: Worked, scope: Scope) -> Procedure | None:
    """Return the procedure that a task followed; None where nobody whom it names had a try."""
    if worked.task.procedure is None:
        return None
    procedure = named_procedure(unit, writable(scope), worked.task.procedure)
    named = executors_of(procedure.steps)
    return procedure if any(one["executor"] in named for one in worked.attempts) else None


def _count_procedure(unit: Unit, procedure: Procedure, worked: Worked, episode_id: str, now: datetime) -> None:
    """Count a success for what one whom the procedure names has done; what somebody else had to do is a failure."""
    done = worked.outcome != "failure" and worked.attempts[-1]["executor"] in executors_of(procedure.steps)
    give_feedback(unit, procedure, success=done, now=now, episode_id=episode_id)


def _runs(worked: Worked, swarm: str, scope: Scope, episode_id: str, procedure: Procedure | None) -> list[NewRun]:
    named = [] if procedure is None else executors_of(procedure.steps)
    entities = [*worked.task.tags, *named_in(worked.task.task)]
    return [
        NewRun(
            executor=str(one["executor"]),
            success=bool(one["success"]),
            category=worked.category,
            error=one["error"],
            failure_class=one["failure_class"],
            duration_ms=float(one["duration_ms"]),
            episode_id=episode_id,
            procedure_id=procedure.id if procedure is not None and one["executor"] in named else None,
            swarm=swarm,
            entities=entities,
            persona=scope.persona,
        ).checked()
        for one in worked.attempts
    ]


def _tend_loop(unit: Unit, worked: Worked, scope: Scope, episode_id: str, now: datetime) -> str | None:
    """Open a loop for what failed; close the one of what now went well."""
    whole, shown = " ".join(worked.task.task.split()), _short(worked.task.task, _TITLE)
    title = f"Finish the task: {shown}"
    rest = "" if shown == whole else content_hash(whole)  # tasks may begin alike
    if worked.outcome == "failure":
        failed = ", ".join(f"{one['executor']} ({one['failure_class']})" for one in worked.attempts)
        new = NewLoop(
            title=title,
            summary=f"Tried by {failed}." if failed else "",
            persona=scope.persona,
            thread=scope.thread,
            session=scope.thread,
            source=_SOURCE,
            related_episode_id=episode_id,
            rest=rest,
        )
        return store_loop(unit, new, now=now).loop.id
    twin = unit.loops.twin(scope.persona, fingerprint(kind_of(title), None, title, rest))
    if twin is not None:
        close_loops(unit, [twin], status="resolved", now=now, note=f"done by {worked.attempts[-1]['executor']}")
    return None


def _tell_run(
    unit: Unit,
    services: Services,
    tasks: Sequence[Task],
    results: Sequence[Mapping[str, Any]],
    summary: Mapping[str, Any],
    scope: Scope,
    now: datetime,
) -> str:
    executors = dict.fromkeys(str(result["executor"]) for result in results if result["executor"])
    tags = dict.fromkeys(tag for task in tasks for tag in task.tags)
    episode = NewEpisode(
        summary=f"Swarm {summary['swarm']}: {summary['tasks'] - summary['failure']} of {summary['tasks']} tasks done "
        f"by {', '.join(executors) or 'nobody'}",
        outcome=str(summary["outcome"]),
        # Not its executors: each task's own episode names them, and a trend must not count a task twice.
        entities=[f"swarm.{summary['swarm']}", *tags],
        duration_ms=sum(one["duration_ms"] for result in results for one in result["attempts"]),
        persona=scope.persona,
        thread=scope.thread,
        session=scope.thread,
        source=_SOURCE,
        metadata={name: summary[name] for name in ("tasks", "success", "resolved", "failure", "memory_tokens")},
    ).checked(services.options.write)
    return store_episode(unit, episode, now=now, zone=scope.zone).id


def _learned(
    unit: Unit, tasks: Sequence[Task], results: Sequence[Mapping[str, Any]], scope: Scope, now: datetime
) -> list[str]:
    """Return the names of the procedures that were made or confirmed by a run that went well as a whole."""
    if any(result["outcome"] != "success" for result in results):
        return []
    said = {str(result["task"]): _short(task.task, _NOTICED) for task, result in zip(tasks, results, strict=True)}
    runs = [_as_run(result, scope, now) for result in results]
    names = []
    made = learn_from_swarm(unit, runs, {run.id: said[run.id] for run in runs}, persona=scope.persona, now=now)
    if made is not None:
        names.append(made.name)
    personas = [*readable(unit, scope)]
    for tag in dict.fromkeys(tag for task in tasks for tag in task.tags if entity_key(tag)):
        name = f"auto.{entity_key(tag).replace(' ', '-')}"[:200]
        if unit.procedures.versions([scope.persona], name):
            continue
        try:
            learn_from_successes(unit, tag, name=name, persona=scope.persona, personas=personas, now=now)
        except InvalidInput:  # too few successes so far
            continue
        names.append(name)
    return names


def _as_run(result: Mapping[str, Any], scope: Scope, now: datetime) -> ExecutorRun:
    last = result["attempts"][-1]
    return ExecutorRun(
        id=str(result["task"]),
        persona=scope.persona,
        executor=str(last["executor"]),
        category=str(result["category"]),
        outcome="success",
        failure_class=None,
        error=None,
        duration_ms=float(last["duration_ms"]),
        episode_id=None,
        procedure_id=None,
        swarm=None,
        entities=[],
        at=now,
    )


def _short(text: str, most: int) -> str:
    """Return the beginning of a text in one line, without what looks like a secret."""
    line = " ".join(redact(text[: 8 * most])[0].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
