"""Executors: what they did, history files in and out, and who gets a task."""

import asyncio
import json
from collections.abc import Iterator
from itertools import permutations, product
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


def counts(memory: Memory, scope: Scope | None = None) -> tuple[Any, ...]:
    """Return all that is known of codex, in every category."""
    return tuple(memory.profiles.show("codex", scope=scope).categories)


FOREIGN: dict[str, dict[str, Any]] = {
    "without a time": {},
    "of now": {"lastUpdated": 1767614400000},
    "of the future": {"lastUpdated": 4102444800000},
    "of last week": {"lastUpdated": 1767000000000, "avgDurationMs": 5},
}


@pytest.mark.parametrize("when", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_history_is_added_to_our_own_and_once_only(
    memory: Memory, clock: FixedClock, tmp_path: Path, when: dict[str, Any]
) -> None:
    for _ in range(10):
        memory.profiles.record("codex", success=True, category="fix")
    (before,) = counts(memory)
    file = history(tmp_path / "h.json", {"codex:fix": {"attempts": 3, "successes": 0, **when}})
    memory.profiles.import_file(file)
    (after,) = counts(memory)
    assert (after.attempts, after.successes) == (13, 10)
    assert before.weight < after.weight <= before.weight + 3
    clock.advance(days=2)
    aged = counts(memory)
    memory.profiles.import_file(file)
    assert counts(memory) == aged


def test_an_imported_history_hides_no_run_from_routing(memory: Memory, tmp_path: Path) -> None:
    for _ in range(10):
        memory.profiles.record("codex", success=True, category="fix")
    memory.profiles.import_file(history(tmp_path / "h.json", {"codex:fix": {"attempts": 1, "successes": 0}}))
    for strategy in ("balanced", "explore"):
        (score,) = memory.route("Fix it", executors=["codex"], category="fix", strategy=strategy).scores
        assert score.signals["history"] > 0.7
        assert score.reason.startswith("9.")


def test_an_export_of_ours_adds_nothing_where_it_is_known(memory: Memory, clock: FixedClock, tmp_path: Path) -> None:
    """In its own store, under another persona, in another store, and back from there."""
    ann, bob = Scope(persona="ann"), Scope(persona="bob")
    memory.profiles.import_file(history(tmp_path / "h.json", OLD), scope=ann)
    memory.profiles.record("codex", success=False, category="fix", error="timed out", duration_ms=20, scope=ann)
    memory.profiles.record("codex", success=True, category="docs", entities=["site"], scope=ann)
    known, there, back = counts(memory, ann), tmp_path / "there.json", tmp_path / "back.json"
    memory.profiles.export_file(there, scope=ann)
    for scope in (ann, bob, bob, ann):
        memory.profiles.import_file(there, scope=scope)
        assert counts(memory, scope) == known
    with Memory.open(tmp_path / "other", embeddings="none", clock=clock) as other:
        for _ in range(2):
            other.profiles.import_file(there, scope=ann)
            assert counts(other, ann) == known
        other.profiles.record("codex", success=True, category="docs", scope=ann)
        other.profiles.export_file(back, scope=ann)
        newer = counts(other, ann)
    memory.profiles.import_file(back, scope=ann)
    assert counts(memory, ann) == newer
    assert sum(one.attempts for one in newer) == 13


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
        ({"a:b": OLD["codex:fix"], " a : b ": OLD["codex:fix"]}, "same executor and category"),
        ({"a": OLD["codex:fix"], "a:general": OLD["codex:fix"]}, "same executor and category"),
        ({"a\0:b": OLD["codex:fix"]}, "executor of the entry"),
        ({f"a:{'b' * 201}": OLD["codex:fix"]}, "category of the entry"),
        ({"codex:fix": {**OLD["codex:fix"], "zomem": []}}, "zomem of the entry"),
        ({"codex:fix": {**OLD["codex:fix"], "zomem": {"runs": [3]}}}, "must be an object"),
        ({"codex:fix": {**OLD["codex:fix"], "zomem": {"runs": [{"id": "a", "at": "soon"}]}}}, "is no time"),
        ({"codex:fix": {**OLD["codex:fix"], "zomem": {"runs": [{"at": "2026-01-01"}]}}}, "time zone"),
        ({"codex:fix": {**OLD["codex:fix"], "zomem": {"runs": [{"at": "2026-01-01T00:00:00Z"}]}}}, "outcome"),
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


def test_the_order_of_the_names_decides_nothing(memory: Memory) -> None:
    for number in range(6):
        for name, success in (("a", number % 2 == 0), ("b", number % 3 == 0), ("c", number < 1)):
            memory.profiles.record(name, success=success, category="fix")
    for strategy, number in product(("explore", "balanced"), range(30)):
        choices = {
            (choice.executor, tuple((one.executor, one.total) for one in choice.scores))
            for names in permutations("abc")
            for choice in [memory.route(f"Fix it {number}", executors=names, strategy=strategy, category="fix")]
        }
        assert len(choices) == 1


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
