"""The frozen values about work: how it is done (procedures) and who did it how well (executors).

Like those of `records.py`, each has the columns of its table under the same names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

__all__ = ["ExecutorHistory", "ExecutorRun", "Procedure", "ProcedureEpisode", "RunOutcome"]

RunOutcome = Literal["success", "failure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """One version of how something is done (spec T9). `steps` are plain, in the form of `rules/procedures.py`.

    `category` is the class of tasks it is for, None for any. `evolved_from` is the id of the version before,
    `rationale` why it is as it is.
    """

    id: str
    persona: str
    name: str
    version: int
    steps: list[dict[str, Any]]
    category: str | None
    success_count: int
    failure_count: int
    evolved_from: str | None
    rationale: str
    source: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureEpisode:
    """An episode in which a procedure was followed (spec T10)."""

    procedure_id: str
    episode_id: str
    persona: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorRun:
    """One attempt of an executor at one task: the raw material of profiles and routing.

    `outcome` is success or failure, then with its `failure_class` and the first words of `error`. `entities`
    are normal forms of what the task was about; `swarm` the run it was part of.
    """

    id: str
    persona: str
    executor: str
    category: str
    outcome: str
    failure_class: str | None
    error: str | None
    duration_ms: float | None
    episode_id: str | None
    procedure_id: str | None
    swarm: str | None
    entities: list[str]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorHistory:
    """What an imported history file says of an executor and category, as of `last_updated` (spec F90)."""

    persona: str
    executor: str
    category: str
    attempts: int
    successes: int
    avg_duration_ms: float
    last_updated: datetime
    recent_episode_ids: list[str] = field(default_factory=list)
    failure_patterns: list[str] = field(default_factory=list)
    entity_affinities: Mapping[str, float] = field(default_factory=dict)
