"""Count what was injected or returned to a caller, and the days on which memory was in use (spec F8, T28).

Once a turn; a probe counts nothing and leaves no day.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from zomem_graph.nodes.flow import Failed, Flow, attempt, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Hit
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.records import Access, Fact
from zomem_graph.stores.unit import Unit

__all__ = ["count_returned", "count_uses", "turn_key_of"]


def turn_key_of(message: str, now: datetime) -> str:
    """Return what stands for the turn where a caller names none: the same words within the same hour are one."""
    return content_hash(message, f"{now:%Y-%m-%dT%H}")


def count_uses(
    unit: Unit, items: Mapping[str, str], *, kind: str, persona: str, turn_key: str, now: datetime
) -> None:
    """Count a use of each of these, given as id and kind, once a turn.

    A session fact that is used often is promoted at once.
    """
    unit.care.in_use(now)
    uses = [Access(item_id=id_, at=now, kind=kind, persona=persona, turn_key=turn_key) for id_ in items]
    counted = [id_ for id_ in unit.journal.accessed(uses) if items[id_] == "fact"]
    if not counted:
        return
    unit.facts.touch(counted, at=now)
    _keep_used(unit, [fact for fact in unit.facts.find(counted) if fact.expires_at is not None], now)


def count_returned(
    services: Services, hits: Sequence[Hit], *, asked: str, kind: str, scope: Scope
) -> Flow[str | None]:
    """Count hits that go to a caller; return a note when that could not be written."""
    now = services.clock()
    found = {hit.id: hit.kind for hit in hits}

    def count() -> None:
        with services.stores.write(hasty=True) as unit:
            count_uses(unit, found, kind=kind, persona=scope.persona, turn_key=turn_key_of(asked, now), now=now)

    done = yield from attempt(work(count))
    return f"not counted: {done.error}" if isinstance(done, Failed) else None


def _keep_used(unit: Unit, facts: Sequence[Fact], now: datetime) -> None:
    """Let facts that were to end with their session live on where their uses say so (spec F11)."""
    if not facts:
        return
    from zomem_graph.nodes.steps.fading import fates

    for id_, fate in fates(unit, facts, now=now).items():
        fact = next(one for one in facts if one.id == id_)
        if fate.ended_at is None and fate.tier is not None and fate.tier != fact.tier:
            unit.facts.change(id_, tier=fate.tier, given_tier=fact.given_tier or fact.tier, expires_at=None)
            unit.items.set_expiry(id_, None)
