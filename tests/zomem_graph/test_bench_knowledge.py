"""The suite about the knowledge graph measures what it says."""

from pathlib import Path

from zomem_graph.bench.knowledge import run


def test_the_graph_suite_fills_a_store_and_times_everything(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = run(60, 90, paths=3, rounds=1, home=home)

    assert (first["facts"], first["links"]) == (60, 90)
    assert first["one_by_one"]["find_connections"]["n"] == 3
    assert set(first["whole_s"]) == {
        *("knowledge_gaps", "cycles", "articulation_points", "communities", "export, all, html"),
    }
    assert sum(first["path_hops"].values()) == 3
    assert first["found"]["linked"] > 30
    assert run(60, 90, paths=1, rounds=1, home=home)["fill_s"] == {}
