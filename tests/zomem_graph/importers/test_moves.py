"""Notes and folders that are copied, moved, renamed and edited between two imports.

After any import each note's present text is current, and a text that no note holds any more is not.
"""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.testing import FixedClock

from .kit import write


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    options = MemoryOptions(write=WriteOptions(background=False))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as opened:
        yield opened


def current(memory: Memory) -> dict[str, str]:
    """Return the current texts by what they are called; fails when one name holds two."""
    with memory.stores.read() as unit:
        ids = [id_ for record in unit.imports.all_of("shared", "vault") for _digest, id_ in record.parts]
        ids += [id_ for record in unit.imports.all_of("shared", "text") for _digest, id_ in record.parts]
        facts = [fact for fact in unit.facts.find(ids) if fact.state == "current"]
        assert len(facts) == memory.stats()["facts"]
    assert len(facts) == len({fact.entity for fact in facts})
    return {fact.entity: fact.value for fact in facts}


def holds_what_is_there(memory: Memory, *folders: Path) -> None:
    there = sorted(path.read_text("utf-8") for folder in folders for path in folder.rglob("*.*"))
    assert sorted(current(memory).values()) == there


@pytest.mark.parametrize("ending", ["md", "txt"])
@pytest.mark.parametrize(("one", "two"), [("One/Plan", "Two/Plan"), ("V/a", "V/b"), ("V/x/Plan", "V/y/Plan")])
def test_notes_of_equal_text_are_edited_apart(
    memory: Memory, tmp_path: Path, one: str, two: str, ending: str
) -> None:
    paths = [write(tmp_path, f"{name}.{ending}", "go north") for name in (one, two)]
    folders = sorted({tmp_path / name.partition("/")[0] for name in (one, two)})
    for changed in (None, *paths):
        if changed is not None:
            write(tmp_path, str(changed.relative_to(tmp_path)), f"go south from {changed.parent.name} {changed.stem}")
        for folder in folders:
            memory.import_from("auto", folder)
        holds_what_is_there(memory, *folders)


@pytest.mark.parametrize("notes", [("a",), ("a", "b"), ("a", "b", "c")])
def test_a_folder_that_was_moved_and_edited_in_one_step_is_known_again(
    memory: Memory, tmp_path: Path, notes: tuple[str, ...]
) -> None:
    for name in notes:
        write(tmp_path, f"work/docs/{name}.md", f"text of {name}")
    memory.import_from("markdown", tmp_path / "work/docs")
    (tmp_path / "archive").mkdir()
    moved = (tmp_path / "work/docs").rename(tmp_path / "archive/docs")
    write(moved, "a.md", "another text of a")
    report = memory.import_from("markdown", moved)
    assert (report.changed, report.unchanged, report.superseded) == (1, len(notes) - 1, 1)
    holds_what_is_there(memory, moved)

    new = write(tmp_path, "work/docs/a.md", "a new project").parent
    for _ in range(2):
        memory.import_from("markdown", new)
        memory.import_from("markdown", moved)
        holds_what_is_there(memory, moved, new)


def test_a_folder_that_was_renamed_and_edited_in_one_step_is_known_again(memory: Memory, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path, f"docs/{name}.md", f"text of {name}")
    memory.import_from("markdown", tmp_path / "docs")
    renamed = (tmp_path / "docs").rename(tmp_path / "papers")
    write(renamed, "a.md", "another text of a")
    assert memory.import_from("markdown", renamed).superseded == 1
    holds_what_is_there(memory, renamed)


def test_a_new_folder_of_that_name_does_not_end_what_a_folder_that_is_gone_said(
    memory: Memory, tmp_path: Path
) -> None:
    old = write(tmp_path, "work/docs/a.md", "the old project").parent
    memory.import_from("markdown", old)
    shutil.rmtree(old)
    memory.import_from("markdown", write(tmp_path, "play/docs/b.md", "the new project").parent)
    memory.import_from("markdown", write(tmp_path, "play/papers/a.md", "a third project").parent)
    assert sorted(current(memory).values()) == ["a third project", "the new project", "the old project"]


def test_a_folder_that_another_took_the_place_of_keeps_its_texts(memory: Memory, tmp_path: Path) -> None:
    old = write(tmp_path, "work/docs/README.md", "the old project").parent
    write(old, "guide.md", "how to")
    memory.import_from("markdown", old)
    (tmp_path / "archive").mkdir()
    moved = old.rename(tmp_path / "archive/docs")
    write(tmp_path, "work/docs/README.md", "the new project")
    for _ in range(2):
        memory.import_from("markdown", old)
        memory.import_from("markdown", moved)
        holds_what_is_there(memory, old, moved)


def test_a_note_that_was_renamed_goes_by_its_new_title(memory: Memory, tmp_path: Path) -> None:
    folder = write(tmp_path, "V/Lyon.md", "on two rivers").parent
    write(tmp_path, "V/Ana.md", "on two rivers")
    memory.import_from("obsidian", folder)
    (folder / "Lyon.md").rename(folder / "Lugdunum.md")
    report = memory.import_from("obsidian", folder)
    assert (report.changed, report.unchanged, report.superseded) == (1, 1, 1)
    assert current(memory) == {"Ana": "on two rivers", "Lugdunum": "on two rivers"}
    (fact,) = memory.lookup("Lugdunum")
    assert memory.import_from("obsidian", folder).unchanged == 2
    with memory.stores.read() as unit:
        (old,) = unit.facts.history("shared", "Lyon", "text")
        assert (old.state, old.superseded_by) == ("superseded", fact.id)


def test_a_note_that_was_put_into_a_sub_folder_is_the_same(memory: Memory, tmp_path: Path) -> None:
    folder = write(tmp_path, "V/Lyon.md", "on two rivers").parent
    memory.import_from("obsidian", folder)
    for place in ("cities", "places"):
        (folder / place).mkdir()
        next(folder.rglob("Lyon.md")).rename(folder / place / "Lyon.md")
        report = memory.import_from("obsidian", folder)
        assert (report.unchanged, report.facts, report.superseded) == (1, 0, 0)
    assert memory.lookup("Lyon")[0].source == "import:obsidian:V/places/Lyon.md"
    write(folder, "places/Lyon.md", "on three rivers")
    memory.import_from("obsidian", folder)
    holds_what_is_there(memory, folder)


def test_what_was_deleted_stays_deleted_when_its_note_is_renamed(memory: Memory, tmp_path: Path) -> None:
    folder = write(tmp_path, "V/Lyon.md", "## One\nred\n## Two\nblue").parent
    memory.import_from("obsidian", folder)
    memory.delete(memory.lookup("Lyon", "One")[0].id)
    (folder / "Lyon.md").rename(folder / "Lugdunum.md")
    memory.import_from("obsidian", folder)
    assert [fact.value for fact in memory.lookup("Lugdunum")] == ["blue"]
    assert memory.lookup("Lyon") == []


def test_a_note_that_is_gone_stays_remembered(memory: Memory, tmp_path: Path) -> None:
    folder = write(tmp_path, "V/a.md", "red").parent
    write(folder, "b.md", "blue")
    memory.import_from("obsidian", folder)
    (folder / "a.md").unlink()
    write(folder, "c.md", "green")
    memory.import_from("obsidian", folder)
    assert current(memory) == {"a": "red", "b": "blue", "c": "green"}


@pytest.mark.parametrize("named", [{"entity": "Zanzibar"}, {"matching": "Zanzibar"}, {"everything": True}])
def test_the_folder_of_what_was_forgotten_is_known_but_not_named(
    memory: Memory, home: Path, tmp_path: Path, named: dict[str, Any]
) -> None:
    folder = write(tmp_path, "Zanzibar/docs/Zanzibar.md", "an island of spices").parent
    other = write(tmp_path, "b/docs/Harbour.md", "a harbour").parent
    for path in (folder, other):
        memory.import_from("obsidian", path)
    assert memory.forget(**named).clean
    assert not [path for path in home.rglob("*") if path.is_file() and b"anzibar" in path.read_bytes()]
    write(other, "Harbour.md", "a new harbour")
    for path in (other, folder):
        memory.import_from("obsidian", path)
    assert list(current(memory).values()) == ["a new harbour"]


def test_a_dry_run_leaves_a_moved_folder_as_it_was(memory: Memory, tmp_path: Path) -> None:
    folder = write(tmp_path, "V/a.md", "red").parent
    memory.import_from("obsidian", folder)
    (tmp_path / "elsewhere").mkdir()
    moved = folder.rename(tmp_path / "elsewhere/V")
    write(moved, "a.md", "blue")
    for dry_run in (True, False):
        report = memory.import_from("obsidian", moved, dry_run=dry_run)
        assert (report.changed, report.superseded) == (1, 1)
    assert current(memory) == {"a": "blue"}


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_to_folders_what_is_current_is_what_is_there(
    memory: Memory, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    for name in ("a", "b", "c"):
        write(tmp_path, f"0/docs/{name}.md", f"{name} says {chance.choice('xy')}")
    for step in range(1, 13):
        roots = sorted(tmp_path.glob("*/docs"))
        folder = chance.choice(roots)
        note = chance.choice(sorted(folder.rglob("*.md")))
        new = tmp_path / str(step) / "docs"
        match chance.choice(["edit", "copy", "move", "move and edit", "rename", "double", "swap"]):
            case "edit":
                note.write_text(f"{note.stem} says {step}", "utf-8")
            case "copy":
                shutil.copytree(folder, new)
            case "move":
                new.parent.mkdir()
                folder.rename(new)
            case "move and edit":
                note.write_text(f"{note.stem} says {step}", "utf-8")
                new.parent.mkdir()
                folder.rename(new)
            case "rename":
                note.rename(note.with_stem(f"{note.stem}{step}"))
            case "double":
                shutil.copy(note, note.with_stem(f"{note.stem}{step}"))
            case "swap":
                other = chance.choice(sorted(folder.rglob("*.md")))
                texts = note.read_text("utf-8"), other.read_text("utf-8")
                other.write_text(texts[0], "utf-8")
                note.write_text(texts[1] if note != other else texts[0], "utf-8")
        roots = sorted(tmp_path.glob("*/docs"))
        for root in chance.sample(roots, len(roots)):
            memory.import_from("markdown", root)
        holds_what_is_there(memory, *roots)
        assert all(memory.import_from("markdown", root).facts == 0 for root in roots)
