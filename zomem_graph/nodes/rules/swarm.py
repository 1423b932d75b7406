"""What a swarm is asked to do, read strictly, and how its work went (spec F135, F137)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from zomem_graph.nodes.rules.given import checked_name, if_given, names, number, shown, text
from zomem_graph.nodes.rules.task_words import similarity
from zomem_graph.stores.errors import InvalidInput

__all__ = ["STAGNANT", "Task", "outcome_of", "read_tasks", "stagnation"]

STAGNANT: Final = 0.6
_MOST_TASKS: Final = 1_000
_MOST_COMPARED: Final = 8
_LONGEST_TASK: Final = 1_000_000
_LONGEST_SECONDS: Final = 4_000_000  # as far as systems can wait
_NAMES: Final = ("task", "id", "category", "tags", "executor", "procedure", "timeout_seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of a swarm. `executor` and `timeout_seconds` overrule routing, options and the steps of `procedure`.

    `steps` are those of the procedure as the run found them, in plain form.
    """

    number: int
    id: str
    task: str
    category: str | None = None
    tags: tuple[str, ...] = ()
    executor: str | None = None
    procedure: str | None = None
    timeout_seconds: float | None = None
    steps: tuple[Mapping[str, Any], ...] = ()


def read_tasks(given: Any) -> list[Task]:
    """Return tasks given as texts or as mappings with `task`; raise InvalidInput that names what is wrong."""
    if isinstance(given, str | Mapping):
        given = [given]
    if not isinstance(given, Sequence):
        raise InvalidInput(f"tasks must be a list of texts or mappings, not {type(given).__name__}.")
    if len(given) > _MOST_TASKS:
        raise InvalidInput(f"A swarm takes at most {_MOST_TASKS} tasks at once, not {len(given)}.")
    tasks = [_task(number, one) for number, one in enumerate(given, start=1)]
    ids = [task.id for task in tasks]
    if doubles := sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        raise InvalidInput(f"Two tasks have the id {doubles[0]!r:.80}.")
    return tasks


def outcome_of(outcomes: Sequence[str]) -> str:
    """Return success when no task failed, failure when all did, else resolved (spec F135)."""
    failed = sum(outcome == "failure" for outcome in outcomes)
    return "success" if not failed else "failure" if failed == len(outcomes) else "resolved"


def stagnation(retries: int, most_retries: int, answers: Sequence[str], open_tasks: int, tasks: int) -> float:
    """Return how much a run turns on the spot, 0-1: .5 retries used up + .3 like answers + .2 left open (F137)."""
    used = retries / most_retries if most_retries else 0.0
    pairs = list(combinations(answers[-_MOST_COMPARED:], 2))
    alike = sum(similarity(a, b) for a, b in pairs) / len(pairs) if pairs else 0.0
    return 0.5 * min(1.0, used) + 0.3 * alike + 0.2 * (open_tasks / tasks if tasks else 0.0)


def _task(place: int, given: Any) -> Task:
    fields: Mapping[str, Any] = {"task": given} if isinstance(given, str) else given
    if not isinstance(fields, Mapping):
        raise InvalidInput(f"Task {place} must be a text or a mapping, not {type(given).__name__}.")
    if unknown := sorted(str(name) for name in fields if name not in _NAMES):
        raise InvalidInput(f"Task {place} has the unknown {unknown[0]!r:.40}; known are {', '.join(_NAMES)}.")
    said = fields.get("task")
    if not isinstance(said, str) or not said.strip():
        raise InvalidInput(f"Task {place} is empty. Say in a sentence what is to be done.")
    if len(said) > _LONGEST_TASK:
        raise InvalidInput(f"Task {place} has {len(said):,} characters; the most is {_LONGEST_TASK:,}.")
    category = if_given(checked_name, f"category of task {place}", fields.get("category"))
    for name in ("executor", "procedure"):
        if_given(text, f"{name} of task {place}", fields.get(name))
    seconds, id_, tags = fields.get("timeout_seconds"), fields.get("id"), fields.get("tags")
    if id_ is not None and not isinstance(id_, str | int):
        raise InvalidInput(f"id of task {place} must be a text, not {shown(id_)}.")
    return Task(
        number=place,
        id=str(id_ or place),
        task=said,
        category=category,
        tags=if_given(names, f"tags of task {place}", tags) or (),
        executor=fields.get("executor"),
        procedure=fields.get("procedure"),
        timeout_seconds=if_given(number, f"timeout_seconds of task {place}", seconds, above=0, most=_LONGEST_SECONDS),
    )
