"""How facts of a vault fade: half at day 30, out of search, archived, and back."""

import pytest

from tests.zomem_graph.vault.kit import Ground, json_lines, said
from zomem_graph import Memory
from zomem_graph.stores.errors import UnknownName


def _activation(ground: Ground) -> float:
    (entry,) = ground.activations().values()
    return float(entry["activation"])


@pytest.mark.parametrize("nights", [1, 2, 30, 60])
def test_a_fact_is_half_as_active_after_thirty_days_however_often_it_was_looked_at(
    ground: Ground, nights: int
) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        for _ in range(nights):
            ground.clock.advance(days=30 / nights)
            vault.consolidate()
        vault.consolidate()

    assert _activation(ground) == pytest.approx(0.5, abs=1e-9)


def test_a_fact_leaves_search_on_day_83_and_the_graph_on_day_130(ground: Ground) -> None:
    out_of_search = archived = None
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        for day in range(1, 140):
            ground.clock.advance(days=1)
            vault.consolidate()
            if out_of_search is None and not vault.memory.search("gateway port"):
                out_of_search = day
                assert not vault.recall("gateway port").hits
                assert len(json_lines(ground.facts)) == 1
            if archived is None and json_lines(ground.archived):
                archived = day

    assert (out_of_search, archived) == (83, 130)
    (line,) = json_lines(ground.archived)
    assert line["ended_at"].startswith("2026-05-15T03:47:17")  # 129.66 days after noon of 5 January


def test_a_vault_that_slept_finds_the_same_fate_at_once(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        ground.clock.advance(days=200)
        vault.consolidate()

    (line,) = json_lines(ground.archived)
    assert line["ended_at"].startswith("2026-05-15T03:47:17")


def test_recall_raises_what_leads_the_answer_and_nothing_else(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.ingest([said(f"gateway {number}", "colour", f"shade {number}") for number in range(8)])
        ground.clock.advance(days=30)
        found = vault.recall("gateway port 8443")

    entries = ground.activations()
    assert len(found.hits) > 3
    assert sorted(round(entry["activation"], 2) for entry in entries.values() if entry["recalls"]) == [0.65] * 3
    assert sum(entry["recalls"] for entry in entries.values()) == 3


def test_a_probe_raises_nothing(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        ground.clock.advance(days=30)
        vault.recall("gateway port", probe=True)
        vault.quality_probe()
        vault.consolidate()

    (entry,) = ground.activations().values()
    assert entry["activation"] == pytest.approx(0.5)
    assert entry["recalls"] == 0


def test_an_ordinary_recall_of_the_home_keeps_a_fact_of_the_vault_awake(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
    ground.clock.advance(days=30)
    with Memory.open(ground.root / "home", embeddings=ground.embedder, clock=ground.clock) as memory:
        assert memory.recall("What is the gateway port?").decision == "inject"
    with ground.open() as vault:
        ground.clock.advance(days=1)
        vault.consolidate()

    assert _activation(ground) == pytest.approx(0.65 * 0.5 ** (1 / 30), abs=1e-6)


@pytest.mark.parametrize("more", [{"tier": "permanent"}, {"importance": 1.5}])
def test_what_is_permanent_or_important_never_leaves_search(ground: Ground, more: dict[str, object]) -> None:
    with ground.open() as vault:
        vault.ingest([said("Ana", "allergies", "penicillin", **more)])
        ground.clock.advance(days=1000)
        vault.consolidate()

        assert _activation(ground) == pytest.approx(0.15)
        assert vault.recall("Ana allergies").hits


def test_a_faded_fact_that_is_said_again_is_found_again(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        ground.clock.advance(days=90)
        vault.consolidate()
        assert not vault.memory.search("gateway port")
        vault.ingest([said("gateway", "port", "8443")])
        found = vault.memory.search("gateway port")
        vault.memory.flush()

        assert [hit.text for hit in found] == ["gateway port: 8443"]
        assert vault.memory.verify()["ok"]


def test_an_archived_fact_can_be_brought_back(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        ground.clock.advance(days=140)
        vault.consolidate()
        (line,) = json_lines(ground.archived)
        vault.restore(line["id"])
        assert [hit.text for hit in vault.recall("gateway port").hits] == ["gateway port: 8443"]
        vault.consolidate()
        with pytest.raises(UnknownName):
            vault.restore("fact-nobody")

    assert json_lines(ground.archived) == []
    assert len(json_lines(ground.facts)) == 1


def test_the_upkeep_of_the_home_leaves_the_fate_of_a_vault_to_the_vault(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.memory.remember("relay", "port", "2626")
        for _ in range(100):
            ground.clock.advance(days=1)
            vault.memory.observe([{"role": "user", "content": f"day {ground.clock():%j}"}])
        vault.memory.maintain()
        vault.consolidate()

        assert vault.memory.stats()["facts"] == 1
        assert [line["subject"] for line in json_lines(ground.facts)] == ["gateway"]


def test_over_the_cap_the_least_active_go_first_and_only_the_vault_counts(ground: Ground) -> None:
    with ground.open(max_facts=3) as vault:
        for number in range(6):
            vault.memory.remember(f"other {number}", "port", "1")
        for number in range(5):
            vault.ingest([said(f"host {number}", "port", "1")])
            ground.clock.advance(hours=1)
        report = vault.consolidate()
        left = vault.memory.stats()["facts"]

    assert report["over_the_cap"] == 2
    assert [line["subject"] for line in json_lines(ground.facts)] == ["host 2", "host 3", "host 4"]
    assert left == 6 + 3


def test_a_clock_that_jumps_back_takes_nothing_and_is_named(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.consolidate()
        ground.clock.advance(days=-400)
        vault.ingest([said("Ana", "likes", "tea")])
        vault.consolidate()
        report = vault.health_check()

    assert {line["subject"] for line in json_lines(ground.facts)} == {"gateway", "Ana"}
    assert all(entry["activation"] == 1.0 for entry in ground.activations().values())
    assert report["total_facts"] == 2
