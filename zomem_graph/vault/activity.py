"""How active the vault's facts are now, and what follows: in search, out of it, archived (spec F111-F115)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from zomem_graph.nodes.rules.fading import Fading, Life, Use, fate
from zomem_graph.nodes.steps.settle import item_of
from zomem_graph.nodes.steps.vault_following import ENDED
from zomem_graph.stores.records import Access, Fact
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_records import VaultFact
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.options import VaultOptions

__all__ = [
    "ACTIVE",
    "ARCHIVED",
    "FADING",
    "Standing",
    "archive",
    "decay",
    "fresh",
    "join",
    "lasts",
    "over_the_cap",
    "rate",
    "revive",
    "stand",
]

ACTIVE, FADING, ARCHIVED = "active", "fading", "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one fact stands at a time; `ended_at` is when its activation fell below what archives."""

    fact: Fact
    activation: float
    band: str
    ended_at: datetime | None


def stand(
    pairs: Iterable[tuple[Fact, VaultFact]],
    uses: Mapping[str, Sequence[Access]],
    options: VaultOptions,
    now: datetime,
) -> list[Standing]:
    """Return how facts stand now; what does not hold any more stays as active as it was."""
    rules = Fading(
        half_life_days=options.half_life_days,
        boost=options.recall_boost,
        floor=options.search_threshold,
        fading_below=options.search_threshold,
        archive_below=options.prune_threshold,
    )
    return [_stand(fact, row, uses.get(fact.id, ()), rules, now) for fact, row in pairs]


def decay(unit: Unit, ground: Ground, now: datetime) -> list[Standing]:
    """Write down how active every fact is now; what faded leaves search, what revived comes back to it.

    What fell below the threshold of archiving is marked; `archive` takes it away.
    """
    pairs = unit.vault.current()
    before = {row.fact_id: row.band for _fact, row in pairs}
    waiting = [pair for pair in pairs if pair[1].band != ARCHIVED]
    standing = stand(waiting, unit.vault.uses(), ground.options, now)
    unit.vault.put([_row(one, now) for one in standing])
    left = [one.fact.id for one in standing if one.band != ACTIVE and before[one.fact.id] == ACTIVE]
    unit.items.end(left, state=ARCHIVED, at=now)
    revive(unit, [one.fact for one in standing if one.band == ACTIVE and before[one.fact.id] == FADING])
    return standing


def archive(unit: Unit, facts: Mapping[str, datetime]) -> int:
    """Archive facts, each from its time on; return how many."""
    rows = unit.vault.of(list(facts))
    for fact_id, at in facts.items():
        unit.facts.end([fact_id], state=ARCHIVED, at=at)
        unit.items.end([fact_id], state=ARCHIVED, at=at)
        unit.provenance.ended([fact_id], at=at, superseded_by=None, now=at)
    unit.vault.put([_banded(row, ARCHIVED) for row in rows.values()])
    return len(facts)


def over_the_cap(unit: Unit, ground: Ground, now: datetime) -> dict[str, datetime]:
    """Return what has to go so that at most `max_facts` hold: the least active first, what is permanent last."""
    if unit.vault.count(state="current") <= ground.options.max_facts:
        return {}
    pairs = [pair for pair in unit.vault.current() if pair[1].band != ARCHIVED]
    spare = len(pairs) - ground.options.max_facts
    if spare <= 0:
        return {}
    standing = stand(pairs, unit.vault.uses(), ground.options, now)
    standing.sort(key=lambda one: (one.fact.tier == "permanent", one.activation, one.fact.created_at, one.fact.id))
    return {one.fact.id: now for one in standing[:spare]}


def join(unit: Unit, facts: Iterable[Fact], at: Mapping[str, datetime], now: datetime) -> list[Fact]:
    """Take facts into the vault, or say them again: activation 1 from their time on. Return those that changed.

    Saying something again at an earlier time than known changes nothing, so repeating this does no harm.
    """
    listed = list({fact.id: fact for fact in facts}.values())
    known = unit.vault.of([fact.id for fact in listed])
    changed: list[Fact] = []
    rows: list[VaultFact] = []
    for fact in listed:
        moment = min(at.get(fact.id, now), now)
        row = known.get(fact.id)
        if row is not None and (_known(row, moment) or fact.state != "current"):
            continue
        band = ACTIVE if fact.state == "current" else ARCHIVED if fact.state == ARCHIVED else ENDED
        rows.append(VaultFact(fact_id=fact.id, activation=1.0, as_of=moment, band=band))
        changed.append(fact)
    revive(unit, [fact for fact in changed if fact.id in known and known[fact.id].band == FADING])
    unit.vault.put(rows)
    return changed


def lasts(fact: Fact) -> bool:
    """Return whether a fact never leaves search."""
    return fact.tier == "permanent" or fact.importance >= Fading().important_from


def rate(unit: Unit, said: Mapping[str, float | None], now: datetime) -> None:
    """Write down how active facts of the vault are as of now, where their lines say so; None says nothing."""
    rows = unit.vault.of([fact_id for fact_id, activation in said.items() if activation is not None])
    unit.vault.put(
        [
            VaultFact(fact_id=row.fact_id, activation=activation, as_of=now, band=row.band)
            for row in rows.values()
            if (activation := said[row.fact_id]) is not None and row.band != ARCHIVED
        ]
    )


def fresh(fact_id: str, now: datetime) -> VaultFact:
    """Return the row of a fact that is as active as can be."""
    return VaultFact(fact_id=fact_id, activation=1.0, as_of=now, band=ACTIVE)


def revive(unit: Unit, facts: Sequence[Fact]) -> None:
    """Bring facts back into search."""
    unit.items.purge([fact.id for fact in facts])
    unit.items.add([item_of(fact) for fact in facts])


def _known(row: VaultFact, moment: datetime) -> bool:
    return row.as_of > moment or (row.as_of == moment and row.activation >= 1.0)


def _stand(fact: Fact, row: VaultFact, uses: Sequence[Access], rules: Fading, now: datetime) -> Standing:
    if fact.state != "current" or row.band == ARCHIVED:
        return Standing(fact=fact, activation=row.activation, band=ARCHIVED, ended_at=fact.ended_at)
    # Tiers are the store's business: of them the vault knows only what is permanent.
    tier = "permanent" if fact.tier == "permanent" else None
    life = Life(as_of=row.as_of, tier=tier, importance=fact.importance, activation=row.activation)
    found = fate(life, [Use(use.at, use.turn_key) for use in uses], None, now, rules=rules)
    return Standing(fact=fact, activation=found.activation, band=found.state, ended_at=found.ended_at)


def _row(one: Standing, now: datetime) -> VaultFact:
    as_of = one.ended_at if one.band == ARCHIVED and one.ended_at is not None else now
    return VaultFact(fact_id=one.fact.id, activation=one.activation, as_of=as_of, band=one.band)


def _banded(row: VaultFact, band: str) -> VaultFact:
    return VaultFact(fact_id=row.fact_id, activation=row.activation, as_of=row.as_of, band=band)
