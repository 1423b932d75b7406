"""Find what answers a question: by words and by meaning, fused on one scale."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from zomem_graph.nodes.flow import Failed, Flow, Together, Work, attempt, work
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services, TextTokens, Vector
from zomem_graph.nodes.rules.alike import collapse
from zomem_graph.nodes.rules.fading import Fate
from zomem_graph.nodes.rules.left_out import left_out
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.changed import with_changes
from zomem_graph.nodes.steps.describe import Described, describe
from zomem_graph.nodes.steps.evidence import weigh
from zomem_graph.nodes.steps.fading import fates
from zomem_graph.nodes.steps.hop import hop_once
from zomem_graph.nodes.steps.hyde import Imagined, imagine, may_imagine, with_imagined
from zomem_graph.nodes.steps.lapse import lapse
from zomem_graph.nodes.steps.late import late_note, question_tokens
from zomem_graph.nodes.steps.legs import Look, look
from zomem_graph.nodes.steps.metrics import measured
from zomem_graph.nodes.steps.query import KINDS, Query, Retrieved
from zomem_graph.nodes.steps.rank import Place, Ranking, explain, rank
from zomem_graph.nodes.values import Explanation, Hit
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import LOOKED_AT

__all__ = ["KINDS", "Query", "Retrieved", "retrieve"]

_SPARE = 3  # places looked at for each one asked, because some sleep or only repeat a better one


def retrieve(
    services: Services,
    query: Query,
    scope: Scope,
    *,
    options: RetrieveOptions | None = None,
    vector: Vector | None = None,
) -> Flow[Retrieved]:
    """Search by words and meaning and return the best hits; a leg that fails is reported, never vetoes.

    `vector` is the question's own vector when the caller has it already.
    """
    with measured(services, "hybrid", scope) as one:
        found = yield from _retrieved(services, query, scope, options or services.options.retrieve, vector)
        one.name, one.results = found.trace["mode"], len(found.hits)
        one.imagined = found.trace["imagined"] > 0
    return found


def _retrieved(
    services: Services, query: Query, scope: Scope, chosen: RetrieveOptions, vector: Vector | None
) -> Flow[Retrieved]:
    notes = list(services.standing_notes())
    if len(query.text) > LOOKED_AT:
        notes.append(f"the question has {len(query.text):,} characters; the first {LOOKED_AT:,} are searched for")
    embedder = services.embedder
    imagined, hyde = Imagined(), services.options.hyde
    if vector is None:
        if may_imagine(services, query, hyde):
            made, imagined = yield Together([_embedded(services, query, chosen), imagine(services, query, hyde)])
        else:
            made = yield from attempt(_embedded(services, query, chosen))
        if isinstance(made, Failed):
            notes.append(f"meaning: {made.error}")
        else:
            vector = made
        notes += imagined.notes
        query, vector = with_imagined(query, vector, imagined, embedder, hyde)
    tokens = yield from attempt(question_tokens(services, query, chosen))
    if isinstance(tokens, Failed):
        notes.append(f"late interaction: {tokens.error}")
        tokens = None
    seen, hits, others = yield from work(lambda: _found(services, query, scope, chosen, vector, tokens))
    trace = {
        "step": "retrieve",
        "mode": _mode(chosen, vector),
        "words": len(seen.words),
        "meaning": len(seen.meaning),
        "candidates": len(seen.candidates),
        "kept": len(hits),
        "left_out": others,
        "imagined": len(imagined.text),
        "telling": len(query.asked),
        "names_known": bool(seen.names),
        "names": list(seen.names),
        "small_store": seen.small,
        "late": late_note(services, chosen, seen.late),
    }
    return Retrieved(hits=tuple(hits), degraded=tuple(notes + seen.notes), trace=trace)


def _found(
    services: Services,
    query: Query,
    scope: Scope,
    options: RetrieveOptions,
    vector: Vector | None,
    tokens: TextTokens | None,
) -> tuple[Look, list[Hit], list[dict[str, Any]]]:
    """Look, rank, weigh, hop and describe in one snapshot; return the hits and what was left out and why."""
    late = lapse(services)
    now = services.clock()
    spread = services.embedder.spread if services.embedder is not None else 1.0
    with services.stores.in_turn, services.stores.read() as unit:
        seen = look(unit, services, query, scope, options, vector, now, tokens=tokens)
        seen.notes += [late] if late is not None else []
        query = query.naming(seen.names)
        ranking = rank(seen, query, options, spread=spread)
        most = query.limit * _SPARE
        places = weigh(unit, query, ranking, services.embedder, most=None if query.graph else most)
        if query.graph:
            places = hop_once(unit, services, query, seen, places, options)
        shown = partial(_shown, unit, seen, ranking, query, now)
        hits: list[Hit] = []
        distinct: list[Hit] = []
        looked = 0
        while looked < min(len(places), most) and len(distinct) < query.limit:
            hits += shown(places[looked : looked + query.limit])
            looked += query.limit
            distinct = _distinct(hits) if options.collapse_alike else hits
        kept = distinct[: query.limit]
        if query.as_of is None:
            kept = with_changes(unit, kept, readers=seen.personas, moment=now)
    return seen, kept, _left_out(kept, distinct, hits, ranking, places, looked)


def _left_out(
    kept: Sequence[Hit],
    distinct: Sequence[Hit],
    hits: Sequence[Hit],
    ranking: Ranking,
    places: Sequence[Place],
    looked: int,
) -> list[dict[str, Any]]:
    """Return what was found and is not among the hits, by reason."""
    different, told = {hit.id for hit in distinct}, {hit.id for hit in hits}
    alike = [hit.id for hit in hits if hit.id not in different]
    hidden = [place.candidate.id for place in places[:looked] if place.candidate.id not in told]
    behind = [*(hit.id for hit in distinct[len(kept) :]), *(place.candidate.id for place in places[looked:])]
    return [
        *left_out("says the same as a better one", [*alike, *ranking.repeats]),
        *left_out("asleep, or gone meanwhile", hidden),
        *left_out(f"behind the best {len(kept)}", behind),
    ]


def _mode(options: RetrieveOptions, vector: Vector | None) -> str:
    """Return which legs were asked: hybrid, words or meaning (spec F81)."""
    if vector is None:
        return "words"
    return "hybrid" if options.words else "meaning"


def _embedded(services: Services, query: Query, options: RetrieveOptions) -> Flow[Vector | None]:
    """Return the question's vector; None when there is nothing to embed or nothing to embed it with."""
    embedder = services.embedder
    asked = query.text if query.meaning is None else query.meaning
    if embedder is None or not options.meaning or not asked.strip():
        return None
    vector: Vector = yield Work(lambda: embedder.embed_query(asked))
    return vector


def _shown(
    unit: Unit, seen: Look, ranking: Ranking, query: Query, now: datetime, places: Sequence[Place]
) -> list[Hit]:
    """Return hits for what may be shown: not for what is gone or sleeps."""
    shown = [(place.candidate.id, place.candidate.kind) for place in places]
    found = describe(unit, shown, readers=seen.personas)
    facts = [thing.fact for thing in found.values() if thing.fact is not None and thing.fact.state == "current"]
    standing = {} if query.as_of is not None else fates(unit, facts, now=now)
    moment = query.as_of or now
    hits: list[Hit] = []
    for place in places:
        id_ = place.candidate.id
        if (thing := found.get(id_)) is not None and not thing.sleeps_at(moment):
            told = _with_fate(explain(place, seen, ranking.signals, now), standing.get(id_))
            hits.append(_hit(place, thing, told, seen.personas.paths))
    return hits


def _with_fate(explanation: Explanation, standing: Fate | None) -> Explanation:
    if standing is None:
        return explanation
    return replace(explanation, activation=standing.activation, band=standing.state)


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without those that say the same as a better one of their kind and state."""
    groups: dict[tuple[str, object], list[int]] = {}
    for number, hit in enumerate(hits):
        groups.setdefault((hit.kind, hit.metadata.get("state")), []).append(number)
    kept = {
        numbers[place]
        for numbers in groups.values()
        for place in collapse([(hits[number].text, hits[number].score) for number in numbers])
    }
    return [hit for number, hit in enumerate(hits) if number in kept]


def _hit(place: Place, thing: Described, explanation: Explanation, paths: Mapping[str, str]) -> Hit:
    legs = {"words": explanation.words_rank, "meaning": explanation.meaning_rank}
    found_by = {name for name, rank in legs.items() if rank is not None}
    return Hit(
        kind=place.candidate.kind,
        id=place.candidate.id,
        text=thing.text,
        score=place.chance,
        found_by=frozenset(found_by | ({"hop"} if place.path else set())),
        metadata={**thing.metadata, "access": paths[place.candidate.persona]},
        created_at=datetime.fromtimestamp(place.candidate.created_at, UTC),
        explanation=explanation,
    )
