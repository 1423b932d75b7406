"""Headings, code fences and pieces: every word of a note is kept, under the right heading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.importers.markdown import chunks, section_key, sections_of


def pieces(text: str, title: str = "Note") -> list[tuple[tuple[str, ...], str]]:
    return [(section.path, section.text) for section in sections_of(text, title=title)]


def test_text_goes_under_the_path_of_its_headings() -> None:
    text = "before\n# One\na\n### Deep\nb\n## Two\nc\n# Three\nd"
    assert pieces(text) == [
        ((), "before"),
        (("One",), "a"),
        (("One", "Deep"), "b"),
        (("One", "Two"), "c"),
        (("Three",), "d"),
    ]


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "```python", "> ```", "    ```"])
def test_a_heading_in_a_code_fence_is_code(fence: str) -> None:
    text = f"# Real\n{fence}\n# not one\n{fence.replace('python', '')}\n## Next\nx"
    assert [path for path, _text in pieces(text)] == [("Real",), ("Real", "Next")]


def test_a_fence_ends_only_with_its_own_mark() -> None:
    assert len(pieces("````\n```\n# code\n````\n# Real\nx")) == 2
    assert len(pieces("```\n# code to the end")) == 1


@pytest.mark.parametrize("line", ["#tag", "#", "# ", "\\# no", "    # indented code", "####### seven", "text # no"])
def test_what_is_no_heading_stays_text(line: str) -> None:
    assert pieces(f"{line}\nx") == [((), f"{line}\nx".strip("\n"))]


def test_underlined_titles_are_headings_and_rules_are_not() -> None:
    assert pieces("Title\n=====\na\n\nPart\n---\nb") == [(("Title",), "a\n"[:1]), (("Title", "Part"), "b")]
    assert pieces("a\nb\n---\nc") == [((), "a\nb\n---\nc")]
    assert pieces("- item\n---\nc") == [((), "- item\n---\nc")]


def test_a_first_heading_that_repeats_the_title_is_left_out() -> None:
    assert pieces("# note\na\n## Part\nb") == [((), "a"), (("Part",), "b")]
    assert pieces("# Note") == []


def test_headings_without_text_are_kept_as_lines() -> None:
    assert pieces("# Call Ana\n# Buy milk") == [((), "# Call Ana\n# Buy milk")]
    assert pieces("## A\n### B\n### C\n## D\nx") == [(("A",), "### B\n### C"), (("D",), "x")]


def test_links_and_emphasis_in_a_heading_are_read_as_text() -> None:
    assert pieces("## **Bold** [[Folder/Ana|Ana B]] `x` [t](u) ^id\nx") == [(("Bold Ana B x t",), "x")]


def test_keys_are_bounded_numbered_and_never_empty() -> None:
    assert section_key(()) == "text"
    assert section_key(("A", "B"), number=2) == "A > B (2)"
    long = section_key(("x" * 400, "y" * 400))
    assert len(long) <= 310
    assert long.startswith("x")
    assert long.endswith("y")


def test_a_long_text_is_parted_where_it_breaks_best() -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 60 for n in range(20))
    parts = list(chunks(text))
    assert all(part.startswith("Paragraph") for part in parts)
    assert all(1_000 < len(part) <= 2_000 for part in parts[:-1])


LINES = st.lists(
    st.sampled_from(
        [
            "# A",
            "## B",
            "### C",
            "#### Note",
            "text",
            "",
            "```",
            "~~~",
            "===",
            "---",
            "- item",
            "#tag",
            "  x  ",
        ]
    ),
    max_size=25,
).map("\n".join)


@given(LINES)
def test_no_text_is_ever_lost(text: str) -> None:
    found = sections_of(text, title="Title")
    kept = "\n".join("\n".join((*section.path, section.text)) for section in found)
    for word in ("text", "item", "tag", "x"):
        assert kept.count(word) >= text.count(word)
    for heading in "ABC":
        assert (f"# {heading}" not in text) or heading in kept


@given(st.text(max_size=300), st.integers(5, 50))
def test_pieces_together_are_the_text(text: str, most: int) -> None:
    parts = list(chunks(text, most=most))
    assert all(0 < len(part) <= most for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
