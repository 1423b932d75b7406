"""The suites about time, in small: each passes its marks."""

from tests.faults.nursery import LONG
from zomem_graph.bench.care import fading, killed, time_zones
from zomem_graph.bench.care_load import many_facts, writes_meanwhile


def test_however_often_maintenance_runs_the_end_is_the_same() -> None:
    found = fading(days=730, facts=40) if LONG else fading(days=45, facts=12)
    assert found["missed"] == []
    assert "archived" in found["states_seen"]


def test_an_instant_is_the_same_in_every_zone() -> None:
    assert time_zones(days=60 if LONG else 35, facts=10)["missed"] == []


def test_maintenance_that_is_killed_ends_where_it_would_have() -> None:
    found = killed(every=1 if LONG else 6)
    assert found["missed"] == [], found["apart"]


def test_nothing_that_is_written_while_a_model_thinks_is_lost() -> None:
    found = writes_meanwhile() if LONG else writes_meanwhile(seconds=2.0, writes=20)
    assert found["missed"] == []


def test_many_facts_are_maintained_in_short_transactions() -> None:
    found = many_facts(facts=50_000 if LONG else 2_000)
    assert found["changes"] > 0
    assert found["changes_again"] == 0
