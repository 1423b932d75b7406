"""The steps of a procedure: read strictly, changed by what failed, made from what went well (spec F54-F58)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from zomem_graph.nodes.rules.given import checked_name, listed, number, text
from zomem_graph.nodes.rules.small_samples import expected_share, share_interval
from zomem_graph.nodes.rules.task_words import similarity
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.work_records import ExecutorRun, Procedure

__all__ = [
    "LONGEST_SECONDS",
    "Step",
    "changed_by_rules",
    "executors_of",
    "followed",
    "plain_steps",
    "read_steps",
    "step_of",
    "steps_of_runs",
    "success_interval",
    "success_rate",
]

_DEFAULT_SECONDS: Final = 300.0
LONGEST_SECONDS: Final = 3_600.0
"""What no step may exceed (spec F57)."""

_SHORTEST_SECONDS: Final = 30.0
_LONGER: Final = 1.5
_REPEATED: Final = 2
_MOST_STEPS: Final = 100
_LONGEST_TEXT: Final = 4_000
_VERIFY: Final = "Verify: "
_NAMES: Final = {
    "executor": "executor",
    "taskPattern": "task_pattern",
    "task_pattern": "task_pattern",
    "timeoutSeconds": "timeout_seconds",
    "timeout_seconds": "timeout_seconds",
    "fallbackExecutor": "fallback_executor",
    "fallback_executor": "fallback_executor",
    "notes": "notes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: who does what, within how long, and who else when that fails."""

    executor: str
    task_pattern: str = ""
    timeout_seconds: float = _DEFAULT_SECONDS
    fallback_executor: str | None = None
    notes: str = ""


def read_steps(given: Any) -> tuple[Step, ...]:
    """Return steps given as a list of objects, in the original's spelling or ours; raise InvalidInput."""
    if isinstance(given, Mapping) and "steps" in given:
        given = given["steps"]
    steps = listed("steps", given, of="objects")
    if not steps:
        raise InvalidInput("A procedure needs at least one step.")
    if len(steps) > _MOST_STEPS:
        raise InvalidInput(f"A procedure has at most {_MOST_STEPS} steps, not {len(steps)}.")
    return tuple(_step(place, one) for place, one in enumerate(steps, start=1))


def plain_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return steps as plain data, for a table or JSON."""
    return [asdict(step) for step in steps]


def executors_of(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return whom plain steps name: who does each and who steps in, in their order."""
    named = (step.get(role) for step in steps for role in ("executor", "fallback_executor"))
    return list(dict.fromkeys(str(name) for name in named if name))


def step_of(steps: Sequence[Mapping[str, Any]], task: str, executor: str) -> Mapping[str, Any] | None:
    """Return the plain step that says how an executor does a task; None when no step names it.

    Its own steps come before those in which it steps in; of several the one whose pattern is most like the task.
    """
    for role in ("executor", "fallback_executor"):
        own = [step for step in steps if step.get(role) == executor]
        if own:
            return max(own, key=lambda step: _likeness(step, task))
    return None


def followed(steps: Sequence[Mapping[str, Any]], task: str, order: Sequence[str]) -> list[str]:
    """Return the order of executors (best first) for a task that follows plain steps.

    First comes who does the step that is most like the task, of equal ones the first in the order, then who steps
    in there, then the other executors of the procedure, then everybody else.
    """
    doing = [step for step in steps if step.get("executor") in order]
    best = min(doing, key=lambda step: (-_likeness(step, task), order.index(step["executor"])), default=None)
    first = [] if best is None else executors_of([best])
    named = [name for name in order if name in executors_of(steps)]
    return [name for name in dict.fromkeys([*first, *named, *order]) if name in order]


def _likeness(step: Mapping[str, Any], task: str) -> float:
    return similarity(str(step.get("task_pattern") or ""), task)


def success_rate(procedure: Procedure) -> float:
    """Return how often a procedure may be expected to succeed; .5 before its first run."""
    return expected_share(procedure.success_count, procedure.success_count + procedure.failure_count)


def success_interval(procedure: Procedure) -> tuple[float, float]:
    """Return the 95 % interval of its share of successes."""
    return share_interval(procedure.success_count, procedure.success_count + procedure.failure_count)


def changed_by_rules(
    steps: Sequence[Step], failures: Sequence[ExecutorRun], others: Sequence[str]
) -> tuple[tuple[Step, ...], str]:
    """Return the steps after what failed, and why; the same steps and "" when no rule fits (spec F57).

    Timeouts lengthen a step, what is missing or forbidden gives it a fallback among `others` (best first), and
    mutations that failed twice are verified.
    """
    changed: list[Step] = []
    reasons: list[str] = []
    for place, step in enumerate(steps):
        classes = [run.failure_class for run in failures if run.executor == step.executor]
        after, why = _lengthened(step, classes.count("timeout"))
        after, also = _with_fallback(after, classes, [name for name in others if name != step.executor])
        reasons += why + also
        changed.append(after)
        followed = place + 1 < len(steps) and steps[place + 1].task_pattern.startswith(_VERIFY)
        mutations = classes.count("mutation_failed")
        if mutations >= _REPEATED and not followed and not step.task_pattern.startswith(_VERIFY):
            changed.append(_verifying(after))
            reasons.append(f"{step.executor}: {mutations} mutations failed, so the result is verified")
    return tuple(changed), "; ".join(dict.fromkeys(reasons))


def steps_of_runs(runs: Sequence[ExecutorRun], tasks: Mapping[str, str], *, slack: float) -> tuple[Step, ...]:
    """Return a step for each executor of these successes, in the order they began; `slack` times their longest.

    `tasks` says by the id of a run what it was about.
    """
    steps: dict[str, Step] = {}
    for run in runs:
        seconds = min(LONGEST_SECONDS, max(_SHORTEST_SECONDS, slack * (run.duration_ms or 0.0) / 1_000))
        before = steps.get(run.executor)
        if before is None:
            pattern = tasks.get(run.id, run.category)[:200]
            steps[run.executor] = Step(executor=run.executor, task_pattern=pattern, timeout_seconds=round(seconds))
        elif seconds > before.timeout_seconds:
            steps[run.executor] = replace(before, timeout_seconds=round(seconds))
    return tuple(steps.values())


def _step(place: int, given: Any) -> Step:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"Step {place} must be an object with an executor, not {type(given).__name__}.")
    if unknown := sorted(str(name) for name in given if name not in _NAMES):
        raise InvalidInput(f"Step {place} has the unknown {unknown[0]!r:.40}; known are {', '.join(sorted(_NAMES))}.")
    step = {_NAMES[name]: value for name, value in given.items() if value is not None}
    executor = step.get("executor")
    if not isinstance(executor, str) or not executor.strip():
        raise InvalidInput(f"Step {place} has no executor. Say who is to do it.")
    for name in ("task_pattern", "fallback_executor", "notes"):
        text(f"{name} of step {place}", step.get(name, ""), most=_LONGEST_TEXT)
    seconds = step.get("timeout_seconds", _DEFAULT_SECONDS)
    seconds = number(f"timeout_seconds of step {place}", seconds, above=0, most=LONGEST_SECONDS)
    return Step(
        executor=checked_name(f"executor of step {place}", executor),
        task_pattern=step.get("task_pattern", "").strip(),
        timeout_seconds=seconds,
        fallback_executor=step.get("fallback_executor", "").strip() or None,
        notes=step.get("notes", "").strip(),
    )


def _lengthened(step: Step, timeouts: int) -> tuple[Step, list[str]]:
    longer = min(LONGEST_SECONDS, step.timeout_seconds * _LONGER)
    if not timeouts or longer <= step.timeout_seconds:
        return step, []
    why = f"{step.executor}: {timeouts} ran out of time, so {longer:g} s instead of {step.timeout_seconds:g} s"
    return replace(step, timeout_seconds=longer), [why]


def _with_fallback(step: Step, classes: Sequence[str | None], others: Sequence[str]) -> tuple[Step, list[str]]:
    blocked = [one for one in classes if one in ("permission_denied", "file_not_found")]
    if not blocked or step.fallback_executor is not None or not others:
        return step, []
    why = f"{step.executor}: {str(blocked[0]).replace('_', ' ')}, so {others[0]} steps in"
    return replace(step, fallback_executor=others[0]), [why]


def _verifying(step: Step) -> Step:
    return Step(
        executor=step.executor,
        task_pattern=f"{_VERIFY}{step.task_pattern or 'the result of the step before'}"[:_LONGEST_TEXT],
        timeout_seconds=min(step.timeout_seconds, _DEFAULT_SECONDS),
        fallback_executor=step.fallback_executor,
        notes="checks the step before",
    )
