"""One item is taken out of what a summary lists, the rest stays as it was."""

import pytest

from zomem_graph.nodes.rules.told import FINISHED, LEARNED, listed, without_item


@pytest.mark.parametrize(
    ("summary", "left"),
    [
        ("Talked about: “x”. Learned: a city: Rome.", "Talked about: “x”."),
        (
            "Talked about: “x”. Learned: a city: Rome; b: c. Finished: d.",
            "Talked about: “x”. Learned: b: c. Finished: d.",
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
    assert without_item(summary, LEARNED, "a city: Rome") == left


def test_what_ends_in_a_stop_of_its_own_is_found_too() -> None:
    assert without_item("Learned: note: buy milk. Finished: z.", LEARNED, "note: buy milk.") == "Finished: z."


def test_a_long_item_is_found_by_its_beginning() -> None:
    long = "note: " + "word " * 60
    assert without_item(f"So. {listed(LEARNED, [long, 'b: c'])}.", LEARNED, long) == "So. Learned: b: c."


def test_an_item_is_taken_out_of_its_own_list_only() -> None:
    assert without_item("Learned: a; b. Finished: a; b.", FINISHED, "a") == "Learned: a; b. Finished: b."
    assert without_item("Learned: a; b. Finished: a; b.", FINISHED, "b") == "Learned: a; b. Finished: a."
