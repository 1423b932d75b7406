"""Weigh what was found: how likely the best of it answers the question, and the rest after it."""

from collections.abc import Sequence
from math import exp, log

import numpy as np

from zomem_graph.nodes.ports import Embedder, lift_of
from zomem_graph.nodes.rules.followup import only_asks
from zomem_graph.nodes.rules.fusion import Signals, relative
from zomem_graph.nodes.rules.score import Evidence, chance
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.steps.rank import Place, Ranking
from zomem_graph.stores.stems import stem
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms

__all__ = ["best_late", "weigh"]

_NAMES_IN_AN_ANSWER = 2
_MOST_WITHOUT_TOKENS = 0.2  # share of the candidates
_JUDGED = 3  # of the best; the answer may stand in the second
_WORDS_PER_COVERAGE = 0.65  # what BM25 gives for it where its idf does not collapse


def weigh(
    unit: Unit, query: Query, ranking: Ranking, embedder: Embedder | None, *, most: int | None = None
) -> list[Place]:
    """Return the best places with their chances: the first one's from the evidence, the others' in proportion."""
    if not ranking.order.size:
        return []
    scores = ranking.scores[:most]
    chances = chance(_evidence(unit, query, ranking, embedder)) * relative(scores)
    rows = zip(ranking.order[:most].tolist(), scores.tolist(), chances.tolist(), strict=True)
    return [Place(ranking.candidates[row], score, each, row) for row, score, each in rows]


def _evidence(unit: Unit, query: Query, ranking: Ranking, embedder: Embedder | None) -> Evidence:
    signals = ranking.signals
    asked = {stem(term) for term in _asked_for(query)}
    talked_of = {stem(term) for term in query.history_terms} - asked
    rarity = unit.items.rarity([*asked, *talked_of])
    own = sum(rarity[one] for one in rarity.keys() & asked)
    covered = unit.items.stems_of(ranking.best(_JUDGED), rarity) if rarity else {}
    coverage, total = 0.0, own
    for found in covered.values():
        # What the conversation talked of counts where it is found: an answer holds few of its names.
        named = sorted((rarity[one] for one in rarity.keys() & talked_of & found), reverse=True)
        known = own + sum(named[:_NAMES_IN_AN_ANSWER])
        held = sum(rarity[one] for one in rarity.keys() & asked & found) + known - own
        if known and held / known > coverage:
            coverage, total = held / known, known
    usual = unit.items.few or _are_common([rarity[one] for one in rarity.keys() & asked])
    words = coverage * _WORDS_PER_COVERAGE if usual else float(signals.bm25.max()) / max(1.0, total)
    nearness = _nearness(ranking, embedder)
    lift = 0.0 if nearness is None else lift_of(embedder)
    return Evidence(coverage=coverage, words=words, nearness=nearness, late=best_late(signals), lift=lift)


def _are_common(rarities: Sequence[float]) -> bool:
    """Return whether so many items hold the words that BM25 makes nothing of them, as of what is asked every day.

    BM25 weighs a word by ln((N - df) / df), where its rarity is ln(1 + N / df).
    """
    weights = [log(max(exp(rarity) - 2.0, 1.0)) for rarity in rarities]
    return sum(weights) < sum(rarities) / 2


def _asked_for(query: Query) -> Sequence[str]:
    """Return the words an answer should cover; "and what does she do?" has none beside those of its talk."""
    return () if query.history_terms and only_asks(query.text) else terms(query.text)


def best_late(signals: Signals) -> float | None:
    """Return the best late score, None when tokens are still missing or their language has none."""
    late = signals.late
    if late is None or not late.size or np.isnan(late).mean() > _MOST_WITHOUT_TOKENS:
        return None
    return float(np.nanmax(late))


def _nearness(ranking: Ranking, embedder: Embedder | None) -> float | None:
    """Return how near the nearest is; None while one of the best waits for its vector, and so by words alone."""
    cosines = ranking.signals.cosine
    if embedder is None or np.isnan(cosines[ranking.order[:_JUDGED]]).any():
        return None
    return (float(np.nanmax(cosines)) - embedder.usual) / embedder.spread
