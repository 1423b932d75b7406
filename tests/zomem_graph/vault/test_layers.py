"""The four layers of a vault: what is written when, and what it says."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from tests.zomem_graph.vault.kit import Ground, json_lines, said
from zomem_graph import Memory
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput, SecretRefused
from zomem_graph.testing import SmallEmbedder

LAYOUT = {
    *("MEMORY.md", "health.json", "health.prom", "activation-metadata.json"),
    *("knowledge-graph/facts.jsonl", "knowledge-graph/entities.jsonl", "knowledge-graph/relations.jsonl"),
    *("knowledge-graph/archived-facts.jsonl", "knowledge-graph/canary-facts.json"),
}


def test_opening_makes_every_folder_and_file_for_the_owner_only(ground: Ground) -> None:
    with ground.open():
        pass

    made = {path.relative_to(ground.data).as_posix() for path in ground.data.rglob("*") if path.is_file()}
    assert {*LAYOUT} <= made
    for path in [ground.data, *ground.data.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_init_overwrites_nothing(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        (ground.data / "knowledge-graph/canary-facts.json").write_text("[]")
        before = {path: path.read_bytes() for path in ground.data.rglob("[!.]*.*") if path.is_file()}
        vault.init()

    assert {path: path.read_bytes() for path in before} == before


def test_a_fact_becomes_one_line_and_its_entity_and_relation_are_counted(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443", source="user-stated"), said("gateway", "owner", "Ana")])

    line = json_lines(ground.facts)[0]
    assert (line["subject"], line["predicate"], line["object"], line["source"]) == (
        "gateway",
        "port",
        "8443",
        "user-stated",
    )
    assert line["id"].startswith("fact-")
    assert line["activation"] == 1.0
    assert line["created"] == "2026-01-05T12:00:00+00:00"
    assert json_lines(ground.data / "knowledge-graph/entities.jsonl")[-1]["fact_count"] == 2
    assert {each["relation"] for each in json_lines(ground.data / "knowledge-graph/relations.jsonl")} == {
        "port",
        "owner",
    }
    assert ground.activations()[line["id"]]["activation"] == 1.0


def test_what_is_said_again_is_raised_and_gets_no_second_line(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        ground.clock.advance(days=20)
        report = vault.ingest([said(" Gateway", "port", "8443")])
        vault.consolidate()

    assert (report["facts"], report["again"]) == (0, 1)
    (line,) = json_lines(ground.facts)
    assert ground.activations()[line["id"]]["activation"] == pytest.approx(1.0)


def test_the_day_only_appends_and_the_night_compacts(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        first = ground.facts.read_bytes()
        vault.ingest([said("gateway", "port", "9000")])
        assert ground.facts.read_bytes().startswith(first)
        vault.consolidate()

    assert [line["object"] for line in json_lines(ground.facts)] == ["9000"]
    (old,) = json_lines(ground.archived)
    assert (old["object"], old["state"]) == ("8443", "superseded")


def test_a_change_made_elsewhere_in_the_home_is_followed(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.memory.remember("gateway", "port", "9000")
        vault.consolidate()

    assert [line["object"] for line in json_lines(ground.facts)] == ["9000"]


def test_the_index_is_a_matrix_with_one_line_a_row(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443"), said("Ana", "likes", "tea")])
        vault.consolidate()

    lines = json_lines(ground.data / "embeddings/metadata.jsonl")
    matrix = np.fromfile(ground.data / "embeddings/index.bin", dtype=np.float32).reshape(len(lines), -1)
    facts = json_lines(ground.facts)
    texts = {fact["id"]: f"{fact['subject']} {fact['predicate']}: {fact['object']}" for fact in facts}
    for line in lines:
        expected = SmallEmbedder().embed_documents([texts[line["fact"]]])[0]
        assert np.allclose(matrix[line["vector"]], expected)


def test_the_memory_page_is_grouped_and_hand_written_lines_survive(ground: Ground) -> None:
    page = ground.data / "MEMORY.md"
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443"), said("gateway", "owner", "Ana"), said("Ana", "likes", "tea")])
        vault.consolidate()
        page.write_bytes(b"# Mine\r\nnever touch\r\n\r\n" + page.read_bytes() + b"\r\ntail\r\n")
        vault.ingest([said("Ana", "likes", "coffee")])
        vault.consolidate()

    text = page.read_bytes().decode()
    assert text.startswith("# Mine\r\nnever touch\r\n\r\n<!-- zomem:begin")
    assert text.endswith("\r\ntail\r\n")
    assert text.count("## gateway") == 1
    assert "- likes: coffee" in text


def test_the_memory_page_never_grows_beyond_its_limit(ground: Ground) -> None:
    with ground.open(memory_md_max_lines=40) as vault:
        vault.ingest([said(f"host {number}", "port", f"{8000 + number}") for number in range(60)])
        (ground.data / "MEMORY.md").write_text("one\ntwo\nthree\n")
        report = vault.consolidate()

    text = (ground.data / "MEMORY.md").read_text()
    assert len(text.splitlines()) == report["memory_md_lines"] <= 40
    assert text.startswith("one\ntwo\nthree\n")
    assert "more in knowledge-graph/facts.jsonl" in text


def test_the_memory_page_keeps_what_lasts_and_matters_and_its_warning_ends(ground: Ground) -> None:
    with ground.open(memory_md_max_lines=40) as vault:
        vault.ingest([said("Ana", "born", "1987", tier="permanent"), said("Ana", "allergy", "nuts", importance=1.4)])
        ground.clock.advance(days=20)
        vault.ingest([said(f"host {number}", "port", f"{8000 + number}") for number in range(60)])
        vault.consolidate()
        page = ground.data / "MEMORY.md"
        text = page.read_text("utf-8")
        calm = vault.health_check()["warnings"]
        page.write_text("mine\n" * 34 + text, "utf-8")
        vault.consolidate()
        full = vault.health_check()["warnings"]
        page.write_text(text, "utf-8")
        vault.consolidate()
        again = vault.health_check()["warnings"]

    assert "- born: 1987" in text
    assert "- allergy: nuts" in text
    assert [any("MEMORY.md" in line for line in lines) for lines in (calm, full, again)] == [False, True, False]


def test_facts_are_stored_all_or_none_and_the_bad_line_is_named(ground: Ground, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"subject": "a", "predicate": "b", "object": "c"}\n{"subject": \n', "utf-8")
    with ground.open() as vault:
        with pytest.raises(InvalidInput, match="line 2"):
            vault.ingest(bad)
        with pytest.raises(InvalidInput, match="object"):
            vault.ingest([said("a", "b", "c"), {"subject": "a", "object": 3}])
        with pytest.raises(SecretRefused):
            vault.ingest([said("a", "b", "c"), said("deploy", "api key", "sk-proj-4f9Xq2LmN8vR7tYw3kPz6aBc")])

    assert json_lines(ground.facts) == []


def test_one_recall_answers_from_the_vault_and_the_rest(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.memory.observe([{"role": "user", "content": "The gateway was moved behind the proxy."}])
        found = vault.recall("what about the gateway?")
    with Memory.open(ground.root / "home", embeddings=ground.embedder, clock=ground.clock) as memory:
        plain = memory.search("what about the gateway?", scope=Scope())

    assert {hit.kind for hit in found.hits} == {"fact", "turn"}
    assert {hit.kind for hit in plain} == {"fact", "turn"}


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_what_does_not_hold_any_more_is_found_by_nobody(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.ingest([said("gateway", "port", "9000")])

        assert [hit.text for hit in vault.recall("gateway port").hits] == ["gateway port: 9000"]
