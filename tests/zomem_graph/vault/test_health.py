"""Health: every figure, thresholds with the right advice, and canaries nobody sees."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.zomem_graph.vault.kit import Ground, json_lines, said
from zomem_graph.nodes.rules.vault_health import judge, status_of
from zomem_graph.stores.errors import InvalidInput, StoreReadOnly
from zomem_graph.vault.health import as_prometheus

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


def test_files_behind_the_database_are_told_until_they_follow(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        away = ground.root / "away"
        ground.facts.rename(away)
        ground.facts.mkdir()  # nothing can be written there, as on a full disk
        with pytest.raises(StoreReadOnly):
            vault.ingest([said("relay", "port", "9999")])
        ground.facts.rmdir()
        away.rename(ground.facts)
        health, status, smoke = vault.health_check(), vault.status()["health"], vault.smoke_test()
        vault.consolidate()
        after = vault.health_check()
        well = vault.smoke_test()

    for report in (health, status):
        assert report["status"] == "warning"
        assert any("files are behind" in line and "zomem vault consolidate" in line for line in report["warnings"])
    assert "zomem_vault_files_behind 1\n" in as_prometheus(health)
    assert [one.name for one in smoke if one.must and not one.ok] == ["mirror"]
    assert (after["status"], after["files_behind"]) == ("healthy", False)
    assert [one.name for one in well if one.must and not one.ok] == []
    assert len(json_lines(ground.facts)) == 2


def test_a_vault_that_was_never_consolidated_or_probed_is_late_too(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443", created="2020-01-01T00:00:00Z")])
        ground.clock.advance(hours=35)
        young = vault.health_check()
        ground.clock.advance(hours=5)
        old = vault.health_check()
        ground.clock.advance(days=14)
        vault.consolidate()
        unprobed = vault.health_check()

    assert [line for line in young["warnings"] if "consolidation" in line] == []
    assert any("no consolidation in the 40 hours" in line for line in old["warnings"])
    assert old["status"] == "warning"
    assert any("no quality probe in the 16 days" in line for line in unprobed["warnings"])


def test_the_alert_for_a_missed_night_has_its_figure_from_the_first_day(ground: Ground) -> None:
    page = (Path(__file__).parents[3] / "docs/vm.md").read_text("utf-8")
    (figure,) = re.findall(r"alert: VaultNightMissed\n\s+expr: time\(\) - (\w+) >", page)

    def since() -> float:
        text = (ground.data / "health.prom").read_text("utf-8")
        (value,) = re.findall(rf"^{figure} (\S+)$", text, re.MULTILINE)
        return float(value)

    with ground.open() as vault:
        made = ground.clock().timestamp()
        assert since() == made
        ground.clock.advance(hours=40)
        vault.health_check()
        assert since() == made
        vault.consolidate()
        assert since() == ground.clock().timestamp()


@pytest.mark.parametrize("content", [b"{", b"\xff", b"{}", b"[3]", b"[" * 100_000, None])
def test_canaries_that_cannot_be_asked_for_are_told(ground: Ground, content: bytes | None) -> None:
    canaries = ground.data / "knowledge-graph/canary-facts.json"
    with ground.open() as vault:
        vault.quality_probe()
        if content is None:
            canaries.unlink()
            vault.quality_probe()
        else:
            canaries.write_bytes(content)
            with pytest.raises(InvalidInput, match=r"canary-facts\.json"):
                vault.quality_probe()
        written = ground.health()
        report = vault.health_check()

    assert written["status"] == report["status"] == "warning"
    assert any("canary-facts.json" in line for line in report["warnings"])
