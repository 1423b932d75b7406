"""Checkpoints: where a task stands is saved, listed, loaded and taken up again, by whom it belongs to."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.stores.checkpoint_files import list_checkpoints
from zomem_graph.stores.errors import InvalidInput, SecretRefused, StoreDamaged, StoreReadOnly, UnknownName
from zomem_graph.testing import FixedClock, SmallEmbedder

from .command_line import CommandLine

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")
MOVE: dict[str, Any] = {
    "state": "DNS is switched",
    "expected_outcome": "no downtime",
    "working_files": ["nginx.conf", "zone.db"],
}


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def test_a_task_is_saved_and_loaded_as_it_was(memory: Memory, home: Path) -> None:
    memory.loops.create("Renew the certificate", scope=ANN)
    memory.episodes.create("Moving the site", outcome="ongoing", scope=ANN)
    saved = memory.checkpoints.save("Move the site to nginx", **MOVE, scope=ANN)

    found = memory.checkpoints.load(saved.id, scope=ANN)
    assert (found.intent, found.state, found.working_files) == (saved.intent, saved.state, ["nginx.conf", "zone.db"])
    assert [loop["text"] for loop in found.open_loops] == ["Renew the certificate"]
    assert [one["text"] for one in found.pending_episodes] == ["Moving the site"]
    file = home / "checkpoints" / f"{saved.id}.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text("utf-8"))["intent"] == "Move the site to nginx"


def test_recall_knows_the_task_for_four_hours(memory: Memory, clock: FixedClock) -> None:
    memory.checkpoints.save("Move the site to nginx", **MOVE, scope=ANN)

    assert "DNS is switched" in memory.continuation("where were we?", scope=ANN).text
    clock.advance(hours=5)
    assert "DNS is switched" not in memory.continuation("where were we?", scope=ANN).text


def test_a_restored_task_is_known_again(memory: Memory, clock: FixedClock) -> None:
    saved = memory.checkpoints.save("Move the site to nginx", **MOVE, scope=ANN)
    clock.advance(days=3)

    restored = memory.checkpoints.restore(saved.id[:9], scope=ANN)
    assert restored.text.startswith("Task: Move the site to nginx\nState: DNS is switched")
    assert "DNS is switched" in memory.continuation("where were we?", scope=ANN).text


def test_a_newer_state_takes_the_place_of_the_older_one_in_recall(memory: Memory) -> None:
    memory.checkpoints.save("Move the site", state="DNS is switched", scope=ANN)
    memory.checkpoints.save("Move the site", state="Certificates are in place", scope=ANN)

    assert len(memory.checkpoints.list(scope=ANN)) == 2
    text = memory.continuation("where were we?", scope=ANN).text
    assert "Certificates are in place" in text
    assert "DNS is switched" not in text


def test_the_newest_comes_first_and_kinds_are_told_apart(memory: Memory, clock: FixedClock) -> None:
    for number in range(3):
        memory.checkpoints.save(f"Task {number}", scope=ANN)
        clock.advance(minutes=1)

    assert [one.intent for one in memory.checkpoints.list(scope=ANN, limit=2)] == ["Task 2", "Task 1"]
    assert memory.checkpoints.list(kind="budget", scope=ANN) == []


def test_two_personas_stay_apart(memory: Memory) -> None:
    saved = memory.checkpoints.save("Move the site", scope=ANN)

    assert memory.checkpoints.list(scope=BOB) == []
    with pytest.raises(UnknownName):
        memory.checkpoints.load(saved.id, scope=BOB)
    with pytest.raises(UnknownName):
        memory.checkpoints.restore(saved.id, scope=BOB)


@pytest.mark.parametrize("wanted", ["../../zomem", "ckpt-", "", "/etc/passwd", "ckpt-zzzzzzzz"])
def test_an_id_is_never_a_path(memory: Memory, wanted: str) -> None:
    memory.checkpoints.save("Move the site")
    memory.checkpoints.save("Move the mail")
    with pytest.raises((UnknownName, InvalidInput)):
        memory.checkpoints.load(wanted)


@pytest.mark.parametrize(
    "named",
    [
        {"intent": " "},
        {"intent": 7},
        {"intent": "x", "working_files": "nginx.conf"},
        {"intent": "x", "working_files": [""]},
        {"intent": "x", "state": None},
        {"intent": "x", "working_files": ["f"] * 501},
    ],
)
def test_bad_states_are_refused_and_nothing_is_saved(memory: Memory, named: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.checkpoints.save(**named)
    assert memory.checkpoints.list() == []


def test_a_secret_is_refused(memory: Memory) -> None:
    with pytest.raises(SecretRefused):
        memory.checkpoints.save("Rotate the key", state="ghp_" + "a1B2" * 9)
    assert memory.checkpoints.list() == []


@pytest.mark.parametrize("named", [{"kind": "other"}, {"limit": 0}])
def test_bad_lists_are_refused(memory: Memory, named: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.checkpoints.list(**named)


def test_a_damaged_file_hides_no_other(memory: Memory, home: Path) -> None:
    saved = memory.checkpoints.save("Move the site")
    folder = home / "checkpoints"
    (folder / "ckpt-00000000.json").write_text('{"intent": "half', "utf-8")
    (folder / "ckpt-00000001.json").write_text("[" * 100_000, "utf-8")
    (folder / "notes.txt").write_text("not ours", "utf-8")

    assert [one.id for one in memory.checkpoints.list()] == [saved.id]
    with pytest.raises(StoreDamaged, match="ckpt-00000000"):
        list_checkpoints(folder, strict=True)


def test_a_folder_that_cannot_be_written_is_named_and_nothing_is_known(memory: Memory, home: Path) -> None:
    (home / "checkpoints").write_text("no folder", "utf-8")
    with pytest.raises(StoreReadOnly, match="checkpoints"):
        memory.checkpoints.save("Move the site")
    assert memory.search("Move the site") == []


def test_forgetting_takes_checkpoints_along(memory: Memory) -> None:
    memory.remember("mill", "owner", "Wilhelmina Quandt", persona="ann")
    memory.checkpoints.save("Write to Wilhelmina Quandt about the mill", scope=ANN)
    kept = memory.checkpoints.save("Move the site", scope=ANN)

    assert memory.forget(persona="ann", matching="Quandt").clean
    assert [one.id for one in memory.checkpoints.list(scope=ANN)] == [kept.id]
    assert memory.forget(persona="ann", everything=True).clean
    assert memory.checkpoints.list(scope=ANN) == []


def test_the_folder_can_be_somewhere_else(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: FixedClock
) -> None:
    monkeypatch.setenv("ZO_CHECKPOINT_DIR", str(tmp_path / "saved"))
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        saved = memory.checkpoints.save("Move the site")

    assert [one.name for one in (tmp_path / "saved").iterdir()] == [f"{saved.id}.json"]


def test_the_command_line_saves_lists_loads_and_restores(home: Path) -> None:
    zomem = CommandLine(home)
    assert "no checkpoints" in zomem("checkpoint").stderr
    told = ["Move the site", "--state", "half done", "--expected", "no downtime", "--file", "a.conf", "--file", "b"]
    saved = zomem.json("checkpoint", "save", *told)

    assert zomem.ok("checkpoint", "list").splitlines()[1].split("\t")[0] == saved["id"]
    assert "half done" in zomem.ok("checkpoint", "load", saved["id"])
    assert zomem.json("checkpoint", "restore", saved["id"][:8])["working_files"] == ["a.conf", "b"]
    assert "half done" in zomem.ok("continuation", "where were we?")
    assert zomem("checkpoint", "load", "nothing").exit_code == 1


def test_the_command_line_keeps_a_budget(home: Path) -> None:
    zomem = CommandLine(home)
    assert "no budget is set" in zomem("budget").stderr
    assert zomem("budget", "track", "5").exit_code == zomem("budget", "reset").exit_code == 1

    assert zomem.json("budget", "init", "--max-tokens", "1000")["available"] == 900
    assert zomem.json("budget", "track", "650", "100")["alarm"] == "warning"
    assert "750 of 1,000 tokens (75%)" in zomem.ok("budget", "status")
    assert zomem.json("budget", "reset")["used"] == 0
    assert zomem("budget", "init", "--max-tokens", "5").exit_code == 1
