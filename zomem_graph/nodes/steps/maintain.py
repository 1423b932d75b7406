"""Maintenance: expire, tiers, merge, loops, summaries, reconcile, in this order, one run at a time (spec F141).

`Memory.maintain` runs the steps one after the other and the maintenance graph strings the same ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from zomem_graph.nodes.care_values import MOST_CHANGES, Change, MaintenanceReport, StepReport
from zomem_graph.nodes.flow import Failed, Flow, attempt, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import flag, names, whole
from zomem_graph.nodes.steps.describe import told
from zomem_graph.nodes.steps.loops import let_go, overdue, quiet_since, spared_by
from zomem_graph.nodes.steps.merge import merge
from zomem_graph.nodes.steps.reconcile import reconcile
from zomem_graph.nodes.steps.summaries import summarise_due
from zomem_graph.nodes.steps.tidy import expire, move_tiers
from zomem_graph.nodes.steps.upkeep import BATCH, LOOP_COLUMNS, Round, change_batch, columns, holding_together
from zomem_graph.stores.errors import MaintenanceBusy, UnknownName
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.records import Loop
from zomem_graph.stores.unit import Unit

__all__ = [
    "STEPS",
    "Upkeep",
    "alone",
    "begin",
    "finish",
    "maintain",
    "one_step",
]

_BETWEEN_NODES: Final = timedelta(minutes=1)

Step = Callable[[Services, Round], Flow[StepReport]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Which steps to run, and how far."""

    only: tuple[str, ...] = ()
    dry_run: bool = False
    max_changes: int = MOST_CHANGES
    allow_permanent: bool = False

    @classmethod
    def read(
        cls,
        *,
        only: str | Sequence[str] | None = None,
        dry_run: bool = False,
        max_changes: int = MOST_CHANGES,
        allow_permanent: bool = False,
    ) -> "Upkeep":
        """Return what is asked; raise UnknownName for a step there is not, InvalidInput for what makes no sense."""
        listed = [only] if isinstance(only, str) else () if only is None else only
        named = names("only", listed, such_as='["expire", "tiers"]')
        for name in named:
            if name not in STEPS:
                near = get_close_matches(str(name), STEPS, 1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise UnknownName(
                    f"No step of maintenance is called {name!r:.40}.{meant} There are {', '.join(STEPS)}."
                )
        return cls(
            only=named,
            dry_run=flag("dry_run", dry_run),
            max_changes=whole("max_changes", max_changes, least=1),
            allow_permanent=flag("allow_permanent", allow_permanent),
        )

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps to run, always in the order of maintenance."""
        return tuple(name for name in STEPS if not self.only or name in self.only)


def tend(services: Services, this: Round) -> Flow[StepReport]:
    """Let time do its work on open loops (spec F67); what holds the graph together is never given up."""
    if this.left == 0:
        return StepReport(step="loops")
    changes = yield from work(lambda: _tend(services, this))
    return StepReport(step="loops", changes=tuple(changes))


def summarise(services: Services, this: Round) -> Flow[StepReport]:
    """Sum up episodes that are old and many (spec F79); their sources stay, so there is nothing to undo."""
    done = yield from summarise_due(services, dry_run=this.dry_run)
    counts = {"summaries": len(done.written)} if done.written else {}
    return StepReport(step="summaries", counts=counts, notes=done.degraded)


STEPS: Final[Mapping[str, Step]] = MappingProxyType(
    {
        "expire": expire,
        "tiers": move_tiers,
        "merge": merge,
        "loops": tend,
        "summaries": summarise,
        "reconcile": reconcile,
    }
)
"""Every step of maintenance by name, in order."""


def maintain(services: Services, wanted: Upkeep) -> Flow[MaintenanceReport]:
    """Run maintenance once; raise MaintenanceBusy when it runs already."""
    with alone(services, wanted):
        this = yield from work(lambda: begin(services, wanted))
        reports: list[StepReport] = []
        for name in wanted.steps:
            report = yield from one_step(services, name, this.after(reports))
            reports.append(report)
        done: MaintenanceReport = yield from work(lambda: finish(services, this, reports))
        return done


@contextmanager
def alone(services: Services, wanted: Upkeep, *, run_id: str | None = None) -> Iterator[None]:
    """Hold the lock of maintenance, which dies with its process; a dry run needs none.

    A graph takes it a node: between two of them, for a minute at most, what is written down of its run (`run_id`)
    keeps others out. Raises MaintenanceBusy.
    """
    if wanted.dry_run:
        yield
        return
    lock = services.stores.maintenance_lock()
    if not lock.try_hold(wait_seconds=0):
        raise MaintenanceBusy(
            "Maintenance runs already on this memory, here or in another process. Wait for it to end."
        )
    try:
        _refuse_beside_another(services, run_id)
        yield
        if run_id is not None:
            with services.stores.write() as unit:
                unit.care.seen(run_id, now=services.clock())
    finally:
        lock.release()


def _refuse_beside_another(services: Services, run_id: str | None) -> None:
    with services.stores.read() as unit:
        running = unit.care.running()
    if run_id is not None:
        if running is None or running.id != run_id:
            raise MaintenanceBusy(
                "This run of maintenance has ended, or another one took its place while it waited. Begin a new one."
            )
        return
    seen = running.finished_at if running is not None else None
    if seen is not None and abs(services.clock() - seen) < _BETWEEN_NODES:
        raise MaintenanceBusy(
            "A graph runs maintenance on this memory, here or in another process. Wait for it to end; "
            "one that was broken off counts for a minute."
        )


def begin(services: Services, wanted: Upkeep, *, by_nodes: bool = False) -> Round:
    """Begin a round and write it down; `by_nodes` says that it lets go of the lock between its steps."""
    this = Round(
        run_id=new_id(),
        started_at=services.clock(),
        dry_run=wanted.dry_run,
        left=wanted.max_changes,
        allow_permanent=wanted.allow_permanent,
    )
    if not this.dry_run:
        with services.stores.write() as unit:
            unit.care.begin(this.run_id, now=this.started_at)
            if by_nodes:
                unit.care.seen(this.run_id, now=this.started_at)
    return this


def one_step(services: Services, name: str, this: Round) -> Flow[StepReport]:
    """Run one step; what fails is told in its report and stops no other step."""
    done = yield from attempt(STEPS[name](services, this))
    if isinstance(done, Failed):
        return StepReport(step=name, notes=(f"{name}: {done.error}",))
    return done


def finish(services: Services, this: Round, reports: Sequence[StepReport]) -> MaintenanceReport:
    """Write down that a round is done and return what it did."""
    now = services.clock()
    if not this.dry_run:
        with services.stores.write() as unit:
            unit.care.close(this.run_id, status="done", now=now)
        services.wake_worker()
    made = sum(len(report.changes) for report in reports)
    capped = f"stopped at {this.left} changes; the next run goes on" if made >= this.left else None
    return MaintenanceReport(
        run_id=this.run_id,
        started_at=this.started_at,
        finished_at=now,
        dry_run=this.dry_run,
        steps=tuple(reports),
        notes=() if capped is None else (capped,),
    )


def _tend(services: Services, this: Round) -> list[Change]:
    with services.stores.read() as unit:
        bridges = holding_together(unit)
    changes: list[Change] = []

    def change(unit: Unit, now: datetime) -> list[Change]:
        stale, over = overdue(unit, now=now, spared=spared_by(unit, bridges))
        room = this.left - len(changes) if this.dry_run else min(BATCH, this.left - len(changes))
        over = over[:room]
        stale = stale[: room - len(over)]
        told_of = [*(_change(loop, "stale", now) for loop in stale), *(_change(loop, "over", now) for loop in over)]
        if not this.dry_run:
            let_go(unit, stale, over, now=now)
        return told_of

    while len(changes) < this.left:
        made = change_batch(services, this, "loops", change)
        changes += made
        if this.dry_run or len(made) < BATCH:
            break
    return changes


def _change(loop: Loop, move: str, now: datetime) -> Change:
    quiet = (now - quiet_since(loop)).days
    woke = loop.snoozed_until is not None and loop.snoozed_until > loop.updated_at
    return Change(
        kind="loop",
        id=loop.id,
        move=move,
        why=f"nobody spoke of it for {quiet} days" + (" since it woke" if woke else ""),
        text=told(loop),
        persona=loop.persona,
        before=columns(loop, *LOOP_COLUMNS),
        after={"status": "stale" if move == "stale" else "resolved"},
    )
