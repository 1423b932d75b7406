"""Whether a message leans on its conversation, and with which words to search for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.followup import is_followup, query_terms
from zomem_graph.nodes.rules.phrases import fold

TALK = ("Where did Ana Brandt study?", "She studied glass making in Murano, with Teo.")


@pytest.mark.parametrize(
    "message",
    [
        "When did she leave?",
        "What about the others?",
        "And in winter?",
        "Why?",
        "Which one is cheaper?",
        "Why was the first one bad for us?",
        "What did the second cost us?",
        "What were the side effects?",
        "Did it pay well?",
        "Are there any risks?",
        "How much is left there?",
        "Und warum?",
        "¿Y eso por qué?",
        "Pourquoi cela ?",
        "那为什么？",
        "それはなぜですか？",
    ],
)
def test_a_message_with_a_gap_leans_on_its_conversation(message: str) -> None:
    assert is_followup(message, TALK)


@pytest.mark.parametrize(
    "message",
    [
        "What is photosynthesis?",
        "Where did Ana Brandt study?",
        "How is paper recycled?",
        "Compare tea and coffee.",
        "Is it safe to freeze cooked rice?",
        "Why do cats purr and why is purring soft?",
        "Was ist Glas?",
    ],
)
def test_a_whole_question_stands_alone(message: str) -> None:
    assert not is_followup(message, TALK)


def test_a_pronoun_with_its_noun_in_the_same_message_is_no_gap() -> None:
    assert not is_followup("What is blown glass, and is it strong?", TALK)
    assert is_followup("What is blown glass, and did she like that?", TALK)


def test_a_first_message_has_nothing_to_lean_on_but_pronouns_still_show() -> None:
    assert is_followup("Describe the outer layer.")
    assert not is_followup("Describe the outer layer.", ())
    assert is_followup("Why did they leave?", ())


def test_the_answer_says_how_sure_and_why() -> None:
    weak, strong = is_followup("Who won the race?", TALK), is_followup("And what else did she make?", TALK)

    assert 0.5 <= weak.score < strong.score
    assert strong.reason != weak.reason
    assert is_followup("What is glass?", TALK).reason == "stands alone"


@given(st.text(max_size=200), st.none() | st.lists(st.text(max_size=60), max_size=4))
def test_no_string_makes_it_fail(message: str, history: list[str] | None) -> None:
    verdict = is_followup(message, history)

    assert bool(verdict) is verdict.needed
    query_terms(message, history or ())


def test_a_query_is_joined_by_the_names_and_the_last_exchange() -> None:
    terms = query_terms("When did she leave?", ("Tell me about Zoran's workshop", *TALK))

    assert terms.own == ("leave",)
    assert set(terms.history) >= {"Ana", "Brandt", "Murano", "Teo", "Zoran's"}
    assert set(terms.context) >= {"study", "glass", "making"}
    assert "workshop" not in terms.context


def test_a_word_that_is_also_written_small_is_no_name() -> None:
    assert query_terms("why?", ("Glass is old.", "Yes, glass is very old.")).history == ()


def test_without_history_only_the_own_words_are_searched_for() -> None:
    terms = query_terms("Is it?", ())

    assert terms.own == ("Is", "it")
    assert terms.history == terms.context == ()


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=5))
def test_no_word_stands_in_two_groups(message: str, history: list[str]) -> None:
    terms = query_terms(message, history)
    words = [fold(word) for word in (*terms.own, *terms.history, *terms.context)]

    assert len(words) == len(set(words))


def test_a_long_history_is_cut_to_its_newest_names() -> None:
    history = [f"We met Person{chr(65 + number % 26)}{number} there" for number in range(500)]
    terms = query_terms("and then?", history)

    assert len(terms.history) <= 40
    assert terms.history[0].endswith("499")
