"""Health: every figure, thresholds with the right advice, and canaries nobody sees."""

import json
from typing import Any

import pytest

from tests.zomem_graph.vault.kit import Ground, said
from zomem_graph.nodes.rules.vault_health import judge, status_of

FIELDS = {
    *("timestamp", "status", "disk_usage_bytes", "disk_usage_percent", "total_facts", "active_facts"),
    *("archived_facts", "avg_activation", "daily_files_count", "session_files_count"),
    *("embedding_index_size_bytes", "memory_md_lines", "last_consolidation", "consolidation_duration_seconds"),
    *("warnings", "quality_probe"),
}
WELL: dict[str, Any] = {
    "disk_usage_percent": 40.0,
    "active_facts": 100,
    "avg_activation": 0.5,
    "memory_md_lines": 20,
    "consolidation_duration_seconds": 5.0,
    "quality_probe": {"passed": 10, "total": 10, "accuracy_percent": 100.0},
}


def _judged(**changed: Any) -> list[Any]:
    return judge(WELL | changed, max_facts=10_000, max_lines=200)


def test_a_well_vault_gives_no_alert() -> None:
    assert status_of(_judged()) == "healthy"


@pytest.mark.parametrize(
    ("changed", "level", "advice"),
    [
        ({"disk_usage_percent": 80.1}, "warning", "disk larger"),
        ({"disk_usage_percent": 90.1}, "critical", "disk larger"),
        ({"active_facts": 9_001}, "warning", "max_facts"),
        ({"active_facts": 9_501}, "critical", "max_facts"),
        ({"avg_activation": 0.19}, "warning", "raising half_life"),
        ({"avg_activation": 0.81}, "warning", "lowering half_life"),
        ({"memory_md_lines": 181}, "warning", "memory_md_max_lines"),
        ({"consolidation_duration_seconds": 601.0}, "warning", "max_facts"),
        ({"consolidation_duration_seconds": 1201.0}, "critical", "max_facts"),
        ({"quality_probe": {"passed": 3, "total": 4, "accuracy_percent": 75.0}}, "warning", "quality-probe"),
        ({"quality_probe": {"passed": 2, "total": 3, "accuracy_percent": 66.7}}, "critical", "quality-probe"),
    ],
)
def test_each_threshold_has_its_level_and_advice(changed: dict[str, Any], level: str, advice: str) -> None:
    (alert,) = _judged(**changed)

    assert alert.level == level
    assert advice in alert.advice


@pytest.mark.parametrize(
    "changed",
    [
        {"disk_usage_percent": 80.0},
        {"active_facts": 9_000},
        {"avg_activation": 0.2},
        {"avg_activation": 0.8},
        {"memory_md_lines": 180},
        {"consolidation_duration_seconds": 600.0},
        {"quality_probe": {"passed": 4, "total": 5, "accuracy_percent": 80.0}},
        {"avg_activation": None},
    ],
)
def test_a_figure_on_its_threshold_is_well(changed: dict[str, Any]) -> None:
    assert _judged(**changed) == []


def test_limits_on_facts_scale_with_the_cap() -> None:
    (alert,) = judge(WELL | {"active_facts": 91}, max_facts=100, max_lines=200)

    assert alert.level == "warning"


def test_the_report_is_whole_and_keeps_what_other_jobs_found(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.consolidate()
        vault.quality_probe()
        ground.clock.advance(hours=6)
        report = vault.health_check()

    assert {*report} >= FIELDS
    assert report == ground.health()
    assert report["quality_probe"] == {
        "last_run": "2026-01-05T12:00:00+00:00",
        "passed": 3,
        "total": 3,
        "accuracy_percent": 100.0,
    }
    assert report["last_consolidation"] == "2026-01-05T12:00:00+00:00"
    assert report["status"] == "healthy"


def test_the_report_is_there_for_prometheus_too(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.consolidate()

    text = (ground.data / "health.prom").read_text("utf-8")
    assert "zomem_vault_active_facts 1\n" in text
    assert 'zomem_vault_status{status="healthy"} 1' in text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.split(" ")) == 2


def test_canaries_come_back_through_the_real_recall_and_nobody_sees_them(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said(f"canary {number}", "colour", "grey") for number in range(50)])
        before = vault.memory.stats()
        found = vault.quality_probe()
        after = vault.memory.stats()
        seen = vault.memory.search("canary buoy vermilion")
        personas = [each.name for each in vault.memory.personas.list()]

    assert (found["passed"], found["missed"]) == (3, [])
    assert (after["facts"], after["items"]) == (before["facts"], before["items"])
    assert not [hit for hit in seen if "vermilion" in hit.text]
    assert "vault canaries" not in personas


def test_a_canary_on_a_fact_that_faded_is_missed(ground: Ground) -> None:
    canaries = [
        {"query": "gateway port", "expected_contains": "8443"},
        {"query": "relay port", "expected_contains": "9999"},
    ]
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        (ground.data / "knowledge-graph/canary-facts.json").write_text(json.dumps(canaries))
        first = vault.quality_probe()
        ground.clock.advance(days=100)
        second = vault.quality_probe()

    assert (first["passed"], first["missed"]) == (1, ["relay port"])
    assert second["passed"] == 0
    assert ground.health()["status"] == "critical"


def test_hours_between_a_run_that_was_cut_short_and_the_next_are_no_work(ground: Ground) -> None:
    def stop(what: str) -> None:
        ground.clock.advance(seconds=30)
        if what == "prune":
            raise InterruptedError

    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        with pytest.raises(InterruptedError):
            vault.consolidate(tell=stop)
        ground.clock.advance(hours=9)
        done = vault.consolidate()

    assert (done["status"], done["seconds"]) == ("healthy", 0.0)
    assert ground.health()["consolidation_duration_seconds"] == 0.0


def test_a_night_whose_steps_take_long_is_told(ground: Ground) -> None:
    def slow(what: str) -> None:
        if what.startswith("file"):
            ground.clock.advance(seconds=400)

    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.consolidate(tell=slow)

    assert ground.health()["consolidation_duration_seconds"] > 1_200
    assert ground.health()["status"] == "critical"
