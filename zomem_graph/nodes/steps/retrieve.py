"""Find what answers a question: by words and by meaning, fused on one scale."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from zomem_graph.nodes.flow import Failed, Flow, Together, Work, attempt, work
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services, Vector
from zomem_graph.nodes.rules.alike import collapse
from zomem_graph.nodes.rules.fusion import Signals
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.describe import Described, describe
from zomem_graph.nodes.steps.evidence import weigh
from zomem_graph.nodes.steps.hop import hop_once
from zomem_graph.nodes.steps.hyde import Imagined, imagine, may_imagine, with_imagined
from zomem_graph.nodes.steps.late import late_note, question_tokens
from zomem_graph.nodes.steps.legs import Look, look
from zomem_graph.nodes.steps.query import KINDS, Query, Retrieved
from zomem_graph.nodes.steps.rank import Place, explain, rank
from zomem_graph.nodes.values import Explanation, Hit

__all__ = ["KINDS", "Query", "Retrieved", "retrieve"]

_SPARE = 3  # places described for each one asked, because some may be gone meanwhile


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
    chosen = options or services.options.retrieve
    notes = list(services.standing_notes())
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
    now = services.clock()
    seen = yield from work(lambda: look(services, query, scope, chosen, vector, now, tokens=tokens))
    spread = embedder.spread if embedder is not None else 1.0
    places, signals = rank(seen, query, chosen, vector, spread=spread)
    places = yield from work(lambda: _judged(services, query, seen, places, signals, chosen))
    places = places[: query.limit * _SPARE]
    found = yield from work(lambda: _described(services, places, query, now))
    hits = [
        _hit(place, found[place.candidate.id], explain(place, seen, signals, now), seen.personas.paths)
        for place in places
        if place.candidate.id in found
    ]
    distinct = _distinct(hits) if chosen.collapse_alike else hits
    alike = len(hits) - len(distinct)
    hits = distinct[: query.limit]
    trace = {
        "step": "retrieve",
        "words": len(seen.words),
        "meaning": len(seen.meaning),
        "candidates": len(seen.candidates),
        "alike": alike,
        "kept": len(hits),
        "imagined": len(imagined.text),
        "names_known": seen.names_known,
        "late": late_note(services, chosen, seen.late),
    }
    return Retrieved(hits=tuple(hits), degraded=tuple(notes + seen.notes), trace=trace)


def _embedded(services: Services, query: Query, options: RetrieveOptions) -> Flow[Vector | None]:
    """Return the question's vector; None when there is nothing to embed or nothing to embed it with."""
    embedder = services.embedder
    asked = query.text if query.meaning is None else query.meaning
    if embedder is None or not options.meaning or not asked.strip():
        return None
    vector: Vector = yield Work(lambda: embedder.embed_query(asked))
    return vector


def _judged(
    services: Services,
    query: Query,
    seen: Look,
    places: list[Place],
    signals: Signals,
    options: RetrieveOptions,
) -> list[Place]:
    with services.stores.read() as unit:
        weighed = weigh(unit, query, places, signals, services.embedder)
        return weighed if not query.graph else hop_once(unit, services, query, seen, weighed, options)


def _described(services: Services, places: list[Place], query: Query, now: datetime) -> dict[str, Described]:
    """Describe what may be shown: not what sleeps, and not what the reader sees anyway."""
    with services.stores.read() as unit:
        found = describe(unit, [(place.candidate.id, place.candidate.kind) for place in places])
    moment = query.as_of or now
    return {id_: thing for id_, thing in found.items() if not thing.sleeps_at(moment)}


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
