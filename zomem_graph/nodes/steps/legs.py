"""The legs of retrieval: what words find, what meaning finds, and what is known of both, in one snapshot."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from math import inf

from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services, TextTokens, Vector
from zomem_graph.nodes.rules.query_terms import CONTEXT_WEIGHT
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import Reach, reach, stranger
from zomem_graph.nodes.steps.embed import changed_over
from zomem_graph.nodes.steps.late import Comparison, compare
from zomem_graph.nodes.steps.names import known_names
from zomem_graph.nodes.steps.query import Query
from zomem_graph.stores.dialect import WordsHit, WordsQuery
from zomem_graph.stores.errors import IndexUnavailable
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.journal import EMBEDDER_KEY
from zomem_graph.stores.nearest import nearest
from zomem_graph.stores.unit import Unit

__all__ = ["Look", "allowed", "cosines_of", "look", "saying", "unseen"]

_LIVE = ("current",)
_WITH_PAST = ("current", "superseded")
_WIDER = 5
_LEAST_DIFFERENT = 0.25  # of a pool, below which what was said again and again leaves no room for the rest
_LIVED = ("current", "superseded", "archived", "expired", "merged")


@dataclass
class Look:
    """What one read transaction brought together.

    `meaning` is what that leg found, with its cosines; `cosines` knows those of every candidate with a vector.
    `names` are those in the question that memory knows; `small` says that the store holds few items.
    """

    words: list[WordsHit]
    meaning: dict[int, float]
    cosines: dict[int, float]
    candidates: Sequence[Candidate]
    personas: Reach
    speakers: list[str]
    notes: list[str]
    late: Comparison | None = None
    names: tuple[str, ...] = ()
    small: bool = False
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
    unit: Unit,
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
    personas = reach(unit, scope)
    speakers = unit.items.speakers(list(personas)) if options.fusion.speaker or query.visible else []
    names = known_names(unit, query, personas, speakers)
    query = query.naming(names)
    hidden = _hidden(query, speakers)
    imagined = services.options.hyde.words
    for pool in (options.pool, options.pool * _WIDER):
        wide = replace(options, pool=pool)
        words = _by_words(unit, query, personas, wide, hyde_weight=imagined)
        meaning, notes = _by_meaning(services, unit, query, personas, wide, vector)
        found = unit.items.candidates(list(dict.fromkeys([hit.num for hit in words] + list(meaning))))
        candidates = unseen(unit, list(filter(allowed(query, personas, now), found)), query, hidden)
        if max(len(words), len(meaning)) < pool or _different(candidates) >= options.pool * _LEAST_DIFFERENT:
            break
    cosines = cosines_of(unit, services, candidates, meaning, vector)
    late = compare(unit, services, tokens, [c.num for c in candidates])
    if not personas.known and not services.strict_scope:  # strict: names of others are nobody's business
        notes += [note] if (note := stranger(unit, services.stores, scope)) is not None else []
    return Look(words, meaning, cosines, candidates, personas, speakers, notes, late, names, unit.items.few, hidden)


def saying(candidate: Candidate) -> tuple[str, str, str]:
    """Return what makes two candidates the same words: of each such text one is enough."""
    return candidate.kind, candidate.state, candidate.text_hash


def _different(candidates: Sequence[Candidate]) -> int:
    return len(set(map(saying, candidates)))


def cosines_of(
    unit: Unit,
    services: Services,
    candidates: Sequence[Candidate],
    meaning: Mapping[int, float],
    vector: Vector | None,
) -> dict[int, float]:
    """Return the cosine of every candidate that has a vector: as meaning found it, else from the stored one."""
    if vector is None or services.embedder is None:
        return {}
    rows = unit.items.vectors_of(
        [c.num for c in candidates if c.num not in meaning], embedder=services.embedder.identity
    )
    if not rows.nums or rows.matrix.shape[1] != vector.size:
        return dict(meaning)
    return {**meaning, **dict(zip(rows.nums, (rows.matrix @ vector).tolist(), strict=True))}


def _hidden(query: Query, speakers: Sequence[str]) -> frozenset[str]:
    """Return the hashes of turns that say what the reader sees anyway, whoever said it."""
    return frozenset(content_hash(f"{name}: {text}") for text in query.visible for name in speakers)


def unseen(unit: Unit, candidates: Sequence[Candidate], query: Query, hidden: Set[str]) -> Sequence[Candidate]:
    """Return the candidates without those that would only repeat what the reader sees or wrote himself."""
    if hidden or query.running is not None:
        candidates = [c for c in candidates if not _in_view(c, query, hidden)]
    if query.without_source is not None:
        told = unit.episodes.find([c.id for c in candidates if c.kind == "episode"])
        left = unit.loops.find([c.id for c in candidates if c.kind == "loop"])
        own = {one.id for one in told if one.source == query.without_source}
        own |= {one.id for one in left if one.source == query.without_source}
        candidates = [c for c in candidates if c.id not in own]
    return candidates


def _in_view(candidate: Candidate, query: Query, hidden: Set[str]) -> bool:
    """Return whether a turn, or the episode of the running thread itself, would only repeat what is seen."""
    if candidate.kind == "turn":
        return candidate.text_hash in hidden
    return candidate.kind == "episode" and query.running is not None and candidate.thread == query.running


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
            until=query.before,
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
    if not counts:
        recorded = unit.journal.meta(EMBEDDER_KEY)
        notes += [f"meaning: {changed_over(recorded, space)}"] if recorded not in (None, space) else []
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
            until=query.before,
        )
        scanned = exact or count <= options.exact_below
        for index in (None,) if scanned else (services.stores.index, None):
            try:
                found.update(asked(index))
                break
            except IndexUnavailable as error:
                notes.append(f"index: {error}")
    best = sorted(found.items(), key=lambda pair: -pair[1])[: options.pool]
    return dict(best), notes


def allowed(query: Query, personas: Mapping[str, float], now: datetime) -> Callable[[Candidate], bool]:
    """Return the check, on the row itself, of what every leg already asked for."""
    moment = (query.as_of or now).timestamp()
    latest = inf if query.before is None else query.before.timestamp()
    since = -inf if query.since is None else query.since.timestamp()
    until = inf if query.until is None else query.until.timestamp()
    states = _LIVED if query.as_of is not None else _WITH_PAST if query.include_superseded else _LIVE

    def check(candidate: Candidate) -> bool:
        if candidate.persona not in personas or candidate.kind not in query.kinds or candidate.state not in states:
            return False
        if candidate.expires_at is not None and candidate.expires_at <= moment and not query.include_superseded:
            return False
        if query.as_of is not None:
            ended = candidate.ended_at is not None and candidate.ended_at <= moment
            if ended or candidate.created_at >= latest:
                return False
        return since <= candidate.created_at < until

    return check
