"""A vault: links in all their forms, names that collide, odd encodings, folders nobody meant."""

from pathlib import Path

import pytest

from zomem_graph.importers.links import NoteNames, WikiLink, inline_tags, links_in, without_code

from .kit import note, notes, passed, read, write


@pytest.mark.parametrize(
    ("written", "link"),
    [
        ("[[Ana]]", WikiLink(target="Ana")),
        ("[[People/Ana]]", WikiLink(target="People/Ana")),
        ("[[Ana#Work]]", WikiLink(target="Ana", anchor="Work")),
        ("[[Ana#^b1]]", WikiLink(target="Ana", anchor="^b1")),
        ("[[Ana|she]]", WikiLink(target="Ana", alias="she")),
        ("![[Ana]]", WikiLink(target="Ana", embed=True)),
        ("![[People/Ana#Work|she]]", WikiLink(target="People/Ana", anchor="Work", alias="she", embed=True)),
        ("[[People/Ana#Work#Deep|she]]", WikiLink(target="People/Ana", anchor="Work#Deep", alias="she")),
        ("| [[Ana\\|she]] |", WikiLink(target="Ana", alias="she")),
        ("[she](People/Ana%20B.md#work)", WikiLink(target="People/Ana B.md", anchor="work", alias="she")),
        ("[[#Here]]", WikiLink(target="", anchor="Here")),
    ],
)
def test_every_form_of_link_is_understood(written: str, link: WikiLink) -> None:
    assert list(links_in(written)) == [link]


@pytest.mark.parametrize("text", ["[[]]", "[[|x]]", "[x](https://a.example/b.md)", "[[a\nb]]", "[x]", "[[["])
def test_what_is_no_link_is_none(text: str) -> None:
    assert list(links_in(text)) == []


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("Ana", "People/Ana.md"),
        ("ana", "People/Ana.md"),
        ("People/Ana", "People/Ana.md"),
        ("Ana.md", "People/Ana.md"),
        ("Plan", "Trips/Plan.md"),
        ("Work/Plan", "Work/Plan.md"),
        ("../Work/Plan", "Work/Plan.md"),
        ("2026/Deep", "Trips/2026/Deep.md"),
        ("Nobody", None),
        ("lan", None),
    ],
)
def test_a_link_leads_to_the_nearest_note_of_that_name(target: str, found: str | None) -> None:
    names = NoteNames(["People/Ana.md", "Trips/Plan.md", "Work/Plan.md", "Plans.md", "Trips/2026/Deep.md"])
    assert names.resolve(target, of="Trips/Porto.md") == found


def test_links_aliases_and_tags_are_mentions_and_metadata(tmp_path: Path) -> None:
    write(tmp_path, "People/Ana Berg.md", "---\naliases: [Ana, The Boss]\n---\nA nurse")
    text = "With [[People/Ana Berg#Work|her]] and [[Nobody]] ![[map.png]] #trip/2026\n```\n#code [[Code]]\n```"
    write(tmp_path, "Porto.md", text)
    found = notes(read("obsidian", tmp_path))
    assert found["Porto"].metadata == {
        "path": "Porto.md",
        "tags": ["trip/2026"],
        "links": ["Ana Berg", "Nobody"],
    }
    assert {"Ana Berg", "Nobody", "trip/2026"} <= set(found["Porto"].mentions)
    assert {"Ana", "The Boss", "Ana Berg"} <= set(found["Ana Berg"].mentions)
    assert found["Porto"].sections[0].text == text


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#one and #two/three, (#no) x#no #2024 #y2024", ["one", "two/three", "y2024"]),
        ("http://a.example/#no `#no` ``#no`` \\#no", []),
        ("#ünï #标签/子 #中文，x", ["ünï", "标签/子", "中文"]),
        ("# no\n## no", []),
    ],
)
def test_tags_in_the_text(text: str, tags: list[str]) -> None:
    assert list(inline_tags(without_code(text))) == tags


def test_notes_of_one_name_are_told_apart_by_their_folder(tmp_path: Path) -> None:
    for folder in ("", "Work/", "Home/"):
        write(tmp_path, f"{folder}Plan.md", f"the plan in {folder or 'the root'}, see [[Plan]]")
    found = notes(read("obsidian", tmp_path))
    assert set(found) == {"Plan", "Work/Plan", "Home/Plan"}
    assert found["Home/Plan"].metadata["links"] == ["Home/Plan"]


def test_hidden_folders_and_other_files_are_not_read(tmp_path: Path) -> None:
    for name in (".obsidian/x.md", ".trash/y.md", "a/.git/z.md", "_MACOSX.txt", "b.canvas", ".hidden.md"):
        write(tmp_path, name, "nothing to see")
    write(tmp_path, "Note.md", "text")
    assert list(notes(read("obsidian", tmp_path))) == ["Note"]


@pytest.mark.parametrize(
    ("raw", "warns"),
    [
        (b"\xef\xbb\xbf---\ntags: one\n---\nna\xc3\xafve\n", False),
        ("---\ntags: one\n---\nnaïve\n".encode("utf-16"), False),
        (b"---\r\ntags: one\r\n---\r\nna\xc3\xafve\r\n", False),
        (b"---\rtags: one\r---\rna\xc3\xafve\r", False),
        (b"---\ntags: one\n---\nna\xefve\n", True),
    ],
)
def test_any_encoding_and_line_end_gives_the_same_note(raw: bytes, warns: bool, tmp_path: Path) -> None:
    found = note(read("obsidian", write(tmp_path, "Note.md", raw)))
    assert found.metadata["tags"] == ["one"]
    assert found.sections[-1].text == "naïve"
    assert bool(found.warnings) == warns


def test_what_holds_nothing_says_so(tmp_path: Path) -> None:
    write(tmp_path, "Empty.md", "")
    write(tmp_path, "Blank.md", " \n\n ")
    write(tmp_path, "Title.md", "# Title\n")
    write(tmp_path, "Form.md", "---\nname:\n---\n")
    write(tmp_path, "Binary.md", b"\x00\x01\x02")
    assert passed(read("obsidian", tmp_path)) == {
        "Empty": "it is empty",
        "Blank": "it is empty",
        "Title": "it has nothing but its title",
        "Form": "it has properties without values",
        "Binary.md": "is binary, not text",
    }


def test_a_note_may_name_its_entity_and_category_itself(tmp_path: Path) -> None:
    text = "---\nentity: Ana\ncategory: decision\ntitle: The long title\n---\ntext"
    found = note(read("obsidian", write(tmp_path, "Note.md", text)))
    assert (found.title, found.category) == ("Ana", "decision")
    assert "The long title" in found.mentions


def test_a_link_to_a_file_outside_is_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path, "outside.md", "not yours")
    vault = tmp_path / "vault"
    write(vault, "Note.md", "text")
    (vault / "Trick.md").symlink_to(secret)
    (vault / "Folder").symlink_to(tmp_path)
    found = read("obsidian", vault)
    assert list(notes(found)) == ["Note"]
    assert set(passed(found)) == {"Trick.md", "Folder"}
