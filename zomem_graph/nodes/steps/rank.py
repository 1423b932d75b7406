"""From what the legs found to a ranking, each place explained."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Vector
from zomem_graph.nodes.rules.fusion import Signals, fuse
from zomem_graph.nodes.steps.legs import Look
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.values import Explanation
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.words import search_text

__all__ = ["Place", "explain", "rank"]

_NAMES_IN_AN_ANSWER = 2


@dataclass(frozen=True, slots=True)
class Place:
    """One candidate in the ranking. `signal` is its row in the signals, None for what a hop brought in."""

    candidate: Candidate
    score: float
    chance: float
    signal: int | None
    boosts: dict[str, float] = field(default_factory=dict)
    path: tuple[str, ...] = ()


def rank(
    look: Look, query: Query, options: RetrieveOptions, vector: Vector | None, *, spread: float
) -> tuple[list[Place], Signals]:
    """Return every candidate, best first and not yet weighed, and the signals they were ranked by."""
    signals = _signals(look, query, vector, spread)
    scores = fuse(signals, options.fusion)
    order = np.argsort(-scores, kind="stable")
    places = [Place(look.candidates[i], float(scores[i]), 0.0, int(i)) for i in order]
    return places, signals


def explain(place: Place, look: Look, signals: Signals, now: datetime) -> Explanation:
    """Return why a candidate stands where it does."""
    candidate, row = place.candidate, place.signal
    cosine = float("nan") if row is None else float(signals.cosine[row])
    late = float("nan") if row is None or signals.late is None else float(signals.late[row])
    return Explanation(
        words_rank=look.words_rank.get(candidate.num),
        words_score=0.0 if row is None else float(signals.bm25[row]),
        meaning_rank=look.meaning_rank.get(candidate.num),
        cosine=None if np.isnan(cosine) else cosine,
        late=None if np.isnan(late) else late,
        speaker=row is not None and bool(signals.speaker[row]),
        session=row is not None and bool(signals.sessions[row] >= 0),
        raw_score=place.score,
        boosts=place.boosts,
        path=place.path,
        state=candidate.state,
        age_days=max(0.0, (now.timestamp() - candidate.created_at) / 86_400),
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
        sessions=np.array(sessions, dtype=np.int64),
        weight=np.array([look.personas[c.persona] for c in candidates]),
        late=None if look.late is None else look.late.scores([c.num for c in candidates]),
        turns=np.array([c.kind == "turn" for c in candidates], dtype=np.bool_),
    )


def _cosines(candidates: Sequence[Candidate], vector: Vector | None) -> NDArray[np.float64]:
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
