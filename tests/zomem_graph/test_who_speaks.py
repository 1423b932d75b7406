"""A text with a colon is a note or a list unless somebody speaks in it; what is none is kept word for word."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.testing import FixedClock

ANN = Scope(persona="ann", thread="t")


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


def kept(memory: Memory, text: str) -> list[tuple[str, str]]:
    """Capture a text; return who said what in it."""
    memory.capture(text, scope=ANN)
    with memory.stores.read() as unit:
        return [(turn.speaker, turn.content) for turn in unit.turns.tail("ann", "t", 99)]


@pytest.mark.parametrize(
    "text",
    [
        "My ski pass is: Day3of5",
        "Router admin: foo",
        "Note to self: buy milk",
        "TODO: call Ana",
        "Ingredients: flour, sugar",
        "Groceries: milk, eggs, bread",
        "Shopping List: milk for you and me",
        "Remember: the key is under our pot",
        "Plan B: we take the train",
        "Two things: milk and bread",
        "Groceries: milk\nBudget: 30 euros",
        "milk: 2\neggs: 6",
        "I live in: Lyon",
        "my favourite colour: green",
        "the address of my office: Rue 5",
        "Hello Ana,\nmy address: Rue 5\nBye",
        "I met two people today.\nAna: I like her very much",
        "**Ingredients:** flour",
        "Zutaten: Mehl, Zucker",
        "Mein Plan: ich fahre nach Rom",
        "Lista: leche y pan",
        "Список: молоко",
        "我的地址: 北京",
    ],
)
def test_a_note_with_a_colon_is_what_the_user_said_word_for_word(memory: Memory, text: str) -> None:
    assert kept(memory, text) == [("user", text)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ana: I moved to Lyon", [("Ana", "I moved to Lyon")]),
        ("Ana: The boiler is broken.", [("Ana", "The boiler is broken.")]),
        ("**Ana:** shall we go?", [("Ana", "shall we go?")]),
        ("Dr. Weber: please rest", [("Dr. Weber", "please rest")]),
        ("Ludwig van Beethoven: I compose", [("Ludwig van Beethoven", "I compose")]),
        ("[2026-05-18 17:25] Ana: Lyon", [("Ana", "Lyon")]),
        ("# Our chat\n\nAna: hello\nBen: Lyon", [("Ana", "hello"), ("Ben", "Lyon")]),
        ("ana: hi\nben: tea please", [("ana", "hi"), ("ben", "tea please")]),
        ("Project Manager: ship it\nBug Reporter: no\nProject Manager: ship", None),
        ("Мама: позвони мне", [("Мама", "позвони мне")]),
        ("Jürgen: ich komme morgen", [("Jürgen", "ich komme morgen")]),
        ("user: I like tea", [("user", "I like tea")]),
    ],
)
def test_somebody_who_speaks_is_named(memory: Memory, text: str, said: list[tuple[str, str]] | None) -> None:
    if said is None:
        said = [(name, rest) for name, rest in (line.split(": ") for line in text.splitlines())]
    assert kept(memory, text) == said


def test_a_list_inside_a_chat_belongs_to_the_message_before_it(memory: Memory) -> None:
    text = "Ana: what shall I buy?\nBen: this\nmilk: two litres\nthe bread: one\nAna: thank you"

    assert kept(memory, text) == [
        ("Ana", "what shall I buy?"),
        ("Ben", "this\nmilk: two litres\nthe bread: one"),
        ("Ana", "thank you"),
    ]
