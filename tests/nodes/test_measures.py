"""Measurements in numbers: percentiles by nearest rank, rates over what was needed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.measures import decisions_of, gate_matrix, percentile, timing
from zomem_graph.stores.errors import InvalidInput

NUMBERS = st.floats(0, 1e9, allow_nan=False)


@given(st.lists(NUMBERS, min_size=1), st.floats(0, 1))
def test_a_percentile_is_one_of_the_values_and_so_many_are_not_above_it(values: list[float], share: float) -> None:
    found = percentile(values, share)

    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


@given(st.lists(NUMBERS))
def test_times_are_in_order(values: list[float]) -> None:
    found = timing(values)

    assert found["count"] == len(values)
    assert found["min_ms"] <= found["p50_ms"] <= found["p95_ms"] <= found["max_ms"]


def test_a_clock_that_jumped_back_counts_as_no_time() -> None:
    assert timing([-5_000.0, 2.0])["min_ms"] == 0.0


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_beyond_all_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        percentile([1.0], share)


def test_the_gate_is_counted_by_method_and_decision() -> None:
    matrix = gate_matrix([("words", "skip"), ("words", "skip"), ("evidence", "inject"), ("words", "empty")])
    found = decisions_of(matrix)

    assert matrix["words"] == {"inject": 0, "skip": 2, "empty": 1}
    assert (found["total"], found["inject_rate"], found["hit_rate"]) == (4, 0.25, 0.5)
    assert decisions_of({})["hit_rate"] is None
