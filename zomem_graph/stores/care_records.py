"""The frozen values of care: on which days memory was in use, and what maintenance did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["ActiveDay", "CareMove", "CareRun"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveDay:
    """A UTC day, as 2027-03-01, with a user's observe, remember or recall."""

    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CareRun:
    """One run of maintenance. `status` is running, done, interrupted (it died or was taken over) or undone.

    `finished_at` is when it ended; of a graph's run that still goes on, when its last node ended.
    """

    id: str
    started_at: datetime
    finished_at: datetime | None
    status: str
    moves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CareMove:
    """One change of a run: what was done to what, why, and how to take it back.

    `before` and `after` hold the columns that changed, never what something says.
    """

    run_id: str
    position: int
    at: datetime
    step: str
    move: str
    kind: str
    item_id: str
    why: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
