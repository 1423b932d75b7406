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
from zomem_graph.stores.errors import InvalidInput, StoreReadOnly
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.vault_files import replace_file
from zomem_graph.vault.activity import ACTIVE, FADING, stand
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.mirror import read_page
from zomem_graph.vault.options import INTERVALS
from zomem_graph.vault.probe import read_canaries

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
    first = min((one.fact.created_at for one in standing), default=None)
    made = _moment(notes.get("made")) or first
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
        "files_behind": ground.behind(),
        "last_consolidation": notes.get("last_consolidation"),
        "consolidation_duration_seconds": notes.get("consolidation_duration_seconds"),
        "quality_probe": {**NO_PROBE, **notes.get("quality_probe", {})},
    }
    consolidated = _moment(report["last_consolidation"]) or made
    probed = _moment(report["quality_probe"]["last_run"]) or made
    report["unconsolidated_since"] = None if consolidated is None else consolidated.isoformat()
    alerts = judge(
        report,
        max_facts=options.max_facts,
        max_lines=options.memory_md_max_lines,
        oldest_half_lives=(_seconds(first, now) or 0.0) / 86_400 / options.half_life_days,
        hours_since_consolidation=None if (since := _seconds(consolidated, now)) is None else since / 3600,
        days_since_probe=None if (since := _seconds(probed, now)) is None else since / 86_400,
        probe_days=INTERVALS[options.canary_check_interval],
        canaries_wrong=_canaries_wrong(ground),
    )
    if unwritten is not None:
        alerts = [unwritable(unwritten), *alerts]
    report["status"] = status_of(alerts)
    report["warnings"] = [alert.line for alert in alerts]
    report["alerts"] = [asdict(alert) for alert in alerts]
    return report


def as_prometheus(report: Mapping[str, Any]) -> str:
    """Return a report in the text format of Prometheus."""
    times = {"_consolidated": report["last_consolidation"], "_unconsolidated": report["unconsolidated_since"]}
    moments = {name: _moment(said) for name, said in times.items()}
    seconds = {name: None if moment is None else moment.timestamp() for name, moment in moments.items()}
    return prometheus_text({**report, **seconds})


def _canaries_wrong(ground: Ground) -> str | None:
    """Return why the canaries cannot be asked for, None when they can."""
    if not ground.place.canaries.is_file():
        return f"{ground.place.canaries} is missing: `zomem vault init` writes the usual ones."
    try:
        read_canaries(ground)
    except (InvalidInput, StoreReadOnly) as error:
        return str(error)
    return None


def _seconds(since: datetime | None, now: datetime) -> float | None:
    return None if since is None else (now - since).total_seconds()


def _moment(text: Any) -> datetime | None:
    """Return a time that was noted; a file edited by hand may say none."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # gone meanwhile


def _all_files(root: Path) -> list[Path]:
    return [Path(folder, name) for folder, _names, files in os.walk(root) for name in files]
