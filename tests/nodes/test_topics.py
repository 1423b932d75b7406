"""What a message that goes on with earlier work is about, and which listed thing it points at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.blend import (
    episode_parts,
    fact_parts,
    is_imported,
    loop_parts,
    recency,
    shared_words,
)
from zomem_graph.nodes.rules.ordinals import pointed_at
from zomem_graph.nodes.rules.topics import topic_words

TRIPS = ["Where to?", "Some ideas:\n1. Lyon by train\n2. Porto by plane\n3. Stay at home"]


@pytest.mark.parametrize("message", ["continue", "yes, go ahead", "weiter", "继续", "I'm back. Where were we?"])
def test_a_bare_word_to_go_on_has_no_topic(message: str) -> None:
    assert topic_words(message) == ()


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("where did we leave off on the website review?", ("website", "review")),
        ("is the invoice thing still open?", ("invoice",)),
        ("Was hatten wir zum Heizungstausch beschlossen?", ("heizungstausch",)),
        ("¿Dónde nos quedamos con el informe?", ("informe",)),
    ],
)
def test_words_for_going_on_are_no_topic(message: str, topic: tuple[str, ...]) -> None:
    assert topic_words(message) == topic


@pytest.mark.parametrize(
    "message",
    [
        "the second one",
        "let's go with the second option",
        "Option 2, please",
        "der zweite",
        "la segunda",
        "第二个",
    ],
)
def test_the_second_is_the_second_of_the_list(message: str) -> None:
    assert pointed_at(message, TRIPS) == "Porto by plane"


def test_the_last_is_the_last_of_the_list() -> None:
    assert pointed_at("take the last one", TRIPS) == "Stay at home"


def test_a_choice_in_one_sentence_is_a_list() -> None:
    assert pointed_at("the latter", ["Shall we take Lyon, or Porto?"]) == "Porto"


@pytest.mark.parametrize(
    "message", ["the second world war", "a second opinion", "wait a second", "the fifth one", "it"]
)
def test_what_points_at_nothing_listed_is_nothing(message: str) -> None:
    assert pointed_at(message, TRIPS) is None


@pytest.mark.parametrize(
    "listed",
    [
        "Options: 1) Lyon by train, 2) Porto by plane, 3) stay at home.",
        "You have three options: (a) Lyon by train; (b) Porto by plane; or (c) stay at home. Which?",
        "First option: Lyon by train. Second option: Porto by plane. Third: stay at home.",
        "The first is Lyon by train, the second is Porto by plane, the third is home.",
        "Option A: Lyon by train. Option B: Porto by plane.",
        "**1. Lyon by train**\nNice food.\n\n**2. Porto by plane**\n- sun\n- sea",
        "### 1. Lyon by train\nNice food.\n### 2. Porto by plane\nSun.",
        "## Lyon by train\nNice food.\n- wine\n- cheese\n## Porto by plane\nSun.",
        "### Option A: Lyon by train\n### Option B: Porto by plane",
        "1. **Lyon by train**\n   - wine\n   - cheese\n2. **Porto by plane**\n   - sun",
        "- Lyon by train\n  - wine\n- Porto by plane",
        "1. Lyon by train\n   1. wine\n   2. cheese\n2. Porto by plane",
        "You could do Lyon by train, Porto by plane, or stay at home.",
        "We can choose between Lyon by train, Porto by plane and home. It is up to you.",
        "Du könntest Lyon by train, Porto by plane oder zu Hause nehmen.",
    ],
)
def test_a_list_is_understood_in_lines_under_headings_and_in_sentences(listed: str) -> None:
    for message in ("tell me more about the second one", "what did the second cost us?", "option 2"):
        assert pointed_at(message, ["Where to?", listed]) == "Porto by plane"


@pytest.mark.parametrize(
    "said",
    [
        "It works with Python 3.1) and so on.",
        "I could not sleep, so I read, walked around for many hours in the dark wood, and wrote.",
        "Second, we should talk.",
        "A: hello\nB: good evening",
    ],
)
def test_what_only_looks_like_a_list_has_no_second(said: str) -> None:
    assert pointed_at("the second one", [said]) is None


def test_a_conversation_without_a_list_has_no_second() -> None:
    assert pointed_at("the second one", ["Hello.", "How are you?"]) is None


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=4))
def test_any_message_and_history_are_legal(message: str, history: list[str]) -> None:
    topic_words(message)
    pointed_at(message, history)


def test_endings_make_no_difference_to_shared_words() -> None:
    assert shared_words(("reviews", "website"), "We reviewed the Website").held == 2
    assert shared_words(("port",), "a portrait").held == 0


def test_three_words_or_more_need_two_in_common() -> None:
    assert shared_words(("lease",), "the lease").enough
    assert not shared_words(("lease", "flat", "rent"), "the lease").enough
    assert shared_words(("lease", "flat", "rent"), "rent of the flat").enough


def test_recency_falls_to_nothing_at_the_end_of_the_window() -> None:
    assert [recency(days, window_days=14) for days in (-1, 0, 7, 14, 99)] == [1.0, 1.0, 0.5, 0.0, 0.0]


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 50))
def test_every_score_lies_between_none_and_all(match: float, recent: float, place: int) -> None:
    shared = shared_words(("lease",), "the lease")
    for parts in (
        fact_parts(match, shared, recent),
        episode_parts(place, recent),
        loop_parts(place, match, recent),
    ):
        assert 0.0 <= sum(parts.values()) <= 1.0 + 1e-9


def test_imported_archives_are_known_by_trust_or_entity() -> None:
    assert is_imported(trust="import", entity=None)
    assert is_imported(trust="user", entity="ChatGPT.trips")
    assert not is_imported(trust="user", entity="chatgpt")
