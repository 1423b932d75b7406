"""When a vault is well: thresholds, what they mean, and advice that helps (spec F121-F123).

Limits on facts scale with `max_facts`: 90 and 95 % of it, as 9,000 and 9,500 are of the usual 10,000.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = ["Alert", "judge", "prometheus_text", "status_of", "unwritable"]

Level = Literal["warning", "critical"]

_DISK: Final = (80.0, 90.0)
_FACTS: Final = (0.90, 0.95)
_ACTIVATION: Final = (0.2, 0.8)
_YOUNG: Final = 0.33  # half-lives; until then nothing can have faded below .8, so a high average says nothing
_PROBE: Final = (80.0, 70.0)
_DURATION: Final = (600.0, 1_200.0)
_PAGE: Final = 0.9
_LATE_HOURS: Final = 36.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One figure beyond its threshold, and what to do about it."""

    metric: str
    level: Level
    value: float
    threshold: float
    said: str
    advice: str

    @property
    def line(self) -> str:
        """The alert in one line."""
        return f"{self.said}. {self.advice}"


def judge(
    health: Mapping[str, Any],
    *,
    max_facts: int,
    max_lines: int,
    oldest_half_lives: float = 1.0,
    hours_since_consolidation: float | None = None,
    days_since_probe: float | None = None,
    probe_days: int = 7,
    canaries_wrong: str | None = None,
) -> list[Alert]:
    """Return what is beyond a threshold in a health report, critical first.

    `oldest_half_lives` is the age of the oldest fact that holds, counted in half-lives. Where nothing was ever
    consolidated or probed, hours and days count from the time the vault was made. `canaries_wrong` is why the file of
    canaries cannot be used.
    """
    found = [
        *_disk(health),
        *_facts(health, max_facts),
        *_activation(health, oldest_half_lives),
        *_page(health, max_lines),
        *_duration(health),
        *_probe(health, days_since_probe, probe_days),
    ]
    if hours_since_consolidation is not None:
        found += _late(health, hours_since_consolidation)
    if health.get("files_behind"):
        said = "The files are behind: the database holds what they do not say yet"
        advice = "Make room if the disk is full, then run `zomem vault consolidate`."
        found.append(_alert("files_behind", "warning", 1.0, 0.0, said, advice))
    if canaries_wrong is not None:
        said = "The quality probe cannot run"
        found.append(_alert("canaries", "warning", 0.0, 1.0, said, canaries_wrong))
    return sorted(found, key=lambda alert: alert.level != "critical")


def unwritable(why: str) -> Alert:
    """Return the alert of a vault in which nothing can be written."""
    said = "Nothing can be written here, not even this report"
    return _alert("writable", "critical", 0.0, 1.0, said, why)


def status_of(alerts: Sequence[Alert]) -> str:
    """Return healthy, warning or critical."""
    levels = {alert.level for alert in alerts}
    return "critical" if "critical" in levels else "warning" if levels else "healthy"


def prometheus_text(health: Mapping[str, Any]) -> str:
    """Return a health report in the text format of Prometheus."""
    probe = health["quality_probe"]
    numbers = {
        "disk_usage_bytes": ("Bytes used on the vault's disk", health["disk_usage_bytes"]),
        "disk_usage_percent": ("Share of the vault's disk that is used", health["disk_usage_percent"]),
        "facts": ("Facts that hold", health["total_facts"]),
        "active_facts": ("Facts above the search threshold", health["active_facts"]),
        "fading_facts": ("Facts below the search threshold", health["fading_facts"]),
        "archived_facts": ("Facts that faded away", health["archived_facts"]),
        "avg_activation": ("Mean activation of the facts that hold", health["avg_activation"]),
        "daily_files": ("Daily summaries", health["daily_files_count"]),
        "session_files": ("Session logs", health["session_files_count"]),
        "index_bytes": ("Size of the embedding index", health["embedding_index_size_bytes"]),
        "memory_md_lines": ("Lines of MEMORY.md", health["memory_md_lines"]),
        "unconsolidated_since_timestamp_seconds": (
            "When the last consolidation ended, before the first one when the vault was made",
            health["_unconsolidated"],
        ),
        "files_behind": ("Whether the database holds what the files do not say yet", int(health["files_behind"])),
        "last_consolidation_timestamp_seconds": ("When the last consolidation ended", health["_consolidated"]),
        "consolidation_duration_seconds": ("How long it took", health["consolidation_duration_seconds"]),
        "quality_probe_accuracy_percent": ("Canaries that were recalled", probe["accuracy_percent"]),
        "warnings": ("Figures beyond a threshold", len(health["warnings"])),
    }
    lines: list[str] = []
    for name, (about, value) in numbers.items():
        if value is not None:
            metric = f"zomem_vault_{name}"
            lines += [f"# HELP {metric} {about}.", f"# TYPE {metric} gauge", f"{metric} {value:.15g}"]
    lines += ["# HELP zomem_vault_status Whether the vault is in this state.", "# TYPE zomem_vault_status gauge"]
    for status in ("healthy", "warning", "critical"):
        lines.append(f'zomem_vault_status{{status="{status}"}} {int(health["status"] == status)}')
    return "\n".join(lines) + "\n"


def _late(health: Mapping[str, Any], hours: float) -> Iterator[Alert]:
    name, ever = "hours_since_consolidation", health.get("last_consolidation") is not None
    if hours > _LATE_HOURS and ever:
        advice = "Look at the cron job, then run `zomem vault consolidate`."
        yield _alert(name, "warning", hours, _LATE_HOURS, f"The last consolidation was {hours:.0f} hours ago", advice)
    elif hours > _LATE_HOURS:
        said = f"There was no consolidation in the {hours:.0f} hours since this vault was made"
        advice = "Install its jobs (`zomem vault install-cron`), then run `zomem vault consolidate`."
        yield _alert(name, "warning", hours, _LATE_HOURS, said, advice)
    elif hours < 0 and ever:
        advice = "Set the clock right; until then nothing fades, and nothing is lost."
        yield _alert(name, "warning", hours, 0.0, "The clock stands before the last consolidation", advice)


def _disk(health: Mapping[str, Any]) -> Iterator[Alert]:
    used = health["disk_usage_percent"]
    advice = "Make the disk larger, or lower session_retention_days."
    yield from _above("disk_usage_percent", used, _DISK, f"Disk usage high ({used:.0f} %)", advice)


def _facts(health: Mapping[str, Any], max_facts: int) -> Iterator[Alert]:
    held = health["active_facts"]
    limits = (_FACTS[0] * max_facts, _FACTS[1] * max_facts)
    advice = "Raise max_facts, or raise prune_threshold so that more is archived."
    yield from _above("active_facts", held, limits, f"Approaching fact limit ({held:,} of {max_facts:,})", advice)


def _activation(health: Mapping[str, Any], oldest_half_lives: float) -> Iterator[Alert]:
    mean = health["avg_activation"]
    low, high = _ACTIVATION
    if mean is not None and mean < low:
        said = f"Most facts are decaying (average activation {mean:.2f})"
        yield _alert("avg_activation", "warning", mean, low, said, "Consider raising half_life_days.")
    elif mean is not None and mean > high and oldest_half_lives > _YOUNG:
        said = f"Few facts are decaying (average activation {mean:.2f})"
        yield _alert("avg_activation", "warning", mean, high, said, "Consider lowering half_life_days.")


def _page(health: Mapping[str, Any], max_lines: int) -> Iterator[Alert]:
    lines, limit = health["memory_md_lines"], _PAGE * max_lines
    if lines > max_lines:
        said = f"MEMORY.md has {lines} lines, {max_lines} are allowed"
        advice = "Shorten what is written by hand in it, or raise memory_md_max_lines."
        yield _alert("memory_md_lines", "critical", lines, max_lines, said, advice)
    elif lines > limit:
        said = f"MEMORY.md is nearly full ({lines} of {max_lines} lines)"
        advice = "What is written by hand leaves little room for facts: shorten it, or raise memory_md_max_lines."
        yield _alert("memory_md_lines", "warning", lines, limit, said, advice)


def _duration(health: Mapping[str, Any]) -> Iterator[Alert]:
    seconds = health["consolidation_duration_seconds"]
    if seconds is not None:
        advice = "Lower max_facts, raise prune_threshold, or choose a smaller embedding_model."
        said = f"Consolidation took {seconds:.0f} s"
        yield from _above("consolidation_duration_seconds", seconds, _DURATION, said, advice)


def _probe(health: Mapping[str, Any], days: float | None, allowed: int) -> Iterator[Alert]:
    probe = health["quality_probe"]
    share = probe["accuracy_percent"]
    advice = "Run `zomem vault quality-probe` to see which canaries are missed; `zomem repair` rebuilds the index."
    if share is not None and share < _PROBE[0]:
        level: Level = "critical" if share < _PROBE[1] else "warning"
        limit = _PROBE[1] if level == "critical" else _PROBE[0]
        said = f"Quality probe found {probe['passed']} of {probe['total']} canaries"
        yield _alert("quality_probe_accuracy_percent", level, share, limit, said, advice)
    if days is not None and days > 2 * allowed:
        said = f"The last quality probe was {days:.0f} days ago"
        if probe.get("last_run") is None:
            said = f"There was no quality probe in the {days:.0f} days since this vault was made"
        yield _alert("days_since_probe", "warning", days, 2.0 * allowed, said, "Run `zomem vault quality-probe`.")


def _above(metric: str, value: float, limits: tuple[float, float], said: str, advice: str) -> Iterator[Alert]:
    warning, critical = limits
    if value > critical:
        yield _alert(metric, "critical", value, critical, said, advice)
    elif value > warning:
        yield _alert(metric, "warning", value, warning, said, advice)


def _alert(metric: str, level: Level, value: float, threshold: float, said: str, advice: str) -> Alert:
    return Alert(metric=metric, level=level, value=value, threshold=threshold, said=said, advice=advice)
