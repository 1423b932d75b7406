"""Capture of whole workspaces: which files are read, once, and what comes of them."""

import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.subjects.conversations import WorkspaceReport
from zomem_graph.testing import FixedClock

from .command_line import CommandLine

TALK = "Ana: My name is Ana. I live in Porto.\nAssistant: Noted.\nAna: I must fix the login page.\n"
PADDING = "\nAssistant: " + "Of course. " * 20 + "\n"
ANA = Scope(persona="ana")


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspaces"
    folder.mkdir()
    return folder


def write(path: Path, text: str, at: datetime | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    moment = (at or FixedClock()()).timestamp()
    os.utime(path, (moment, moment))
    return path


def talk(path: Path, text: str = TALK, at: datetime | None = None) -> Path:
    return write(path, text + PADDING, at)


def outcomes(report: WorkspaceReport) -> dict[str, str]:
    return {f"{each.conversation}/{each.name}": each.outcome for each in report.files}


def test_each_conversation_becomes_turns_facts_loops_and_one_episode(memory: Memory, root: Path) -> None:
    talk(root / "con_a" / "chat.md")
    talk(root / "con_a" / "notes" / "more.txt", "Ana: My favorite color is green.\n")
    talk(root / "con_b" / "chat.md", "Bea: I live in Lyon.\n")

    report = memory.conversations.capture([root], scope=ANA)

    assert (report.conversations, report.captured, report.loops) == (2, 3, 1)
    (city,) = memory.lookup("Ana", "city", scope=ANA)
    assert (city.value, city.source, city.trust) == ("Porto", "conversation-capture:con_a/chat.md", "user")
    told = memory.episodes.list(scope=ANA)
    assert sorted((each.entities, each.outcome) for each in told) == [
        (("conversation.con_a",), "ongoing"),  # something was left to do
        (("conversation.con_b",), "success"),
    ]
    assert "2 files of conversation con_a" in "".join(each.summary for each in told)


def test_prose_is_taken_for_an_import_and_opens_no_loops(memory: Memory, root: Path) -> None:
    write(root / "con_a" / "report.md", "I live in Porto. I must fix the login page. " + "It was a long day. " * 20)

    report = memory.conversations.capture([root], scope=ANA)

    assert (report.turns, report.loops) == (1, 0)
    assert [fact.trust for fact in memory.lookup("user", "city", scope=ANA)] == ["import"]


def test_a_second_run_finds_nothing_new(memory: Memory, root: Path) -> None:
    talk(root / "con_a" / "chat.md")
    memory.conversations.capture([root], scope=ANA)

    again = memory.conversations.capture([root], scope=ANA)

    assert (again.captured, again.unchanged, again.turns, again.episode_ids) == (0, 1, 0, ())
    assert len(memory.episodes.list(scope=ANA)) == 1
    assert memory.conversations.stats() == {"files": 1}


def test_a_file_that_grew_adds_only_what_is_new(memory: Memory, root: Path) -> None:
    path = talk(root / "con_a" / "chat.md")
    first = memory.conversations.capture([root], scope=ANA)
    talk(path, TALK + PADDING + "Ana: I live in Lisbon now.\n")

    second = memory.conversations.capture([root], scope=ANA)

    assert first.turns > second.turns > 0
    assert [fact.value for fact in memory.lookup("Ana", "city", scope=ANA)] == ["Lisbon"]


def test_a_copy_under_another_name_is_not_read_again(memory: Memory, root: Path) -> None:
    talk(root / "con_a" / "chat.md")
    memory.conversations.capture([root], scope=ANA)
    talk(root / "con_b" / "copy.md")

    report = memory.conversations.capture([root], scope=ANA)

    assert outcomes(report)["con_b/copy.md"] == "unchanged"


def test_only_the_last_day_is_read_unless_told_otherwise(memory: Memory, root: Path, clock: FixedClock) -> None:
    talk(root / "con_a" / "old.md", at=clock() - timedelta(hours=25))
    talk(root / "con_a" / "new.md", "Bea: I live in Lyon.\n", at=clock() - timedelta(hours=23))
    subject = memory.conversations

    assert [each.name for each in subject.find([root]).artifacts] == ["new.md"]
    assert [each.name for each in subject.find([root], everything=True).artifacts] == ["new.md", "old.md"]
    assert [each.name for each in subject.find([root], since=clock() - timedelta(days=2)).artifacts] == [
        "new.md",
        "old.md",
    ]


def test_what_is_no_conversation_is_passed_over_with_its_reason(memory: Memory, root: Path) -> None:
    talk(root / "con_a" / "chat.md")
    for folder in ("read_webpage", "browser_agent", "node_modules", "venv", ".git", "x.dist-info", "site-packages"):
        talk(root / "con_a" / folder / "page.md")
    for name in ("package.json", "package-lock.json", ".hidden.md", "picture.png", "code.py"):
        talk(root / "con_a" / name)
    write(root / "con_a" / "tiny.md", "Ana: hi")
    write(root / "con_a" / "huge.md", "Ana: hello " * 60_000)
    (root / "con_a" / "link.md").symlink_to(root / "con_a" / "chat.md")

    found = memory.conversations.find([root])

    assert [each.name for each in found.artifacts] == ["chat.md"]
    assert found.passed == {
        "in a folder that is skipped": 7,
        "a package or lock file": 2,
        "hidden": 1,
        "not .md, .txt or .json": 2,
        "smaller than 200 bytes": 1,
        "larger than 500 KB": 1,
        "a link": 1,
    }


def test_json_must_parse_and_what_a_tool_wrote_teaches_nothing_by_itself(memory: Memory, root: Path) -> None:
    write(root / "con_a" / "broken.json", '{"a": ' * 60)
    write(root / "con_a" / "result.json", json.dumps({"rows": [{"note": "I live in Rome."}] * 20}))
    messages = [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Good. " * 40}]
    write(root / "con_a" / "talk.json", json.dumps(messages))

    report = memory.conversations.capture([root], scope=ANA)

    assert outcomes(report) == {
        "con_a/broken.json": "skipped",
        "con_a/result.json": "captured",
        "con_a/talk.json": "captured",
    }
    assert [fact.value for fact in memory.lookup("user", "city", scope=ANA)] == ["Porto"]


def test_a_dry_run_tells_what_would_be_learned_and_changes_nothing(memory: Memory, root: Path) -> None:
    talk(root / "con_a" / "chat.md")

    report = memory.conversations.capture([root], scope=ANA, dry_run=True)

    assert (report.captured, report.turns > 0) == (1, True)
    assert memory.stats()["turns"] == 0
    assert memory.conversations.capture([root], scope=ANA).captured == 1


def test_what_was_forgotten_does_not_come_back(memory: Memory, root: Path) -> None:
    path = talk(root / "con_a" / "chat.md")
    memory.conversations.capture([root], scope=ANA)
    memory.forget(persona="ana", matching="Porto")
    talk(path, TALK + PADDING + "Ana: I like tea.\n")

    memory.conversations.capture([root], scope=ANA)

    assert memory.search("Porto", scope=ANA, kinds=["turn", "fact"]) == []


def test_a_root_may_be_the_folder_of_one_conversation_and_must_be_a_folder(memory: Memory, root: Path) -> None:
    talk(root / "my-talks" / "chat.md")

    assert memory.conversations.find([root / "my-talks"]).artifacts[0].conversation == "my-talks"
    with pytest.raises(InvalidInput, match="is no folder"):
        memory.conversations.find([root / "nowhere"])
    with pytest.raises(InvalidInput, match="ZO_CAPTURE_ROOTS"):
        memory.conversations.find()


# -- the command line --------------------------------------------------------------------------------


def test_the_command_lists_captures_and_counts(home: Path, root: Path) -> None:
    talk(root / "con_a" / "chat.md", at=datetime.now().astimezone())
    zomem = CommandLine(home, ZO_CAPTURE_ROOTS=f"{root}{os.pathsep}{root}")

    assert [each["name"] for each in zomem.json("conversations", "--list")["artifacts"]] == ["chat.md"]
    assert "nothing was changed" in zomem.ok("conversations", "--dry-run")
    assert zomem.json("conversation-capture")["captured"] == 1
    assert zomem.json("conversations", "--all")["unchanged"] == 1
    assert zomem.json("conversations", "--stats") == {"files": 1}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "ZO_CAPTURE_ROOTS"),
        (["--root", "/nowhere/at/all"], "is no folder"),
        (["--root", ".", "--all", "--since", "3d"], "cannot both be meant"),
        (["--root", ".", "--since", "the other day"], "cannot be read as a time"),
    ],
)
def test_wrong_use_is_told(words: list[str], told: str, home: Path) -> None:
    result = CommandLine(home)("conversations", *words)

    assert result.exit_code == 1
    assert told in result.stderr
