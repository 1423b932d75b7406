"""Procedures that nobody wrote: made from what went well more than once (spec F58)."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.procedures import plain_steps, steps_of_runs
from zomem_graph.nodes.steps.procedures import NewProcedure, give_feedback, store_procedure
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.work_records import ExecutorRun, Procedure

__all__ = ["learn_from_successes", "learn_from_swarm"]

_WITHIN: Final = timedelta(days=30)
_ENOUGH: Final = 2
_LOOKED_AT: Final = 20
_SWARM_TASKS: Final = 3
_SWARM_EXECUTORS: Final = 2
_VERB: Final = re.compile(r"[a-z]{3,20}")


def learn_from_successes(
    unit: Unit, entity: str, *, name: str | None, persona: str, personas: Sequence[str], now: datetime
) -> Procedure:
    """Make a procedure of at least two successes about an entity in 30 days; twice their longest time.

    Raises InvalidInput when there are fewer, or when the procedure has these steps already.
    """
    key = entity_key(entity) if isinstance(entity, str) else ""
    if not key:
        raise InvalidInput("Name what the work was about, such as a project.")
    runs = unit.executors.about(personas, key, since=now - _WITHIN, limit=_LOOKED_AT)
    if len(runs) < _ENOUGH:
        raise InvalidInput(f"{len(runs)} successes about {entity!r:.80} in 30 days; a procedure needs {_ENOUGH}.")
    new = NewProcedure(
        name=name or f"auto.{key.replace(' ', '-')}"[:200],
        steps=steps_of_runs(runs, _tasks(unit, runs), slack=2.0),
        rationale=f"made from {len(runs)} successes about {entity}"[:500],
        source="auto",
        persona=persona,
    ).checked()
    return store_procedure(unit, new, now=now)


def learn_from_swarm(
    unit: Unit, runs: Sequence[ExecutorRun], tasks: Mapping[str, str], *, persona: str, now: datetime
) -> Procedure | None:
    """Make a procedure of a swarm that went well as a whole, or count one more success of the one there is.

    It takes three tasks and two executors; None for less. `tasks` says by the id of a run what it was about.
    """
    if len(runs) < _SWARM_TASKS or len({run.executor for run in runs}) < _SWARM_EXECUTORS:
        return None
    steps = steps_of_runs(runs, tasks, slack=1.5)
    categories = [run.category for run in runs]
    category = max(dict.fromkeys(categories), key=categories.count)
    verbs = dict.fromkeys(found[0] for run in runs if (found := _VERB.search(tasks.get(run.id, "").lower())))
    name = f"swarm.auto.{category}.{'-'.join([*verbs][:3]) or 'work'}"[:200]
    known = unit.procedures.versions([persona], name)
    if known and [step["executor"] for step in known[0].steps] == [step["executor"] for step in plain_steps(steps)]:
        return give_feedback(unit, known[0], success=True, now=now)
    new = NewProcedure(
        name=name,
        steps=steps,
        category=category,
        rationale=f"made from a swarm of {len(runs)} tasks that all went well",
        source="auto",
        persona=persona,
    )
    return store_procedure(unit, new, now=now)


def _tasks(unit: Unit, runs: Sequence[ExecutorRun]) -> dict[str, str]:
    """Return what the episodes of runs say of them, by the id of the run."""
    ids = {run.id: run.episode_id for run in runs if run.episode_id}
    told = {one.id: one.summary for one in unit.episodes.find(list(dict.fromkeys(ids.values())))}
    return {run_id: told[episode] for run_id, episode in ids.items() if episode in told}
