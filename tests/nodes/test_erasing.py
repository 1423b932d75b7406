"""Which texts hold a fact, and by what an erased text is known again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.erasing import (
    FactForms,
    fact_marks,
    needles_of,
    shares_wording,
    shingles,
    source_marks,
    telling,
    turn_marks,
)


def forms(value: str, *, entity: str = "ann", key: str | None = "city", quote: str | None = None) -> FactForms:
    return FactForms.of(entity=entity, key=key, value=value, sentence=f"{entity} {key}: {value}", quote=quote)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Noted: XK4471902.", forms("XK4471902", key="passport")),
        ("Ann moved to Lyon", forms("Lyon")),
        ("my CITY is lyon!", forms("Lyon")),
        ("so, Ann  City: Lyon it is", forms("Lyon")),
        ("I said I have lived by the river for years", forms("Lyon", quote="I have lived by the river for years")),
    ],
)
def test_a_text_that_says_a_fact_is_seen(text: str, fact: FactForms) -> None:
    assert fact.said_in(_normal(text))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Lyon is a city in France", forms("Lyon", key="home")),
        ("Ann went to the lyonnaise bakery", forms("Lyon")),
        ("Annabel is from Lyon", forms("Lyon", key="home")),
        ("nothing of it", forms("Lyon")),
    ],
)
def test_a_text_that_only_has_its_words_is_not(text: str, fact: FactForms) -> None:
    assert not fact.said_in(_normal(text))


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def test_short_words_are_known_only_within_their_session() -> None:
    assert turn_marks("ok", session="a") != turn_marks("ok", session="b")
    long = "the heron nests behind the mill"
    assert turn_marks(long, session="a") == turn_marks(f" {long.upper()}. ", session="b")


def test_a_fact_is_known_by_its_address_and_value_in_any_spelling() -> None:
    assert fact_marks("ann\x1fport", "1,000", "x") == fact_marks("ann\x1fport", " 1000 ", "x")
    assert fact_marks("ann\x1fport", "1", "x") != fact_marks("bob\x1fport", "1", "x")
    assert source_marks("note-1", None, "", 7) == [("source", "note-1")]


@given(st.text(max_size=400))
def test_what_is_looked_for_stands_in_the_text(text: str) -> None:
    for needle in needles_of([text]):
        assert needle in text
        assert len(needle.encode("utf-8", "surrogatepass")) >= 8


def test_of_a_long_text_several_parts_are_looked_for() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    found = needles_of([text])
    assert len(found) >= 4
    assert found[0].startswith("word0")
    assert found[-1].endswith("word399")


def test_a_single_plain_word_is_not_looked_for() -> None:
    assert needles_of(["strawberries", "XK4471902"]) == ["XK4471902"]


def test_a_summary_is_known_by_runs_of_words() -> None:
    runs = shingles("My sister Clara moved to Porto last spring.")
    assert shares_wording("Talked about: “My sister Clara moved to…”", runs)
    assert not shares_wording("Talked about the move of somebody to somewhere", runs)


@given(st.text(max_size=30))
def test_what_tells_enough_tells_it_in_any_case(text: str) -> None:
    assert telling(text) == telling(f"  {text} ")
