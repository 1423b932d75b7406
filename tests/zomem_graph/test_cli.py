"""The shape of the command line: which words there are, what stands around them, how it ends."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from zomem_graph.cli import COMMANDS, app
from zomem_graph.cli.edge import exit_code_of
from zomem_graph.cli.shared import Shared
from zomem_graph.cli.zone import machine_zone
from zomem_graph.stores.errors import InvalidInput

from .command_line import CommandLine

LISTED = [name for name, entry in COMMANDS.items() if not entry.hidden]


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


def test_the_overview_names_every_command(zomem: CommandLine) -> None:
    shown = zomem.ok("--help")

    assert [name for name in LISTED if not re.search(rf"^\W*{name}\s", shown, re.MULTILINE)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_alias_explains_itself(name: str, zomem: CommandLine) -> None:
    assert f"Usage: root {name} " in zomem.ok(name, "--help")


@pytest.mark.parametrize("name", [name for name in LISTED if name != "bench"])
def test_home_persona_and_json_are_options_of_every_command(name: str, zomem: CommandLine) -> None:
    shown = zomem.ok(name, "--help")

    assert all(option in shown for option in ("--home", "--persona", "--json"))


def test_zomem_alone_shows_the_overview_and_fails(zomem: CommandLine) -> None:
    result = zomem()

    assert (result.exit_code, "Usage:" in result.stdout) == (1, True)


def test_a_mistyped_command_is_answered_with_what_is_near(zomem: CommandLine) -> None:
    result = zomem("serach", "porto")

    assert result.exit_code == 1
    assert "There is no command 'serach'. Did you mean search" in result.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [(("vault", "ingst"), "ingest"), (("budget", "--json", "stats"), "status"), (("checkpoint", "lst"), "list")],
)
def test_so_is_one_in_a_group_whose_first_command_needs_no_name(
    zomem: CommandLine, words: tuple[str, ...], near: str
) -> None:
    result = zomem(*words)

    assert result.exit_code == 1
    assert f"There is no command {words[-1]!r}. Did you mean {near}" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gate"], "Missing argument 'MESSAGE'"),
        (["gate", "hello", "--nope"], "No such option: --nope"),
        (["gate", "hello", "there"], "unexpected extra argument(s) (there)"),
        (["search", "x", "--limit", "many"], "Invalid value for '--limit'"),
        (["search", "x", "--limit", "0"], "Invalid value for '--limit'"),
        (["search", "x", "--limit"], "requires an argument"),
        (["search", "x", "--kinds", "turnip"], "turnip"),
        (["search", "x", "--since", "the other day"], "cannot be read as a time"),
        (["search", "x", "--time-zone", "Mars/Olympus"], "Mars/Olympus"),
        (["capture"], "FILE"),
        (["capture", "stats", "more"], "unexpected extra argument(s) (more)"),
        (["lookup"], "ENTITY"),
        (["remember"], "ENTITY and VALUE missing"),
        (["remember", "ana", "city"], "VALUE missing"),
        (["remember", "ana", "city", "Porto", "Portugal"], "4 words for 3 places"),
        (["remember", "ana", "city", "Porto", "--importance", "9"], "importance"),
        (["remember", "ana", "city", "--batch", "facts.json"], "--batch stands alone"),
        (["remember", "--batch", "nowhere.json"], "nowhere.json cannot be read"),
        (["observe", "nowhere.md"], "There is no file nowhere.md"),
        (["delete", "nothing-has-this-id"], "nothing-has-this-id"),
        (["gate", " "], "the message is empty"),
        (["stats", "--persona"], "requires an argument"),
    ],
)
def test_wrong_use_ends_with_one_and_one_clear_line(arguments: list[str], said: str, zomem: CommandLine) -> None:
    result = zomem(*arguments)

    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert all(line.startswith(("zomem: ", "See ")) for line in result.stderr.splitlines())


def test_shared_options_stand_before_or_after_the_command(home: Path, tmp_path: Path) -> None:
    zomem = CommandLine(tmp_path / "unused")

    zomem.ok("--home", str(home), "--persona", "ann", "remember", "ana", "city", "Porto")
    after = zomem.json("lookup", "ana", "--home", str(home), "--persona", "ann")
    between = zomem.ok("--json", "lookup", "--persona", "ann", "ana", "--home", str(home))

    assert [fact["value"] for fact in after] == ["Porto"]
    assert '"Porto"' in between
    assert not (tmp_path / "unused").exists()


def test_the_nearer_of_two_options_wins() -> None:
    inner, outer = Shared(persona="inner"), Shared(persona="outer", home=Path("home"), as_json=True)

    assert inner.under(outer) == Shared(persona="inner", home=Path("home"), as_json=True)


def test_shared_options_reach_the_commands_of_a_group(zomem: CommandLine) -> None:
    for arguments in (
        ["--json", "capture", "stats"],
        ["capture", "--json", "stats"],
        ["capture", "stats", "--json"],
    ):
        assert '"captures": 0' in zomem.ok(*arguments)


def test_a_sub_command_wins_over_a_file_of_its_name(
    zomem: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stats").write_text("Ana: I live in Porto.\n", "utf-8")

    assert "captures" in zomem.ok("capture", "stats")
    assert "1 turn" in zomem.ok("capture", "./stats")


def test_the_value_of_an_option_is_not_taken_for_a_sub_command(zomem: CommandLine) -> None:
    assert "1 turn" in zomem.ok("capture", "--source", "stats", "-", given="Ana: I live in Porto.\n")


def test_the_help_of_a_group_shows_its_default_and_the_others(zomem: CommandLine) -> None:
    shown = zomem.ok("capture", "--help")

    assert "--dry-run" in shown
    assert "stats" in shown


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (InvalidInput("no\nsuch \x1b[31mthing"), 1),
        (KeyboardInterrupt(), 1),
        (typer.Abort(), 1),
        (OSError(28, "No space left on device"), 1),
        (RecursionError("too deep"), 1),
        (BrokenPipeError(), 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_raised_becomes_one_harmless_line(
    raised: BaseException, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise raised

    assert exit_code_of(fail) == code
    said = capfd.readouterr().err
    assert "\x1b" not in said
    assert len(said.splitlines()) == code


def test_an_exit_code_of_a_command_is_kept() -> None:
    assert [exit_code_of(lambda: None), exit_code_of(lambda: 3), exit_code_of(lambda: 130)] == [0, 3, 1]


def test_the_version_is_told(zomem: CommandLine) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", zomem.ok("--version"))


def test_another_program_may_call_the_app_and_go_on() -> None:
    result = CliRunner().invoke(app, ["serach"], standalone_mode=False)

    assert result.return_value == 1


def test_the_console_script_and_the_module_are_the_same(zomem: CommandLine) -> None:
    script = Path(sys.executable).with_name("zomem")
    if not script.exists():
        pytest.skip("the package is not installed beside this interpreter")
    by_script = subprocess.run([script, "--version"], capture_output=True, check=True, timeout=60)

    assert by_script.stdout == zomem.process("--version").stdout


@pytest.mark.parametrize(
    ("zone", "names"),
    [
        ("UTC", {"UTC", "Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu"}),
        ("America/St_Johns", {"America/St_Johns", "Canada/Newfoundland"}),
        ("Asia/Kolkata", {"Asia/Kolkata", "Asia/Calcutta"}),
    ],
)
def test_the_time_zone_of_the_process_is_found_by_name(
    zone: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert machine_zone() in names
    finally:
        monkeypatch.undo()
        time.tzset()
