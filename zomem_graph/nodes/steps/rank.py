"""From what the legs found to a ranking, each place explained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.rules.fusion import Signals, fuse
from zomem_graph.nodes.steps.legs import Look, saying
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.values import Explanation
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.words import search_text

__all__ = ["Place", "Ranking", "explain", "rank"]


class Place(NamedTuple):
    """One candidate in the ranking. `signal` is its row in the signals, None for what a hop brought in."""

    candidate: Candidate
    score: float
    chance: float
    signal: int | None
    boosts: Mapping[str, float] = MappingProxyType({})
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The candidates, best first: `order` are their rows in the signals, `scores` what these came to.

    Of those with one and the same text only the best stands here; `repeats` are the ids of the others.
    """

    candidates: Sequence[Candidate]
    order: NDArray[np.int64]
    scores: NDArray[np.float64]
    signals: Signals
    repeats: Sequence[str] = ()

    def best(self, number: int) -> list[int]:
        """Return the numbers of the best items."""
        return [self.candidates[row].num for row in self.order[:number].tolist()]


def rank(look: Look, query: Query, options: RetrieveOptions, *, spread: float) -> Ranking:
    """Put what the legs found in order."""
    signals = _signals(look, query, spread)
    scores = fuse(signals, options.fusion)
    order = np.argsort(-scores, kind="stable")
    kept = _without_repeats(look.candidates, order) if options.collapse_alike else order
    repeats: Sequence[str] = ()
    if len(kept) < len(order):
        shown = set(kept.tolist())
        repeats = [look.candidates[row].id for row in order.tolist() if row not in shown]
    return Ranking(look.candidates, kept, scores[kept], signals, repeats=repeats)


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
        boosts=dict(place.boosts),
        path=place.path,
        state=candidate.state,
        age_days=max(0.0, (now.timestamp() - candidate.created_at) / 86_400),
    )


def _without_repeats(candidates: Sequence[Candidate], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows without those whose text stood before: what was asked every day takes one place."""
    sayings = [saying(candidate) for candidate in candidates]
    first = {sayings[row]: row for row in reversed(order.tolist())}
    if len(first) == len(sayings):
        return order
    return np.array([row for row in order.tolist() if first[sayings[row]] == row], dtype=np.int64)


def _signals(look: Look, query: Query, spread: float) -> Signals:
    candidates = look.candidates
    nums = [candidate.num for candidate in candidates]
    turns = [candidate.kind == "turn" for candidate in candidates]
    found = {hit.num: hit.score for hit in look.words}
    cosines, weights = look.cosines, look.personas
    places: dict[tuple[str, str], int] = {}
    sessions = [
        places.setdefault((c.persona, c.session), len(places)) if turn and c.session else -1
        for c, turn in zip(candidates, turns, strict=True)
    ]
    return Signals(
        bm25=np.array([found.get(num, 0.0) for num in nums]),
        cosine=np.array([cosines.get(num, np.nan) for num in nums]),
        spread=spread,
        speaker=_said_by(_named_speaker(query.text, look.speakers), candidates),
        sessions=np.array(sessions, dtype=np.int64),
        weight=np.array([weights[c.persona] for c in candidates]),
        late=None if look.late is None else look.late.scores(nums),
        turns=np.array(turns, dtype=np.bool_),
    )


def _said_by(speaker: str | None, candidates: Sequence[Candidate]) -> NDArray[np.float64]:
    if speaker is None:
        return np.zeros(len(candidates))
    return np.array([float(c.speaker == speaker) for c in candidates])


def _named_speaker(question: str, speakers: Sequence[str]) -> str | None:
    """Return the one known speaker whom the question names, if it names exactly one."""
    asked = f" {search_text(question[:2_000])} "
    named = [name for name in speakers if (key := search_text(name)) and f" {key} " in asked]
    return named[0] if len(named) == 1 else None
