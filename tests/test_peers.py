"""The run beside the peers, on what the tests have installed: facts go in, questions come back, gaps are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers.__main__ import main
from benchmarks.peers.measure import measured, read_workload, write_workload
from benchmarks.peers.report import marks
from benchmarks.peers.vectors import Recorded, load, record, save
from benchmarks.peers.workload import Workload, made_up, one_user
from zomem_graph.testing import SmallEmbedder


@pytest.fixture
def workload() -> Workload:
    return made_up(40, questions=12)


@pytest.fixture
def vectors(workload: Workload, tmp_path: Path) -> Recorded:
    return record(workload, SmallEmbedder(384), tmp_path / "cache")


@pytest.mark.parametrize("engine", ["zomem", "zomem-store", "inmemory-store", "chroma"])
def test_an_engine_finds_what_each_user_told(engine: str, workload: Workload, vectors: Recorded) -> None:
    row = measured(engine, workload, vectors, timed=2)

    assert row.recall["mean"] == 1.0
    assert row.recall["n"] == len(workload.questions)
    assert row.timed == 2


@pytest.mark.parametrize("engine", ["zomem", "inmemory-store", "chroma"])
def test_an_engine_finds_it_where_one_user_has_everything(engine: str, workload: Workload, vectors: Recorded) -> None:
    assert measured(engine, one_user(workload), vectors, timed=1).recall["mean"] >= 0.9


def test_the_run_shows_what_it_measured_and_why_the_rest_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = tmp_path / "mem0"
    nothing.mkdir()
    (nothing / "__init__.py").write_text("raise ImportError('mem0 is not here')", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    options = ["--items", "20", "--timed", "2", "--embeddings", "testing:small", "--shapes", "many"]
    folders = ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]

    assert main([*options, *folders, "--engines", "inmemory-store", "mem0"]) == 0

    said = capsys.readouterr().out
    assert "| mem0 | not run: ImportError: mem0 is not here |" in said
    assert "| inmemory-store | " in said
    result = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    assert [row["engine"] for row in result["shapes"][0]["rows"]] == ["inmemory-store", "mem0"]
    assert (tmp_path / "out" / "result.md").read_text("utf-8") == said


def test_a_text_is_embedded_once_and_its_vector_is_the_same_for_all(
    workload: Workload, vectors: Recorded, tmp_path: Path
) -> None:
    save(vectors, tmp_path / "vectors.npz")
    write_workload(workload, tmp_path / "workload.json")

    held = load(tmp_path / "vectors.npz")
    assert read_workload(tmp_path / "workload.json") == workload
    for fact in workload.facts:
        assert (held.embed_query(fact.text) == vectors.embed_documents([fact.text])[0]).all()


def test_a_mark_is_called_met_or_missed_by_what_was_measured() -> None:
    recall: dict[str, Any] = {"mean": 0.6, "n": 1, "interval": [0.6, 0.6]}
    rows: list[dict[str, Any]] = [
        {"engine": "zomem", "search_cpu_ms": 5.0, "recall": recall},
        {"engine": "chroma", "search_cpu_ms": 20.0, "recall": {**recall, "mean": 0.5}},
        {"engine": "mem0", "search_cpu_ms": 20.0, "recall": {**recall, "mean": 0.4}},
        {"engine": "sqlite-store", "not_run": "not installed"},
    ]

    assert list(marks(rows)) == [
        "search beside mem0: 4.00 x as fast (mark 10 x: missed)",
        "search beside chroma: 4.00 x as fast (mark 3 x: met)",
        "recall@10 beside the best of the others: 1.20 x (mark 1.3 x: missed)",
    ]
