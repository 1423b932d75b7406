"""The suite about swarms, in small: the same figures again, and both ways of telling counted."""

import json
from pathlib import Path

import pytest

from zomem_graph.bench import swarm
from zomem_graph.bench.swarm_tasks import SELF_CONTAINED
from zomem_graph.testing import SmallEmbedder


def test_routing_is_measured_beside_chance_and_the_same_each_time() -> None:
    first, again = (swarm.run(tasks=40, seeds=1)["routing"]["by_strategy"] for _ in range(2))
    assert first == again
    assert list(first) == ["random", "fast", "reliable", "balanced", "explore"]
    assert first["random"]["of_random"]["mean"] == 1.0
    assert first["explore"]["of_random"]["mean"] >= 0.0


def test_recovery_is_when_a_task_costs_no_more_than_before_the_drift() -> None:
    assert swarm._recovery([0.1] * 100 + [0.1] * 100) == 0
    assert swarm._recovery([0.1] * 100 + [0.5] * 30 + [0.1] * 70) == pytest.approx(29, abs=2)
    assert swarm._recovery([0.1] * 100 + [0.5] * 100) == 100


def test_tokens_are_counted_gated_and_always(tmp_path: Path) -> None:
    turns = [
        "My parrot is called Kiwi.",
        "We painted the fence green.",
        "Tom moved to Porto.",
        "Ana bakes rye bread.",
    ]
    asked = [
        "What is the parrot called?",
        "Which fence was painted green?",
        "Where did Tom move?",
        "What does Ana bake?",
    ]
    conversation = {
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ann", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(turns, 1)],
        },
        "qa": [
            {"question": text, "answer": "x", "evidence": [f"D1:{n}"], "category": 4}
            for n, text in enumerate(asked, 1)
        ],
    }
    folder = tmp_path / "chats"
    folder.mkdir()
    (folder / "conv-1.json").write_text(json.dumps(conversation), "utf-8")
    tokens = swarm.run(folder, tasks=20, seeds=1, runs=1, embeddings=SmallEmbedder())["tokens"]
    assert tokens["runs"] == 1
    assert tokens["always"]["tasks_told"]["mean"] == 11
    assert tokens["gated"]["tokens"]["mean"] <= tokens["always"]["tokens"]["mean"]


def test_the_tasks_that_need_nothing_are_all_different() -> None:
    assert len(set(SELF_CONTAINED)) == len(SELF_CONTAINED)
