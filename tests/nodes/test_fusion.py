"""Fusion: one scale for all signals, and no leg that vetoes another."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.fusion import FusionOptions, Signals, fuse, relative

numbers = st.lists(st.floats(0, 50), min_size=1, max_size=30)


def signals(
    bm25: Sequence[float], cosine: Sequence[float] | None = None, sessions: Sequence[int] | None = None
) -> Signals:
    count = len(bm25)
    return Signals(
        bm25=np.asarray(bm25, dtype=float),
        cosine=np.full(count, np.nan) if cosine is None else np.asarray(cosine, dtype=float),
        late=np.full(count, np.nan),
        turns=np.zeros(count, dtype=bool),
        spread=0.15,
        speaker=np.zeros(count),
        sessions=np.full(count, -1) if sessions is None else np.asarray(sessions, dtype=np.int64),
        weight=np.ones(count),
    )


@given(numbers)
def test_words_alone_rank_as_words(bm25: list[float]) -> None:
    scores = fuse(signals(bm25), FusionOptions())
    order = np.argsort(-np.asarray(bm25), kind="stable")
    assert np.all(np.diff(scores[order]) <= 1e-12)


@given(st.lists(st.floats(0.7, 0.95), min_size=1, max_size=30))
def test_meaning_alone_ranks_as_meaning(cosine: list[float]) -> None:
    scores = fuse(signals([0.0] * len(cosine), cosine), FusionOptions())
    order = np.argsort(-np.asarray(cosine), kind="stable")
    assert np.all(np.diff(scores[order]) <= 1e-12)


@given(numbers, st.floats(-1, 1))
def test_a_constant_shift_of_all_cosines_changes_no_order(bm25: list[float], shift: float) -> None:
    cosine = np.linspace(0.7, 0.9, len(bm25))
    plain = fuse(signals(bm25, cosine.tolist()), FusionOptions())
    shifted = fuse(signals(bm25, (cosine + shift).tolist()), FusionOptions())
    assert np.allclose(plain - plain.max(), shifted - shifted.max())


def test_what_has_no_vector_yet_is_judged_by_its_words() -> None:
    scores = fuse(signals([9.0, 1.0, 1.0], [np.nan, 0.80, 0.80]), FusionOptions())
    assert int(np.argmax(scores)) == 0


@given(numbers)
def test_nothing_is_ever_dropped_or_undefined(bm25: list[float]) -> None:
    for options in (FusionOptions(), FusionOptions(method="rrf")):
        scores = fuse(signals(bm25), options)
        assert scores.shape == (len(bm25),)
        assert np.isfinite(scores).all()


def naive_support(scores: Sequence[float], sessions: Sequence[int], best: int) -> list[float]:
    turns = [score for score, session in zip(scores, sessions, strict=True) if session >= 0]
    floor = float(np.median(turns)) if turns else 0.0
    found = []
    for session in sessions:
        own = sorted((s for s, where in zip(scores, sessions, strict=True) if where == session), reverse=True)[:best]
        found.append(sum(own) / len(own) - floor if session >= 0 else 0.0)
    return found


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(-1, 4)), min_size=1, max_size=25))
def test_a_session_lends_the_mean_of_its_best(rows: list[tuple[float, int]]) -> None:
    bm25, sessions = [row[0] for row in rows], [row[1] for row in rows]
    with_it = fuse(signals(bm25, sessions=sessions), FusionOptions(speaker=0, session=0.7))
    base = fuse(signals(bm25, sessions=sessions), FusionOptions(speaker=0, session=0))
    assert with_it - base == pytest.approx(0.7 * np.asarray(naive_support(list(base), sessions, 3)), abs=1e-9)


def test_shares_do_not_depend_on_how_many_there_are() -> None:
    assert relative(np.array([3.0, 2.0]))[1] == pytest.approx(relative(np.array([3.0, 2.0, -50.0]))[1])
