"""What the shell is told: its own words, what is wrong with which thing, and what to do next."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from tests.zomem_graph.command_line import CommandLine
from zomem_graph import Memory
from zomem_graph.cli import COMMANDS, app
from zomem_graph.nodes.ports import Vector
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.rules.routing import Candidate, choose
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import SmallEmbedder

KEY = "sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCDEF"


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["remember", "server", "token", KEY], "pass --allow-secret if"),
        (["route", "fix the login"], "Name them: --executors."),
        (["forget", "--yes"], "Pass --entity, --id, --matching or --everything-of."),
        (["conversations", "--all"], "Give --root, or set ZO_CAPTURE_ROOTS."),
    ],
)
def test_errors_speak_of_options_and_not_of_arguments(arguments: list[str], said: str, zomem: CommandLine) -> None:
    result = zomem(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert not any(sign in result.stderr for sign in ("=True", "=[", "=,", "memory."))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"entity": "carl"}, "item 1 ('carl') lacks value."),
        ({"entity": "carl", "value": "x", "importance": 9}, "item 1 ('carl'): importance must be"),
        ({"entity": "carl", "key": "token", "value": KEY}, "item 1 ('carl'): The value of 'carl' looks like"),
        ({"entity": "carl", "value": "x", "metadata": []}, "metadata must be a JSON object, not list."),
    ],
)
def test_a_batch_says_which_item_is_wrong(wrong: dict[str, object], said: str, zomem: CommandLine) -> None:
    result = zomem("remember", "--batch", "-", given=json.dumps([{"entity": "ana", "value": "here"}, wrong]))
    assert result.exit_code == 1
    assert said in result.stderr
    assert zomem.json("stats")["facts"] == 0


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_a_search_for_nothing_says_so(query: str, zomem: CommandLine) -> None:
    result = zomem("search", query)
    assert (result.exit_code, "the query is empty" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        [b"search", b"a\xff"],
        [b"remember", b"a\xff", b"\xed\xa0\x80", b"v\xfe"],
        [b"recall", b"\xff?"],
        [b"gate", b"\xff"],
        [b"lookup", b"\xff"],
        [b"--persona", b"\xff", b"stats"],
        [b"--home", b"home-\xff", b"stats"],
        [b"import", b"\xff.md"],
        [b"capture", b"\xff.md"],
        [b"search", b"x", b"--since", b"\xff"],
        [b"\xff"],
    ],
)
@pytest.mark.parametrize("form", [[], [b"--json"]])
def test_broken_characters_end_in_an_answer_or_in_one_clear_line(
    arguments: list[bytes], form: list[bytes], zomem: CommandLine, tmp_path: Path
) -> None:
    done = zomem.process(*arguments, *form, cwd=tmp_path)
    assert b"unexpected" not in done.stderr, done.stderr
    assert b"Traceback" not in done.stderr
    done.stdout.decode("utf-8")


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nobody"])
def test_a_home_that_cannot_be_is_told_in_words(place: str, zomem: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    result = zomem("stats", "--home", str(tmp_path / place))
    assert result.exit_code == 1
    assert "cannot be used as a home: " in result.stderr
    assert "--home or ZOMEM_HOME" in result.stderr
    assert "Errno" not in result.stderr


def test_no_number_of_the_system_is_shown(zomem: CommandLine, tmp_path: Path) -> None:
    for arguments in (["--home", str(tmp_path / ("x" * 300)), "stats"], ["capture", str(tmp_path)]):
        result = zomem(*arguments)
        assert (result.exit_code, "Errno" in result.stderr) == (1, False)


def test_a_piped_table_names_its_columns(zomem: CommandLine) -> None:
    zomem.ok("remember", "ana", "city", "Porto")
    names, row = zomem.ok("search", "porto").splitlines()
    assert names.split("\t") == ["score", "kind", "when", "id", "text"]
    assert row.split("\t")[4] == "ana city: Porto"
    assert zomem.ok("search", "nowhere") == ""


def test_stats_and_metrics_of_a_persona_are_that_persona_s(zomem: CommandLine) -> None:
    zomem.ok("remember", "ana", "city", "Porto", "--persona", "ann")
    zomem.ok("remember", "bob", "city", "Faro", "--persona", "ben")
    zomem.ok("recall", "Where do I live?", "--persona", "ann")

    assert zomem.json("stats")["facts"] == 2
    assert zomem.json("stats", "--persona", "ann")["facts"] == 1
    assert "ann, shared" in zomem.ok("stats", "--persona", "ann")
    ann, ben = (zomem.json("metrics", "--persona", name) for name in ("ann", "ben"))
    assert [one["gate"]["total"] for one in (ann, ben)] == [1, 0]
    assert [sum(one["kept"]["facts"].values()) for one in (ann, ben)] == [1, 1]
    assert zomem.json("metrics")["gate"]["total"] == 1


@pytest.mark.parametrize(
    ("count", "things", "said"),
    [(1, "facts", "1 fact"), (2, "facts", "2 facts"), (0, "loops", "0 loops"), (1, "memories", "1 memory"),
     (1, "skipped", "1 skipped"), (1_000, "turns", "1,000 turns")],
)  # fmt: skip
def test_one_of_a_thing_is_singular(count: int, things: str, said: str) -> None:
    assert number_of(count, things) == said


def test_a_long_question_is_bounded_and_says_so(home: Path) -> None:
    asked: list[str] = []

    class Listening(SmallEmbedder):
        def embed_query(self, text: str) -> Vector:
            asked.append(text)
            return super().embed_query(text)

    with Memory.open(home, embeddings=Listening()) as memory:
        memory.remember("ana", "city", "Porto")
        found = memory.search("where in Porto? " * 5_000)
        assert any("80,000 characters; the first 2,000 are searched for" in note for note in found.degraded)
        assert [hit.text for hit in found] == ["ana city: Porto"]
        assert max(map(len, asked)) <= 2_000


def test_a_tie_falls_the_same_way_for_a_task_and_says_so() -> None:
    names = [Candidate(name=name) for name in ("codex", "gemma", "qwen")]
    tasks = [f"sort list {number}" for number in range(20)]
    first = {task: choose(task, names, {}, strategy="balanced", seed=1) for task in tasks}
    again = {task: choose(task, names[::-1], {}, strategy="balanced", seed=2) for task in tasks}
    assert {task: one.executor for task, one in first.items()} == {task: one.executor for task, one in again.items()}

    alike = [Candidate(name=name) for name in ("a", "b", "c")]
    chosen = [choose(task, alike, {}, strategy="balanced", seed=1) for task in tasks]
    assert len({one.executor for one in chosen}) == 3, "other tasks go to others"
    assert all("as good as " in one.reason and "same way each time for this task" in one.reason for one in chosen)


def test_settings_for_a_client_warn_where_the_server_cannot_start(zomem: CommandLine, tmp_path: Path) -> None:
    without = tmp_path / "site"
    without.mkdir()
    for entry in Path(typer.__file__).parents[1].iterdir():
        if not entry.name.startswith(("mcp", "__pycache__")):
            (without / entry.name).symlink_to(entry)
    path = os.pathsep.join([str(Path(__file__).parents[2]), str(without)])
    command = [sys.executable, "-S", "-m", "zomem_graph", "mcp", "config", "cursor"]
    done = subprocess.run(
        command, capture_output=True, env={**zomem.variables(), "PYTHONPATH": path}, timeout=120, check=True
    )
    assert b'mcp not installed. Run: pip install "zomem-graph[mcp]"' in done.stderr
    assert json.loads(done.stdout)["mcpServers"]
    assert "not installed" not in zomem("mcp", "config", "cursor").stderr


@pytest.mark.parametrize("option", ["--home", "--persona"])
@pytest.mark.parametrize("given", ["", "  "])
def test_an_option_that_is_empty_is_refused(option: str, given: str, zomem: CommandLine, tmp_path: Path) -> None:
    """A variable that is not set must not choose the current folder, nor the memory that everybody reads."""
    done = zomem("remember", "ana", "city", "Porto", option, given)
    assert done.exit_code != 0
    assert "it is empty" in " ".join(done.stderr.split())
    with pytest.raises(InvalidInput, match="home is empty"):
        Memory.open("")


def test_what_is_odd_but_kept_is_a_note_without_our_code(zomem: CommandLine) -> None:
    done = zomem("remember", "ana", "city", "Porto", "--category", "foo")
    assert done.exit_code == 0
    assert done.stderr.startswith("note: unknown category 'foo' is kept")
    assert ".py" not in done.stderr


def test_a_tier_that_nobody_knows_is_stored_with_a_warning_that_names_the_nearest(zomem: CommandLine) -> None:
    done = zomem("remember", "ana", "city", "Porto", "--tier", "sesion")
    assert done.exit_code == 0
    said = " ".join(done.stderr.split())
    assert "Did you mean session?" in said
    assert "permanent, stable, active, session, checkpoint" in said
    assert zomem.json("stats")["facts"] == 1


@pytest.mark.parametrize("given", ["[]", '"hi"', "hello"])
def test_a_hook_is_told_what_it_should_give(given: str, zomem: CommandLine) -> None:
    assert "the hook reads one JSON object" in zomem("gate", "--hook", given=given).stderr


def test_a_capture_of_what_is_kept_already_says_so(zomem: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "talk.md").write_text("Ann: I live in Porto.\nBot: ok\n", "utf-8")
    zomem.ok("observe", str(tmp_path / "talk.md"))
    done = zomem("capture", str(tmp_path / "talk.md"))
    assert done.stdout.startswith("0 turns, 0 facts")
    assert "all of it was kept before" in done.stderr
    assert zomem.json("capture", str(tmp_path / "talk.md"))["known"] == 2


def _options_of_paths() -> Iterator[tuple[str, str]]:
    root = typer.main.get_command(app)
    left = [(name, root.get_command(typer.Context(root), name)) for name in COMMANDS]  # type: ignore[attr-defined]
    while left:
        path, command = left.pop()
        left += [(f"{path} {name}", each) for name, each in getattr(command, "commands", {}).items()]
        if not getattr(command, "commands", {}):
            for each in command.params:
                if each.metavar in ("DIR", "FILE", "PATH") and each.opts[0].startswith("--"):
                    yield path, each.opts[0]


def test_no_option_takes_an_empty_path_for_the_current_folder(
    zomem: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--data-path "$UNSET"` must not write where one happens to stand."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    options = [*_options_of_paths()]
    taken = [each for each in options if "empty" not in zomem(*each[0].split(), each[1], "").output]

    assert {option for _path, option in options} >= {
        "--home",
        "--data-path",
        "--config",
        "--cron",
        "--report",
        "--data",
    }
    assert taken == []
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("words", [["bench"], []])
def test_a_group_without_a_command_shows_its_help_and_no_empty_message(home: Path, words: list[str]) -> None:
    done = CommandLine(home)(*words)

    assert (done.exit_code, "Usage" in done.stdout) == (1, True)
    assert done.stderr == ""


@pytest.mark.parametrize("more", [[], ["--explain"]])
@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"])
def test_what_breaks_lines_is_never_written_as_it_is(home: Path, sign: str, more: list[str]) -> None:
    zomem = CommandLine(home, ZO_MODEL_EMBEDDING="none")
    zomem("remember", "note", "kept", f"the first line{sign}and a second one")
    done = zomem("search", "second line", *more)

    assert "and a second one" in done.stdout
    assert sign not in done.stdout
