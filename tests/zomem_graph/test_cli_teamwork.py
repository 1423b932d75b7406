"""Procedures, profiles and routing from the command line, in today's form and in the original's."""

import json
from pathlib import Path

import pytest

from .command_line import CommandLine

STEPS = json.dumps([{"executor": "codex", "taskPattern": "review", "timeoutSeconds": 60}, {"executor": "gemini"}])


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


def test_a_procedure_is_made_counted_and_evolved(zomem: CommandLine) -> None:
    made = zomem.json("procedures", "create", "site-review", "-", given=STEPS)
    zomem.ok("procedures", "feedback", made["id"][:8], "--failure")
    zomem.ok("profile", "record", "codex", "--failure", "--category", "review", "--error", "timed out")

    assert "site-review v1 -> v2 by rules" in zomem.ok("procedures", "evolve", "site-review")
    shown = zomem.json("procedures", "show", "site-review")
    assert (shown["version"], shown["steps"][0]["timeout_seconds"]) == (2, 90)
    assert zomem.json("procedures", "show", "site-review", "--version", "1")["failure_count"] == 1
    assert "comes from" in zomem.ok("procedures", "show", "site-review")
    assert [one["name"] for one in zomem.json("procedures")] == ["site-review"]


def test_the_flags_of_the_original_do_the_same(zomem: CommandLine) -> None:
    made = zomem.json("procedures", "create", "site-review", "-", given=STEPS)

    assert "site-review" in zomem.ok("procedures", "--list")
    assert "codex" in zomem.ok("procedures", "--show", "site-review")
    assert zomem.json("procedures", "--feedback", made["id"], "--success")["success_count"] == 1
    assert "stays v1" in zomem.ok("procedures", "--evolve", "site-review")


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["procedures", "create", "x", "-"], "[]", "at least one step"),
        (["procedures", "create", "x", "-"], '[{"notes": "who?"}]', "no executor"),
        (["procedures", "create", "x", "-"], "no json", "no JSON"),
        (["procedures", "feedback", "x", "--success"], None, "no procedure"),
        (["procedures", "feedback", "x"], None, "--success and --failure"),
        (["profile", "nobody"], None, "no executor"),
        (["profile", "import", "nowhere.json"], None, "cannot be read"),
        (["route", "do it"], None, "knows no executor"),
        (["route", "do it", "--executors", "a", "--strategy", "lucky"], None, "strategy must be"),
    ],
)
def test_what_makes_no_sense_ends_with_one_line_and_exit_1(
    zomem: CommandLine, words: list[str], given: str | None, said: str
) -> None:
    result = zomem(*words, given=given)

    assert result.exit_code == 1
    assert said.lower() in result.stderr.lower()
    assert "Traceback" not in result.output


def test_a_route_is_explained_signal_by_signal(zomem: CommandLine) -> None:
    for _ in range(4):
        zomem.ok("profile", "record", "gemini", "--success", "--category", "docs")
    told = zomem.ok("route", "Write the manual", "--executors", "codex,gemini", "--explain")

    assert told.startswith("gemini: ")
    assert "category docs" in told
    assert zomem.json("route", "Write the manual", "--executors", "codex,gemini")["executor"] == "gemini"


def test_a_history_goes_out_and_comes_in_again(zomem: CommandLine, tmp_path: Path) -> None:
    zomem.ok("profile", "record", "codex", "--success", "--seconds", "2.5")
    file = str(tmp_path / "executor-history.json")

    assert zomem.json("profile", "export", file) == {"entries": 1}
    assert zomem.json("profile", "import", file, "--persona", "ann") == {"entries": 1}
    assert zomem.json("profile", "codex", "--persona", "ann")["categories"][0]["average_ms"] == 2_500
    assert "codex" in zomem.ok("profile", "--executor", "codex")
