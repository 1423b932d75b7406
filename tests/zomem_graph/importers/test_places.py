"""Files, folders and archives: what could hurt is refused, what is big is read a piece at a time."""

import io
import json
import os
import stat
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.importers.json_stream import BrokenJson, JsonValues, TooLarge
from zomem_graph.importers.places import ZipLimits, open_place
from zomem_graph.importers.sources import SOURCES, detect, read_source, source_named
from zomem_graph.stores.errors import InvalidInput, UnknownName

from .kit import chatgpt, node, notes, passed, read, write


def zipped(folder: Path, members: dict[str, str | bytes], name: str = "archive.zip") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


@pytest.mark.parametrize(
    "name",
    ["../evil.md", "a/../../evil.md", "/etc/evil.md", "C:evil.md", "..\\evil.md", "C:\\evil.md", "\\x.md"],
)
def test_an_archive_with_a_path_that_escapes_is_refused(name: str, tmp_path: Path) -> None:
    path = zipped(tmp_path, {"Note.md": "text", "x": "y"})
    with zipfile.ZipFile(path, "a") as archive:
        member = zipfile.ZipInfo("placeholder")
        member.filename = name
        archive.writestr(member, "evil")
    with pytest.raises(InvalidInput, match="was refused: the name"):
        read("obsidian", path)


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    bomb = zipped(tmp_path, {"bomb.md": b"0" * 20_000_000})
    with pytest.raises(InvalidInput, match="from almost nothing"):
        read("obsidian", bomb)
    limits = ZipLimits(most_bytes=1_000_000, most_ratio=1e9)
    with pytest.raises(InvalidInput, match="unpacks to 20,000,000 bytes"), open_place(bomb, limits=limits):
        pass
    crowd = zipped(tmp_path, {f"{n}.md": "x" for n in range(20)}, "crowd.zip")
    with (
        pytest.raises(InvalidInput, match="20 members"),
        open_place(crowd, limits=ZipLimits(most_members=10)),
    ):
        pass


def test_an_archive_that_understates_its_size_is_read_no_further(tmp_path: Path) -> None:
    path = zipped(tmp_path, {"Note.md": b"0" * 100_000})
    raw = path.read_bytes().replace((100_000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    path.write_bytes(raw)
    (reason,) = passed(read("obsidian", path)).values()
    assert "cannot be unpacked" in reason


def test_links_and_hidden_members_of_an_archive_are_not_read(tmp_path: Path) -> None:
    path = zipped(tmp_path, {"Vault/.obsidian/x.md": "x", "Vault/Note.md": "text", "__MACOSX/._Note.md": "x"})
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("Vault/Link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert list(notes(read("obsidian", path))) == ["Note"]


def test_a_zipped_vault_has_the_same_items_as_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "Vault/People/Ana.md", "text")
    path = zipped(tmp_path, {"Vault/People/Ana.md": "text"}, "download (1).zip")
    assert read("obsidian", path)[0].id == read("obsidian", tmp_path / "Vault")[0].id == "Vault/People/Ana.md"


def test_a_broken_or_locked_archive_is_told(tmp_path: Path) -> None:
    whole = zipped(tmp_path, {"Note.md": "text " * 100}).read_bytes()
    with pytest.raises(InvalidInput, match="broken zip"):
        read("obsidian", write(tmp_path, "cut.zip", whole[:-20]))
    spoilt = write(tmp_path, "spoilt.zip", whole.replace(whole[40:44], b"\xff\xff\xff\xff", 1))
    assert list(passed(read("obsidian", spoilt))) == ["Note.md"]


def test_what_is_not_there_or_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no file"):
        read("text", tmp_path / "nowhere.txt")
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="neither a file nor a folder"):
        read("text", pipe)
    write(tmp_path, "a.txt", "text")
    assert list(notes(read("text", tmp_path))) == ["a"]


def values(text: str | bytes, *lists: str, largest: int = 10_000) -> list[Any]:
    raw = text.encode() if isinstance(text, str) else text
    return list(JsonValues(io.BytesIO(raw), lists=lists, largest=largest))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=5))
def test_streamed_values_are_those_of_the_whole(document: list[Any]) -> None:
    text = json.dumps(document, ensure_ascii=True)
    if "\\ud" not in text:  # half a surrogate pair is replaced
        assert values(text) == document


def test_named_lists_are_streamed_and_the_rest_is_the_header() -> None:
    found = JsonValues(io.BytesIO(b'{"a": 1, "list": [1, 2], "b": [3]}'), lists=("list",))
    assert list(found) == [1, 2]
    assert found.header == {"a": 1, "b": [3]}
    assert values('{"a": [1]}') == [{"a": [1]}]


def test_a_value_that_is_too_large_or_deep_is_passed_and_the_next_one_read() -> None:
    deep = "[" * 600 + "]" * 600
    found = values(f'[{{"x": ["{"y" * 20_000}", {{"z": 1}}]}}, {deep}, {{"ok": 1}}]')
    assert [type(each) for each in found] == [TooLarge, TooLarge, dict]


@pytest.mark.parametrize("text", ["", "[1, 2", "[1,]", "{]", "[1] x", '["\x01"]', "\ufeff", "[NaN]", '{"a"'])
def test_broken_json_is_named(text: str) -> None:
    with pytest.raises(BrokenJson, match="is broken JSON"):
        values(text)


def test_json_in_other_encodings_and_with_broken_bytes_is_read() -> None:
    for codec in ("utf-8-sig", "utf-16"):
        assert values('["naïve", 1.5, 1e400]'.encode(codec)) == ["naïve", 1.5, float("inf")]
    assert values(b'["na\xffve"]') == ["na\ufffdve"]


CHATS = {"conversations.json": json.dumps([chatgpt({"a": node("x")})])}
CLAUDE = json.dumps([{"uuid": "c", "name": "n", "chat_messages": []}])
CODE = json.dumps({"type": "user", "sessionId": "s", "message": {}})


@pytest.mark.parametrize(
    ("files", "source"),
    [
        (CHATS, "chatgpt"),
        ({"renamed.txt": CHATS["conversations.json"]}, "chatgpt"),
        ({"conversations.json": CLAUDE}, "claude"),
        ({"projects.json": '[{"uuid": "p", "docs": []}]'}, "claude"),
        ({"p/s.jsonl": CODE}, "claude-code"),
        ({"x.json": '{"results": [{"memory": "m"}]}'}, "mem0"),
        ({"x.json": '[{"id": 1, "memory": "m"}]'}, "mem0"),
        ({"x.json": '[{"role": "user", "content": "c"}]'}, "messages"),
        ({"x.json": '[{"lc": 1, "kwargs": {}}]'}, "messages"),
        ({"x.json": '{"values": {"messages": []}}'}, "messages"),
        ({"x.jsonl": '{"role": "user", "content": "c"}'}, "messages"),
        ({"x.json": '{"sessions": []}'}, "messages"),
        ({".obsidian/app.json": "{}", "x.md": "text"}, "obsidian"),
        ({"a/x.md": "text"}, "markdown"),
        ({"x.txt": "text"}, "text"),
        ({"one file.unknown": "text"}, "text"),
    ],
)
def test_a_source_is_found_by_what_the_files_say(files: dict[str, str], source: str, tmp_path: Path) -> None:
    for name, content in files.items():
        write(tmp_path, name, content)
    single = len(files) == 1 and "/" not in next(iter(files))
    with open_place(tmp_path / next(iter(files)) if single else tmp_path) as place:
        assert detect(place).name == source


def test_a_folder_nobody_can_read_is_refused_with_what_is_in_it(tmp_path: Path) -> None:
    write(tmp_path, "x.png", b"png")
    with open_place(tmp_path) as place, pytest.raises(InvalidInput, match=r"holds \.png; no source fits"):
        detect(place)
    with open_place(tmp_path) as place, pytest.raises(InvalidInput, match="holds nothing for 'mem0'"):
        list(read_source(SOURCES["mem0"], place))


def test_a_misspelt_source_is_answered_with_what_is_near() -> None:
    with pytest.raises(UnknownName, match=r"no source 'obsidan'. Did you mean obsidian"):
        source_named("obsidan")
    assert source_named("AUTO") is None
    assert source_named("Claude_Code") is SOURCES["claude-code"]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_by_every_source(tmp_path_factory: Any, raw: bytes) -> None:
    path = write(tmp_path_factory.mktemp("any"), "file.bin", raw)
    for name in SOURCES:
        with suppress(InvalidInput):
            read(name, path)
