"""Keys, slots and when two values are the same."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.keys import (
    LIST_LIKE,
    OPPOSITES,
    conflict_kind,
    is_many,
    normal,
    opposite_slots,
    same_value,
    slot,
)


@pytest.mark.parametrize("key", ["likes", "Depends_On", "depends-on", "allergies", "contacts", "tags"])
def test_a_published_list_like_key_collects_values(key: str) -> None:
    assert is_many(key)


@pytest.mark.parametrize("key", ["city", "port", "status", "address", "favorite color"])
def test_every_other_key_has_one_value(key: str) -> None:
    assert not is_many(key)


def test_the_caller_has_the_last_word_on_a_key() -> None:
    assert not is_many("likes", many=False)
    assert is_many("port", many=True)
    assert is_many("Fallback Port", extra=["fallback_port"])


def test_a_fact_without_a_key_never_replaces_another_one() -> None:
    assert is_many(None)
    assert slot("heron", None, "a", many=False) != slot("heron", None, "b", many=False)


def test_a_single_valued_slot_does_not_hold_the_value() -> None:
    assert slot("office", "city", "Lyon", many=False) == slot("Office ", "City", "Porto", many=False)
    assert slot("office", "city", "Lyon", many=False) == "office\x1fcity"


def test_a_list_like_slot_holds_the_value() -> None:
    assert slot("user", "likes", "Tea", many=True) == slot("user", "likes", "tea.", many=True)
    assert slot("user", "likes", "tea", many=True) != slot("user", "likes", "coffee", many=True)


def test_two_subjects_of_one_attribute_are_two_slots() -> None:
    assert slot("Alpha", "port", "1", many=False) != slot("Beta", "port", "2", many=False)


def test_hyphens_and_underscores_do_not_split_a_slot() -> None:
    assert slot("billing-api", "listens_on", "1", many=False) == slot("Billing API", "listens on", "2", many=False)


def test_an_entity_cannot_forge_the_separator() -> None:
    assert slot("a\x1fb", "c", "v", many=False) != slot("a", "b\x1fc", "v", many=False)


def test_to_dislike_something_ends_liking_it() -> None:
    assert opposite_slots("user", "dislikes", "Tea") == (slot("user", "likes", "tea", many=True),)
    assert opposite_slots("user", "city", "Lyon") == ()


def test_opposite_keys_are_list_like_and_mutual() -> None:
    assert all(OPPOSITES[OPPOSITES[key]] == key and key in LIST_LIKE for key in OPPOSITES)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("1,000", "1000"),
        ("1\u202f000 euros", "1000 euros"),
        ("1'000'000", "1000000"),
        ("Ｌｙｏｎ", "lyon"),
        ("  New   York. ", "new york"),
        ("“Rex”", "Rex"),
        ("Straße", "STRASSE"),
    ],
)
def test_writing_habits_do_not_make_another_value(a: str, b: str) -> None:
    assert normal(a) == normal(b)


@pytest.mark.parametrize(("a", "b"), [("80 443", "80443"), ("1.000", "1000"), ("C++", "C"), ("C#", "C"), ("?", "!")])
def test_different_values_stay_different(a: str, b: str) -> None:
    assert normal(a) != normal(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("30s", "30 seconds"),
        ("2 min", "120 s"),
        ("€45,000", "45k euros"),
        ("3 May", "May 3rd"),
        ("2026-05-03", "3 May 2026"),
        ("on 3 May", "3. Mai"),
        ("3pm", "15:00"),
        ("5月3日", "3 May"),
    ],
)
def test_the_same_number_or_date_otherwise_put_is_the_same_value(a: str, b: str) -> None:
    assert same_value(a, b)
    assert conflict_kind(a, b) is None


@pytest.mark.parametrize(
    ("a", "b", "key"),
    [
        ("3.10", "3.1", "python version"),
        ("Python 3.10", "Python 3.1", "language"),
        ("0123", "123", "extension"),
        ("007", "7", None),
        ("aBcD", "abcd", "ssid"),
        ("x7Kq", "X7kq", "door code"),
        ("aB3dE9", "ab3de9", "voucher"),
        ("1e3", "1000", "order id"),
        ("5 m", "5 min", "timeout"),
        ("1.000,5 kg", "1.0005 kg", "weight"),
    ],
)
def test_what_only_counts_alike_is_another_value(a: str, b: str, key: str | None) -> None:
    assert not same_value(a, b, key=key)
    assert not same_value(b, a, key=key)
    assert same_value(a, a, key=key)


@pytest.mark.parametrize(
    ("a", "b", "key"),
    [
        ("1,000", "1000", "account number"),
        ("1 km", "1000 m", "distance"),
        ("5 lb", "5 lbs", "weight"),
        ("1.000,5 kg", "1000.5 kg", "weight"),
        ("1e3", "1000", "visitors"),
        ("3.50", "3.5", "price"),
        ("3.10 kg", "3.1 kg", "version"),
        ("Falcon", "FALCON", "code name"),
        ("GitHub", "github", "host"),
        ("V2", "v2", "stage"),
    ],
)
def test_what_counts_alike_and_names_nothing_is_one_value(a: str, b: str, key: str) -> None:
    assert same_value(a, b, key=key)
    assert same_value(b, a, key=key)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("deploy is allowed", "deploy is not allowed", "negation"),
        ("never push to main", "always push to main", "negation"),
        ("don't deploy on Friday", "deploy on Friday", "negation"),
        ("deploys are forbidden on Friday", "deploys are allowed on Friday", "negation"),
        ("yes", "no", "negation"),
        ("enabled", "disabled", "negation"),
        ("允许部署", "不允许部署", "negation"),
        ("8080", "8081", "number"),
        ("port 22", "port 49222", "number"),
        ("30 s", "30 min", "number"),
        ("2.14.3", "2.14.4", "number"),
        ("v2", "v3", "number"),
        ("3 May", "4 May", "date"),
        ("Friday at 10:00", "Thursday at 10:00", "date"),
        ("9:30", "10:15", "date"),
        ("Lyon", "Porto", "exact"),
        ("a plan for the spring release", "some idea about how to ship slowly", "text"),
    ],
)
def test_a_conflict_says_what_differs(old: str, new: str, kind: str) -> None:
    assert conflict_kind(old, new) == kind
    assert not same_value(old, new)


@pytest.mark.parametrize(("old", "new"), [("3 May", "3 May 2027"), ("3.14159 cm", "3.1416 cm"), ("Lyon", "lyon.")])
def test_a_more_precise_value_is_no_conflict(old: str, new: str) -> None:
    assert conflict_kind(old, new) is None


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(alphabet="01,.'’_ \"-a€km:", max_size=30))
def test_normalising_numbers_twice_changes_nothing(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(), st.text())
def test_comparing_any_two_strings_is_symmetric_and_never_raises(a: str, b: str) -> None:
    assert same_value(a, b) == same_value(b, a)
    assert same_value(a, a)
    assert conflict_kind(a, a) is None
    assert slot(a, b, a, many=False).count("\x1f") in {1, 2}
    conflict_kind(a, b)


_PIECES = ["3 may", "2027", "not ", "30", " s", "8080", "no ", "5月3日", "12:30", ":", "v1.2.3", "%"]
_MIXED = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)


@given(_MIXED, _MIXED)
def test_the_same_value_is_never_a_conflict(a: str, b: str) -> None:
    assert not (same_value(a, b) and conflict_kind(a, b))
    assert (conflict_kind(a, b) is None) == (conflict_kind(b, a) is None)


@pytest.mark.parametrize("unit", ["1,000", "n", "1 ", "3 may ", "not ", "1.2.", "' ", "１"])
def test_comparing_long_values_takes_linear_time(unit: str) -> None:
    text = unit * 20_000
    began = time.perf_counter()
    conflict_kind(text, text + "x")
    assert time.perf_counter() - began < 5
