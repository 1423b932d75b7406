"""Write down what fading says: what is over leaves recall, what is used often or never changes its tier.

Archived, never deleted: history and `as_of` keep it, and the run can be undone.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from itertools import takewhile
from typing import Any

from zomem_graph.nodes.care_values import Change, StepReport
from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.fading import Fate, Move
from zomem_graph.nodes.rules.tiers import wall_clock_expiry
from zomem_graph.nodes.steps.describe import told
from zomem_graph.nodes.steps.fading import fates, leave
from zomem_graph.nodes.steps.loops import close_loops
from zomem_graph.nodes.steps.upkeep import (
    FACT_COLUMNS,
    LOOP_COLUMNS,
    Round,
    batches,
    change_batch,
    columns,
    holding_together,
)
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit

__all__ = ["expire", "move_tiers"]

_PAGE = 1_000

_Wanted = Callable[[Fact, Fate], bool]


def expire(services: Services, this: Round) -> Flow[StepReport]:
    """Take out of recall what is past its time: facts, open loops with an end, documents (spec F9)."""
    changes: list[Change] = yield from _settle(
        services, this, "expire", wanted=lambda _fact, fate: fate.ended_at is not None, write=_end
    )
    room = this.left - len(changes)
    if room > 0:
        over = yield from work(
            lambda: change_batch(services, this, "expire", lambda unit, now: _end_loops(unit, now, room, this))
        )
        changes += over
    swept = yield from work(lambda: _sweep_documents(services, this))
    return StepReport(step="expire", changes=tuple(changes), counts={"documents": swept} if swept else {})


def move_tiers(services: Services, this: Round) -> Flow[StepReport]:
    """Promote what is used often, demote what nobody uses, one rung at a time (spec F11)."""
    changes: list[Change] = yield from _settle(
        services,
        this,
        "tiers",
        wanted=lambda fact, fate: fate.ended_at is None and fate.tier != fact.tier,
        write=_move,
    )
    return StepReport(step="tiers", changes=tuple(changes))


def _settle(
    services: Services,
    this: Round,
    step: str,
    *,
    wanted: _Wanted,
    write: Callable[[Unit, Sequence[tuple[Fact, Fate]], bool, datetime], list[Change]],
) -> Flow[list[Change]]:
    """Walk over all facts in short reads and write down the fate of those that are wanted."""
    changes: list[Change] = []
    bridges, days = yield from work(lambda: _standing(services))
    after = ""
    while len(changes) < this.left:
        due, after = yield from work(partial(_due, services, this, after, wanted, bridges, days))
        for batch in batches(due[: this.left - len(changes)]):

            def settle(unit: Unit, now: datetime, batch: Sequence[str] = batch) -> list[Change]:
                facts = [fact for fact in unit.facts.find(batch) if fact.state == "current"]
                found = fates(unit, facts, now=now, rules=this.rules, protected=bridges)
                fit = [(fact, found[fact.id]) for fact in facts if wanted(fact, found[fact.id])]
                return write(unit, fit, this.dry_run, now)

            made = yield from work(partial(change_batch, services, this, step, settle))
            changes += made
        if not after:
            break
    return changes


def _standing(services: Services) -> tuple[frozenset[str], Sequence[date]]:
    with services.stores.read() as unit:
        return holding_together(unit), unit.care.active_days()


def _due(
    services: Services,
    this: Round,
    after: str,
    wanted: _Wanted,
    bridges: Collection[str],
    days: Sequence[date],
) -> tuple[list[str], str]:
    """Return which facts of one page are wanted, and where the next page begins; "" at the end."""
    now = services.clock()
    with services.stores.read() as unit:
        page = unit.care.facts_after(after, limit=_PAGE)
        found = fates(unit, page, now=now, rules=this.rules, protected=bridges, active_days=days)
    due = [fact.id for fact in page if wanted(fact, found[fact.id])]
    return due, page[-1].id if len(page) == _PAGE else ""


def _end(unit: Unit, ended: Sequence[tuple[Fact, Fate]], dry_run: bool, now: datetime) -> list[Change]:
    if not dry_run:
        leave(unit, ended, now=now)
    return [
        _change(fact, fate.moves[-1].kind, fate.moves[-1].why, {"state": fate.moves[-1].kind}) for fact, fate in ended
    ]


def _move(unit: Unit, moved: Sequence[tuple[Fact, Fate]], dry_run: bool, now: datetime) -> list[Change]:
    changes: list[Change] = []
    for fact, fate in moved:
        tier = fate.tier or fact.tier
        # What became permanent stays so, also in a run that may not make anything permanent.
        given = tier if tier == "permanent" else fact.given_tier or fact.tier
        expires = None if fate.moves else wall_clock_expiry(tier, now)
        if not dry_run:
            unit.facts.change(fact.id, tier=tier, given_tier=given, expires_at=expires)
            if expires != fact.expires_at:
                unit.items.set_expiry(fact.id, expires)
        steps = _rungs(fact.tier, fate)
        kind = steps[-1].kind if steps else "demoted"
        changes.append(_change(fact, kind, "; then ".join(move.why for move in steps), {"tier": tier}))
    return changes


def _rungs(tier: str, fate: Fate) -> list[Move]:
    """Return the last moves, those since the fact had the tier that is written down."""
    return list(takewhile(lambda move: move.to != tier, reversed(fate.moves)))[::-1]


def _change(fact: Fact, move: str, why: str, after: Mapping[str, Any]) -> Change:
    return Change(
        kind="fact",
        id=fact.id,
        move=move,
        why=why,
        text=fact.text,
        persona=fact.persona,
        before=columns(fact, *FACT_COLUMNS),
        after=after,
    )


def _end_loops(unit: Unit, now: datetime, room: int, this: Round) -> list[Change]:
    loops = unit.loops.over(now=now, limit=min(room, _PAGE))
    if not this.dry_run:
        close_loops(unit, loops, status="superseded", now=now, note="its time is over")
    return [
        Change(
            kind="loop",
            id=loop.id,
            move="expired",
            why=f"its end was {loop.expires_at:%Y-%m-%d %H:%M} UTC",
            text=told(loop),
            persona=loop.persona,
            before=columns(loop, *LOOP_COLUMNS),
            after={"status": "superseded"},
        )
        for loop in loops
    ]


def _sweep_documents(services: Services, this: Round) -> int:
    """Remove documents whose time to live is over; they are nobody's memory, and their store says so."""
    if this.dry_run:
        return 0
    swept = 0
    while True:
        with services.stores.write() as unit:
            gone = unit.documents.sweep(now=services.clock(), limit=500)
        swept += gone
        if gone < 500:
            return swept
