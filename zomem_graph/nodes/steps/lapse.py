"""What a session says holds for the session: when its time is over, what it had taken the place of stands again.

A value that lives by the clock retires one that lives longer, for the slot has one current value. When it ends
by the clock the older one is given back, whoever notices first: a read, the next value of the slot, or maintenance.
"""

from datetime import datetime

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.tiers import WALL_CLOCK_TIERS
from zomem_graph.stores.errors import StoreError
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit

__all__ = ["end_by_clock", "give_back", "lapse"]

_LONGEST_CHAIN = 100  # values of a session that one slot may have had one after the other


def lapse(services: Services) -> str | None:
    """Before a read: end what the clock has ended where something waits to stand again.

    Return a note when that could not be written: then neither stands until it can.
    """
    now = services.clock()
    with services.stores.read() as unit:
        if not unit.facts.lapsed(now):
            return None
    try:
        with services.stores.write(hasty=True) as unit:
            for fact in unit.facts.lapsed(now):
                end_by_clock(unit, fact, now)
    except StoreError as error:
        return f"what a session's value took the place of is not given back yet: {error}"
    services.wake_worker()
    return None


def end_by_clock(unit: Unit, fact: Fact, now: datetime) -> Fact | None:
    """End a fact as of when its time was over; return what stands in its slot again."""
    at = fact.expires_at or now
    unit.facts.end([fact.id], state="expired", at=at)
    unit.items.end([fact.id], state="expired", at=at)
    return give_back(unit, fact, now)


def give_back(unit: Unit, ended: Fact, now: datetime) -> Fact | None:
    """Make current again what a value that the clock has ended took the place of; None when nothing did."""
    if ended.tier not in WALL_CLOCK_TIERS:
        return None
    given: Fact | None = None
    for older in _longer_lived(unit, ended, now):
        if unit.facts.current(older.persona, older.slot) is None:
            unit.conflicts.revive(older.id)
            unit.facts.change(
                older.id, confidence=min(1.0, older.confidence * 2)
            )  # it was halved when it was retired
            unit.provenance.ended([older.id], at=None, superseded_by=None, now=now)
            given = unit.facts.find([older.id])[0] if older.slot == ended.slot else given
    return given


def _longer_lived(unit: Unit, ended: Fact, now: datetime) -> list[Fact]:
    """Return what it ousted, one for a slot; in place of what is over as well, what that one had ousted."""
    found: dict[str, Fact] = {}
    chain = [ended]
    for newer in chain:
        if len(chain) > _LONGEST_CHAIN:
            break
        # What only was filed behind it, as late or past, never was current before it.
        ousted = [
            one
            for one in unit.conflicts.ousted_by(newer.id)
            if one.state == "superseded" and one.ended_at == newer.created_at
        ]
        for older in ousted:
            if older.expires_at is None or older.expires_at > now:
                found.setdefault(older.slot, older)
            else:
                chain.append(older)
    return list(found.values())
