"""How a vault is configured, and that nothing of it ever leaves the machine."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_socket import disable_socket, enable_socket

from tests.zomem_graph.onnx_files import write_minilm_like
from tests.zomem_graph.vault.kit import Ground, json_lines, said
from zomem_graph import Memory
from zomem_graph.models.local import MiniLM
from zomem_graph.stores.errors import InvalidInput, ModelMissing
from zomem_graph.vault import Vault, VaultOptions
from zomem_graph.vault import options as options_module
from zomem_graph.vault.embedding import E5Folder
from zomem_graph.vault.options import read_options


def _yaml(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "zomem.yaml"
    file.write_text(text, "utf-8")
    return file


def test_defaults_are_the_published_ones(tmp_path: Path) -> None:
    found = VaultOptions(data_path=tmp_path)

    assert (found.half_life_days, found.recall_boost) == (30, 0.3)
    assert (found.search_threshold, found.prune_threshold, found.max_facts) == (0.15, 0.05, 10_000)
    assert (found.session_retention_days, found.daily_retention_days) == (30, 365)
    assert (found.memory_md_max_lines, found.canary_check_interval, found.embedding_device) == (200, "weekly", "cpu")


@pytest.mark.parametrize(
    "wrong",
    [
        {"half_life_days": 0},
        {"half_life_days": "soon"},
        {"recall_boost": 0},
        {"recall_boost": 1.1},
        {"prune_threshold": 0.2},
        {"prune_threshold": 0},
        {"search_threshold": 1.0},
        {"max_facts": 0},
        {"max_facts": 2.5},
        {"memory_md_max_lines": 3},
        {"canary_check_interval": "hourly"},
        {"embedding_device": "tpu"},
        {"time_zone": "Atlantis/Center"},
        {"half_life_days": float("nan")},
        {"half_live_days": 3},
    ],
)
def test_what_makes_no_sense_is_refused_by_name(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        read_options(tmp_path / "zomem.yaml", data_path=tmp_path, **wrong)


def test_a_flag_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _yaml(tmp_path, "memory_oracle:\n  data_path: /from/file\n  half_life_days: 10\n  max_facts: 7\n")
    monkeypatch.setenv("ZOMEM_VAULT_HALF_LIFE_DAYS", "20")
    monkeypatch.setenv("ZOMEM_VAULT_MAX_FACTS", "8")

    found = read_options(file, max_facts="9")

    assert (found.data_path, found.half_life_days, found.max_facts) == (Path("/from/file"), 20.0, 9)


def test_without_a_path_the_usual_one_is_taken_or_the_error_says_how_to_name_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options_module, "USUAL_PATH", tmp_path / "data/memory")
    assert read_options(tmp_path / "zomem.yaml").data_path == tmp_path / "data/memory"
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(options_module, "USUAL_PATH", tmp_path / "file/memory")
    with pytest.raises(InvalidInput, match="--data-path"):
        read_options(tmp_path / "zomem.yaml")


@pytest.mark.parametrize(
    "text",
    ["memory_oracle: 3\n", "memory_oracle:\n  half_life: 3\n", "memory_oracle: [\n"],
)
def test_a_wrong_section_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"zomem\.yaml"):
        read_options(_yaml(tmp_path, text), data_path=tmp_path)


def test_the_section_does_not_disturb_the_memory(tmp_path: Path) -> None:
    _yaml(tmp_path / "home", "persona: ann\nmemory_oracle:\n  half_life_days: 10\n")

    with Memory.open(tmp_path / "home", embeddings="none") as memory:
        assert memory.settings.persona == "ann"


def test_a_whole_life_needs_no_socket_even_with_keys_lying_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ZO_OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-nobody-must-read-this")
    monkeypatch.setenv("ZO_MODEL_EMBEDDING", "openai:text-embedding-3-small")
    monkeypatch.setenv("ZO_MODEL_EXTRACTION", "openai:gpt-4o-mini")
    disable_socket()
    try:
        with Vault.open(tmp_path / "data", home=tmp_path / "home") as vault:
            vault.ingest([said("gateway", "port", "8443")])
            (tmp_path / "data/sessions/2026-01-05-090000.jsonl").write_text(
                '{"role": "user", "content": "My name is Dana and I work at Acme."}\n'
            )
            vault.summarize()
            vault.consolidate()
            vault.quality_probe()
            vault.health_check()
            assert vault.recall("gateway port").hits
            assert vault.memory.chat("extraction") is None
            spaces = vault.status()["embedder"]
        with Vault.open(tmp_path / "data", home=tmp_path / "second") as vault:
            vault.rebuild()
    finally:
        enable_socket()

    assert spaces is None or spaces.split(":")[0] in ("local", "chroma")
    assert len(json_lines(tmp_path / "data/knowledge-graph/facts.jsonl")) >= 2
    with Memory.open(tmp_path / "home", embeddings="auto") as memory:
        assert memory.embedder is None or memory.embedder.identity == spaces  # never the remote one


@pytest.mark.parametrize("model", ["openai:text-embedding-3-small", "some-model"])
def test_a_model_that_is_not_local_is_refused(ground: Ground, model: str) -> None:
    with pytest.raises(InvalidInput, match="embedding_model"), ground.open(embeddings=None, embedding_model=model):
        pass


@pytest.mark.parametrize("name", ["ZOMEM_DATABASE_URL", "ZOMEM_CHROMA_URL"])
def test_a_server_is_refused(ground: Ground, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1/x")

    with pytest.raises(InvalidInput, match=name), ground.open():
        pass


def test_a_gpu_is_refused_clearly(ground: Ground) -> None:
    with pytest.raises(ModelMissing, match="embedding_device"), ground.open(embeddings=None, embedding_device="gpu"):
        pass


def test_a_larger_e5_is_a_folder_and_gets_its_prefixes(tmp_path: Path) -> None:
    folder = tmp_path / "multilingual-e5-large"
    write_minilm_like(folder / "model.onnx")
    embedder = E5Folder(folder)

    plain = MiniLM(folder / "model.onnx", identity="testing:plain")

    asked, stored = embedder.embed_query("red"), embedder.embed_documents(["red"])[0]

    assert embedder.identity == "local:multilingual-e5-large"
    assert asked.shape == (embedder.width,)
    assert np.allclose(asked, plain.embed_query("query: red"))
    assert np.allclose(stored, plain.embed_query("passage: red"))
    assert not np.allclose(asked, plain.embed_query("red"))


def test_a_larger_e5_that_is_not_there_says_where_it_goes(ground: Ground) -> None:
    with (
        pytest.raises(ModelMissing, match=r"models/multilingual-e5-large"),
        ground.open(embeddings=None, embedding_model="multilingual-e5-large"),
    ):
        pass


def test_the_folder_of_a_vault_is_its_first_argument(ground: Ground) -> None:
    with pytest.raises(InvalidInput, match="data_path is the first argument"):
        Vault.open(home=ground.root / "home", data_path=ground.data)
    assert not ground.data.exists()
