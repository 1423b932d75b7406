"""Histories laid over what is stored: each message once, whatever comes."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.align import Mark, first_new

words = st.lists(st.sampled_from("abcde"), max_size=12)


def marks(letters: str | list[str]) -> list[Mark]:
    return [Mark(letter) for letter in letters]


def after(stored: str, incoming: str) -> str:
    return stored + incoming[first_new(marks(stored), marks(incoming)) :]


def test_a_growing_history_adds_its_end() -> None:
    assert after("abc", "abcd") == "abcd"


def test_a_trimmed_history_adds_its_end() -> None:
    assert after("abcd", "cde") == "abcde"


def test_a_replayed_middle_adds_nothing() -> None:
    assert after("abcde", "bcd") == "abcde"


def test_an_exchange_like_an_earlier_one_was_said_again() -> None:
    assert after("abcd", "ab") == "abcdab"
    assert after("abcd", "bc") == "abcdbc"
    assert after("abcd", "cd") == "abcd"


def test_an_exchange_at_another_time_was_said_again() -> None:
    noon, later = datetime(2026, 1, 5, 12), datetime(2026, 1, 5, 13)
    stored, again = [Mark("a", at=noon), Mark("b", at=noon)], [Mark("a", at=later), Mark("b", at=later)]
    assert first_new(stored, again) == 0
    assert first_new(stored, stored) == 2
    assert first_new(stored, [*again, Mark("c", at=later)]) == 2


def test_a_run_that_was_sent_back_to_the_beginning_adds_what_differs() -> None:
    stored, again = [Mark("a", "1"), Mark("b", "2")], [Mark("a", "3"), Mark("x", "4")]
    assert first_new(stored, again) == 0
    assert first_new(stored, again, replayed=True) == 1


def test_a_fork_adds_what_differs() -> None:
    assert after("abcd", "abx") == "abcdx"


def test_one_message_like_the_last_is_a_repeat() -> None:
    assert after("ab", "b") == "ab"


def test_one_message_like_an_earlier_one_is_new() -> None:
    assert after("ab", "a") == "aba"


def test_other_ids_make_the_same_word_new() -> None:
    assert first_new([Mark("a", "1")], [Mark("a", "2")]) == 0
    assert first_new([Mark("a", "1")], [Mark("a", "1")]) == 1


def test_a_history_that_begins_as_the_session_has_grown_whatever_its_ids() -> None:
    """A graph gives a message without an id a new one in each run."""
    assert first_new([Mark("a", "1")], [Mark("a", "2"), Mark("b", "3")]) == 1
    assert first_new([Mark("x", "0"), Mark("a", "1")], [Mark("a", "2"), Mark("b", "3")]) == 0


@given(words, words)
def test_a_whole_history_given_again_adds_only_its_end(stored: list[str], more: list[str]) -> None:
    history = marks(stored) + marks(more)
    if stored:
        assert first_new(marks(stored), history) >= len(stored)


@given(words)
def test_a_history_given_twice_adds_nothing(stored: list[str]) -> None:
    assert first_new(marks(stored), marks(stored)) == len(stored)
