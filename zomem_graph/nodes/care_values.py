"""What maintenance hands to callers: every change with its reason, step by step."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from zomem_graph.nodes.values import known

__all__ = ["MOST_CHANGES", "Change", "MaintenanceReport", "StepReport", "UndoReport"]

MOST_CHANGES: Final = 5_000
"""How much one run may change unless it is told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that was changed, or would be: what, how and why.

    `move` is promoted, demoted, archived, expired, merged, stale, over or removed. `before` and `after` hold
    the columns that changed, as plain data.
    """

    kind: str
    id: str
    move: str
    why: str
    text: str = ""
    persona: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What one step did. `counts` are things that are no changes to undo; `notes` say what could not be done."""

    step: str
    changes: tuple[Change, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "StepReport":
        """Return the report that `plain` turned into data, as it stands in a graph's state."""
        changes = tuple(Change(**known(Change, change)) for change in data.get("changes", ()))
        return cls(
            step=data["step"], changes=changes, counts=data.get("counts", {}), notes=tuple(data.get("notes", ()))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """One run of maintenance, step by step. With `dry_run` it only says what would be done."""

    run_id: str
    started_at: datetime
    finished_at: datetime
    dry_run: bool
    steps: tuple[StepReport, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Every change, in order."""
        return tuple(change for step in self.steps for change in step.changes)

    @property
    def degraded(self) -> tuple[str, ...]:
        """What could not be done, and what is left for the next run."""
        return (*self.notes, *(note for step in self.steps for note in step.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """Which run was taken back: what was undone, and what was left as it is, with the reason."""

    run_id: str
    undone: tuple[Change, ...] = ()
    left: tuple[Change, ...] = ()

    @classmethod
    def of(cls, run_id: str, outcomes: Iterable[tuple[bool, Change]]) -> "UndoReport":
        """Return the report of a run from what became of each change."""
        told = list(outcomes)
        undone = tuple(change for done, change in told if done)
        return cls(run_id=run_id, undone=undone, left=tuple(change for done, change in told if not done))
