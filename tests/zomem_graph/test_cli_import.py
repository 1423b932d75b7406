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
        ([], "zomem import SOURCE PATH"),
        (["chatgpt", "a", "b"], "zomem import SOURCE PATH"),
        (["chatgpt", "nowhere.json"], "There is no file or folder nowhere.json"),
        (["chatgtp", "."], "Did you mean chatgpt?"),
    ],
)
def test_wrong_use_is_told_in_one_line(arguments: list[str], said: str, zomem: CommandLine) -> None:
    result = zomem("import", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr


def test_an_import_of_which_nothing_could_be_read_fails(zomem: CommandLine, tmp_path: Path) -> None:
    result = zomem("import", "chatgpt", str(write(tmp_path, "conversations.json", "[broken")))
    assert result.exit_code == 1
    assert "is broken JSON" in result.stdout
