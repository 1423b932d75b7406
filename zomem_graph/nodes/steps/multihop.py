"""Multi-hop: a breadth-first search from the first finds, over links and over what they mention (spec F82).

Each hop follows the strongest links and rarest shared names of the frontier, and asks again for what is still
open, in the words of the newly found names. It ends when it is sure enough, or when a hop adds nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import log, sqrt
from time import perf_counter
from typing import Any, Final

from zomem_graph.nodes.flow import Failed, Flow, Question, attempt, work
from zomem_graph.nodes.options import MultiHopOptions
from zomem_graph.nodes.ports import ChatModel, Reply, Services
from zomem_graph.nodes.prompts import refine_ask
from zomem_graph.nodes.rules.confidence import confidence, open_terms
from zomem_graph.nodes.rules.hop import share_told
from zomem_graph.nodes.rules.replies import read_search_words
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable
from zomem_graph.nodes.steps.changed import with_changes
from zomem_graph.nodes.steps.describe import Described, describe
from zomem_graph.nodes.steps.legs import allowed
from zomem_graph.nodes.steps.metrics import measured
from zomem_graph.nodes.steps.names import names_told
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.steps.retrieve import retrieve
from zomem_graph.nodes.values import Explanation, Hit
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.stems import stem
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms

__all__ = ["Hopped", "hop_far"]

_PATIENCE: Final = 4.0  # seconds a model has for the next words
_TELLING: Final = 0.5  # of the best score, from which on a find may say what to ask next


@dataclass(frozen=True, slots=True, kw_only=True)
class Hopped:
    """What a multi-hop search found, best first; how sure it is; every hop; and what was missing."""

    hits: tuple[Hit, ...] = ()
    confidence: float = 0.0
    trace: tuple[Mapping[str, Any], ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reached:
    """Everything found so far, by id, with what it says and names."""

    hits: dict[str, Hit] = field(default_factory=dict)
    stems: dict[str, frozenset[str]] = field(default_factory=dict)
    entities: dict[str, list[str]] = field(default_factory=dict)

    def held(self) -> set[str]:
        return set().union(*self.stems.values()) if self.stems else set()


@dataclass(frozen=True, slots=True)
class _Step:
    """One way from a known item to another; `said` is the share of the question that its link says."""

    source: str
    target: str
    by: str
    worth: float
    said: float = 0.0


def hop_far(
    services: Services, query: Query, scope: Scope, *, options: MultiHopOptions | None = None
) -> Flow[Hopped]:
    """Search, then hop outward until the question is covered."""
    with measured(services, "hop", scope) as one:
        found = yield from _hopped(services, query, scope, options or services.options.multi_hop)
        one.results = len(found.hits)
    return found


def _hopped(services: Services, query: Query, scope: Scope, chosen: MultiHopOptions) -> Flow[Hopped]:
    first = yield from retrieve(services, replace(query, limit=max(query.limit, chosen.frontier)), scope)
    reached, notes = _Reached(), list(first.degraded)
    learn = partial(_learn, services, reached, query=query, scope=scope)
    rarity: dict[str, float] = yield from work(partial(learn, first.hits))
    trace: list[Mapping[str, Any]] = [_told(0, len(first.hits), _sure(reached, rarity), ())]
    frontier: Sequence[Hit] = first.hits
    failed, ends = False, perf_counter() + chosen.deadline_seconds
    for number in range(1, chosen.max_hops + 1):
        sure = _sure(reached, rarity) >= chosen.enough
        if not frontier:
            break
        if (left := ends - perf_counter()) <= 0:
            notes.append(f"hop: stopped before hop {number}: {chosen.deadline_seconds:g} s had passed")
            break
        arrive = partial(_arrive, services, frontier, reached, rarity, query, scope, chosen, names=not sure)
        new: list[Hit] = yield from work(arrive)
        refined = ""
        if not sure:
            patience = 0.0 if failed else min(left, _PATIENCE)
            refined, note = yield from _refined(services, query, reached, rarity, new or frontier, patience=patience)
            failed = failed or bool(note)
            notes += [note] if note else []
        elif not new:
            break
        if refined:
            asked = replace(query, text=refined, limit=chosen.frontier, hyde=False)
            again = yield from retrieve(services, asked, scope)
            notes += again.degraded
            known = {*reached.hits, *(hit.id for hit in new)}
            best = max((hit.score for hit in reached.hits.values()), default=1.0)
            new += [_faded(hit, number, chosen, most=best) for hit in again.hits if hit.id not in known]
        new = sorted(new, key=lambda hit: -hit.score)[: chosen.frontier]
        yield from work(partial(learn, new))
        trace.append(_told(number, len(new), _sure(reached, rarity), (refined,) if refined else ()))
        frontier = new
    hits = sorted(reached.hits.values(), key=lambda hit: -hit.score)[: query.limit]
    if query.as_of is None:
        hits = yield from work(partial(_with_changes, services, hits, scope))
    return Hopped(
        hits=tuple(hits), confidence=_sure(reached, rarity), trace=tuple(trace), degraded=tuple(dict.fromkeys(notes))
    )


def _with_changes(services: Services, hits: Sequence[Hit], scope: Scope) -> list[Hit]:
    with services.stores.read() as unit:
        return with_changes(unit, hits, readers=readable(unit, scope), moment=services.clock())


def _learn(
    services: Services, reached: _Reached, hits: Sequence[Hit], *, query: Query, scope: Scope
) -> dict[str, float]:
    """Add hits to what is reached, with the names and the question's stems they hold; return its rarity.

    What a link says of what it leads to is held too.
    """
    words = services.options.retrieve.hop.value_words
    with services.stores.read() as unit:
        numbers = unit.items.numbers_of([hit.id for hit in hits])
        asked = list(dict.fromkeys(stem(term) for term in terms(query.text)))
        rarity = unit.items.rarity(asked)
        stems = unit.items.stems_of(list(numbers.values()), asked)
        things = [(numbers[hit.id], hit.id, hit.kind) for hit in hits if hit.id in numbers]
        entities = names_told(unit, things, readable(unit, scope), value_words=words)
        for hit in hits:
            if (num := numbers.get(hit.id)) is not None:
                reached.hits.setdefault(hit.id, hit)
                reached.stems[hit.id] = stems.get(num, frozenset()) | told_by(hit.explanation.path, rarity)
                reached.entities[hit.id] = entities.get(num, [])
        return rarity


def _sure(reached: _Reached, rarity: Mapping[str, float]) -> float:
    total = sum(rarity.values())
    covered = sum(rarity[one] for one in rarity.keys() & reached.held()) / total if total else 0.0
    names = {name for found in reached.entities.values() for name in found}
    return confidence(covered, [hit.score for hit in reached.hits.values()], names)


def _over_links(
    unit: Unit, ids: Sequence[str], reached: _Reached, rarity: Mapping[str, float], options: MultiHopOptions
) -> list[_Step]:
    steps: list[_Step] = []
    for source in ids:
        links = unit.links.heaviest(source, limit=options.fan_out)
        for link in links.links:
            target = link.target_id if link.source_id == source else link.source_id
            if target not in reached.hits:
                worth, said = link.weight / sqrt(max(1, links.degree)), share_told(link.relation, rarity)
                steps.append(_Step(source, target, link.relation, worth, said))
    return steps


def _over_names(
    unit: Unit, ids: Sequence[str], reached: _Reached, scope: Scope, options: MultiHopOptions
) -> list[_Step]:
    names = sorted({name for id_ in ids for name in reached.entities.get(id_, ())})
    sharing = unit.items.sharing(names, list(readable(unit, scope)), most=options.most)
    numbers = sorted({num for found in sharing.values() for num in found})
    ids_of = unit.items.ids_of(numbers)
    total = unit.items.total()
    steps: list[_Step] = []
    for source in ids:
        for name in reached.entities.get(source, ()):
            others = [ids_of[num] for num in sharing.get(name, ()) if num in ids_of]
            worth = log(max(2, total) / max(1, len(others))) / (sqrt(max(1, len(others))) * log(max(2, total)))
            steps += [_Step(source, other, name, worth) for other in others if other not in reached.hits]
    return steps


def _arrive(
    services: Services,
    frontier: Sequence[Hit],
    reached: _Reached,
    rarity: Mapping[str, float],
    query: Query,
    scope: Scope,
    options: MultiHopOptions,
    *,
    names: bool,
) -> list[Hit]:
    """Return the best new items one hop away, each with its path and by the rules of every search.

    The ways out of the frontier are its heaviest links and, with `names`, its rarest names, capped for each item.
    """
    ids = [hit.id for hit in frontier]
    with services.stores.read() as unit:
        steps = _over_links(unit, ids, reached, rarity, options)
        steps += _over_names(unit, ids, reached, scope, options) if names else []
        best: dict[str, _Step] = {}
        for step in steps:
            if step.target not in best or step.worth > best[step.target].worth:
                best[step.target] = step
        personas = readable(unit, scope)
        numbers = unit.items.numbers_of(list(best))
        stems = unit.items.stems_of(list(numbers.values()), rarity)
        fits = allowed(query, personas, services.clock())
        live = {c.id: c for c in unit.items.candidates(list(numbers.values())) if fits(c)}
        described = describe(unit, [(c.id, c.kind) for c in live.values()], readers=personas)
    wanted = set(open_terms(rarity, reached.held()))
    hits: list[Hit] = []
    for id_, step in best.items():
        if id_ in live and id_ in described:
            gain = _gain(rarity, wanted, stems.get(numbers[id_]), options) + options.cover_gain * step.said
            hits.append(_hit(live[id_], described[id_], step, reached.hits[step.source], gain, options))
    return sorted(hits, key=lambda hit: -hit.score)[: options.frontier]


def _gain(
    rarity: Mapping[str, float], wanted: set[str], stems: frozenset[str] | None, options: MultiHopOptions
) -> float:
    """Return how much more an item counts for what it covers of what is still open."""
    weight = sum(rarity.values())
    covers = sum(rarity[one] for one in wanted & (stems or frozenset()))
    return options.base_gain + (options.cover_gain * covers / weight if weight else 0.0)


def _hit(
    candidate: Candidate, thing: Described, step: _Step, parent: Hit, gain: float, options: MultiHopOptions
) -> Hit:
    score = parent.score * options.fade * min(1.0, step.worth * gain)
    path = (*(parent.explanation.path or (step.source,)), step.by, candidate.id)
    return Hit(
        kind=candidate.kind,
        id=candidate.id,
        text=thing.text,
        score=score,
        found_by=frozenset({"hop"}),
        metadata=thing.metadata,
        created_at=candidate.moment,
        explanation=Explanation(boosts={"hop": round(step.worth, 4)}, path=path, raw_score=score),
    )


def _refined(
    services: Services,
    query: Query,
    reached: _Reached,
    rarity: Mapping[str, float],
    new: Sequence[Hit],
    *,
    patience: float,
) -> Flow[tuple[str, str]]:
    """Return what to ask next, and what went wrong: by the model, else the open words and the new names.

    The model has `patience` seconds; one that failed once, and has none left, is not asked again.
    """
    note = ""
    model = services.chat("gate") if patience > 0 else None
    if model is not None:
        words = yield from attempt(_named(model, query.text, [hit.text for hit in new[:5]], patience))
        if not isinstance(words, Failed):
            return words, ""
        note = f"hop: {words.error}"
    asked = set(map(stem, terms(query.text)))
    best = max((hit.score for hit in reached.hits.values()), default=0.0)
    telling = [hit for hit in new[:3] if hit.score >= best * _TELLING]
    names = [name for hit in telling for name in reached.entities.get(hit.id, ())]
    fresh = [name for name in dict.fromkeys(names) if not set(map(stem, name.split())) <= asked]
    missing = open_terms(rarity, reached.held())
    return " ".join([*missing[:4], *fresh[:3]]) if missing and fresh else "", note


def _named(model: ChatModel, question: str, found: Sequence[str], patience: float) -> Flow[str]:
    reply: Reply = yield Question(model, refine_ask(question, found, deadline_seconds=patience))
    known = {stem(term) for text in (question, *found) for term in terms(text)}
    return read_search_words(reply.text, known)


def told_by(path: Sequence[str], rarity: Mapping[str, float]) -> frozenset[str]:
    """Return which stems of the question the last link of a path says."""
    told = terms(path[-2].replace("_", " ")) if len(path) > 1 else ()
    return frozenset(map(stem, told)) & rarity.keys()


def _faded(hit: Hit, number: int, options: MultiHopOptions, *, most: float) -> Hit:
    """Return a find of a narrower question, which is worth no more than what the question itself found."""
    return replace(hit, score=min(hit.score, most) * options.fade**number)


def _told(number: int, found: int, sure: float, asked: Sequence[str]) -> dict[str, Any]:
    return {"step": "hop", "hop": number, "found": found, "confidence": round(sure, 3), "asked": list(asked)}
