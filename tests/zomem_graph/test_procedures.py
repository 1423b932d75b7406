"""Procedures: made, followed, counted, evolved by rules and by a model, learned from success."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.rules.procedures import success_rate
from zomem_graph.stores.errors import InvalidInput, ModelError, SecretRefused, UnknownName
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

STEPS: list[dict[str, Any]] = [
    {"executor": "codex", "taskPattern": "review the site", "timeoutSeconds": 60},
    {"executor": "gemini", "notes": "second look"},
]
BETTER = [{**STEPS[0], "timeoutSeconds": 240, "fallbackExecutor": "gemini"}, STEPS[1]]


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def opened(home: Path, clock: FixedClock, embedder: SmallEmbedder, *lines: Any) -> Memory:
    return Memory.open(
        home, embeddings=embedder, clock=clock, chat_model=ScriptedChat(by_workload={"evolution": lines})
    )


def failed(memory: Memory, error: str, executor: str = "codex") -> None:
    memory.profiles.record(executor, success=False, error=error)


def test_a_procedure_is_shown_by_name_by_id_and_by_how_its_id_begins(memory: Memory) -> None:
    made = memory.procedures.create("site-review", STEPS)
    assert {memory.procedures.show(name).id for name in ("site-review", made.id, made.id[:8])} == {made.id}
    assert made.steps[0]["timeout_seconds"] == 60
    assert made.steps[1]["timeout_seconds"] == 300


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "at least one step"),
        ("codex", "must be a list"),
        ([{"notes": "who?"}], "Step 1 has no executor"),
        ([STEPS[0], {"executor": " "}], "Step 2 has no executor"),
        ([{"executor": "codex", "timeoutSeconds": 0}], "timeout_seconds of step 1"),
        ([{"executor": "codex", "timeoutSeconds": "soon"}], "timeout_seconds of step 1"),
        ([{"executor": "codex", "timeoutSeconds": 1e300}], "at most 3,600"),
        ([{"executor": "codex", "color": "red"}], "unknown 'color'"),
        ([{"executor": "x" * 201}], "executor of step 1"),
        ([{"executor": "co\0dex"}], "executor of step 1"),
        (["codex"], "Step 1 must be an object"),
    ],
)
def test_steps_that_make_no_sense_are_refused_and_nothing_is_stored(memory: Memory, steps: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        memory.procedures.create("site-review", steps)
    assert memory.procedures.list() == []


def test_a_secret_in_a_step_is_refused(memory: Memory) -> None:
    with pytest.raises(SecretRefused):
        memory.procedures.create(
            "x", [{"executor": "a", "notes": "use sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"}]
        )


def test_the_name_lists_the_latest_version_and_the_line_leads_back(memory: Memory) -> None:
    first = memory.procedures.create("site-review", STEPS)
    memory.procedures.feedback("site-review", success=True)
    second = memory.procedures.create("site-review", BETTER)
    assert [(one.name, one.version) for one in memory.procedures.list()] == [("site-review", 2)]
    assert second.evolved_from == first.id
    assert second.success_count == 0
    assert [one.version for one in memory.procedures.versions("site-review")] == [2, 1]
    assert memory.procedures.show("site-review", version=1).success_count == 1


def test_the_same_steps_again_are_no_new_version(memory: Memory) -> None:
    memory.procedures.create("site-review", STEPS)
    with pytest.raises(InvalidInput, match="these very steps"):
        memory.procedures.create("site-review", STEPS)


def test_feedback_by_name_or_id_is_counted_with_a_careful_rate(memory: Memory) -> None:
    made = memory.procedures.create("site-review", STEPS)
    episode = memory.episodes.create("Reviewed the site")
    memory.procedures.feedback("site-review", success=True, episode_id=episode.id)
    after = memory.procedures.feedback(made.id, success=False)
    assert (after.success_count, after.failure_count) == (1, 1)
    assert success_rate(after) == 0.5
    assert after.last_used_at is not None
    with pytest.raises(UnknownName):
        memory.procedures.feedback("site-revue", success=True)
    with pytest.raises(UnknownName):
        memory.procedures.feedback("site-review", success=True, episode_id="nowhere")


def test_without_a_failure_nothing_evolves(memory: Memory) -> None:
    memory.procedures.create("site-review", STEPS)
    done = memory.procedures.evolve("site-review")
    assert (done.after, done.method) == (None, "none")
    assert [one.version for one in memory.procedures.versions("site-review")] == [1]


def test_rules_give_more_time_a_fallback_and_a_check(memory: Memory) -> None:
    memory.procedures.create("deploy", [{"executor": "codex", "task_pattern": "deploy", "timeout_seconds": 60}])
    memory.profiles.record("hermes", success=True)
    for error in ("timed out", "no such file", "mutation failed", "mutation failed"):
        failed(memory, error)
    done = memory.procedures.evolve("deploy")
    assert done.method == "rules"
    assert done.after is not None
    steps = done.after.steps
    assert [(step["timeout_seconds"], step["fallback_executor"]) for step in steps] == [
        (90, "hermes"),
        (90, "hermes"),
    ]
    assert steps[1]["task_pattern"] == "Verify: deploy"
    assert "ran out of time" in done.rationale
    assert done.after.evolved_from == done.before.id


@pytest.mark.parametrize("by_model", [False, True], ids=["rules", "model"])
def test_a_failure_changes_a_procedure_once(
    home: Path, clock: FixedClock, embedder: SmallEmbedder, by_model: bool
) -> None:
    replies = [{"steps": BETTER}, {"steps": [{**STEPS[0], "timeoutSeconds": 999}]}] if by_model else ["", "", "", ""]
    with opened(home, clock, embedder, *replies) as memory:
        memory.procedures.create("site-review", STEPS)
        failed(memory, "timed out")
        first = memory.procedures.evolve("site-review")
        assert first.after is not None
        again = memory.procedures.evolve("site-review")
        assert (again.after, again.method) == (None, "none")
        clock.advance(minutes=1)
        failed(memory, "timed out")
        later = memory.procedures.evolve("site-review")
        assert later.after is not None
        assert later.after.version == 3


def test_what_failed_before_a_procedure_was_made_says_nothing_of_it(memory: Memory, clock: FixedClock) -> None:
    failed(memory, "timed out")
    clock.advance(minutes=1)
    memory.procedures.create("deploy", STEPS)
    assert memory.procedures.evolve("deploy").after is None


def test_no_timeout_grows_beyond_an_hour(memory: Memory) -> None:
    memory.procedures.create("deploy", [{"executor": "codex", "timeout_seconds": 3_600}])
    failed(memory, "timed out")
    assert memory.procedures.evolve("deploy").after is None


def test_failures_of_more_than_a_month_ago_teach_nothing(memory: Memory, clock: FixedClock) -> None:
    memory.procedures.create("deploy", STEPS)
    failed(memory, "timed out")
    clock.advance(days=31)
    assert memory.procedures.evolve("deploy").after is None


def test_a_model_writes_the_next_version(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> None:
    reply = {"steps": BETTER, "rationale": "codex needs longer"}
    with opened(home, clock, embedder, reply) as memory:
        memory.procedures.create("site-review", STEPS)
        failed(memory, "timed out")
        done = asyncio.run(memory.procedures.aevolve("site-review"))
    assert (done.method, done.rationale) == ("model", "codex needs longer")
    assert done.after is not None
    assert done.after.steps[0]["fallback_executor"] == "gemini"


@pytest.mark.parametrize(
    "useless",
    [
        "",
        "I would try harder.",
        {"steps": []},
        {"steps": STEPS},
        {"steps": [{"notes": "no executor"}]},
        {"steps": [{"executor": "stranger"}]},
        {"steps": [{"executor": "codex", "timeoutSeconds": 1e9}]},
        ModelError("the provider is down"),
    ],
    ids=["nothing", "prose", "no steps", "the same", "no executor", "a stranger", "for ever", "an error"],
)
def test_a_model_without_a_usable_answer_leaves_it_to_the_rules(
    useless: Any, home: Path, clock: FixedClock, embedder: SmallEmbedder
) -> None:
    with opened(home, clock, embedder, useless, useless) as memory:
        memory.procedures.create("site-review", STEPS)
        failed(memory, "timed out")
        done = memory.procedures.evolve("site-review")
    assert done.method == "rules"
    assert done.after is not None
    assert len(done.degraded) == 1


def test_one_bad_reply_is_repaired(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> None:
    with opened(home, clock, embedder, "hm", json.dumps({"steps": BETTER})) as memory:
        memory.procedures.create("site-review", STEPS)
        failed(memory, "timed out")
        assert memory.procedures.evolve("site-review").method == "model"


def test_two_successes_about_something_make_a_procedure(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="0 successes"):
        memory.procedures.learn("FFB site")
    for executor, took in (("codex", 40_000.0), ("gemini", 20_000.0)):
        memory.profiles.record(executor, success=True, duration_ms=took, entities=["FFB site"])
    made = memory.procedures.learn("FFB site")
    assert [(step["executor"], step["timeout_seconds"]) for step in made.steps] == [("codex", 80), ("gemini", 40)]
    assert made.source == "auto"


def test_another_persona_sees_and_changes_nothing(memory: Memory) -> None:
    ann, bob = Scope(persona="ann"), Scope(persona="bob")
    made = memory.procedures.create("mine", STEPS, scope=ann)
    assert memory.procedures.list(scope=bob) == []
    for name in ("mine", made.id):
        with pytest.raises(UnknownName):
            memory.procedures.feedback(name, success=True, scope=bob)
    memory.procedures.create("mine", BETTER, scope=bob)
    assert memory.procedures.show("mine", scope=ann).steps == made.steps
