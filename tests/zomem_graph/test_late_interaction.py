"""Late interaction through the front door, on a model file small enough to be made by a test."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from zomem_graph.memory import Memory
from zomem_graph.models import CachedEmbedder
from zomem_graph.models.local import MiniLM
from zomem_graph.models.minilm_tokens import MiniLMTokens
from zomem_graph.nodes.flow import run
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.nodes.ports import token_model
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.embed import add_missing_tokens
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.steps.retrieve import Retrieved, retrieve
from zomem_graph.testing import SmallEmbedder

from .onnx_files import write_minilm_like

QUIET = WriteOptions(background=False)
COLOURS = {"sky": "blue", "grass": "green", "rose": "red"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "models" / "minilm" / "model_fp16.onnx"
    write_minilm_like(path)
    return path


@pytest.fixture
def memory(tmp_path: Path, model: Path) -> Iterator[Memory]:
    with opened(tmp_path) as memory:
        yield memory


def opened(home: Path, *, late: bool = True) -> Memory:
    options = MemoryOptions(write=QUIET, retrieve=RetrieveOptions(late=late))
    return Memory.open(home, embeddings=SmallEmbedder(), options=options)


def fill(memory: Memory) -> None:
    for thing, colour in COLOURS.items():
        # The model knows no word but the colours; a text of which it knows too little has no tokens.
        memory.remember(thing, "colour", colour, text=f"{colour} {colour} {thing}")


def found(memory: Memory, question: str) -> Retrieved:
    return run(retrieve(memory, Query(text=question), Scope()))


def stored_tokens(memory: Memory) -> int:
    model = token_model(memory.embedder)
    assert model is not None
    with memory.stores.read() as unit:
        return unit.tokens.total(model=model.identity)


def test_tokens_are_made_with_the_vectors_and_compared_at_the_question(memory: Memory) -> None:
    fill(memory)
    answer = found(memory, "green")

    assert stored_tokens(memory) == len(COLOURS)
    assert answer.hits[0].metadata["entity"] == "grass"
    assert answer.hits[0].explanation.late == pytest.approx(1.0, abs=0.01)
    assert answer.hits[1].explanation.late != pytest.approx(1.0, abs=0.01)
    assert answer.trace["late"] == "3 candidates compared"
    assert answer.degraded == ()


@pytest.mark.parametrize("question", ["sky", "what colour is the blue sky"])
def test_a_question_in_words_the_model_does_not_know_is_answered_without_tokens(
    question: str, memory: Memory
) -> None:
    fill(memory)
    answer = found(memory, question)

    assert answer.hits[0].metadata["entity"] == "sky"
    assert answer.hits[0].explanation.late is None
    assert answer.trace["late"] == "0 candidates compared"


def test_it_can_be_switched_off(tmp_path: Path, model: Path) -> None:
    with opened(tmp_path, late=False) as memory:
        fill(memory)
        answer = found(memory, "green")

    assert answer.trace["late"] == "switched off"
    assert answer.hits[0].explanation.late is None


def test_without_the_model_only_trace_and_health_say_so(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        fill(memory)
        answer = found(memory, "green")
        checks = {check.name: check for check in memory.health().checks}

    assert answer.degraded == ()
    assert "zomem models fetch minilm" in answer.trace["late"]
    assert "zomem models fetch minilm" in checks["embedder"].said
    assert checks["embedder"].status == "green"


def test_what_was_stored_before_the_model_came_is_made_up_for(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        fill(memory)
    write_minilm_like(tmp_path / "models" / "minilm" / "model_fp16.onnx")

    with opened(tmp_path) as memory:
        assert found(memory, "green").trace["late"] == "0 candidates compared"
        assert [add_missing_tokens(memory, limit=2) for _round in range(3)] == [2, 1, 0]
        assert found(memory, "green").hits[0].explanation.late == pytest.approx(1.0, abs=0.01)


def test_what_is_deleted_leaves_no_token(memory: Memory) -> None:
    fill(memory)
    memory.delete(memory.lookup("grass")[0].id)

    assert stored_tokens(memory) == len(COLOURS) - 1
    assert all(hit.metadata["entity"] != "grass" for hit in found(memory, "green").hits)


def test_a_broken_model_file_degrades_the_answer_and_vetoes_nothing(tmp_path: Path, model: Path) -> None:
    with opened(tmp_path) as memory:
        fill(memory)
    model.write_bytes(b"broken")

    with opened(tmp_path) as memory:
        answer = found(memory, "grass green")
        memory.remember("moon", "colour", "red")
        assert found(memory, "moon").hits[0].explanation.cosine is not None
    assert answer.hits[0].metadata["entity"] == "grass"
    assert answer.degraded[0].startswith("late interaction: local:minilm failed")


def test_one_model_gives_vectors_and_tokens_in_one_pass(tmp_path: Path, model: Path) -> None:
    with Memory.open(tmp_path, embeddings="local:minilm", options=MemoryOptions(write=QUIET)) as memory:
        tokens = token_model(memory.embedder)
        assert memory.embedder is not None
        assert tokens is not None
        assert tokens.vectors_of == memory.embedder.identity
        rows, vectors = tokens.documents(["red green", "blue"])

        assert np.array_equal(vectors, memory.embedder.embed_documents(["red green", "blue"]))
        assert [len(each.pieces) for each in rows] == [2, 1]
        fill(memory)
        assert found(memory, "green").hits[0].metadata["entity"] == "grass"


@pytest.mark.parametrize("text", ["rojo rojo azul", "天空是蓝色的", "wo ist red"])
def test_a_text_in_another_language_has_no_tokens_and_loses_nothing_by_it(text: str, memory: Memory) -> None:
    fill(memory)
    memory.remember("note", "1", "one", text=text)

    assert stored_tokens(memory) == len(COLOURS) + 1
    answer = found(memory, text)
    assert answer.hits[0].metadata["entity"] == "note"
    assert answer.hits[0].explanation.late is None


def test_a_memory_opened_after_the_model_came_makes_up_for_it_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        fill(memory)
    write_minilm_like(tmp_path / "models" / "minilm" / "model_fp16.onnx")

    with Memory.open(tmp_path, embeddings=SmallEmbedder()) as memory:
        give_up = time.monotonic() + 30
        while stored_tokens(memory) < len(COLOURS):
            assert time.monotonic() < give_up
            time.sleep(0.02)


def test_a_question_is_forgotten_when_questions_are(tmp_path: Path, model: Path) -> None:
    runner = MiniLM(model, identity="local:minilm")
    embedder = CachedEmbedder(SmallEmbedder(), tokens=MiniLMTokens(runner))
    asked = runner.question_states("red")
    assert runner.question_states("red") is asked

    embedder.forget_questions()
    assert runner.question_states("red") is not asked
