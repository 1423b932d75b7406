"""The nodes of a swarm: plan, deal, tell, route, let an executor work, learn, finish. All state is plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final, NotRequired

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import Runnable
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
    the run up.
    """

    tasks: NotRequired[list[Any]]
    swarm: NotRequired[str]
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
        tasks = read_tasks(_given(state))
        for task in tasks:
            if task.executor is not None and task.executor not in names:
                raise InvalidInput(
                    f"Task {task.number} is for {task.executor!r:.80}, but the executors are {', '.join(names)}."
                )
        yield from unless_failing(work(lambda: _check_procedures(memory, tasks, running.scope)))
        return {
            "queue": [asdict(task) for task in tasks],
            "results": Overwrite([]),
            "swarm": state.get("swarm") or new_id()[:8],
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
        task, budget = _task(state), int(state.get("budget") or 0)
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
        task = _task(state)
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
        task = _task(state)
        given = _input_for(executor, task, str(state.get("memory_context") or ""))
        done = yield from attempt_task(
            name,
            executor,
            given,
            running.config,
            seconds=task.timeout_seconds or options.deadline_seconds,
            clock=memory.clock,
        )
        attempts = [*(state.get("attempts") or []), asdict(done)]
        running.emit({"memory": "attempt", "task": task.id, **asdict(done), "answer": done.answer[:200]})
        return Command(goto=_next(state, attempts, options), update={"attempts": attempts})

    return MemoryNode(name, step, memory)


def create_learn_node(memory: Services, *, options: SwarmOptions) -> Runnable[Any, dict[str, Any]]:
    """Return the node that writes down how a task went and hands its result back."""

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        task, attempts, told = _task(state), state.get("attempts") or [], state.get("memory_route") or {}
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
        tasks = read_tasks(_given(state))
        swarm = str(state["swarm"])
        summary = yield from attempt(
            work(lambda: finish_swarm(memory, tasks, results, swarm=swarm, scope=running.scope, options=options))
        )
        if isinstance(summary, Failed):
            summary = {"swarm": swarm, "tasks": len(results), "degraded": [f"not learned: {summary.error}"]}
        running.emit({"memory": "swarm", **summary})
        changed: dict[str, Any] = {"results": Overwrite(results), "summary": summary}
        if not state.get("tasks") and results:
            changed["messages"] = [AIMessage(results[0]["answer"] or f"Not done: {results[0]['error']}")]
        return changed

    return MemoryNode("finish", step, memory)


def _given(state: Mapping[str, Any]) -> Any:
    tasks = state.get("tasks")
    if tasks is not None:
        return tasks
    question, _before = latest_question(state)
    return [question]


def _check_procedures(memory: Services, tasks: Sequence[Task], scope: Scope) -> None:
    names = {task.procedure for task in tasks if task.procedure is not None}
    if names:
        with memory.stores.read() as unit:
            for name in names:
                named_procedure(unit, writable(scope), name)


def _task(state: Mapping[str, Any]) -> Task:
    fields = dict(state["task"])
    return Task(**{**fields, "tags": tuple(fields.get("tags") or ())})


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


def _next(state: Mapping[str, Any], attempts: Sequence[Mapping[str, Any]], options: SwarmOptions) -> str:
    if attempts[-1]["success"] or len(attempts) >= options.attempts:
        return LEARN
    tried = {one["executor"] for one in attempts}
    route_ = state.get("memory_route") or {}
    shut = {score["executor"] for score in route_.get("scores", ()) if score["state"] == "open"}
    order: Sequence[str] = route_.get("order", ())
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
