"""Front matter as people write it: readable or not, the note is kept and its values are plain text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.importers.front_matter import iso, read_front_matter, split_front_matter, tags_in

from .kit import note, read, write

BROKEN = [
    "title: Meeting: plan",
    "id: @ref",
    "date: {{date}}",
    "{{title}}: x",
    "title: 'open",
    "\ttab: 1",
    "just words",
    "- a\n- b",
    "a: &x [1]\nb: [*x, *x]",
    "a: [[[[",
    "a: \x07",
    "? [a]\n: b",
    "a: 1\n--- b: 2",
    f"a: {'{a: ' * 900}{'}' * 900}",
]


@pytest.mark.parametrize("raw", BROKEN)
def test_broken_front_matter_keeps_the_note_and_its_own_text_and_warns_once(raw: str, tmp_path: Path) -> None:
    found = note(read("obsidian", write(tmp_path, "Note.md", f"---\n{raw}\n---\nThe body")))
    assert [section.text for section in found.sections] == [raw, "The body"]
    assert found.sections[0].path == ("properties",)
    assert len(found.warnings) == 1
    assert "front matter" in found.warnings[0]


@pytest.mark.parametrize("raw", ["title: <% tp.file.title %>", "x: no", "t: 12:30", "n: 0o17", "v: 1_000"])
def test_values_stay_as_they_are_written(raw: str) -> None:
    assert list(read_front_matter(raw).lines()) == [raw]


def test_properties_become_one_piece_without_what_is_empty(tmp_path: Path) -> None:
    text = '---\nyear: 1982\ncast: ["[[A B]]", C]\nempty:\nnone: null\nchart: {US: 1}\n---\n'
    found = note(read("obsidian", write(tmp_path, "Film.md", text)))
    assert [(part.path, part.text) for part in found.sections] == [
        (("properties",), "year: 1982\ncast: [[A B]], C\nchart: US 1")
    ]


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: one", ["one"]),
        ("tags: one, two words", ["one", "two words"]),
        ("tags: one two", ["one", "two"]),
        ("tags: '#one'", ["one"]),
        ("tags: [one, '#two/three', 2024]", ["one", "two/three", "2024"]),
        ("tags:\n- one\n- two words", ["one", "two words"]),
        ("tags: [[one]]", ["one"]),
        ("tags: [[one, [two]], null, '']", ["one", "two"]),
        ("tags: 2024", ["2024"]),
        ("tags:", []),
        ("tags: null", []),
        ("tags: {one: 1}", ["one"]),
        ("tag: one", ["one"]),
        ("Tags: [One, one]", ["One"]),
    ],
)
def test_tags_of_any_form_become_a_flat_list(written: str, tags: list[str], tmp_path: Path) -> None:
    found = note(read("obsidian", write(tmp_path, "Note.md", f"---\n{written}\n---\nThe body")))
    assert found.metadata.get("tags", []) == tags
    assert set(tags) <= set(found.mentions)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-05-24", "2026-05-24"),
        ("2026-05-24 10:30", "2026-05-24T10:30:00"),
        ("2026-05-24T10:30:00Z", "2026-05-24T10:30:00+00:00"),
        ("next May", "next May"),
        ("", ""),
    ],
)
def test_dates_are_iso_text(written: str, shown: str, tmp_path: Path) -> None:
    assert iso(written) == shown
    text = f"---\ncreated: {written}\nx: y\n---\nThe body"
    found = note(read("obsidian", write(tmp_path, "Note.md", text)))
    assert json.loads(json.dumps(found.metadata)).get("created", "") == shown


def test_what_only_looks_like_front_matter_is_text() -> None:
    assert split_front_matter("---\nno end") == (None, "---\nno end")
    assert split_front_matter("text\n---\na: 1\n---") == (None, "text\n---\na: 1\n---")
    assert split_front_matter("---\na: 1\n...\nbody") == ("a: 1", "body")


@given(st.text(max_size=200))
def test_any_front_matter_is_read(raw: str) -> None:
    found = read_front_matter(raw)
    assert isinstance(list(found.lines()), list)
    assert all(isinstance(tag, str) and tag for tag in tags_in(found.first("tags")))
    assert bool(found.values) + bool(found.warning) <= 1


WORDS = st.sampled_from(
    ["a", "b c", ": ", "- ", "[", "]", "{", "}", "'", '"', "@", "#", "\t", "*a", "&a", "|", ">", "\n"]
)


@given(st.lists(WORDS, max_size=20).map("".join), st.text("xyz \n", min_size=1, max_size=20))
def test_the_body_survives_whatever_stands_in_front(raw: str, body: str) -> None:
    front, rest = split_front_matter(f"---\n{raw}\n---\n{body}")
    assert rest.endswith(body)
    assert front is not None
    read_front_matter(front)
