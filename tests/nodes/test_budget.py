"""The budget is never passed, and what matters most is what stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.budget import LEAST_TOKENS, Passage, fit, tokens, trim
from zomem_graph.stores.words import terms

any_text = st.one_of(st.text(max_size=120), st.text("ab .!?\n 猫。é", max_size=120))
any_passage = st.builds(
    Passage,
    key=st.uuids().map(str),
    text=any_text,
    relevance=st.floats(0, 1),
    overhead=st.integers(0, 12),
)
any_passages = st.lists(any_passage, max_size=8)
NOTE = (
    "The office moved twice. In spring the team looked at houses near the river. "
    "The new address is 12 Mill Lane, above the bakery. The old one was let to a dentist. "
    "Parking is behind the house. Nobody has found the second key yet."
)


def passage(text: str, relevance: float, *, overhead: int = 0) -> Passage:
    return Passage(key=text[:10], text=text, relevance=relevance, overhead=overhead)


@pytest.mark.parametrize(("text", "price"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("猫", 1), ("猫猫", 2)])
def test_a_token_is_four_bytes_of_utf8(text: str, price: int) -> None:
    assert tokens(text) == price


@given(passages=any_passages, budget=st.integers(-5, 200))
def test_the_budget_is_never_passed(passages: list[Passage], budget: int) -> None:
    chosen = fit(passages, budget, terms=["ab"])

    assert chosen.tokens <= max(0, budget)
    assert sum(tokens(one.text) + one.overhead for one in chosen.kept) == chosen.tokens


@given(passages=any_passages, budget=st.integers(0, 200))
def test_nothing_gets_lost_or_made_up(passages: list[Passage], budget: int) -> None:
    chosen = fit(passages, budget)

    order = [one.key for one in passages]
    assert [one.key for one in chosen.kept] == [key for key in order if key in {one.key for one in chosen.kept}]
    assert {one.key for one in chosen.kept}.isdisjoint(one.key for one in chosen.dropped)
    assert len(chosen.kept) + len(chosen.dropped) == len(passages)
    assert {one.key for one in chosen.trimmed} <= {one.key for one in chosen.kept}


@given(passages=any_passages, budget=st.integers(0, 200))
def test_only_what_not_even_a_cut_makes_fit_is_left_out(passages: list[Passage], budget: int) -> None:
    chosen = fit(passages, budget)

    for out in chosen.dropped:
        least = min(tokens(out.text), LEAST_TOKENS) + out.overhead
        before = sum(one.tokens for one in chosen.kept if one.relevance > out.relevance)
        equal = sum(one.tokens for one in chosen.kept if one.relevance == out.relevance)
        assert least > budget - before - equal


@given(passages=any_passages)
def test_with_room_for_all_nothing_is_touched(passages: list[Passage]) -> None:
    chosen = fit(passages, sum(one.tokens for one in passages))

    assert chosen.kept == tuple(passages)
    assert chosen.trimmed == chosen.dropped == ()


def test_the_more_relevant_wins_the_last_place() -> None:
    weak, strong = passage("w" * 40, 0.1), passage("s" * 40, 0.9)

    chosen = fit([weak, strong], 12)

    assert chosen.kept == (strong,)
    assert chosen.dropped == (weak,)


def test_a_long_passage_leaves_room_for_the_others() -> None:
    long, short = passage(NOTE * 20, 0.9), passage("The gate code is 4711.", 0.8)

    chosen = fit([long, short], 60, terms=terms("new address"))

    assert chosen.kept[1] == short
    assert "12 Mill Lane" in chosen.kept[0].text
    assert chosen.trimmed == (long,)
    assert chosen.tokens > 50


def test_a_cut_keeps_the_sentence_that_answers() -> None:
    cut = trim(NOTE, terms("What is the new address?"), 20)

    assert cut == "… The new address is 12 Mill Lane, above the bakery. …"


def test_a_cut_shows_the_current_value_of_a_long_fact() -> None:
    fact = "Until March the server ran on port 22, as everybody knew. Since then sshd listens on port 49222."

    assert trim(fact, terms("which port does sshd listen on"), 16) == "… Since then sshd listens on port 49222."


def test_a_cut_without_terms_keeps_the_beginning() -> None:
    assert trim(NOTE, (), 10) == "The office moved twice. …"


def test_a_sentence_too_long_is_cut_between_words_around_the_term() -> None:
    cut = trim("one two three four five " * 20 + "harbour " + "six seven eight nine ten " * 20, ["harbours"], 12)

    assert cut is not None
    assert "harbour" in cut.split()
    assert cut.startswith("… ")
    assert cut.endswith(" …")


def test_text_without_spaces_can_be_cut() -> None:
    cut = trim("会議は月曜日です。" * 10 + "新しい住所は京都です。" + "会議は月曜日です。" * 10, terms("住所"), 16)

    assert cut is not None
    assert "新しい住所は京都です。" in cut


@given(text=any_text, words=st.lists(st.sampled_from(["ab", "a", "猫"])), budget=st.integers(-3, 40))
def test_a_cut_is_never_over_its_budget_and_only_made_of_the_text(text: str, words: list[str], budget: int) -> None:
    cut = trim(text, words, budget)

    if cut is None:
        assert budget < min(LEAST_TOKENS, tokens(text))
    else:
        assert tokens(cut) <= budget
        assert cut.removeprefix("… ").removesuffix(" …") in text
        assert cut.strip() or not text.strip()
