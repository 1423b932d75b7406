"""Find what answers a question: by words and by meaning, fused on one scale."""

from datetime import UTC, datetime

from zomem_graph.nodes.flow import Failed, Flow, attempt, work
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services, Vector
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.describe import describe
from zomem_graph.nodes.steps.legs import look
from zomem_graph.nodes.steps.query import KINDS, Query, Retrieved
from zomem_graph.nodes.steps.rank import Ranked, rank
from zomem_graph.nodes.values import Hit

__all__ = ["KINDS", "Query", "Retrieved", "retrieve"]


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
    if vector is None and chosen.meaning and embedder is not None and query.text.strip():
        made = yield from attempt(work(lambda: embedder.embed_query(query.text)))
        if isinstance(made, Failed):
            notes.append(f"meaning: {made.error}")
        else:
            vector = made
    now = services.clock()
    seen = yield from work(lambda: look(services, query, scope, chosen, vector, now))
    spread = embedder.spread if embedder is not None else 1.0
    ranked = rank(seen, query, chosen, vector, spread=spread, now=now)
    hits = yield from work(lambda: _hits(services, ranked, query))
    trace = {
        "step": "retrieve",
        "words": len(seen.words),
        "meaning": len(seen.meaning),
        "candidates": len(seen.candidates),
        "kept": len(hits),
    }
    return Retrieved(hits=tuple(hits), degraded=tuple(notes + seen.notes), trace=trace)


def _hits(services: Services, ranked: Ranked, query: Query) -> list[Hit]:
    with services.stores.read() as unit:
        described = describe(unit, [(c.id, c.kind) for c in ranked.candidates])
    hits: list[Hit] = []
    for candidate, chance, explanation in zip(
        ranked.candidates, ranked.chances, ranked.explanations, strict=True
    ):
        thing = described.get(candidate.id)
        if thing is None or len(hits) == query.limit:
            continue
        found_by = {
            name
            for name, place in (("words", explanation.words_rank), ("meaning", explanation.meaning_rank))
            if place is not None
        }
        hits.append(
            Hit(
                kind=candidate.kind,
                id=candidate.id,
                text=thing.text,
                score=float(chance),
                found_by=frozenset(found_by),
                metadata=thing.metadata,
                created_at=datetime.fromtimestamp(candidate.created_at, UTC),
                explanation=explanation,
            )
        )
    return hits
