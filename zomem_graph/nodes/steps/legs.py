"""The legs of retrieval: what words find, what meaning finds, and what is known of both, in one snapshot."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial

from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services, TextTokens, Vector
from zomem_graph.nodes.rules.entities import entities
from zomem_graph.nodes.rules.query_terms import CONTEXT_WEIGHT
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import Reach, reach, stranger
from zomem_graph.nodes.steps.late import Comparison, compare
from zomem_graph.nodes.steps.query import Query
from zomem_graph.stores.dialect import WordsHit, WordsQuery
from zomem_graph.stores.errors import IndexUnavailable
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.nearest import nearest
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import search_text

__all__ = ["Look", "allowed", "in_view", "look"]


@dataclass
class Look:
    """What one read transaction brought together."""

    words: list[WordsHit]
    meaning: dict[int, float]
    candidates: list[Candidate]
    personas: Reach
    speakers: list[str]
    notes: list[str]
    late: Comparison | None = None
    names_known: bool = False
    hidden: frozenset[str] = frozenset()

    @cached_property
    def words_rank(self) -> dict[int, int]:
        """Where words put each item, from 1."""
        return {hit.num: place for place, hit in enumerate(self.words, start=1)}

    @cached_property
    def meaning_rank(self) -> dict[int, int]:
        """Where meaning put each item, from 1."""
        return {num: place for place, num in enumerate(self.meaning, start=1)}


def look(
    services: Services,
    query: Query,
    scope: Scope,
    options: RetrieveOptions,
    vector: Vector | None,
    now: datetime,
    *,
    tokens: TextTokens | None = None,
) -> Look:
    """Ask both legs and read what ranking needs of everything they found.

    `tokens` are the question's own, to be compared with those of the candidates.
    """
    with services.stores.read() as unit:
        personas = reach(unit, scope)
        words = _by_words(unit, query, personas, options, hyde_weight=services.options.hyde.words)
        meaning, notes = _by_meaning(services, unit, query, personas, options, vector)
        found = list(dict.fromkeys([hit.num for hit in words] + list(meaning)))
        space = services.embedder.identity if services.embedder is not None else None
        speakers = unit.items.speakers(list(personas)) if options.fusion.speaker or query.visible else []
        hidden = _hidden(query, speakers)
        candidates = [
            c
            for c in unit.items.candidates(found, embedder=space)
            if allowed(c, query, personas, now) and not in_view(c, query, hidden)
        ]
        late = compare(unit, services, tokens, [c.num for c in candidates])
        if not personas.known and not services.strict_scope:  # strict: names of others are nobody's business
            notes += [note] if (note := stranger(unit, services.stores, scope)) is not None else []
        known = _names_known(unit, query, personas, speakers)
    return Look(words, meaning, candidates, personas, speakers, notes, late, known, hidden)


def _hidden(query: Query, speakers: Sequence[str]) -> frozenset[str]:
    """Return the hashes of turns that say what the reader sees anyway, whoever said it."""
    return frozenset(content_hash(f"{name}: {text}") for text in query.visible for name in speakers)


def in_view(candidate: Candidate, query: Query, hidden: frozenset[str]) -> bool:
    """Return whether a turn, or the episode of the running thread itself, would only repeat what is seen."""
    if candidate.kind == "turn":
        return candidate.text_hash in hidden
    return candidate.kind == "episode" and query.running is not None and candidate.thread == query.running


def _names_known(unit: Unit, query: Query, personas: Reach, speakers: Sequence[str]) -> bool:
    """Return whether the question names somebody who spoke, or something that memory mentions."""
    asked = f" {search_text(query.text[:2_000])} "
    if any((key := search_text(name)) and f" {key} " in asked for name in speakers):
        return True
    return unit.items.mentions_any(entities(query.text[:2_000]), list(personas))


def _by_words(
    unit: Unit, query: Query, personas: dict[str, float], options: RetrieveOptions, *, hyde_weight: float
) -> list[WordsHit]:
    if not options.words:
        return []
    own = _words_of(unit, query, query.asked, personas, options)
    lighter = [(query.context_terms, CONTEXT_WEIGHT), (query.imagined_terms, hyde_weight)]
    if not any(asked for asked, _weight in lighter):
        return own
    # FTS5 has no weights for terms, but BM25 is a sum over them: several questions, added.
    scores = {hit.num: hit.score for hit in own}
    for asked, weight in lighter:
        for hit in _words_of(unit, query, asked, personas, options):
            scores[hit.num] = scores.get(hit.num, 0.0) + weight * hit.score
    best = sorted(scores.items(), key=lambda pair: -pair[1])[: options.pool]
    return [WordsHit(num, score) for num, score in best]


def _words_of(
    unit: Unit, query: Query, asked: Sequence[str], personas: dict[str, float], options: RetrieveOptions
) -> list[WordsHit]:
    if not asked:
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
        asked = partial(
            nearest,
            unit,
            persona=persona,
            kind=kind,
            embedder=space,
            vector=vector,
            limit=options.pool,
            live_only=query.live_only,
            since=query.since,
            until=query.until if query.as_of is None else query.as_of,
        )
        try:
            near = asked(None if exact or count <= options.exact_below else services.stores.index)
        except IndexUnavailable as error:
            notes.append(f"index: {error}")
            near = asked(None)
        found.update(near)
    best = sorted(found.items(), key=lambda pair: -pair[1])[: options.pool]
    return dict(best), notes


def allowed(candidate: Candidate, query: Query, personas: dict[str, float], now: datetime) -> bool:
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
            lived and candidate.created_at <= moment and (candidate.ended_at is None or candidate.ended_at > moment)
        )
    if query.include_superseded:
        return candidate.state in ("current", "superseded")
    return candidate.state == "current"
