"""`zomem import`: its forms, its answers, its failures."""

import json
from pathlib import Path

import pytest

from .command_line import CommandLine
from .importers.kit import chatgpt, node, write


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def export(tmp_path: Path) -> str:
    silent = chatgpt({"a": node(None)}, id="c2", title="Silent")
    return str(write(tmp_path, "conversations.json", [chatgpt({"a": node("off to Porto")}), silent]))


def test_an_import_says_what_became_of_each_item(zomem: CommandLine, export: str) -> None:
    shown = zomem.ok("import", "chatgpt", export)
    assert "skipped\tSilent\tnothing was said in it" in shown
    assert "chatgpt: 2 found, 1 stored, 1 skipped" in shown
    assert "1 turn and 0 facts new, 0 superseded" in shown
    assert "off to Porto" in zomem.ok("search", "porto")
    assert "0 turns and 0 facts new" in zomem.ok("import", "chatgpt", export)


def test_the_report_is_one_document(zomem: CommandLine, export: str) -> None:
    found = zomem.json("import", "auto", export)
    assert {"source": "chatgpt", "found": 2, "stored": 1, "skipped": 1, "turns": 1}.items() <= found.items()
    assert [item["outcome"] for item in found["items"]] == ["skipped", "stored"]


def test_a_dry_run_changes_nothing(zomem: CommandLine, export: str) -> None:
    assert "off to Porto" in zomem.ok("import", "chatgpt", export, "--dry-run")
    assert zomem.json("stats")["turns"] == 0


def test_every_form_of_the_arguments_is_understood(zomem: CommandLine, export: str) -> None:
    for arguments in (
        ["--source", "chatgpt", "--path", export],
        ["chatgpt", "--path", export],
        ["--source", "chatgpt", export],
        [export],
    ):
        assert zomem.json("import", *arguments, "--dry-run")["found"] == 2


def test_standard_input_is_known_again(zomem: CommandLine, export: str) -> None:
    given = Path(export).read_text("utf-8")
    assert json.loads(zomem.ok("import", "chatgpt", "-", "--json", given=given))["turns"] == 1
    assert json.loads(zomem.ok("import", "text", "-", "--json", given="a story"))["facts"] == 1
    assert json.loads(zomem.ok("import", "text", "-", "--json", given="a story"))["facts"] == 0
    assert json.loads(zomem.ok("import", "text", "-", "--json", given="another story"))["superseded"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "zomem import SOURCE PATH, with one SOURCE (chatgpt, "),
        (
            ["chatgpt"],
            "PATH is missing: the export's zip, folder or conversations.json. Write: zomem import chatgpt PATH",
        ),
        (["--source", "chatgpt"], "Write: zomem import chatgpt PATH"),
        (["auto"], "PATH is missing: a file, folder or zip. Write: zomem import auto PATH"),
        (["chatgpt", "a", "b"], "zomem import SOURCE PATH"),
        (["chatgpt", "nowhere.json"], "There is no file or folder nowhere.json"),
        (["chatgtp", "."], "Did you mean chatgpt?"),
    ],
)
def test_wrong_use_is_told_in_one_line(arguments: list[str], said: str, zomem: CommandLine) -> None:
    result = zomem("import", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr


def test_an_import_of_which_something_failed_says_so_and_exits_1(zomem: CommandLine, tmp_path: Path) -> None:
    result = zomem("import", "chatgpt", str(write(tmp_path, "conversations.json", "[broken")))
    assert result.exit_code == 1
    assert "is broken JSON" in result.stdout
    good, bad = chatgpt({"a": node("off to Porto")}), {"id": "c9", "title": "Odd", "mapping": 7}
    result = zomem("import", "chatgpt", str(write(tmp_path, "conversations.json", [good, bad])))
    assert result.exit_code == 1
    assert "2 found, 1 stored, 1 failed" in result.stdout


EXPORTS = {
    "chatgpt": [chatgpt({"a": node("off to Porto")})],
    "claude": [
        {"uuid": "u1", "name": "Trip", "chat_messages": [{"uuid": "m", "sender": "human", "text": "to Porto"}]}
    ],
    "mem0": [{"id": "m1", "memory": "Lives in Porto", "user_id": "ana"}],
    "messages": [{"role": "user", "content": "off to Porto"}],
}


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("real", EXPORTS)
@pytest.mark.parametrize("named", [*EXPORTS, "claude-code"])
def test_an_export_of_another_program_is_told_with_the_command_that_takes_it(
    zomem: CommandLine, tmp_path: Path, named: str, real: str, is_folder: bool
) -> None:
    file = write(tmp_path, "my exports/conversations.json", EXPORTS[real])
    path = file.parent if is_folder else file
    result = zomem("import", named, str(path))
    if named == real:
        assert (result.exit_code, zomem.json("stats")["facts"] + zomem.json("stats")["turns"]) == (0, 1)
        return
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"looks like {real}: `zomem import {real} '{path}'` imports it" in result.stderr


def test_auto_names_the_command_for_what_it_leaves(zomem: CommandLine, tmp_path: Path) -> None:
    folder = write(tmp_path, "mixed/a.md", "a note").parent
    write(folder, "b.txt", "a text")
    write(folder, "c.txt", "another text")
    write(folder, "d.json", EXPORTS["mem0"])
    write(folder, "e.png", "x")
    result = zomem("import", "auto", str(folder), "--json")
    report = json.loads(result.stdout)
    assert (report["source"], report["ignored"]) == ("markdown", {".txt": 2, ".json": 1, ".png": 1})
    assert report["others"] == {"text": 2, "mem0": 1}
    assert f"2 files of these for another source: zomem import text {folder}" in result.stderr
    for source in report["others"]:
        zomem.ok("import", source, str(folder))
    assert zomem.json("stats")["facts"] == 4


def test_a_dry_run_where_there_is_no_memory_makes_none(tmp_path: Path) -> None:
    home = tmp_path / "nowhere"
    zomem = CommandLine(home)
    note = write(tmp_path, "con_1/a.md", "Ana: I live in Porto.\nAssistant: Noted. " + "A fine city. " * 20)
    for arguments in (
        ["import", "auto", str(note.parent), "--dry-run"],
        ["conversations", "--root", str(tmp_path), "--dry-run"],
        ["conversations", "--root", str(tmp_path), "--list"],
        ["capture", str(note), "--dry-run"],
        ["maintain", "--dry-run"],
        ["prune", "--dry-run"],
        ["forget", "--entity", "Ana", "--dry-run"],
    ):
        zomem.ok(*arguments)
        assert not home.exists(), arguments
    assert zomem.json("conversations", "--root", str(tmp_path), "--dry-run")["captured"] == 1
