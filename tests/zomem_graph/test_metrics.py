"""Metrics: every search, decision, capture and model call leaves its numbers, whichever way it came in."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from zomem_graph import Memory, Scope, create_recall_graph
from zomem_graph.metrics import as_prometheus
from zomem_graph.models.call_log import FileLog
from zomem_graph.stores.errors import Closed, InvalidInput, ModelError
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

from .command_line import CommandLine

ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        opened.remember("staging server", "port", "8080", persona="ann")
        yield opened


def counts(memory: Memory) -> dict[str, int]:
    return {name: one["count"] for name, one in memory.metrics()["operations"].items()}


def test_a_search_is_measured_with_what_it_found(memory: Memory) -> None:
    memory.search("which port does staging use?", scope=ANN)
    memory.search("zzz", scope=Scope(persona="bob"))

    one = memory.metrics()["operations"]["hybrid"]
    assert (one["count"], one["failed"], one["hit_rate"]) == (2, 0, 0.5)
    assert 0 < one["min_ms"] <= one["p50_ms"] <= one["p95_ms"] <= one["max_ms"]


def test_the_kinds_of_work_are_told_apart(memory: Memory) -> None:
    memory.continuation("where were we?", scope=ANN)
    memory.hop("which port does staging use?", scope=ANN)

    assert counts(memory)["continuation"] == 1
    assert counts(memory)["hop"] == 1


def test_search_without_an_embedder_counts_as_by_words(home: Path) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.search("anything")
        assert counts(memory) == {"words": 1}


def test_the_graph_and_the_front_door_leave_the_same_numbers(memory: Memory) -> None:
    question = "Which port does the staging server use?"
    memory.recall(question, scope=ANN)
    once = memory.metrics()
    graph = create_recall_graph(memory).compile()
    graph.invoke({"messages": [HumanMessage(question)]}, {"configurable": {"persona": "ann"}})
    twice = memory.metrics()

    assert twice["gate"]["inject"] == 2 * once["gate"]["inject"] == 2
    assert counts(memory) == {"hybrid": 2}


def test_the_gate_is_a_matrix_of_methods_and_decisions(memory: Memory) -> None:
    memory.recall("thanks!", scope=ANN)
    memory.recall("Which port does the staging server use?", scope=ANN)

    gate = memory.metrics()["gate"]
    assert (gate["total"], gate["inject"], gate["skip"], gate["hit_rate"]) == (2, 1, 1, 1.0)
    assert sum(sum(row.values()) for row in gate["matrix"].values()) == 2


def test_a_skipped_message_leaves_nothing_to_write_and_a_recall_writes_with_its_log(memory: Memory) -> None:
    memory.recall("thanks!", scope=ANN)
    assert len(memory.stores.ledger) == 0

    memory.recall("Which port does the staging server use?", scope=ANN)
    assert len(memory.stores.ledger) == 0


def test_what_only_reads_is_written_with_the_next_write(memory: Memory) -> None:
    memory.search("port", scope=ANN, probe=True)
    assert len(memory.stores.ledger) == 1

    memory.remember("staging server", "owner", "Ines", persona="ann")
    assert len(memory.stores.ledger) == 0


def test_the_numbers_outlive_the_process(home: Path) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.search("port")
    with Memory.open(home, embeddings="none") as memory:
        assert counts(memory) == {"words": 1}


def test_a_write_that_fails_loses_no_numbers(memory: Memory) -> None:
    memory.search("port", scope=ANN)
    with pytest.raises(ZeroDivisionError), memory.stores.write():
        _ = 1 / 0

    assert counts(memory) == {"hybrid": 1}


def test_captures_are_summed(memory: Memory) -> None:
    memory.capture([{"role": "user", "content": "My sister Mia moved to Lisbon."}], scope=ANN)
    memory.capture([{"role": "user", "content": "I live in Porto."}], scope=ANN)

    captures = memory.metrics()["captures"]
    assert (captures["captures"], captures["turns"]) == (2, 2)
    assert captures["last"] == memory.clock()


def test_since_bounds_what_was_done(memory: Memory, clock: FixedClock) -> None:
    memory.search("port", scope=ANN)
    memory.recall("thanks!", scope=ANN)
    clock.advance(days=2)
    later = memory.metrics(since=clock())

    assert (later["operations"], later["gate"]["total"], later["captures"]["captures"]) == ({}, 0, 0)


def test_what_is_kept_is_counted_by_tier_outcome_and_status(memory: Memory) -> None:
    memory.remember("ann", "name", "Ann", persona="ann", tier="permanent")
    memory.episodes.create("Deployed", outcome="failure", scope=ANN)
    memory.loops.create("Fix the login", scope=ANN)

    kept = memory.metrics()["kept"]
    assert kept["facts"] == {"permanent": 1, "stable": 1}
    assert (kept["episodes"], kept["loops"]) == ({"failure": 1}, {"open": 1})
    assert kept["vectors"]["fact"] == 2


# -- model calls -----------------------------------------------------------------------------------


def test_a_model_call_leaves_its_numbers_and_a_line_in_the_log(home: Path, clock: FixedClock) -> None:
    chat = ScriptedChat(by_workload={"hyde": ["The staging server listens on port 8080.", ModelError("down")]})
    with Memory.open(home, embeddings="none", chat_model=chat, clock=clock) as memory:
        memory.remember("staging server", "port", "8080")
        memory.search("Which port does staging use?")
        memory.search("Who looks after the mill?")
        measured = memory.metrics()

    (called,) = measured["models"]
    assert (called["workload"], called["provider"], called["model"]) == ("hyde", "testing", "scripted")
    assert (called["count"], called["failed"]) == (2, 1)
    assert called["completion_tokens"] > 0
    assert measured["operations"]["words"]["imagined"] == 1
    lines = [json.loads(line) for line in (home / "model-calls.jsonl").read_text("utf-8").splitlines()]
    assert [line["workload"] for line in lines] == ["hyde", "hyde"]
    assert lines[1]["error"] == "down"


def test_a_callers_own_model_is_still_itself(home: Path) -> None:
    chat = ScriptedChat("yes")
    with Memory.open(home, embeddings="none", chat_model=chat) as memory:
        found: Any = memory.chat("gate")
        assert (found.identity, found.asked("gate")) == (chat.identity, [])


def test_a_full_log_moves_aside(tmp_path: Path) -> None:
    log = FileLog(tmp_path / "calls.jsonl", largest=100)
    for number in range(30):
        log(json.dumps({"number": number}))

    assert (tmp_path / "calls.jsonl.1").stat().st_size < 200
    assert not (tmp_path / "calls.jsonl.2").exists()


def test_a_log_that_cannot_be_written_is_given_up(tmp_path: Path) -> None:
    FileLog(tmp_path / "nowhere" / "calls.jsonl")("{}")


# -- ways to see it --------------------------------------------------------------------------------


def test_prometheus_reads_it(memory: Memory) -> None:
    memory.search("port", scope=ANN)
    memory.recall("thanks!", scope=ANN)
    text = as_prometheus(memory.metrics())

    sample = re.compile(r'^[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+$')
    assert all(line.startswith("# ") or sample.match(line) for line in text.splitlines())
    assert 'zomem_operations{operation="hybrid"} 1' in text
    assert 'zomem_gate_decisions{method="words",decision="skip"} 1' in text
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(names) == len(set(names))


def test_a_name_with_quotes_stays_one_label() -> None:
    odd = {"workload": 'a"b\\c\nd', "provider": "p", "model": "m", "count": 1, "failed": 0, "cost_usd": 0.0}
    empty: dict[str, Any] = {"matrix": {}, "p50_ms": 0, "p95_ms": 0}
    measured = {
        "operations": {},
        "gate": empty,
        "captures": dict.fromkeys(("captures", "turns", "facts", "skipped", "superseded", "redacted"), 0),
        "models": [{**odd, "prompt_tokens": 1, "completion_tokens": 1}],
        "kept": {name: {} for name in ("facts", "episodes", "loops", "vectors")},
    }
    assert 'workload="a\\"b\\\\c\\nd"' in as_prometheus(measured)


def test_the_command_line_shows_it_in_three_forms(home: Path) -> None:
    zomem = CommandLine(home)
    zomem.ok("remember", "ana", "city", "Porto")
    zomem.ok("search", "ana city")
    zomem("gate", "thanks!")

    assert zomem.json("metrics")["operations"]["words"]["count"] == 1
    assert "words\t1\t" in zomem.ok("metrics")
    assert "zomem_gate_decisions" in zomem.ok("metrics", "--prometheus")
    assert zomem.json("metrics", "--since", "in 2 hours")["operations"] == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--prometheus", "--json"], "two formats"), (["--since", "the other day"], "cannot be read as a time")],
)
def test_wrong_use_is_refused(home: Path, arguments: list[str], said: str) -> None:
    result = CommandLine(home)("metrics", *arguments)
    assert result.exit_code == 1
    assert said in result.stderr


def test_a_closed_memory_gives_no_numbers(memory: Memory) -> None:
    memory.close()
    with pytest.raises(Closed):
        memory.metrics()


def test_a_since_without_a_zone_is_utc(memory: Memory, clock: FixedClock) -> None:
    memory.search("port", scope=ANN)

    assert memory.metrics(since=clock().replace(tzinfo=None))["operations"]["hybrid"]["count"] == 1
    with pytest.raises(InvalidInput, match="since must be a datetime"):
        memory.metrics(since="yesterday")  # type: ignore[arg-type]
