"""Alarms of a filling prompt: each rings once, and again only after it was well below."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.context import Alarms, Level, is_much, level_of, room, rung

LIMITS = {"max_tokens": 1_000, "warn_at": 0.7, "critical_at": 0.9}


def rings(*uses: int) -> list[Level | None]:
    alarms = Alarms()
    heard: list[Level | None] = []
    for used in uses:
        alarms, rang = rung(alarms, used, **LIMITS)  # type: ignore[arg-type]
        heard.append(rang)
    return heard


@pytest.mark.parametrize(
    ("used", "level"),
    [(0, "ok"), (699, "ok"), (700, "warning"), (899, "warning"), (900, "critical"), (5_000, "critical")],
)
def test_the_lines_are_where_they_are_said_to_be(used: int, level: str) -> None:
    assert level_of(used, **LIMITS) == level  # type: ignore[arg-type]


def test_an_alarm_rings_once_and_again_only_after_the_use_fell_well_below() -> None:
    assert rings(600, 710, 750, 690, 720, 640, 710) == [None, "warning", None, None, None, None, "warning"]
    assert rings(950, 870, 910, 840, 910) == ["critical", None, None, None, "critical"]


def test_the_louder_alarm_is_heard_when_both_are_due() -> None:
    assert rings(950) == ["critical"]


@given(st.lists(st.integers(0, 1_200), max_size=40))
def test_between_two_alarms_of_a_kind_the_use_was_well_below(uses: list[int]) -> None:
    lowest: dict[str, int] = {}
    for used, rang in zip(uses, rings(*uses), strict=True):
        lowest = {kind: min(low, used) for kind, low in lowest.items()}
        if rang is not None:
            line = LIMITS["critical_at" if rang == "critical" else "warn_at"] * 1_000
            assert used >= line
            assert lowest.get(rang, 0) < line - 50 + 1e-9
            lowest[rang] = used


@given(st.integers(0, 20_000), st.integers(100, 10_000))
def test_what_memory_may_take_never_crosses_the_critical_line(used: int, most: int) -> None:
    left = room(used, max_tokens=most, critical_at=0.9)

    assert left >= 0
    assert left == 0 or used + left <= most * 0.9 + 1e-6


@pytest.mark.parametrize(
    ("dropped", "total", "much"),
    [(0, 0, False), (0, 10, False), (2, 10, False), (3, 10, True), (1, 3, True), (1, 1, True)],
)
def test_three_of_ten_are_much(dropped: int, total: int, much: bool) -> None:
    assert is_much(dropped, total) is much
