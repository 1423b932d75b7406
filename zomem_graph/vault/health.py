"""health.json: how the vault stands, what is beyond a threshold, and what to do about it (spec F120-F123, F132)."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from zomem_graph.nodes.rules.vault_health import judge, prometheus_text, status_of, unwritable
from zomem_graph.stores.vault_files import replace_file, told_clearly
from zomem_graph.vault.activity import ACTIVE, FADING, stand
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.mirror import read_page
from zomem_graph.vault.options import INTERVALS

__all__ = ["NO_PROBE", "as_prometheus", "check_health", "measure"]

NO_PROBE: Mapping[str, Any] = {"last_run": None, "passed": 0, "total": 0, "accuracy_percent": None}


def check_health(ground: Ground) -> dict[str, Any]:
    """Measure, judge, write health.json and health.prom, and return the report."""
    report = measure(ground)
    text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
    replace_file(ground.place.health, text)
    replace_file(ground.place.prometheus, as_prometheus(report))
    return report


def measure(ground: Ground, *, unwritten: str | None = None) -> dict[str, Any]:
    """Return the report without writing it. What other jobs found out is kept from their own notes.

    `unwritten` is why it could not be written, which the report then says first.
    """
    place, options, now = ground.place, ground.options, ground.now()
    with ground.memory.stores.read() as unit:
        standing = stand(unit.vault.current(), unit.vault.uses(), options, now)
        archived = unit.vault.count(state="archived")
        superseded = unit.vault.count(state="superseded")
    with told_clearly(place.root):
        disk = shutil.disk_usage(place.root)
    notes = ground.notes()
    active = sum(one.band == ACTIVE for one in standing)
    mean = sum(one.activation for one in standing) / len(standing) if standing else None
    oldest = max(((now - one.fact.created_at).total_seconds() / 86_400 for one in standing), default=0.0)
    report: dict[str, Any] = {
        "timestamp": now.isoformat(),
        "status": "healthy",
        "disk_usage_bytes": disk.used,
        "disk_usage_percent": round(100.0 * disk.used / max(1, disk.total), 1),
        "total_facts": len(standing),
        "active_facts": active,
        "fading_facts": sum(one.band == FADING for one in standing),
        "archived_facts": archived,
        "superseded_facts": superseded,
        "avg_activation": None if mean is None else round(mean, 4),
        "daily_files_count": len(place.days()),
        "session_files_count": len(place.session_files()),
        "embedding_index_size_bytes": _size(place.index),
        "vault_bytes": sum(_size(path) for path in _all_files(place.root)),
        "memory_md_lines": len(read_page(place.memory_md).splitlines()),
        "last_consolidation": notes.get("last_consolidation"),
        "consolidation_duration_seconds": notes.get("consolidation_duration_seconds"),
        "quality_probe": {**NO_PROBE, **notes.get("quality_probe", {})},
    }
    consolidated = _moment(notes.get("last_consolidation"))
    probed = _moment(report["quality_probe"]["last_run"])
    alerts = judge(
        report,
        max_facts=options.max_facts,
        max_lines=options.memory_md_max_lines,
        oldest_half_lives=oldest / options.half_life_days,
        hours_since_consolidation=None if consolidated is None else (now - consolidated).total_seconds() / 3600,
        days_since_probe=None if probed is None else (now - probed).total_seconds() / 86_400,
        probe_days=INTERVALS[options.canary_check_interval],
    )
    if unwritten is not None:
        alerts = [unwritable(unwritten), *alerts]
    report["status"] = status_of(alerts)
    report["warnings"] = [alert.line for alert in alerts]
    report["alerts"] = [asdict(alert) for alert in alerts]
    return report


def as_prometheus(report: Mapping[str, Any]) -> str:
    """Return a report in the text format of Prometheus."""
    consolidated = _moment(report["last_consolidation"])
    seconds = None if consolidated is None else consolidated.timestamp()
    return prometheus_text({**report, "_consolidated": seconds})


def _moment(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # gone meanwhile


def _all_files(root: Path) -> list[Path]:
    return [Path(folder, name) for folder, _names, files in os.walk(root) for name in files]
