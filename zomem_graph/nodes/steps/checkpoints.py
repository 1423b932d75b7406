"""Save where a task stands, by request or because the prompt is getting full, and take it up again (F78)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.budget import tokens
from zomem_graph.nodes.rules.calendar_days import EARLIEST
from zomem_graph.nodes.rules.given import name_of, names, text
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.tiers import wall_clock_expiry
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.remember import store_facts
from zomem_graph.nodes.values import Hit
from zomem_graph.stores.checkpoint_files import (
    Checkpoint,
    list_checkpoints,
    new_checkpoint_id,
    remove_checkpoints,
    save_checkpoint,
)
from zomem_graph.stores.errors import InvalidInput, SecretRefused, StoreError
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit

__all__ = ["NewCheckpoint", "checkpoint_budget", "known_tasks", "readable_checkpoints", "save_task", "take_up"]

_TASK, _STATE, _SOURCE = "task", "state", "checkpoint"
_MOST_TASKS = 3
_LOOPS = 25
_EPISODES = 10
_GOING_ON = timedelta(days=30)  # what nobody finished for longer has most likely ended
_MOST_FILES = 500
_KEPT_OF_BUDGETS = 20  # automatic checkpoints of one persona; those somebody saved stay
_LONGEST_FILE = 4_096  # what a path may have
_TOKENS_A_FACT = 200  # what spec F78 reckons with


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCheckpoint:
    """The state of a task on its way in."""

    intent: str
    state: str = ""
    expected_outcome: str = ""
    working_files: Sequence[str] = ()

    def checked(self, options: WriteOptions) -> "NewCheckpoint":
        """Return the state itself; raise InvalidInput or SecretRefused when it cannot be saved."""
        if not isinstance(self.intent, str) or not self.intent.strip():
            raise InvalidInput("A checkpoint needs an intent. Say in a sentence what the task is.")
        files = names("working_files", self.working_files, such_as='["nginx.conf"]')
        for file in files:
            name_of("each of working_files", file, most=_LONGEST_FILE)
        if len(files) > _MOST_FILES:
            raise InvalidInput(f"working_files has {len(files):,} names; keep to {_MOST_FILES}.")
        texts = {"intent": self.intent, "state": self.state, "expected_outcome": self.expected_outcome}
        for name, said in texts.items():
            text(name, said, most=options.longest_text)
        for said in (*texts.values(), *files):
            if kind := looks_secret(said):
                raise SecretRefused(f"The checkpoint holds what looks like a secret ({kind}) and was not saved.")
        return replace(self, working_files=files)


def save_task(services: Services, new: NewCheckpoint, scope: Scope) -> Checkpoint:
    """Save a checked state as a file, and as a fact that recall knows for four hours."""
    now = services.clock()
    with services.stores.write() as unit:
        checkpoint = Checkpoint(
            id=new_checkpoint_id(),
            kind="task",
            persona=scope.persona,
            thread=scope.thread,
            created_at=now,
            intent=new.intent.strip(),
            state=new.state.strip(),
            expected_outcome=new.expected_outcome.strip(),
            working_files=list(new.working_files),
            **_going_on(unit, scope, now),
        )
        _know(unit, services, checkpoint, scope, now)
        save_checkpoint(services.stores.home.checkpoints, checkpoint)
    services.wake_worker()
    return checkpoint


def take_up(services: Services, checkpoint: Checkpoint, scope: Scope) -> None:
    """Let recall know the state of a task again, as of now."""
    now = services.clock()
    with services.stores.write() as unit:
        _know(unit, services, checkpoint, scope, now)
    services.wake_worker()


def checkpoint_budget(
    unit: Unit, services: Services, scope: Scope, hits: Sequence[Hit], shown: Sequence[Hit], *, used: int, limit: int
) -> Checkpoint | None:
    """Save what memory has for a prompt that is getting full; None when the folder cannot be written.

    `hits` were found, `shown` are those that found room.
    """
    now = services.clock()
    kept = {hit.id for hit in shown}
    facts = [
        {"id": hit.id, "kind": hit.kind, "text": hit.text, "score": round(hit.score, 4), "shown": hit.id in kept}
        for hit in hits
    ]
    estimate = tokens("\n".join(hit.text for hit in shown))
    checkpoint = Checkpoint(
        id=new_checkpoint_id(),
        kind="budget",
        persona=scope.persona,
        thread=scope.thread,
        created_at=now,
        intent=f"The prompt holds {used:,} of {limit:,} tokens",
        facts=facts,
        token_estimate=estimate,
        compressed_from=len(hits),
        compression_ratio=round(max(0.0, 1 - estimate / (_TOKENS_A_FACT * len(hits))), 4) if hits else 0.0,
        **_going_on(unit, scope, now),
    )
    folder = services.stores.home.checkpoints
    try:
        save_checkpoint(folder, checkpoint)
    except StoreError:
        return None
    automatic = [one for one in list_checkpoints(folder) if (one.kind, one.persona) == ("budget", scope.persona)]
    remove_checkpoints(folder, [one.id for one in automatic[_KEPT_OF_BUDGETS:]])
    return checkpoint


def readable_checkpoints(services: Services, scope: Scope) -> list[Checkpoint]:
    """Return the checkpoints that a scope may see, newest first."""
    with services.stores.read() as unit:
        personas = readable(unit, scope)
    return [one for one in list_checkpoints(services.stores.home.checkpoints) if one.persona in personas]


def known_tasks(unit: Unit, personas: Sequence[str], now: datetime) -> list[Fact]:
    """Return where tasks stand, as checkpoints said in the last hours, newest first."""
    saved = unit.facts.beginning(personas, _TASK, _STATE)
    alive = [one for one in saved if one.source == _SOURCE and (one.expires_at is None or one.expires_at > now)]
    return alive[:_MOST_TASKS]


def _going_on(unit: Unit, scope: Scope, now: datetime) -> dict[str, Any]:
    """Return what is open and what goes on, as a checkpoint holds it."""
    personas = list(writable(scope))
    loops = unit.loops.waiting(personas, now=now, limit=_LOOPS)
    since = now - _GOING_ON if now - EARLIEST > _GOING_ON else EARLIEST
    episodes = unit.episodes.newest(personas, since=since, outcome="ongoing", limit=_EPISODES)
    return {
        "open_loops": [{"id": loop.id, "text": loop.title, "kind": loop.kind} for loop in loops],
        "pending_episodes": [{"id": one.id, "text": one.summary} for one in episodes],
    }


def _know(unit: Unit, services: Services, checkpoint: Checkpoint, scope: Scope, now: datetime) -> None:
    """Store the state as the one current state of the thread's task (v1 of the original, spec F78)."""
    fact = NewFact(
        entity=f"{_TASK} {checkpoint.thread}" if checkpoint.thread else _TASK,
        key=_STATE,
        value=checkpoint.text,
        text=checkpoint.text.replace("\n", ". "),
        persona=scope.persona,
        category="project",
        tier="checkpoint",
        importance=0.9,
        source=_SOURCE,
        metadata={"checkpoint": checkpoint.id},
        many=False,
    ).checked(services.options.write)
    (stored,) = store_facts(unit, services, [fact], now=now)
    if stored.outcome == "unchanged":
        until = wall_clock_expiry(fact.tier, now)
        unit.facts.change(stored.fact.id, expires_at=until, last_accessed=now)
        unit.items.set_expiry(stored.fact.id, until)
