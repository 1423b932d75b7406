"""Find what answers a question: by words and by meaning, fused on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.flow import Failed, Flow, attempt, work
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services, Vector
from zomem_graph.nodes.rules.fusion import Signals, fuse
from zomem_graph.nodes.rules.score import probabilities
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable
from zomem_graph.nodes.steps.describe import describe
from zomem_graph.nodes.values import Explanation, Hit
from zomem_graph.stores.dialect import WordsHit, WordsQuery
from zomem_graph.stores.errors import IndexUnavailable, InvalidInput
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.nearest import nearest
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import search_text, terms

__all__ = ["KINDS", "Query", "Retrieved", "retrieve"]

KINDS = ("fact", "turn", "episode", "loop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search. `since`/`until` bound the creation time, closed-open; `as_of` asks the past."""

    text: str
    limit: int = 10
    kinds: Sequence[str] = KINDS
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    include_superseded: bool = False

    def __post_init__(self) -> None:
        unknown = sorted(set(self.kinds) - set(KINDS))
        if unknown or not self.kinds:
            raise InvalidInput(
                f"kinds must be some of {', '.join(KINDS)}, not {', '.join(unknown) or 'nothing'}."
            )
        if not 1 <= self.limit <= 1_000:
            raise InvalidInput(f"limit must be between 1 and 1000, not {self.limit}.")

    @property
    def live_only(self) -> bool:
        """Whether only what is current may answer."""
        return self.as_of is None and not self.include_superseded


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Hits, best first; what was missing; and how many candidates each leg gave."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    trace: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Look:
    """What one read transaction brought together."""

    words: list[WordsHit]
    meaning: dict[int, float]
    candidates: list[Candidate]
    personas: dict[str, float]
    speakers: list[str]
    notes: list[str]


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
    look = yield from work(lambda: _look(services, query, scope, chosen, vector, now))
    ranked = _rank(look, query, chosen, vector, services, now)
    hits = yield from work(lambda: _hits(services, ranked, query, now))
    trace = {
        "step": "retrieve",
        "words": len(look.words),
        "meaning": len(look.meaning),
        "candidates": len(look.candidates),
        "kept": len(hits),
    }
    return Retrieved(hits=tuple(hits), degraded=tuple(notes + look.notes), trace=trace)


def _look(
    services: Services,
    query: Query,
    scope: Scope,
    options: RetrieveOptions,
    vector: Vector | None,
    now: datetime,
) -> _Look:
    with services.stores.read() as unit:
        personas = readable(unit, scope)
        words = _by_words(unit, query, personas, options)
        meaning, notes = _by_meaning(services, unit, query, personas, options, vector)
        found = list(dict.fromkeys([hit.num for hit in words] + list(meaning)))
        space = services.embedder.identity if services.embedder is not None else None
        candidates = [
            c for c in unit.items.candidates(found, embedder=space) if _allowed(c, query, personas, now)
        ]
        speakers = unit.items.speakers(list(personas)) if options.fusion.speaker else []
    return _Look(words, meaning, candidates, personas, speakers, notes)


def _by_words(
    unit: Unit, query: Query, personas: dict[str, float], options: RetrieveOptions
) -> list[WordsHit]:
    asked = terms(query.text)
    if not options.words or not asked:
        return []
    return unit.items.by_words(
        WordsQuery(
            terms=asked,
            personas=list(personas),
            kinds=list(query.kinds),
            weights=options.column_weights,
            limit=options.pool,
            live_only=query.live_only,
            since=query.since,
            until=query.until if query.as_of is None else query.as_of,
        )
    )


def _by_meaning(
    services: Services,
    unit: Unit,
    query: Query,
    personas: dict[str, float],
    options: RetrieveOptions,
    vector: Vector | None,
) -> tuple[dict[int, float], list[str]]:
    if vector is None or services.embedder is None:
        return {}, []
    exact = not query.live_only or query.since is not None or query.until is not None
    found: dict[int, float] = {}
    notes: list[str] = []
    space = services.embedder.identity
    counts = unit.items.vector_counts(
        personas=list(personas), kinds=list(query.kinds), embedder=space, live_only=query.live_only
    )
    for (persona, kind), count in counts.items():
        try:
            near = nearest(
                unit,
                None if exact or count <= options.exact_below else services.stores.index,
                persona=persona,
                kind=kind,
                embedder=space,
                vector=vector,
                limit=options.pool,
                live_only=query.live_only,
                since=query.since,
                until=query.until if query.as_of is None else query.as_of,
            )
        except IndexUnavailable as error:
            notes.append(f"index: {error}")
            continue
        found.update(near)
    best = sorted(found.items(), key=lambda pair: -pair[1])[: options.pool]
    return dict(best), notes


def _allowed(candidate: Candidate, query: Query, personas: dict[str, float], now: datetime) -> bool:
    """Check again, on the row itself, what every leg already asked for."""
    if candidate.persona not in personas or candidate.kind not in query.kinds:
        return False
    at = query.as_of or now
    moment = at.timestamp()
    if candidate.expires_at is not None and candidate.expires_at <= moment and not query.include_superseded:
        return False
    if query.since is not None and candidate.created_at < query.since.timestamp():
        return False
    if query.until is not None and candidate.created_at >= query.until.timestamp():
        return False
    if query.as_of is not None:
        lived = candidate.state in ("current", "superseded", "archived", "expired", "merged")
        return (
            lived
            and candidate.created_at <= moment
            and (candidate.ended_at is None or candidate.ended_at > moment)
        )
    if query.include_superseded:
        return candidate.state in ("current", "superseded")
    return candidate.state == "current"


@dataclass(slots=True)
class _Ranked:
    candidates: list[Candidate]
    scores: NDArray[np.float64]
    chances: NDArray[np.float64]
    explanations: list[Explanation]


def _rank(
    look: _Look,
    query: Query,
    options: RetrieveOptions,
    vector: Vector | None,
    services: Services,
    now: datetime,
) -> _Ranked:
    candidates = look.candidates
    if not candidates:
        return _Ranked([], np.empty(0), np.empty(0), [])
    words = {hit.num: (rank, hit.score) for rank, hit in enumerate(look.words, start=1)}
    cosine = _cosines(candidates, vector)
    named = _named_speaker(query.text, look.speakers)
    sessions = {(c.persona, c.session): i for i, c in enumerate(candidates) if c.kind == "turn" and c.session}
    signals = Signals(
        bm25=np.array([words.get(c.num, (0, 0.0))[1] for c in candidates]),
        cosine=cosine,
        spread=services.embedder.spread if services.embedder is not None else 1.0,
        speaker=np.array([float(named is not None and c.speaker == named) for c in candidates]),
        sessions=np.array(
            [sessions[(c.persona, c.session)] if c.kind == "turn" and c.session else -1 for c in candidates]
        ),
        weight=np.array([look.personas[c.persona] for c in candidates]),
    )
    scores = fuse(signals, options.fusion)
    order = np.argsort(-scores, kind="stable")
    chances = probabilities(signals, scores, terms_asked=len(terms(query.text)))
    by_meaning = {num: rank for rank, num in enumerate(look.meaning, start=1)}
    explanations = [
        Explanation(
            words_rank=words.get(candidates[i].num, (None, 0.0))[0],
            words_score=float(signals.bm25[i]),
            meaning_rank=by_meaning.get(candidates[i].num),
            cosine=None if np.isnan(cosine[i]) else float(cosine[i]),
            speaker=bool(signals.speaker[i]),
            session=bool(signals.sessions[i] >= 0),
            raw_score=float(scores[i]),
            state=candidates[i].state,
            age_days=max(0.0, (now.timestamp() - candidates[i].created_at) / 86_400),
        )
        for i in order[: query.limit * 3]
    ]
    kept = order[: query.limit * 3]
    return _Ranked([candidates[i] for i in kept], scores[kept], chances[kept], explanations)


def _cosines(candidates: list[Candidate], vector: Vector | None) -> NDArray[np.float64]:
    cosine = np.full(len(candidates), np.nan)
    if vector is None:
        return cosine
    width = vector.size * 4
    known = [i for i, c in enumerate(candidates) if c.embedding is not None and len(c.embedding) == width]
    if known:
        matrix = np.frombuffer(b"".join(candidates[i].embedding or b"" for i in known), dtype=np.float32)
        cosine[known] = matrix.reshape(len(known), -1) @ vector
    return cosine


def _named_speaker(question: str, speakers: Sequence[str]) -> str | None:
    """Return the one known speaker whom the question names, if it names exactly one."""
    asked = f" {search_text(question[:2_000])} "
    named = [name for name in speakers if (key := search_text(name)) and f" {key} " in asked]
    return named[0] if len(named) == 1 else None


def _hits(services: Services, ranked: _Ranked, query: Query, now: datetime) -> list[Hit]:
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
            for name, rank in (("words", explanation.words_rank), ("meaning", explanation.meaning_rank))
            if rank is not None
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
