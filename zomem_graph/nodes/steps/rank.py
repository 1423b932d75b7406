"""From what the legs found to a ranking, each place explained."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Vector
from zomem_graph.nodes.rules.fusion import Signals, fuse
from zomem_graph.nodes.rules.score import probabilities
from zomem_graph.nodes.steps.legs import Look
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.values import Explanation
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.words import search_text, terms

__all__ = ["Ranked", "rank"]

_SPARE = 3  # candidates ranked for each one asked, because some may be gone or alike


@dataclass(slots=True)
class Ranked:
    """Candidates, best first, with score, chance and explanation at the same place."""

    candidates: list[Candidate]
    scores: NDArray[np.float64]
    chances: NDArray[np.float64]
    explanations: list[Explanation]


def rank(
    look: Look,
    query: Query,
    options: RetrieveOptions,
    vector: Vector | None,
    *,
    spread: float,
    now: datetime,
) -> Ranked:
    """Return the best candidates of a look, a few more than asked for."""
    if not look.candidates:
        return Ranked([], np.empty(0), np.empty(0), [])
    signals = _signals(look, query, vector, spread)
    scores = fuse(signals, options.fusion)
    chances = probabilities(signals, scores, terms_asked=len(terms(query.text)))
    kept = np.argsort(-scores, kind="stable")[: query.limit * _SPARE]
    return Ranked(
        [look.candidates[i] for i in kept],
        scores[kept],
        chances[kept],
        [_explained(look, signals, float(scores[i]), int(i), now) for i in kept],
    )


def _signals(look: Look, query: Query, vector: Vector | None, spread: float) -> Signals:
    candidates = look.candidates
    found = {hit.num: hit.score for hit in look.words}
    named = _named_speaker(query.text, look.speakers)
    places: dict[tuple[str, str], int] = {}
    sessions = [
        places.setdefault((c.persona, c.session), len(places)) if c.kind == "turn" and c.session else -1
        for c in candidates
    ]
    return Signals(
        bm25=np.array([found.get(c.num, 0.0) for c in candidates]),
        cosine=_cosines(candidates, vector),
        spread=spread,
        speaker=np.array([float(named is not None and c.speaker == named) for c in candidates]),
        sessions=np.array(sessions),
        weight=np.array([look.personas[c.persona] for c in candidates]),
    )


def _explained(look: Look, signals: Signals, score: float, place: int, now: datetime) -> Explanation:
    candidate = look.candidates[place]
    cosine = float(signals.cosine[place])
    return Explanation(
        words_rank=look.words_rank.get(candidate.num),
        words_score=float(signals.bm25[place]),
        meaning_rank=look.meaning_rank.get(candidate.num),
        cosine=None if np.isnan(cosine) else cosine,
        speaker=bool(signals.speaker[place]),
        session=bool(signals.sessions[place] >= 0),
        raw_score=score,
        state=candidate.state,
        age_days=max(0.0, (now.timestamp() - candidate.created_at) / 86_400),
    )


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
