"""The commands that look after memory: each explains every change, and a dry run changes nothing."""

from pathlib import Path

import pytest

from tests.zomem_graph.command_line import CommandLine
from zomem_graph import Memory


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def twice_said(zomem: CommandLine) -> CommandLine:
    """A home with two facts that say the same, of which one was to last an hour or so."""
    with Memory.open(zomem.home, embeddings="none") as memory:
        memory.remember("user", "likes", "quiet evenings at home", many=True)
        memory.remember("user", "likes", "the quiet evening at home", many=True)
    return zomem


@pytest.mark.parametrize("command", ["prune", "decay", "consolidate", "maintain"])
def test_with_nothing_to_do_each_says_so(command: str, zomem: CommandLine) -> None:
    zomem.ok("init")
    assert zomem.json(command, "--dry-run")["dry_run"] is True
    result = zomem(command)
    assert result.exit_code == 0
    assert "nothing to change" in result.output


def test_consolidate_explains_what_it_would_merge_and_then_does(twice_said: CommandLine) -> None:
    told = twice_said.ok("consolidate", "--dry-run")
    assert "merged" in told
    assert "says the same as one that is newer" in told
    assert len(twice_said.json("lookup", "user")) == 2
    twice_said.ok("consolidate")
    assert len(twice_said.json("lookup", "user")) == 1


def test_the_last_run_is_taken_back_by_word_or_flag(twice_said: CommandLine) -> None:
    assert len(twice_said.json("maintain")["steps"]) > 1
    assert len(twice_said.json("lookup", "user")) == 1
    assert len(twice_said.json("maintain", "undo")["undone"]) == 1
    assert len(twice_said.json("lookup", "user")) == 2
    result = twice_said("maintain", "--undo")
    assert result.exit_code == 1
    assert "no run of maintenance to undo" in result.output


def test_only_some_steps_may_run(twice_said: CommandLine) -> None:
    report = twice_said.json("maintain", "--only", "tiers", "--only", "loops")
    assert [step["step"] for step in report["steps"]] == ["tiers", "loops"]
    result = twice_said("maintain", "--only", "merg")
    assert result.exit_code == 1
    assert "Did you mean merge?" in result.output


def test_a_second_run_at_once_exits_with_one(twice_said: CommandLine) -> None:
    with Memory.open(twice_said.home, embeddings="none") as memory:
        lock = memory.stores.maintenance_lock()
        assert lock.try_hold(wait_seconds=0)
        result = twice_said("maintain")
        lock.release()
    assert result.exit_code == 1
    assert "runs already" in result.output


@pytest.mark.parametrize("every", ["0", "soon", "-1h"])
def test_a_senseless_pause_is_refused(every: str, zomem: CommandLine) -> None:
    result = zomem("maintain", f"--every={every}")
    assert result.exit_code == 1
    assert "--every" in result.output
