"""What a new fact does to what is known is decided by address; wording only marks and never retires."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.conflict import (
    STRATEGIES,
    Judgement,
    Place,
    Rival,
    Statement,
    Strategy,
    deny_each_other,
    differ_in_number,
    judge,
    may_deny,
    merged_value,
    speaks_of_change,
    speaks_of_the_past,
)

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def said(value: str, *, quote: str | None = None, days: float = 0) -> Statement:
    return Statement(value=value, said=value, at=NOW + timedelta(days=days), quote=quote)


def rival(value: str, place: Place = "slot") -> Rival:
    return Rival(id="old", place=place, value=value, said=value, at=NOW)


def judged(new: Statement, old: Rival, strategy: Strategy = "supersede") -> Judgement:
    (found,) = judge(new, [old], strategy=strategy)
    return found


@pytest.mark.parametrize(
    ("old", "new", "kind", "detector"),
    [
        ("22", "49222", "exact", "number"),
        ("3 May", "4 May", "exact", "date"),
        ("Lyon", "Porto", "exact", "exact"),
        ("allowed", "not allowed", "semantic", "negation"),
        ("a long story about a boat", "another long story about a car", "semantic", "text"),
        ("3 May", "3 May 2027", "exact", "precision"),
        ("Lyon", "now Porto", "temporal", "exact"),
    ],
)
def test_a_new_value_of_a_slot_supersedes_and_says_why(old: str, new: str, kind: str, detector: str) -> None:
    found = judged(said(new), rival(old))
    assert (found.outcome, found.conflict_type, found.detector) == ("superseded", kind, detector)


@pytest.mark.parametrize(
    ("strategy", "outcome"),
    [("supersede", "superseded"), ("merge", "merged"), ("flag", "flagged"), ("pending", "pending")],
)
def test_the_strategy_decides_in_a_slot(strategy: Strategy, outcome: str) -> None:
    assert judged(said("Porto"), rival("Lyon"), strategy).outcome == outcome


def test_liking_and_disliking_are_never_merged() -> None:
    assert judged(said("tea"), rival("tea", "opposite"), "merge").outcome == "superseded"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_was_said_earlier_never_replaces_what_was_said_later(strategy: Strategy) -> None:
    assert judged(said("Rome", days=-1), rival("Lyon"), strategy).outcome == "late"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("used to be Lyon", None),
        ("formerly Lyon", None),
        ("Lyon", "I used to live in Lyon, it was fine"),
        ("Lyon", "We were previously in Lyon."),
        ("Lyon", "früher in Lyon, heute anderswo"),
    ],
)
def test_what_speaks_of_the_past_stays_behind(value: str, quote: str | None) -> None:
    assert speaks_of_the_past(said(value, quote=quote))
    assert judged(said(value, quote=quote), rival("Porto")).outcome == "past"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("Porto", "I used to live in Lyon, now I live in Porto"),
        ("Wusthof", "The knife used to cut bread is a Wusthof"),
        ("a hammer used to fix shelves", None),
        ("8081", "the port has been changed to 8081"),
        ("Porto", None),
    ],
)
def test_what_only_mentions_the_past_does_not(value: str, quote: str | None) -> None:
    assert not speaks_of_the_past(said(value, quote=quote))


@pytest.mark.parametrize("text", ["moved to Porto", "now Porto", "as of May: Porto", "no longer Lyon", "不再使用"])
def test_words_of_change_are_known(text: str) -> None:
    assert speaks_of_change(said(text))


DENIALS = [
    ("deploys on Friday are allowed", "deploys on Friday are not allowed"),
    ("deploy on Friday is allowed", "deploy on Friday is forbidden"),
    ("the office has a kitchen", "the office has no kitchen"),
    ("the bridge is open", "the bridge is closed"),
    ("we use tabs", "we don't use tabs"),
    ("周五可以部署", "周五不可以部署"),
]
LOOK_ALIKES = [
    ("deploys on Friday are allowed", "deploys on Monday are not allowed"),
    ("port of Alpha is open", "port of Beta is closed"),
    ("Ann eats fish", "Ann does not eat meat"),
    ("the office has a kitchen", "the office has no garden"),
    ("3 rooms are open", "4 rooms are closed"),
    ("no meetings on 3 May", "meetings on 4 May"),
    ("never forget the keys", "never forget the phone"),
    ("the key without a label opens the shed", "the key with a red label opens the house"),
    ("not now", "not here"),
    ("the red door is shut", "the blue door is shut"),
]


@pytest.mark.parametrize(("one", "other"), DENIALS)
def test_statements_that_deny_each_other_are_seen(one: str, other: str) -> None:
    assert deny_each_other(one, other)
    assert deny_each_other(other, one)
    assert may_deny(one) or may_deny(other)


@pytest.mark.parametrize(("one", "other"), LOOK_ALIKES)
def test_statements_that_share_words_only_are_left_alone(one: str, other: str) -> None:
    assert not deny_each_other(one, other)
    assert judge(said(other), [rival(one, "entity")]) == []


@pytest.mark.parametrize(("one", "other"), DENIALS)
def test_a_denial_beside_is_flagged_unless_it_says_what_changed(one: str, other: str) -> None:
    assert judged(said(other), rival(one, "entity")).outcome == "flagged"


def test_a_denial_of_today_takes_the_place_of_yesterday() -> None:
    new = said("deploys on Friday are no longer allowed", days=1)
    assert judged(new, rival("deploys on Friday are allowed", "entity")).outcome == "superseded"
    old_news = said("deploys on Friday are no longer allowed", days=-1)
    assert judged(old_news, rival("deploys on Friday are allowed", "entity")).outcome == "flagged"


@given(st.text(max_size=60), st.text(max_size=60))
def test_denial_is_mutual_and_nothing_denies_itself(one: str, other: str) -> None:
    assert deny_each_other(one, other) == deny_each_other(other, one)
    assert not deny_each_other(one, one)


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(STRATEGIES))
def test_every_pair_of_values_is_judged_without_a_fault(old: str, new: str, strategy: Strategy) -> None:
    assert len(judge(said(new), [rival(old)], strategy=strategy)) == 1


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("the team has 5 people", "the team has 6 people", True),
        ("the team has 5 people", "the crew has 6 people", False),
        ("paid 30 euros", "paid 30 EUR", False),
        ("born on 3 May", "born on 4 May", True),
        ("5", "6", False),
    ],
)
def test_a_difference_in_number_alone_is_seen(one: str, other: str, differ: bool) -> None:
    assert differ_in_number(one, other) is differ


def test_merging_keeps_each_value_once() -> None:
    assert merged_value(["Monday", "Thursday"]) == "Monday; Thursday"
    assert merged_value(["Monday; Thursday", "monday", "Friday"]) == "Monday; Thursday; Friday"
