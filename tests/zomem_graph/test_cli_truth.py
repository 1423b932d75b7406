"""Ending, correcting, tying and erasing what is known, from the command line."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from zomem_graph import Memory

from .command_line import CommandLine


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


def told(zomem: CommandLine, *words: str) -> str:
    """Store a fact and return its id."""
    return str(zomem.json("remember", *words)["id"])


def values(zomem: CommandLine, *words: str) -> list[str]:
    return [fact["value"] for fact in zomem.json("lookup", *words)]


def asked(zomem: CommandLine, answer: bytes, *words: str) -> tuple[int, bytes]:
    """Run on a terminal that types an answer; return the exit code and what was written beside the answer."""
    mine, theirs = pty.openpty()
    os.write(mine, answer)
    command = [sys.executable, "-m", "zomem_graph", *words]
    done = subprocess.run(command, stdin=theirs, capture_output=True, timeout=120, check=False, env=zomem.variables())
    os.close(theirs)
    os.close(mine)
    return done.returncode, done.stderr


# -- conflicts, provenance ---------------------------------------------------------------------------


def test_a_conflict_waits_until_it_is_decided(zomem: CommandLine) -> None:
    old = told(zomem, "ana", "city", "Porto")
    told(zomem, "ana", "city", "Braga")

    history = zomem.json("conflicts", "history", "ana", "city")
    assert [(fact["value"], fact["state"]) for fact in history] == [("Porto", "superseded"), ("Braga", "current")]
    (known,) = zomem.json("conflicts", "list", "--resolution", "superseded")
    assert zomem.json("conflicts") == []
    assert zomem.json("conflicts", "stats")["resolutions"] == {"superseded": 1}

    decided = zomem.json("conflicts", "resolve", known["conflict"]["id"][:8], "--keep", old)

    assert decided["conflict"]["resolution"] == "superseded"
    assert values(zomem, "ana", "city") == ["Porto"]


def test_what_is_found_by_looking_can_be_decided_at_once(zomem: CommandLine) -> None:
    told(zomem, "office", "city", "Lyon")
    told(zomem, "office", "city", "Porto", "--persona", "ann")
    ann = ["--persona", "ann"]

    (found,) = zomem.json("conflicts", "detect", *ann)
    (decided,) = zomem.json("conflicts", "resolve-all", *ann)

    assert (found["conflict"]["resolution"], decided["conflict"]["resolution"]) == ("pending", "superseded")
    assert (zomem.json("conflicts", "list", *ann), zomem.json("conflicts", "detect", *ann)) == ([], [])


def test_how_many_cannot_be_decided_so_is_said_on_standard_error(zomem: CommandLine, home: Path) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.remember("deploy", None, "deploys on Friday are allowed")
        memory.remember("deploy", None, "deploys on Friday are not allowed")
    assert len(zomem.json("conflicts")) == 1
    result = zomem("conflicts", "resolve-all", "--strategy", "merge")
    assert (result.exit_code, "note: 1 cannot be decided so and wait still" in result.stderr) == (0, True)


def test_people_get_lines_and_nothing_is_said_in_words(zomem: CommandLine) -> None:
    told(zomem, "ana", "city", "Porto")
    told(zomem, "ana", "city", "Braga")

    (_names, line) = zomem.ok("conflicts", "list", "--resolution", "superseded").splitlines()
    assert "ana city: Porto" in line
    assert "no conflicts" in zomem("conflicts").stderr
    assert "nothing was ever known" in zomem("conflicts", "history", "nobody").stderr
    assert "resolutions superseded" in zomem.ok("conflicts", "stats")


def test_provenance_tells_source_and_the_values_before(zomem: CommandLine) -> None:
    told(zomem, "ana", "city", "Porto")
    fact = told(zomem, "ana", "city", "Braga", "--source", "letter")

    report, shown = zomem.json("provenance", fact), zomem.ok("provenance", fact)

    assert [each["value"] for each in report["chain"]] == ["Porto", "Braga"]
    assert report["said"][0]["origin"]["source"] == "letter"
    assert all(word in shown for word in ("Braga", "Porto", "letter", "conflict "))


# -- retract -----------------------------------------------------------------------------------------


def test_after_a_retraction_the_value_before_stands_again(zomem: CommandLine) -> None:
    told(zomem, "ana", "city", "Porto")
    wrong = told(zomem, "ana", "city", "Braga")

    retracted = zomem.json("retract", wrong, "--reason", "that was Eva")

    assert (retracted["fact"]["state"], retracted["fact"]["metadata"]["retracted"]) == ("retracted", "that was Eva")
    assert values(zomem, "ana", "city") == ["Porto"]


def test_another_persona_neither_retracts_nor_links_nor_traces_by_id(zomem: CommandLine) -> None:
    one, two = (told(zomem, "ana", key, "x", "--persona", "ann") for key in ("a", "b"))

    for words in (
        ["retract", one, "--reason", "no"],
        ["link", "--source", one, "--target", two],
        ["provenance", one],
        ["forget", "--id", one, "--yes"],
    ):
        assert zomem(*words, "--persona", "bob").exit_code == 1
    assert values(zomem, "ana", "--persona", "ann") == ["x", "x"]


# -- link, unlink ------------------------------------------------------------------------------------


def test_two_things_are_linked_and_unlinked(zomem: CommandLine) -> None:
    ends = ["--source", told(zomem, "shop", "server", "hal"), "--target", told(zomem, "hal", "owner", "ana")]

    tied = zomem.json("link", *ends, "--relation", "depends_on", "--weight", "0.8")
    zomem.ok("link", *ends)

    assert (tied["relation"], tied["weight"]) == ("depends_on", 0.8)
    assert zomem.json("unlink", *ends, "--relation", "depends_on")["removed"] == 1
    assert zomem.ok("unlink", *ends) == "removed 1 link\n"
    assert "There is no link" in zomem("unlink", *ends).stderr


def test_an_unknown_relation_is_kept_and_said_in_one_line(zomem: CommandLine) -> None:
    ends = ["--source", told(zomem, "a", "k", "1"), "--target", told(zomem, "b", "k", "2")]
    result = zomem("link", *ends, "--relation", "sings_with")

    assert result.exit_code == 0
    assert "note: unknown relation 'sings_with' is kept" in result.stderr


# -- forget ------------------------------------------------------------------------------------------


def test_a_dry_run_of_forget_shows_what_would_go_and_changes_nothing(zomem: CommandLine) -> None:
    told(zomem, "ana", "city", "Porto")
    result = zomem("forget", "--entity", "ana", "--dry-run")

    assert (result.exit_code, "Porto" in result.stdout) == (0, True)
    assert "would erase 1 fact of shared" in result.stderr
    assert values(zomem, "ana") == ["Porto"]


@pytest.mark.parametrize(
    "what", [["--entity", "ana"], ["--matching", "PORTO"], ["--everything-of", "shared"], ["--id", "ID"]]
)
def test_what_was_forgotten_is_gone_and_the_proof_is_shown(what: list[str], zomem: CommandLine) -> None:
    fact = told(zomem, "ana", "city", "Porto")
    shown = zomem.ok("forget", *[fact if word == "ID" else word for word in what], "--yes")

    assert "erased 1 fact of shared" in shown
    assert "nothing of it is left" in shown
    assert values(zomem, "ana") == []


def test_the_report_of_a_persona_that_was_emptied_is_one_document(zomem: CommandLine) -> None:
    told(zomem, "ana", "city", "Porto", "--persona", "ann")
    told(zomem, "ana", "city", "Braga")

    report = zomem.json("forget", "--everything-of", "ann", "--yes")

    assert (report["persona"], report["clean"], report["counts"]["facts"]) == ("ann", True, 1)
    assert values(zomem, "ana") == ["Braga"]


def test_piped_it_forgets_nothing_without_yes(zomem: CommandLine) -> None:
    told(zomem, "ana", "city", "Porto")
    result = zomem("forget", "--entity", "ana", given="y\n")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "Add --yes" in result.stderr
    assert values(zomem, "ana") == ["Porto"]


def test_on_a_terminal_it_asks_first(zomem: CommandLine) -> None:
    told(zomem, "ana", "city", "Porto")

    code, said = asked(zomem, b"n\n", "forget", "--entity", "ana")
    assert (code, b"Porto" in said, b"nothing was changed" in said) == (1, True, True)
    assert values(zomem, "ana") == ["Porto"]

    code, said = asked(zomem, b"y\n", "forget", "--entity", "ana")
    assert (code, b"Erase 1 fact of shared for good?" in said) == (0, True)
    assert values(zomem, "ana") == []


# -- wrong use ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["conflicts", "resolve", "nope"], "No conflict has the id 'nope'"),
        (["conflicts", "resolve-all", "--strategy", "guess"], "Invalid value for '--strategy'"),
        (["conflicts", "list", "--resolution", "guess"], "resolution must be one of"),
        (["conflicts", "history"], "ENTITY"),
        (["provenance", "nope"], "Nothing has the id 'nope'"),
        (["retract", "nope"], "--reason"),
        (["retract", "nope", "--reason", "x"], "Nothing has the id 'nope'"),
        (["retract", "nope", "--reason", " "], "reason must be"),
        (["link", "--source", "a"], "--target"),
        (["link", "--source", "a", "--target", "b"], "Nothing has the id 'a'"),
        (["link", "--source", "a", "--target", "b", "--weight", "nan"], "weight must be a number"),
        (["link", "--source", "a", "--target", "b", "--weight", "-1"], "weight must be a number from 0 on"),
        (["unlink", "--source", "a", "--target", "b"], "Nothing has the id 'a'"),
        (["forget", "--yes"], "Nothing was named"),
        (["forget", "--id", "nope", "--yes"], "nope"),
        (["forget", "--entity", "a", "--everything-of", "ann", "--yes"], "not two of these"),
        (["forget", "--everything-of", "ann", "--persona", "bob", "--yes"], "another persona"),
        (["forget", "--everything-of", "", "--yes"], "persona"),
    ],
)
def test_wrong_use_of_these_ends_with_one_and_one_clear_line(
    arguments: list[str], said: str, zomem: CommandLine
) -> None:
    result = zomem(*arguments)

    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert all(line.startswith(("zomem: ", "See ")) for line in result.stderr.splitlines())
