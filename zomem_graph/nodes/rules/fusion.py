"""Putting the legs together: one score a candidate from words, meaning, tokens, speaker and session.

Score fusion after the measured recipe: bm25 / best bm25 + cosine / spread (+ late, + speaker, + session).
Reciprocal rank fusion (RRF) stays as an option; with k = 60 it loses to words alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.rules.option_kinds import Options

__all__ = ["FusionOptions", "Signals", "fuse", "relative"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionOptions(Options):
    """How the signals are weighed; every one can be switched off with 0.

    `late` is for chat turns, `late_notes` for everything else; rank fusion knows neither. Where tokens are
    compared scores lie further apart, so speaker and session count `beside_late` times as much.
    """

    method: Literal["score", "rrf"] = "score"
    rank_damping: int = 10
    words: float = 1.0
    meaning: float = 1.0
    late: float = 3.0
    late_notes: float = 2.0
    speaker: float = 0.5
    session: float = 0.7
    session_best: int = 3
    beside_late: float = 1.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What is known of n candidates, each array of shape (n,).

    `bm25` is 0 where words did not find it. `cosine` is NaN where there is no vector (yet); `spread` is the
    embedder's tau. `speaker` is 1 where the one speaker whom the question names said it. `sessions`
    holds -1 for what is not a turn. `late` is NaN where there are no token vectors, None where nothing has
    any; `turns` says what is a chat turn.
    """

    bm25: Floats
    cosine: Floats
    spread: float
    speaker: Floats
    sessions: NDArray[np.int64]
    weight: Floats
    late: Floats | None = None
    turns: NDArray[np.bool_] | None = None


def fuse(signals: Signals, options: FusionOptions) -> Floats:
    """Return one comparable score a candidate, larger is better; only differences have a meaning."""
    if signals.bm25.size == 0:
        return np.empty(0)
    if options.method == "rrf":
        base = _reciprocal_ranks(signals, options)
    else:
        base = options.words * _share_of_best(signals.bm25) + options.meaning * _nearness(signals)
        base = base + _lateness(signals, options)
    wider = options.beside_late if _compares_tokens(signals, options) else 1.0
    base = base + wider * options.speaker * signals.speaker
    base = base + wider * options.session * _session_support(base, signals.sessions, options.session_best)
    return base + np.log(signals.weight)


def relative(scores: Floats) -> Floats:
    """Return each score's share of the best one's chance: 1 for the best, e-fold less for each point below it.

    Scores are measured in spreads of the embedder and in best matches of words, so the share does not depend on
    how many candidates there are.
    """
    return np.asarray(np.exp(scores - scores.max())) if scores.size else scores


def _share_of_best(bm25: Floats) -> Floats:
    best = float(bm25.max())
    return bm25 / best if best > 0 else np.zeros_like(bm25)


def _nearness(signals: Signals) -> Floats:
    known = ~np.isnan(signals.cosine)
    if not known.any():
        return np.zeros_like(signals.cosine)
    # What has no vector yet is taken as an ordinary candidate: words alone decide about it.
    return np.where(known, signals.cosine, np.median(signals.cosine[known])) / signals.spread


def _lateness(signals: Signals, options: FusionOptions) -> Floats:
    """Return what the tokens add, measured from the ordinary candidate; nothing where there are none."""
    late = signals.late
    if late is None or not _compares_tokens(signals, options):
        return np.zeros_like(signals.bm25)
    weight = options.late if signals.turns is None else np.where(signals.turns, options.late, options.late_notes)
    above: Floats = weight * np.nan_to_num(late - np.nanmedian(late), nan=0.0)
    return above


def _compares_tokens(signals: Signals, options: FusionOptions) -> bool:
    weighed = options.method == "score" and (options.late or options.late_notes)
    return bool(weighed and signals.late is not None and not np.isnan(signals.late).all())


def _session_support(scores: Floats, sessions: NDArray[np.int64], best: int) -> Floats:
    """Return for each turn the mean of the best scores in its session, measured from the median."""
    support = np.zeros_like(scores)
    turns = sessions >= 0
    if best <= 0 or not turns.any():
        return support
    members = np.flatnonzero(turns)
    members = members[np.lexsort((-scores[members], sessions[members]))]
    starts = np.flatnonzero(np.diff(sessions[members], prepend=-1))
    sizes = np.diff(starts, append=members.size)
    places = np.arange(members.size) - np.repeat(starts, sizes)
    counted = np.where(places < best, scores[members], 0.0)
    means = np.add.reduceat(counted, starts) / np.minimum(sizes, best)
    support[members] = np.repeat(means, sizes) - float(np.median(scores[turns]))
    return support


def _reciprocal_ranks(signals: Signals, options: FusionOptions) -> Floats:
    total = np.zeros_like(signals.bm25)
    legs: Sequence[tuple[float, Floats, NDArray[np.bool_]]] = (
        (options.words, signals.bm25, signals.bm25 > 0),
        (options.meaning, np.nan_to_num(signals.cosine, nan=-2.0), ~np.isnan(signals.cosine)),
    )
    for weight, values, found in legs:
        rank = np.empty(values.size)
        rank[np.argsort(-values, kind="stable")] = np.arange(1, values.size + 1)
        total += np.where(found, weight / (options.rank_damping + rank), 0.0)
    best = (options.words + options.meaning) / (options.rank_damping + 1)
    return total / best if best > 0 else total
