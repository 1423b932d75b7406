"""Recall over both: the vault's facts and everything else its memory has, in one answer (spec F112, F114, F133).

Activation decides what of the vault may be found, and weighs it a little; it never outranks a match by itself.
What leads the answer is used and raised; a probe raises nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zomem_graph.nodes.flow import run
from zomem_graph.nodes.rules.given import flag, whole
from zomem_graph.nodes.rules.vault_lines import file_id
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.query import MOST_HITS
from zomem_graph.nodes.steps.uses import count_returned
from zomem_graph.nodes.values import Hit
from zomem_graph.stores.errors import StoreLocked, StoreReadOnly
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.records import Access
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_records import VaultFact
from zomem_graph.vault.activity import ACTIVE, stand
from zomem_graph.vault.following import follow_uses
from zomem_graph.vault.ground import Ground

__all__ = ["VaultHits", "recall"]

_RAISED = 3  # of the best; the rest were only nearby
_LEAST, _SHARE = 0.7, 0.3
_SPARE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultHits:
    """What was found, best first; `activation` of the vault's facts by id, `degraded` what was missing."""

    hits: tuple[Hit, ...]
    activation: dict[str, float]
    raised: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    def plain(self) -> list[dict[str, Any]]:
        """Return the hits as JSON would hold them."""
        return [
            {
                "kind": hit.kind,
                "id": file_id(hit.id) if hit.id in self.activation else hit.id,
                "text": hit.text,
                "score": round(hit.score, 4),
                "activation": None if (found := self.activation.get(hit.id)) is None else round(found, 4),
                "created_at": hit.created_at.isoformat(),
                "metadata": dict(hit.metadata),
            }
            for hit in self.hits
        ]


def recall(ground: Ground, query: str, *, limit: int, scope: Scope, probe: bool = False) -> VaultHits:
    """Return what answers a question; `probe` counts as no use."""
    limit = whole("limit", limit, least=1, most=MOST_HITS)
    probe = flag("probe", probe)
    memory = ground.memory
    looked = min(limit * _SPARE, MOST_HITS)
    found = memory.search(query, scope=scope, limit=looked, probe=True)  # uses are counted below
    facts = [hit.id for hit in found if hit.kind == "fact"]
    now = ground.now()
    with memory.stores.read() as unit:
        rows = unit.vault.of(facts)
        pairs = [(fact, rows[fact.id]) for fact in unit.facts.find(list(rows))]
        standing = {one.fact.id: one for one in stand(pairs, unit.vault.uses(list(rows)), ground.options, now)}
    shown = [hit for hit in found if hit.id not in standing or standing[hit.id].band == ACTIVE]
    weighed = [_weighed(hit, standing[hit.id].activation) if hit.id in standing else hit for hit in shown]
    best = sorted(weighed, key=lambda hit: -hit.score)[:limit]
    activation = {hit.id: standing[hit.id].activation for hit in best if hit.id in standing}
    raised = [] if probe else [hit.id for hit in best[:_RAISED] if hit.id in standing]
    notes = _use(ground, raised, content_hash(query, now.isoformat()), scope) if raised else ()
    others = [] if probe else [hit for hit in best if hit.id not in standing]
    if others and (note := run(count_returned(memory, others, asked=query, kind="search", scope=scope))) is not None:
        notes = (*notes, note)
    return VaultHits(
        hits=tuple(best),
        activation=activation,
        raised=tuple(raised),
        degraded=(*found.degraded, *notes),
    )


def _use(ground: Ground, fact_ids: Sequence[str], turn: str, scope: Scope) -> tuple[str, ...]:
    """Count the uses; return why not, where that cannot be. An answer is never withheld for it."""
    try:
        with ground.held("recall", wait_seconds=5.0):
            with ground.memory.stores.write(hasty=True) as unit:
                _raise(unit, ground, fact_ids, turn, scope)
            follow_uses(ground)
    except (StoreLocked, StoreReadOnly) as error:
        return (f"not counted as used: {error}",)
    return ()


def _weighed(hit: Hit, activation: float) -> Hit:
    return replace(hit, score=hit.score * (_LEAST + _SHARE * activation))


def _raise(unit: Unit, ground: Ground, fact_ids: Sequence[str], turn: str, scope: Scope) -> None:
    """Count one use of each and write down how active it is after it."""
    now = ground.now()
    uses = [Access(item_id=id_, at=now, kind="vault", persona=scope.persona, turn_key=turn) for id_ in fact_ids]
    counted = unit.journal.accessed(uses)
    unit.facts.touch(counted, at=now)
    rows = unit.vault.of(counted)
    pairs = [(fact, rows[fact.id]) for fact in unit.facts.find(counted) if fact.id in rows]
    since = unit.vault.uses(counted)
    for one in stand(pairs, since, ground.options, now):
        row = rows[one.fact.id]
        new = one.activation
        if not any(use.at == now for use in since.get(one.fact.id, ())):
            new += ground.options.recall_boost * (1.0 - new)  # the very moment of `as_of` is in no fold
        unit.vault.put([VaultFact(fact_id=row.fact_id, activation=new, as_of=now, band=row.band)])
    ground.fall_behind(unit)
