"""Late interaction: how tokens are weighed, compared and added to a score, and what a hop makes of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from zomem_graph.models.local import MiniLM
from zomem_graph.nodes.ports import lift_of
from zomem_graph.nodes.rules.fusion import FusionOptions, Signals, fuse
from zomem_graph.nodes.rules.hop import HopOptions, by_stems, by_tokens
from zomem_graph.nodes.rules.late import late_scores, most_similar, token_weights
from zomem_graph.nodes.rules.score import Evidence, chance
from zomem_graph.nodes.steps.evidence import best_late
from zomem_graph.testing import SmallEmbedder

OPTIONS = FusionOptions()


def unit_rows(count: int, *, seed: int, width: int = 8) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def signals(late: list[float], *, turns: list[bool] | None = None) -> Signals:
    count = len(late)
    return Signals(
        bm25=np.linspace(1.0, 0.5, count),
        cosine=np.full(count, np.nan),
        spread=1.0,
        speaker=np.zeros(count),
        sessions=np.full(count, -1),
        weight=np.ones(count),
        late=np.array(late),
        turns=np.array(turns or [True] * count),
    )


# -- weights -----------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(1, 1_000))
def test_weights_are_shares_and_none_is_nothing(pieces: list[int], total: int) -> None:
    weights = token_weights(pieces, {piece: piece % 7 for piece in pieces}, total=total)

    assert weights.sum() == pytest.approx(1.0)
    assert (weights > 0).all()


def test_a_rare_piece_weighs_more_and_one_in_every_item_a_little() -> None:
    everywhere, common, rare, unknown = token_weights([1, 2, 3, 4], {1: 1_000, 2: 100, 3: 1}, total=1_000)

    assert everywhere < common < rare < unknown
    assert everywhere / unknown == pytest.approx(0.2 / np.log(1_000))


def test_a_question_without_tokens_has_no_weights() -> None:
    assert token_weights([], {}, total=10).shape == (0,)


# -- similarities ------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 99))
def test_each_question_token_finds_its_nearest_in_every_item(sizes: list[int], asked: int, seed: int) -> None:
    question, stored = unit_rows(asked, seed=seed), unit_rows(sum(sizes), seed=seed + 1)
    small = np.rint(stored * 127).astype(np.int8)
    scales = (1 / np.linalg.norm(small.astype(np.float32), axis=1)).astype(np.float16)

    found = most_similar(question, small, scales, np.array(sizes))

    parts = np.split(stored, np.cumsum(sizes)[:-1])
    wanted = np.array([[(part @ token).max() for part in parts] for token in question])
    assert found == pytest.approx(wanted, abs=0.02)


def test_nothing_to_compare_is_no_failure() -> None:
    none = np.empty((0, 8), np.int8), np.empty(0, np.float16), np.empty(0, np.int64)

    assert most_similar(unit_rows(2, seed=1), *none).shape == (2, 0)
    assert late_scores(most_similar(unit_rows(2, seed=1), *none), np.array([0.5, 0.5])).shape == (0,)


# -- the score ---------------------------------------------------------------------------------------


def test_what_meets_the_question_word_by_word_comes_first() -> None:
    scores = fuse(signals([0.2, 0.3, 0.9]), OPTIONS)

    assert int(np.argmax(scores)) == 2
    assert scores[2] - fuse(signals([0.2, 0.3, 0.3]), OPTIONS)[2] == pytest.approx(OPTIONS.late * 0.6)


def test_an_item_without_tokens_is_an_ordinary_one() -> None:
    without = fuse(signals([0.2, np.nan, 0.4, 0.6]), OPTIONS)
    ordinary = fuse(signals([0.2, 0.4, 0.4, 0.6]), OPTIONS)

    assert without == pytest.approx(ordinary)


def test_notes_have_a_weight_of_their_own() -> None:
    scores = fuse(signals([0.1, 0.5, 0.5, 0.9], turns=[True, True, False, False]), OPTIONS)
    plain = fuse(signals([0.5] * 4), OPTIONS)

    assert (scores - plain).tolist() == pytest.approx([-0.4 * OPTIONS.late, 0, 0, 0.4 * OPTIONS.late_notes])


@pytest.mark.parametrize("off", [{"late": 0.0, "late_notes": 0.0}, {"method": "rrf"}])
def test_late_interaction_can_be_switched_off(off: dict[str, float]) -> None:
    options = replace(OPTIONS, **off)  # type: ignore[arg-type]

    assert fuse(signals([0.1, 0.5, 0.9]), options) == pytest.approx(fuse(signals([np.nan] * 3), options))


# -- the hop -----------------------------------------------------------------------------------------

HOP = HopOptions()
BOTH, FIRST, SECOND, BARE = 1, 2, 3, 4
GAIN = by_tokens(
    np.array([[0.9, 0.9, 0.1], [0.9, 0.1, 0.9]], np.float32),
    {BOTH: 0, FIRST: 1, SECOND: 2},
    np.array([0.5, 0.5]),
    HOP,
    otherwise=by_stems({FIRST: frozenset(), BARE: frozenset({"sea"})}, {"sea": 1.0}, HOP),
)


def test_a_hop_pays_for_what_the_sender_lacks_and_only_for_that() -> None:
    assert GAIN(FIRST, SECOND) == pytest.approx(HOP.late_base_gain + HOP.cover_gain * 0.5 * 0.8)
    assert GAIN(BOTH, SECOND) == pytest.approx(HOP.late_base_gain)


def test_between_items_without_tokens_words_decide() -> None:
    assert GAIN(FIRST, BARE) == pytest.approx(HOP.base_gain + HOP.cover_gain)


@given(st.floats(0, 1), st.floats(0, 1.2), st.floats(-0.5, 1.5), st.floats(0, 1), st.floats(0, 1))
def test_the_better_the_tokens_are_met_the_likelier_an_answer(
    coverage: float, words: float, nearness: float, one: float, other: float
) -> None:
    low, high = (
        chance(Evidence(coverage=coverage, words=words, nearness=nearness, late=late))
        for late in sorted((one, other))
    )
    assert 0.0 <= low <= high <= 1.0


def test_what_an_embedder_lifts_is_taken_off_again() -> None:
    plain = Evidence(coverage=0.5, words=0.5, nearness=0.8)
    assert chance(replace(plain, lift=1.4)) < chance(plain) < chance(replace(plain, lift=-1.0))
    assert lift_of(None) == lift_of(SmallEmbedder()) == 0.0
    assert MiniLM.lift > 0.0


def test_tokens_count_only_where_most_candidates_have_some() -> None:
    nan = float("nan")
    assert best_late(signals([0.2, 0.7, 0.1, 0.3, nan])) == 0.7
    assert best_late(signals([0.7, nan, nan])) is None
    assert best_late(signals([])) is None
