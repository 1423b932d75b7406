"""Take back the last run of maintenance, change by change, newest first.

What was changed again since then stays as it is now, and the report says so. What time had ended or moved begins
a new life, so that the next run does not do the same at once; a merge is parted as it was, and not proposed again.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from zomem_graph.nodes.care_values import Change, UndoReport
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.tiers import wall_clock_expiry
from zomem_graph.nodes.steps.describe import told
from zomem_graph.nodes.steps.maintain import Upkeep, alone
from zomem_graph.nodes.steps.upkeep import LIFE_COLUMNS, batches, columns
from zomem_graph.stores.care_records import CareMove
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Fact, Loop
from zomem_graph.stores.unit import Unit

__all__ = ["undo_last"]

_TIMES = ("last_accessed", "kept_since", "expires_at")


def undo_last(services: Services) -> UndoReport:
    """Undo the newest run that changed something. Raises InvalidInput when there is none, MaintenanceBusy."""
    with alone(services, Upkeep()):
        with services.stores.read() as unit:
            run = unit.care.last_with_moves()
            moves = unit.care.moves_of(run.id) if run is not None else []
        if run is None:
            raise InvalidInput("There is no run of maintenance to undo.")
        outcomes: list[tuple[bool, Change]] = []
        for batch in batches(moves[::-1]):
            with services.stores.write() as unit:
                outcomes += [_undo_one(unit, move, services.clock()) for move in batch]
        with services.stores.write() as unit:
            unit.care.close(run.id, status="undone", now=services.clock())
    services.wake_worker()
    return UndoReport.of(run.id, outcomes)


def _undo_one(unit: Unit, move: CareMove, now: datetime) -> tuple[bool, Change]:
    if move.kind == "loop":
        return _undo_loop(unit, move, now)
    found = unit.facts.find([move.item_id])
    if not found:
        return False, _told(move, "it is gone")
    fact = found[0]
    text = fact.text
    if any(getattr(fact, name) != move.after[name] for name in ("state", "tier") if name in move.after):
        return False, _told(move, "it was changed since", text, fact.persona)
    if "state" in move.after:
        if unit.facts.current(fact.persona, fact.slot) is not None:
            return False, _told(move, "another value has taken its place since", text, fact.persona)
        unit.facts.change(fact.id, state="current", ended_at=None, superseded_by=None)
        unit.care.revive(fact.id, "fact", fact.persona)
        unit.provenance.ended([fact.id], at=None, superseded_by=None, now=now)
    if move.move == "merged":
        _part(unit, move)
        return True, _told(move, move.why, text, fact.persona)
    _live_again(unit, fact, str(move.before["tier"]), now)
    return True, _told(move, move.why, text, fact.persona)


def _live_again(unit: Unit, fact: Fact, tier: str, now: datetime) -> None:
    expires = wall_clock_expiry(tier, now)
    unit.facts.change(fact.id, tier=tier, given_tier=None, kept_since=now, expires_at=expires)
    unit.items.set_expiry(fact.id, expires)


def _part(unit: Unit, move: CareMove) -> None:
    """Take back what the one that stayed took over, as far as it was not changed since."""
    into = str(move.after["into"])
    kept: Mapping[str, Any] = move.before["kept"]
    took: Mapping[str, Any] = move.after.get("kept", kept)  # absent in runs of an older version
    for stayed in unit.facts.find([into]):
        now = columns(stayed, *kept)
        back = {name: value for name, value in kept.items() if now[name] == took[name]}
        if any(name in kept and name not in back for name in LIFE_COLUMNS):
            back = {name: value for name, value in back.items() if name not in LIFE_COLUMNS}
        if "access_count" not in back:  # used since: those uses stay
            back["access_count"] = max(0, stayed.access_count - took["access_count"] + kept["access_count"])
        unit.facts.change(into, **{name: _moment(value) if name in _TIMES else value for name, value in back.items()})
        if "expires_at" in back:
            unit.items.set_expiry(into, _moment(back["expires_at"]))
    unit.care.uncount(into, move.after["turns"])
    for source, target, relation in move.after["links"]:
        unit.links.remove(source, target, relation)


def _undo_loop(unit: Unit, move: CareMove, now: datetime) -> tuple[bool, Change]:
    found = unit.loops.find([move.item_id])
    if not found:
        return False, _told(move, "it is gone")
    loop: Loop = found[0]
    if loop.status != move.after["status"]:
        return False, _told(move, "it was changed since", told(loop), loop.persona)
    twin = unit.loops.twin(loop.persona, loop.fingerprint)
    if twin is not None and twin.id != loop.id:
        return False, _told(move, "the same loop was opened anew", told(loop), loop.persona)
    ended = _moment(move.before["expires_at"])
    expires = None if ended is None or ended <= now else ended
    values = {"resolved_at": _moment(move.before["resolved_at"]), "resolution": move.before["resolution"]}
    unit.loops.change(loop.id, status=move.before["status"], updated_at=now, expires_at=expires, **values)
    unit.care.revive(loop.id, "loop", loop.persona)
    unit.items.set_expiry(loop.id, expires)
    return True, _told(move, move.why, told(loop), loop.persona)


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _told(move: CareMove, why: str, text: str = "", persona: str = "") -> Change:
    return Change(
        kind=move.kind,
        id=move.item_id,
        move=move.move,
        why=why,
        text=text,
        persona=persona,
        before=move.before,
        after=move.after,
    )
