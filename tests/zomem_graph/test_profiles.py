"""Executors: what they did, history files in and out, and who gets a task."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.rules.routing import Candidate
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.testing import FixedClock, SmallEmbedder

OLD = {"codex:fix": {"attempts": 10, "successes": 9, "avgDurationMs": 1500, "lastUpdated": 1767528000000}}


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def history(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_a_profile_tells_what_was_done_and_how_it_failed(memory: Memory) -> None:
    episode = memory.episodes.create("Fixed the login")
    memory.profiles.record("codex", success=True, category="fix", duration_ms=1_000, episode_id=episode.id)
    memory.profiles.record("codex", success=False, category="fix", error="timed out", entities=["Login page"])
    (fix,) = memory.profiles.show("codex").categories
    assert (fix.attempts, fix.successes) == (2, 1)
    assert fix.rate == pytest.approx(0.5, abs=0.01)
    assert fix.failure_patterns == ("timeout",)
    assert fix.recent_episode_ids == (episode.id,)
    assert fix.entity_affinities == {"login page": pytest.approx(0.35)}
    assert fix.average_ms == 1_000


def test_an_unknown_executor_is_answered_with_the_nearest(memory: Memory) -> None:
    memory.profiles.record("claude-code", success=True)
    with pytest.raises(UnknownName, match="claude-code"):
        memory.profiles.show("claude")


def test_an_error_that_holds_a_secret_is_stored_without_it(memory: Memory) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    run = memory.profiles.record("codex", success=False, error=f"401 for {key}")
    assert key not in str(run.error)


@pytest.mark.parametrize(
    "odd",
    [{"executor": ""}, {"executor": "a", "duration_ms": -1}, {"executor": "a", "failure_class": "bad luck"}],
    ids=["no name", "negative time", "unknown class"],
)
def test_an_attempt_that_makes_no_sense_is_refused(memory: Memory, odd: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.profiles.record(**{"success": True, **odd})
    assert memory.profiles.list() == []


def test_a_file_of_an_old_version_is_taken_in_and_once_only(memory: Memory, tmp_path: Path) -> None:
    file = history(tmp_path / "h.json", OLD)
    assert memory.profiles.import_file(file) == 1
    memory.profiles.import_file(file)
    (fix,) = memory.profiles.show("codex").categories
    assert (fix.attempts, fix.successes, fix.average_ms) == (10, 9, 1500)


def test_what_is_exported_can_be_imported_where_it_came_from_and_elsewhere(memory: Memory, tmp_path: Path) -> None:
    memory.profiles.import_file(history(tmp_path / "h.json", OLD))
    memory.profiles.record("codex", success=False, category="fix", error="timed out", entities=["site"])
    out = tmp_path / "out.json"
    assert memory.profiles.export_file(out) == 1
    memory.profiles.import_file(out)
    memory.profiles.import_file(out, scope=Scope(persona="ann"))
    for scope in (None, Scope(persona="ann")):
        (fix,) = memory.profiles.show("codex", scope=scope).categories
        assert (fix.attempts, fix.successes, fix.failure_patterns) == (11, 9, ("timeout",))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no JSON"),
        ('{"codex:fix": {"attempts": 1', "no JSON"),
        ("[1]", "is a list"),
        ({"version": 9, "executors": {}}, "version 9"),
        ({"codex:fix": 3}, "is no object"),
        ({"codex:fix": {"successes": 1}}, "no attempts"),
        ({"codex:fix": {"attempts": 1, "successes": 2}}, "more successes"),
        ({"codex:fix": {"attempts": -1, "successes": 0}}, "from 0 on"),
        ({"codex:fix": {"attempts": 1.5, "successes": 0}}, "whole number"),
        ({":fix": {"attempts": 1, "successes": 0}}, "names no executor"),
        ({"codex:fix": {**OLD["codex:fix"], "entity_affinities": {"a": 7}}}, "from 0 to 1"),
        ({"codex:fix": {**OLD["codex:fix"], "failure_patterns": "timeout"}}, "list of texts"),
    ],
)
def test_a_damaged_history_is_refused_whole_and_says_why(
    memory: Memory, tmp_path: Path, content: Any, said: str
) -> None:
    good = {"gemini:docs": OLD["codex:fix"]}
    mixed = {**good, **content} if isinstance(content, dict) else content
    with pytest.raises(InvalidInput, match=said):
        memory.profiles.import_file(history(tmp_path / "h.json", mixed))
    assert memory.profiles.list() == []


def test_a_file_that_is_no_text_or_not_there_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "x.json", tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(InvalidInput):
            memory.profiles.import_file(path)


def test_ageing_goes_by_time_and_not_by_opening(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder, clock=clock) as memory:
        memory.profiles.record("codex", success=True)
    clock.advance(days=7)
    weights = set()
    for _ in range(5):
        with Memory.open(home, embeddings=embedder, clock=clock) as memory:
            weights.add(round(memory.profiles.show("codex").categories[0].weight, 9))
    assert weights == {0.5}


def test_personas_keep_their_own_executors(memory: Memory) -> None:
    memory.profiles.record("codex", success=True, scope=Scope(persona="ann"))
    assert memory.profiles.list(scope=Scope(persona="bob")) == []
    memory.forget(persona="ann", everything=True)
    assert memory.profiles.list(scope=Scope(persona="ann")) == []


# -- routing ---------------------------------------------------------------------------------------


def test_routing_follows_what_was_remembered_in_this_category(memory: Memory) -> None:
    for _ in range(6):
        memory.profiles.record("gemini", success=True, category="docs")
        memory.profiles.record("hermes", success=False, category="docs")
        memory.profiles.record("hermes", success=True, category="fix")
    choice = memory.route("Write the manual", executors=["hermes", "gemini"])
    assert (choice.executor, choice.category) == ("gemini", "docs")
    assert choice.scores[0].signals["history"] > choice.scores[1].signals["history"]


def test_the_same_store_and_task_give_the_same_choice(memory: Memory) -> None:
    memory.profiles.record("gemini", success=True)
    first = memory.route("do it", executors=["hermes", "gemini"], strategy="explore")
    assert memory.route("do it", executors=["hermes", "gemini"], strategy="explore") == first
    assert asyncio.run(memory.aroute("do it", executors=["hermes", "gemini"], strategy="explore")) == first


def test_without_names_everybody_known_may_get_it(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="knows no executor yet"):
        memory.route("do it")
    memory.profiles.record("gemini", success=True)
    assert memory.route("do it").executor == "gemini"


def test_procedures_that_work_speak_for_their_executors(memory: Memory) -> None:
    memory.procedures.create("site", [{"executor": "gemini"}])
    for _ in range(4):
        memory.procedures.feedback("site", success=True)
    choice = memory.route("do it", executors=["hermes", "gemini"])
    assert choice.executor == "gemini"
    assert choice.scores[0].signals["procedure"] == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    "odd",
    [
        {"task": " "},
        {"executors": []},
        {"executors": ["a", "a"]},
        {"executors": [""]},
        {"strategy": "lucky"},
        {"category": "a\nb"},
    ],
    ids=["no task", "nobody", "twice", "no name", "unknown strategy", "odd category"],
)
def test_a_route_that_makes_no_sense_is_refused(memory: Memory, odd: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.route(**{"task": "do it", "executors": ["a", "b"], **odd})


def test_a_task_of_a_hundred_thousand_characters_is_routed(memory: Memory) -> None:
    choice = memory.route("word " * 20_000, executors=[Candidate(name="a", expertise=("word",)), "b"])
    assert (choice.executor, choice.tier) == ("a", "complex")
