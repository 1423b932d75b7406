"""Exports and vaults of real people: no crash, every message and note accounted for, nothing twice.

They are no part of this repository. ZOMEM_EVAL_DATA names the folder they are in; else the folder
`shared/data` beside the checkout is tried, and without it these tests are skipped.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory
from zomem_graph.importers import ImportReport
from zomem_graph.importers.front_matter import split_front_matter
from zomem_graph.importers.records import Note
from zomem_graph.nodes.options import MemoryOptions, WriteOptions

from .kit import read

_GIVEN = os.environ.get("ZOMEM_EVAL_DATA")  # the tests themselves run without it
_DATA = Path(_GIVEN or Path(__file__).resolve().parents[4] / "shared" / "data") / "imports"
_PLACES = {
    "chatgpt": ["chatgpt/real-2023-06", "chatgpt/convonaut", "chatgpt/branch-example", "chatgpt/context-carry"],
    "claude": ["claude/context-carry"],
    "claude-code": ["claude-code/context-carry"],
    "obsidian": [
        "vaults/kepano",
        "vaults/obsidiantools-stub",
        "vaults/importer-bear",
        "vaults/importer-roam",
        "vaults/importer-textbundle",
        "vaults/importer-evernote",
    ],
}
CASES = [(source, place) for source, places in _PLACES.items() for place in places]


@pytest.fixture(scope="module", autouse=True)
def _data_is_there() -> None:
    if _DATA.is_dir():
        return
    if _GIVEN:
        pytest.fail(f"ZOMEM_EVAL_DATA is set, but there is no folder {_DATA}")
    pytest.skip(f"there is no evaluation data at {_DATA}; set ZOMEM_EVAL_DATA to where it is")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    options = MemoryOptions(write=WriteOptions(background=False))
    home = tmp_path_factory.mktemp("real") / "home"
    with Memory.open(home, embeddings="none", options=options) as opened:
        yield opened


@pytest.fixture(scope="module")
def first(memory: Memory) -> dict[str, ImportReport]:
    """Import everything into one memory."""
    return {place: memory.import_from(source, _DATA / place) for source, place in CASES}


def json_in(place: str) -> list[Any]:
    found = json.loads((_DATA / place / "conversations.json").read_text("utf-8"))
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(("source", "place"), CASES)
def test_everything_is_read_accounted_for_and_known_again(
    source: str, place: str, memory: Memory, first: dict[str, ImportReport]
) -> None:
    report = first[place]
    assert report.failed == 0
    assert report.found == report.stored + report.skipped == len(report.items) > 0
    for item in report.items:
        assert item.found == item.new + item.known + sum(item.passed.values()), item
        assert item.reason or item.outcome == "stored"
    again = memory.import_from(source, _DATA / place)
    assert (again.turns, again.facts, again.superseded, again.changed, again.stored) == (0, 0, 0, 0, 0)
    assert (again.found, again.unchanged, again.skipped) == (report.found, report.stored, report.skipped)
    assert memory.import_from("auto", _DATA / place, dry_run=True).found == report.found


@pytest.mark.parametrize("place", _PLACES["chatgpt"])
def test_every_message_of_every_chat_is_stored_or_has_its_reason(place: str, first: dict[str, ImportReport]) -> None:
    conversations = json_in(place)
    nodes = [node for each in conversations for node in each["mapping"].values()]
    report = first[place]
    assert report.found == len(conversations)
    assert sum(item.found for item in report.items) == sum(node["message"] is not None for node in nodes)


def test_every_note_of_every_vault_is_stored_or_has_its_reason(first: dict[str, ImportReport]) -> None:
    for place in _PLACES["obsidian"]:
        written = [path for path in (_DATA / place).rglob("*.md") if path.is_file()]
        report = first[place]
        assert report.found == len(written)
        empty = sum(not path.read_text("utf-8").strip() for path in written)
        assert report.skipped == empty
        others = sum(path.is_file() and path.suffix != ".md" for path in (_DATA / place).rglob("*"))
        assert sum(report.ignored.values()) == others


@pytest.mark.parametrize("place", _PLACES["obsidian"])
def test_every_word_of_every_note_is_kept(place: str) -> None:
    for each in read("obsidian", _DATA / place):
        if isinstance(each, Note):
            path = (_DATA / place).parent / each.id
            _front, body = split_front_matter(path.read_text("utf-8"))
            kept = [path.stem, each.title]
            kept += [part for section in each.sections for part in (*section.path, section.text)]
            lost = words_of(body) - words_of("\n".join(kept))
            assert not lost, each.id


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))
