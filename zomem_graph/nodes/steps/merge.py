"""Merge facts that say the same of one entity and key (spec F12).

Nothing is cut or rewritten: the newest stays as it is and takes over what was known of the others, the others
leave recall as merged, with a link from the one to each of them. A model may only confirm pairs that the code
has found near; whatever else it says changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby

from zomem_graph.nodes.care_values import Change, StepReport
from zomem_graph.nodes.flow import Flow, Question, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.prompts import same_ask
from zomem_graph.nodes.rules.merging import near_pairs, twins
from zomem_graph.nodes.rules.replies import read_numbers
from zomem_graph.nodes.steps.fading import given_tier, longer_lived
from zomem_graph.nodes.steps.settle import SUPERSEDES, link_between
from zomem_graph.nodes.steps.upkeep import FACT_COLUMNS, LIFE_COLUMNS, Round, batches, change_batch, columns
from zomem_graph.stores.care import Listed
from zomem_graph.stores.errors import ModelError
from zomem_graph.stores.records import Fact, Link
from zomem_graph.stores.unit import Unit

__all__ = ["merge"]

_MOST_ASKED = 20  # pairs a run that a model is asked about
_KEPT_COLUMNS = ("confidence", "importance", "access_count", "last_accessed", *LIFE_COLUMNS)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two facts that say the same: the newer one stays."""

    stays: Listed
    goes: Listed
    why: str


def merge(services: Services, this: Round) -> Flow[StepReport]:
    """Let facts that say the same be one."""
    same, near = yield from work(lambda: _found(services))
    changes: list[Change] = yield from _merged(services, this, same)
    notes: tuple[str, ...] = ()
    model = services.chat("maintenance") if near else None
    if model is not None and len(changes) < this.left:
        try:
            reply = yield Question(model, same_ask([(pair.stays.text, pair.goes.text) for pair in near]))
            confirmed = [near[number - 1] for number in read_numbers(reply.text, most=len(near))]
        except ModelError as error:
            confirmed, notes = [], (f"near facts are left as they are: {error}",)
        rest = replace(this, left=this.left - len(changes))
        changes += yield from _merged(services, rest, confirmed)
    return StepReport(step="merge", changes=tuple(changes), notes=notes)


def _found(services: Services) -> tuple[list[_Pair], list[_Pair]]:
    """Return pairs that say the same, and pairs that may."""
    same: list[_Pair] = []
    near: list[_Pair] = []
    with services.stores.read() as unit:
        parted = unit.care.parted()
        listed = unit.care.listed()
    for _address, group in groupby(listed, key=lambda one: one.address):
        facts = list(group)
        texts = [fact.value for fact in facts]
        if len(facts) < 2:
            continue
        same += [
            _Pair(facts[places[0]], facts[place], "says the same as one that is newer")
            for places in twins(texts)
            for place in places[1:]
            if (facts[place].id, facts[places[0]].id) not in parted
        ]
        if len(near) < _MOST_ASKED:
            near += [
                _Pair(facts[first], facts[second], "says the same in other words, as the model confirmed")
                for first, second in near_pairs(texts, most=_MOST_ASKED - len(near))
                if (facts[second].id, facts[first].id) not in parted
            ]
    return same, near


def _merged(services: Services, this: Round, pairs: Sequence[_Pair]) -> Flow[list[Change]]:
    changes: list[Change] = []
    for batch in batches(pairs[: this.left]):

        def change(unit: Unit, now: datetime, batch: Sequence[_Pair] = batch) -> list[Change]:
            made = (_merge_one(unit, pair, dry_run=this.dry_run, now=now) for pair in batch)
            return [one for one in made if one is not None]

        made = yield from work(partial(change_batch, services, this, "merge", change))
        changes += made
    return changes


def _merge_one(unit: Unit, pair: _Pair, *, dry_run: bool, now: datetime) -> Change | None:
    """Merge one pair as it stands now; None when either was changed or ended since it was looked at."""
    fresh = {fact.id: fact for fact in unit.facts.find([pair.stays.id, pair.goes.id])}
    stays, goes = fresh.get(pair.stays.id), fresh.get(pair.goes.id)
    if stays is None or goes is None or {stays.state, goes.state} != {"current"}:
        return None
    if (stays.value, goes.value) != (pair.stays.value, pair.goes.value):
        return None
    links = _inherited(unit, stays, goes, now)
    turns: list[str] = []
    heir = _heir(stays, goes)
    if not dry_run:
        turns = unit.care.inherit_uses(stays.id, goes.id)
        unit.facts.change(stays.id, **{name: getattr(heir, name) for name in _KEPT_COLUMNS})
        unit.items.set_expiry(stays.id, heir.expires_at)
        unit.links.add(links)
        unit.facts.end([goes.id], state="merged", at=now, superseded_by=stays.id)
        unit.items.end([goes.id], state="merged", at=now)
        unit.provenance.ended([goes.id], at=now, superseded_by=stays.id, now=now)
    return Change(
        kind="fact",
        id=goes.id,
        move="merged",
        why=f"{pair.why}, {stays.id[:8]}",
        text=goes.text,
        persona=goes.persona,
        before={**columns(goes, *FACT_COLUMNS), "kept": columns(stays, *_KEPT_COLUMNS)},
        after={
            "state": "merged",
            "into": stays.id,
            "kept": columns(heir, *_KEPT_COLUMNS),
            "turns": turns,
            "links": [[link.source_id, link.target_id, link.relation] for link in links],
        },
    )


def _heir(stays: Fact, goes: Fact) -> Fact:
    """Return the one that stays with the surest, the weightiest and the longest life of both."""
    longest = longer_lived(given_tier(stays), given_tier(goes))
    used = [at for at in (stays.last_accessed, goes.last_accessed) if at is not None]
    heir = replace(
        stays,
        confidence=max(stays.confidence, goes.confidence),
        importance=max(stays.importance, goes.importance),
        access_count=stays.access_count + goes.access_count,
        last_accessed=max(used, default=None),
    )
    if longest == given_tier(stays):
        return heir
    return replace(heir, tier=longest, given_tier=None, expires_at=None)


def _inherited(unit: Unit, stays: Fact, goes: Fact, now: datetime) -> list[Link]:
    """Return the links that are new to the one that stays: those of the other, and the one to the other."""
    known = {(link.source_id, link.target_id, link.relation) for link in unit.links.touching([stays.id])}
    taken = [
        replace(
            link,
            source_id=stays.id if link.source_id == goes.id else link.source_id,
            target_id=stays.id if link.target_id == goes.id else link.target_id,
        )
        for link in unit.links.touching([goes.id])
        if link.relation != SUPERSEDES
    ]
    new = [link_between(stays.id, goes.id, SUPERSEDES, now), *taken]
    return [
        link
        for link in new
        if link.source_id != link.target_id and (link.source_id, link.target_id, link.relation) not in known
    ]
