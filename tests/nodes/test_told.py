"""One item is taken out of what a summary lists as learned, the rest stays as it was."""

import pytest

from zomem_graph.nodes.rules.told import listed, without_learned


@pytest.mark.parametrize(
    ("summary", "left"),
    [
        ("Talked about: “x”. Learned: a city: Rome.", "Talked about: “x”."),
        (
            "Talked about: “x”. Learned: a city: Rome; b: c. Left open: d.",
            "Talked about: “x”. Learned: b: c. Left open: d.",
        ),
        ("Learned: b: c; a city: Rome; d: e.", "Learned: b: c; d: e."),
        ("Learned: b: c; a city: Rome.", "Learned: b: c."),
        ("Learned: b: c; a city: Rome and 3 more.", "Learned: b: c and 3 more."),
        ("Learned: a city: Rome. Learned: b: c; a city: Rome.", "Learned: b: c."),
        ("Learned: b: c; a city: Ro…", "Learned: b: c."),
        ("Talked about: “a city: Rome”.", "Talked about: “a city: Rome”."),
        ("Learned: a city: Romeo.", "Learned: a city: Romeo."),
    ],
)
def test_only_the_item_goes(summary: str, left: str) -> None:
    assert without_learned(summary, "a city: Rome") == left


def test_what_ends_in_a_stop_of_its_own_is_found_too() -> None:
    assert without_learned("Learned: note: buy milk. Finished: z.", "note: buy milk.") == "Finished: z."


def test_a_long_item_is_found_by_its_beginning() -> None:
    long = "note: " + "word " * 60
    assert without_learned(f"So. {listed('Learned', [long, 'b: c'])}.", long) == "So. Learned: b: c."
