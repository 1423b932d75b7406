"""What is said twice is shown once, and what only looks alike is shown twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.alike import collapse, statement

WORDS = [
    "Anna",
    "Bob",
    "the",
    "not",
    "likes",
    "tea",
    "5",
    "five",
    "-5",
    "is",
    "isn't",
    "May 5",
    "?",
    "yesterday",
    "now",
]
statements = st.one_of(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), st.text(max_size=30))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("User prefers dark mode", "the user prefers dark mode."),
        ("User prefers dark mode", "User really prefers a DARK  mode!"),
        ("User prefers dark mode", "- **User** prefer dark mode"),
        ("I don't like tea", "I do not like tea"),
        ("I don’t like tea", "I dont like tea"),
        ("It's late", "It is late."),
        ("The rent is 1,200 euros", "the rent is 1200 euro"),
        ("Born 5 May 2023", "Born May 5th, 2023"),
        ("Due 2023-05-05", "Due May 5, 2023"),
        ("Meet at 5 pm", "Meet at 5pm"),
        ("She has two cats", "She has 2 cats"),
        ("In 2021, Anna moved to Berlin.", "Anna moved to Berlin in 2021"),
        ("Yesterday Anna paid Bob", "Anna paid Bob yesterday."),
        ("Anna has moved to Berlin", "Anna moved to Berlin"),
        ("部署方案已通过。", "部署方案已通过"),
    ],
)
def test_the_same_statement_in_other_dress(a: str, b: str) -> None:
    assert statement(a) == statement(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Deploying is allowed on Friday", "Deploying is not allowed on Friday"),
        ("I like tea", "I don't like tea"),
        ("Nobody came", "Somebody came"),
        ("The port of Alpha is 1", "The port of Beta is 1"),
        ("The port is 22", "The port is 49222"),
        ("It is -5 degrees", "It is 5 degrees"),
        ("Growth was 5%", "Growth was 5"),
        ("It costs $5", "It costs €5"),
        ("Pinned to 1.24.3", "Pinned to 1.2.43"),
        ("Due May 5, 2023", "Due May 6, 2023"),
        ("Due 5 May", "Due 5 June"),
        ("Meet at 5 am", "Meet at 5 pm"),
        ("Anna pays Bob", "Bob pays Anna"),
        ("Anna's sister lives in Rome", "Anna lives in Rome"),
        ("Anna is a manager", "Anna was a manager"),
        ("Deploy before Friday", "Deploy after Friday"),
        ("The light is on", "The light is off"),
        ("Anna eats meat", "Anna only eats meat"),
        ("The build may fail", "The build will fail"),
        ("We write C++", "We write C#"),
        ("Deploy on Friday?", "Deploy on Friday."),
        ("x < 5", "x > 5"),
        ("loved it 👍", "loved it 👎"),
        ("...", "???"),
        ("", "."),
    ],
)
def test_what_differs_in_meaning_is_kept_apart(a: str, b: str) -> None:
    assert statement(a) != statement(b)


@given(text=statements)
def test_case_and_a_full_stop_never_matter(text: str) -> None:
    has_words = text.isascii() and any(character.isalnum() for character in text)

    assert statement(text) == statement(f" {text.upper()}.") or not has_words


def test_the_best_of_each_statement_stays_in_its_place() -> None:
    scored = [("Tea!", 0.2), ("coffee", 0.5), ("the tea", 0.9), ("tea", 0.9), ("Coffee.", 0.1)]

    assert collapse(scored) == (1, 2)
    assert collapse([]) == ()


@given(scored=st.lists(st.tuples(statements, st.floats(0, 1)), max_size=8))
def test_collapsing_keeps_one_of_each_and_again_changes_nothing(scored: list[tuple[str, float]]) -> None:
    kept = collapse(scored)

    for position, (text, score) in enumerate(scored):
        twins = [i for i in kept if statement(scored[i][0]) == statement(text)]
        assert len(twins) == 1
        assert scored[twins[0]][1] >= score or position in kept
    assert collapse([scored[i] for i in kept]) == tuple(range(len(kept)))
