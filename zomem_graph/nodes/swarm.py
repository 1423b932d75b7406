"""The nodes of a swarm: plan, deal, tell, route, let an executor work, learn, finish. All state is plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Final, NotRequired

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import Runnable
from langgraph.channels import EphemeralValue
from langgraph.graph import MessagesState
from langgraph.pregel import Pregel
from langgraph.types import Command, Overwrite, Send
from typing_extensions import TypedDict

from zomem_graph.nodes.flow import Failed, Flow, attempt, unless_failing, work
from zomem_graph.nodes.inputs import latest_question
from zomem_graph.nodes.node import MemoryNode, Running
from zomem_graph.nodes.options import SwarmOptions
from zomem_graph.nodes.placement import place_block
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.router import plain_choice, unasked_choice
from zomem_graph.nodes.rules.procedures import LONGEST_SECONDS, followed, step_of
from zomem_graph.nodes.rules.routing import Candidate
from zomem_graph.nodes.rules.swarm import Task, read_tasks
from zomem_graph.nodes.scope import NOBODY, Scope, kept_name
from zomem_graph.nodes.steps.access import writable
from zomem_graph.nodes.steps.execute import attempt_task
from zomem_graph.nodes.steps.procedures import named_procedure
from zomem_graph.nodes.steps.routing import RouteRequest, route
from zomem_graph.nodes.steps.swarm import Told, Worked, finish_swarm, learn_from_task, tell_task
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import new_id

__all__ = [
    "LEARN",
    "ROUTE",
    "TELL",
    "SwarmState",
    "TaskState",
    "create_deal_node",
    "create_executor_node",
    "create_finish_node",
    "create_learn_node",
    "create_plan_node",
    "create_task_router_node",
    "create_tell_node",
]

TELL: Final = "memory_tell"
ROUTE: Final = "memory_route_task"
LEARN: Final = "memory_learn"
_EARLIER: Final = 8
_EARLIER_CHARACTERS: Final = 4_000


def _together(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*left, *right]


class SwarmState(MessagesState):
    """What a swarm is given (`tasks`, else the latest user message) and what it gives back.

    A task is a text or {"task", "id"?, "category"?, "tags"?, "executor"?, "procedure"?, "timeout_seconds"?}. Each of
    `results` says who did it, the answer or the error, every attempt, the routing and the memory told; `summary` sums
    the run up. `tasks` are of one run, which keeps them as `planned`: the next run of a thread knows none of them.
    """

    tasks: NotRequired[Annotated[list[Any], EphemeralValue]]
    swarm: NotRequired[str]
    asked: NotRequired[bool]
    planned: NotRequired[list[dict[str, Any]]]
    queue: NotRequired[list[dict[str, Any]]]
    memory_persona: NotRequired[str]
    results: Annotated[list[dict[str, Any]], _together]
    summary: NotRequired[dict[str, Any]]


class TaskState(TypedDict, total=False):
    """One task on its way through the swarm."""

    memory_persona: str | None
    task: dict[str, Any]
    swarm: str
    budget: int
    earlier: list[dict[str, str]]
    memory_context: str
    memory_decision: dict[str, Any]
    memory_degraded: list[str]
    memory_route: dict[str, Any]
    attempts: list[dict[str, Any]]
    results: Annotated[list[dict[str, Any]], _together]


def create_plan_node(memory: Services, names: Sequence[str]) -> Runnable[Any, dict[str, Any]]:
    """Return the node that reads the tasks; raises InvalidInput before anything is begun."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        given = state.get("tasks")
        tasks = read_tasks([latest_question(state)[0]] if given is None else given)
        for task in tasks:
            if task.executor is not None and task.executor not in names:
                raise InvalidInput(
                    f"Task {task.number} is for {task.executor!r:.80}, but the executors are {', '.join(names)}."
                )
        steps: Any = yield from unless_failing(work(lambda: _procedures(memory, tasks, running.scope)))
        known: Mapping[str | None, Any] = {} if isinstance(steps, Failed) else steps
        planned = [asdict(replace(task, steps=known.get(task.procedure, ()))) for task in tasks]
        return {
            "asked": given is None,
            "planned": planned,
            "queue": planned,
            "results": Overwrite([]),
            "swarm": new_id()[:8],
            **kept_name(running.scope),
            "summary": {},
        }

    return MemoryNode("plan", step, memory)


def create_deal_node(memory: Services, *, options: SwarmOptions) -> Runnable[Any, Command[Any]]:
    """Return the node that hands out the next tasks side by side, and ends when there are none."""

    def step(state: Mapping[str, Any], _running: Running) -> Flow[Command[Any]]:
        queue = state.get("queue") or []
        now, rest = queue[: max(1, options.concurrency)], queue[max(1, options.concurrency) :]
        if not now:
            return Command(goto="finish")
        results = state.get("results") or []
        left = max(0, options.run_budget - sum(result["memory"]["tokens"] for result in results))
        shared = {
            "swarm": state["swarm"],
            "memory_persona": state.get("memory_persona"),
            "budget": min(options.token_budget, left // len(now)),
            "earlier": [_earlier(result) for result in results[-_EARLIER:] if result["answer"]],
        }
        return Command(goto=[Send("task", {"task": task, **shared}) for task in now], update={"queue": rest})
        yield  # a step is a generator even when it waits for nothing

    return MemoryNode("deal", step, memory)


def create_tell_node(memory: Services, *, options: SwarmOptions) -> Runnable[Any, dict[str, Any]]:
    """Return the node that recalls what a task needs, where the gate sees a need; a failing memory stops no task."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        task, budget = _task(state["task"]), int(state.get("budget") or 0)
        if budget < 1:
            return _not_told("skip", "the tokens of this run are spent", [])
        earlier = state.get("earlier") or []
        told: Told | Failed = yield from attempt(
            tell_task(memory, task.task, earlier, scope=running.scope, budget=budget, options=options)
        )
        if isinstance(told, Failed):
            return _not_told("empty", "memory could not be asked", [f"recall: {told.error}"])
        decision = {
            "decision": told.recalled.decision,
            "reason": told.recalled.reason,
            "tokens": told.tokens,
            "items": [hit.id for hit in told.recalled.hits],
        }
        running.emit({"memory": "tell", "task": task.id, **decision})
        return {
            "memory_context": told.text,
            "memory_decision": decision,
            "memory_degraded": list(told.recalled.degraded),
            "attempts": [],
        }

    return MemoryNode(TELL, step, memory)


def create_task_router_node(
    memory: Services, candidates: Sequence[Candidate], *, strategy: str
) -> Runnable[Any, Command[Any]]:
    """Return the node that sends a task to its executor; without memory, to the first one."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[Command[Any]]:
        task = _task(state["task"])
        request = RouteRequest(
            task=task.task,
            candidates=tuple(candidates),
            strategy=strategy,
            category=task.category,
            scope=running.scope,
        )
        choice = yield from attempt(route(memory, request))
        told = (
            unasked_choice(candidates, task.category, choice, fallback=memory.options.routing.fallback)
            if isinstance(choice, Failed)
            else plain_choice(choice)
        )
        if task.steps and task.executor is None:
            order = followed(task.steps, task.task, told["order"])
            reason = told["reason"] if order[0] == told["executor"] else f"the procedure {task.procedure} names it"
            told = {**told, "executor": order[0], "order": order, "reason": reason}
        if task.executor is not None:
            order = [task.executor, *(name for name in told["order"] if name != task.executor)]
            told = {**told, "executor": task.executor, "order": order, "reason": "the task names it"}
        running.emit({"memory": "route", "task": task.id, **told})
        return Command(goto=told["executor"], update={"memory_route": told})

    return MemoryNode(ROUTE, step, memory)


def create_executor_node(
    memory: Services, name: str, executor: Runnable[Any, Any], *, options: SwarmOptions
) -> Runnable[Any, Command[Any]]:
    """Return the node that lets one executor do the task; when it fails, the next one in the order gets it."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[Command[Any]]:
        task = _task(state["task"])
        given = _input_for(executor, task, str(state.get("memory_context") or ""))
        done = yield from attempt_task(
            name,
            executor,
            given,
            running.config,
            seconds=_seconds(task, name, options),
            clock=memory.clock,
        )
        attempts = [*(state.get("attempts") or []), asdict(done)]
        running.emit({"memory": "attempt", "task": task.id, **asdict(done), "answer": done.answer[:200]})
        return Command(goto=_next(state, attempts, options), update={"attempts": attempts})

    return MemoryNode(name, step, memory)


def create_learn_node(memory: Services, *, options: SwarmOptions) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes down how a task went and hands its result back."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        task, attempts, told = _task(state["task"]), state.get("attempts") or [], state.get("memory_route") or {}
        worked = Worked(task=task, category=str(told.get("category") or "general"), attempts=attempts)
        learned = yield from attempt(
            work(
                lambda: learn_from_task(
                    memory, worked, swarm=str(state["swarm"]), scope=running.scope, options=options
                )
            )
        )
        notes = list(state.get("memory_degraded") or [])
        if isinstance(learned, Failed):
            notes.append(f"not learned: {learned.error}")
        if not running.scope.named and NOBODY not in notes:
            notes.append(NOBODY)
        return {"results": [_result(state, worked, {} if isinstance(learned, Failed) else learned, notes)]}

    return MemoryNode(LEARN, step, memory)


def create_finish_node(memory: Services, *, options: SwarmOptions) -> Runnable[Any, dict[str, Any]]:
    """Return the node that sums the run up; who asked by a message is answered by one."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        results = sorted(state.get("results") or [], key=lambda result: int(result["number"]))
        tasks = [_task(one) for one in state.get("planned") or []]
        swarm = str(state["swarm"])
        summary = yield from attempt(
            work(lambda: finish_swarm(memory, tasks, results, swarm=swarm, scope=running.scope, options=options))
        )
        if isinstance(summary, Failed):
            summary = {"swarm": swarm, "tasks": len(results), "degraded": [f"not learned: {summary.error}"]}
        running.emit({"memory": "swarm", **summary})
        changed: dict[str, Any] = {"results": Overwrite(results), "summary": summary}
        if state.get("asked") and results:
            changed["messages"] = [AIMessage(results[0]["answer"] or f"Not done: {results[0]['error']}")]
        return changed

    return MemoryNode("finish", step, memory)


def _procedures(memory: Services, tasks: Sequence[Task], scope: Scope) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """Return the steps of the procedures that tasks name, by name. Raises UnknownName."""
    names = {task.procedure for task in tasks if task.procedure is not None}
    if not names:
        return {}
    with memory.stores.read() as unit:
        return {name: tuple(named_procedure(unit, writable(scope), name).steps) for name in names}


def _task(kept: Mapping[str, Any]) -> Task:
    return Task(**{**kept, "tags": tuple(kept.get("tags") or ()), "steps": tuple(kept.get("steps") or ())})


def _not_told(decision: str, reason: str, degraded: list[str]) -> dict[str, Any]:
    return {
        "memory_context": "",
        "memory_decision": {"decision": decision, "reason": reason, "tokens": 0},
        "memory_degraded": degraded,
        "attempts": [],
    }


def _earlier(result: Mapping[str, Any]) -> dict[str, str]:
    return {"task": str(result["text"]), "answer": str(result["answer"])[:_EARLIER_CHARACTERS]}


def _input_for(executor: Runnable[Any, Any], task: Task, block: str) -> Any:
    """Return what an executor is given: models get messages, graphs the channels they have, others everything."""
    messages: list[AnyMessage] = place_block([HumanMessage(task.task)], block, placement="user")
    if isinstance(executor, BaseLanguageModel):
        return messages
    given = {"messages": messages, "task": task.task, "memory_context": block}
    if isinstance(executor, Pregel):
        return {name: value for name, value in given.items() if name in executor.channels}
    return given


def _seconds(task: Task, name: str, options: SwarmOptions) -> float:
    step = step_of(task.steps, task.task, name)
    limit = options.deadline_seconds if step is None else min(LONGEST_SECONDS, step["timeout_seconds"])
    return float(task.timeout_seconds or limit)


def _next(state: Mapping[str, Any], attempts: Sequence[Mapping[str, Any]], options: SwarmOptions) -> str:
    if attempts[-1]["success"] or len(attempts) >= options.attempts:
        return LEARN
    tried = {one["executor"] for one in attempts}
    task = _task(state["task"])
    step = step_of(task.steps, task.task, attempts[-1]["executor"])
    route_ = state.get("memory_route") or {}
    shut = {score["executor"] for score in route_.get("scores", ()) if score["state"] == "open"}
    known: Sequence[str] = route_.get("order", ())
    stepping_in = "" if step is None else str(step.get("fallback_executor") or "")
    order = [name for name in (stepping_in, *known) if name in known]
    return next((name for name in order if name not in tried and name not in shut), LEARN)


def _result(
    state: Mapping[str, Any], worked: Worked, learned: Mapping[str, Any], degraded: list[str]
) -> dict[str, Any]:
    last = worked.attempts[-1] if worked.attempts else {}
    told = state.get("memory_route") or {}
    return {
        "task": worked.task.id,
        "number": worked.task.number,
        "text": worked.task.task[:_EARLIER_CHARACTERS],
        "category": worked.category,
        "outcome": worked.outcome,
        "executor": last.get("executor"),
        "answer": last.get("answer", ""),
        "error": last.get("error"),
        "failure_class": last.get("failure_class"),
        "attempts": [{name: value for name, value in one.items() if name != "answer"} for one in worked.attempts],
        "memory": dict(state.get("memory_decision") or {"decision": "skip", "tokens": 0}),
        "route": told,
        "episode_id": learned.get("episode_id"),
        "loop_id": learned.get("loop_id"),
        "degraded": degraded,
    }
