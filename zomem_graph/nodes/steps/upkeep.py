"""What the steps of maintenance share: the round they belong to, and changes in short transactions.

Nothing is changed on the ground of what was read before: each batch reads afresh in the transaction that
writes, so whatever happens between two batches, or while a model thinks, is seen.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from zomem_graph.nodes.care_values import Change, StepReport
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.fading import Fading
from zomem_graph.stores.care_records import CareMove
from zomem_graph.stores.unit import Unit

__all__ = [
    "BATCH",
    "FACT_COLUMNS",
    "LIFE_COLUMNS",
    "LOOP_COLUMNS",
    "Round",
    "batches",
    "change_batch",
    "columns",
    "holding_together",
]

BATCH = 50
"""How many things one transaction changes: some tens of milliseconds."""

LIFE_COLUMNS = ("tier", "given_tier", "kept_since", "expires_at")
FACT_COLUMNS = ("state", "superseded_by", "ended_at", *LIFE_COLUMNS)
LOOP_COLUMNS = ("status", "updated_at", "resolved_at", "resolution", "expires_at")
"""What a change of a fact or a loop may touch, and an undo puts back."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One run of maintenance as its steps see it. `left` is how many changes it may still make."""

    run_id: str
    started_at: datetime
    dry_run: bool = False
    left: int
    allow_permanent: bool = False

    @property
    def rules(self) -> Fading:
        """The figures of fading in this round."""
        return Fading(allow_permanent=self.allow_permanent)

    def after(self, reports: Sequence[StepReport]) -> "Round":
        """Return the round as it goes on after some of its steps."""
        return replace(self, left=max(0, self.left - sum(len(report.changes) for report in reports)))


def change_batch(
    services: Services, this: Round, step: str, change: Callable[[Unit, datetime], Sequence[Change]]
) -> list[Change]:
    """Make some changes in one transaction and write down how to take them back.

    `change` reads afresh, changes and tells; in a dry run it gets a unit that only reads and must only tell.
    """
    lend: AbstractContextManager[Unit] = services.stores.read() if this.dry_run else services.stores.write()
    with lend as unit:
        now = services.clock()
        made = list(change(unit, now))
        if made and not this.dry_run:
            first = unit.care.moves_made(this.run_id)
            unit.care.moved([_move(one, this, step, first + place, now) for place, one in enumerate(made)])
    return made


def batches(things: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield things in pieces that one transaction may change."""
    for start in range(0, len(things), BATCH):
        yield things[start : start + BATCH]


def columns(record: Any, *names: str) -> dict[str, Any]:
    """Return some columns of a record as plain data, to put back later."""
    values = {name: getattr(record, name) for name in names}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def holding_together(unit: Unit) -> frozenset[str]:
    """Return the ids without which some linked things would lose each other: the graph's articulation points."""
    ties = list(unit.care.ties())
    if not ties:
        return frozenset()
    import networkx as nx  # a third of a second; only where there are links

    return frozenset(nx.articulation_points(nx.Graph(ties)))


def _move(change: Change, this: Round, step: str, position: int, now: datetime) -> CareMove:
    return CareMove(
        run_id=this.run_id,
        position=position,
        at=now,
        step=step,
        move=change.move,
        kind=change.kind,
        item_id=change.id,
        why=change.why,
        before=change.before,
        after=change.after,
    )
