"""The suite about graphs measures what it says."""

from zomem_graph.bench.graph import run


def test_the_graph_suite_compares_runs_with_calls_and_follows_a_thread() -> None:
    found = run(turns=10, calls=3, at_once=3)
    assert found["overhead"]["graph_cpu"]["n"] == found["overhead"]["plain_cpu"]["n"] == 3
    assert found["at_once"]["runs"] == 3
    assert found["at_once"]["seconds"] >= found["at_once"]["model_seconds"]
    sizes = found["thread"]["bytes_of_our_channels_at_turn"]
    assert set(sizes) == {"1", "2", "5", "8", "10"}
    assert found["thread"]["largest"] < 20_000
    assert found["prefix"]["with_a_block"] > 0
    assert found["prefix"]["prefix_identical"] == "19 of 19"
