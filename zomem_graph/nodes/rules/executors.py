"""What is known of an executor, folded from its runs (spec F90). Reading it changes nothing.

The past counts less by time alone: half after seven days, nothing once an executor was idle for thirty, and
each later run pushes it back a little, so that the last fifty weigh most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from zomem_graph.nodes.rules.small_samples import expected_share
from zomem_graph.stores.work_records import ExecutorHistory, ExecutorRun

__all__ = [
    "FORGOTTEN_AFTER",
    "CategoryProfile",
    "Known",
    "affinity",
    "aged",
    "pressure",
    "profile_of",
    "weighed",
    "weighed_together",
]

HALF_LIFE: Final = timedelta(days=7)
FORGOTTEN_AFTER: Final = timedelta(days=30)
KEPT_PER_RUN: Final = 0.98
"""What a later run leaves of the weight of an earlier one: all of them together never count more than 50."""

_EPISODES: Final = 10
_PATTERNS: Final = 5
_EMA_KEEPS: Final = 0.7
_UNKNOWN: Final = 0.5
_BASELINE_MS: Final = 30_000.0
_BASELINE_TAKES: Final = 0.1
_LATEST: Final = 10
_PRESSURES: Final = ((1.5, 0.0), (2.0, 0.3), (3.0, 0.6))
_MOST_PRESSURE: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryProfile:
    """What is known of one executor in one category.

    `attempts` and `successes` are counts as they were; `weight` is what of the attempts still counts, and
    `rate` the expected share of successes by those.
    """

    executor: str
    category: str
    attempts: int
    successes: int
    weight: float
    rate: float
    average_ms: float | None
    last_at: datetime
    recent_episode_ids: tuple[str, ...] = ()
    failure_patterns: tuple[str, ...] = ()
    entity_affinities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A profile, and what it was folded from: our runs, oldest first, and what was imported."""

    profile: CategoryProfile
    runs: Sequence[ExecutorRun]
    imported: ExecutorHistory | None


def aged(weight: float, since: timedelta) -> float:
    """Return what is left of a weight after a time; once or in several steps comes to the same."""
    halvings: float = max(since, timedelta(0)) / HALF_LIFE
    return weight * float(0.5**halvings)


def weighed(
    runs: Sequence[ExecutorRun], imported: ExecutorHistory | None, *, now: datetime, kept: float = KEPT_PER_RUN
) -> tuple[float, float]:
    """Return (successes, attempts) of one executor and category as they count now; runs oldest first.

    What was imported counts beside the runs, as much as fifty of them at most.
    """
    last = max([*(run.at for run in runs[-1:]), *([imported.last_updated] if imported else [])], default=None)
    if last is None or now - last > FORGOTTEN_AFTER:
        return 0.0, 0.0
    successes = attempts = 0.0
    if imported is not None:
        later = sum(run.at > imported.last_updated for run in runs)
        left = aged(kept**later, now - imported.last_updated)
        most = 1 / (1 - KEPT_PER_RUN)
        scale = min(1.0, most / imported.attempts) if imported.attempts else 0.0
        successes, attempts = imported.successes * scale * left, imported.attempts * scale * left
    for later, run in enumerate(reversed(runs)):
        weight = aged(kept**later, now - run.at)
        attempts += weight
        successes += weight if run.outcome == "success" else 0.0
    return successes, attempts


def weighed_together(runs: Sequence[ExecutorRun], *, now: datetime) -> dict[str, tuple[float, float]]:
    """Return (successes, attempts) by executor as they count now, from all runs of a category, oldest first.

    Here the run of any executor pushes back those of all: what was not tried for long is uncertain again.
    """
    found: dict[str, tuple[float, float]] = {}
    if not runs or now - runs[-1].at > FORGOTTEN_AFTER:
        return found
    for later, run in enumerate(reversed(runs)):
        weight = aged(KEPT_PER_RUN**later, now - run.at)
        successes, attempts = found.get(run.executor, (0.0, 0.0))
        found[run.executor] = successes + weight * (run.outcome == "success"), attempts + weight
    return found


def profile_of(
    executor: str,
    category: str,
    runs: Sequence[ExecutorRun],
    imported: ExecutorHistory | None = None,
    *,
    now: datetime,
) -> CategoryProfile | None:
    """Return the profile of one executor and category from its runs, oldest first; None when there is nothing."""
    if not runs and imported is None:
        return None
    successes, weight = weighed(runs, imported, now=now)
    last = max([*(run.at for run in runs[-1:]), *([imported.last_updated] if imported else [])])
    return CategoryProfile(
        executor=executor,
        category=category,
        attempts=len(runs) + (imported.attempts if imported else 0),
        successes=sum(run.outcome == "success" for run in runs) + (imported.successes if imported else 0),
        weight=weight,
        rate=expected_share(successes, weight),
        average_ms=_average(runs, imported),
        last_at=last,
        recent_episode_ids=_newest(
            [run.episode_id for run in reversed(runs)], imported.recent_episode_ids if imported else (), _EPISODES
        ),
        failure_patterns=_newest(
            [run.failure_class for run in reversed(runs)], imported.failure_patterns if imported else (), _PATTERNS
        ),
        entity_affinities=_affinities(runs, imported.entity_affinities if imported else {}),
    )


def affinity(affinities: Mapping[str, float], entities: Sequence[str]) -> float:
    """Return the mean affinity to entities (normal forms); .5 for what was never met."""
    met = [affinities.get(entity, _UNKNOWN) for entity in entities]
    return sum(met) / len(met) if met else _UNKNOWN


def pressure(runs: Sequence[ExecutorRun]) -> float:
    """Return how overloaded an executor seems, 0-.9: its last ten durations beside its usual one (spec F136)."""
    timed = [run for run in runs if run.duration_ms is not None]
    if not timed:
        return 0.0
    usual = _BASELINE_MS
    for run in timed[:-_LATEST]:
        if run.outcome == "success":
            usual += _BASELINE_TAKES * ((run.duration_ms or 0.0) - usual)
    latest = timed[-_LATEST:]
    ratio = sum(run.duration_ms or 0.0 for run in latest) / len(latest) / max(usual, 1.0)
    return next((level for below, level in _PRESSURES if ratio < below), _MOST_PRESSURE)


def _average(runs: Sequence[ExecutorRun], imported: ExecutorHistory | None) -> float | None:
    times = [run.duration_ms for run in runs if run.duration_ms is not None]
    total, count = sum(times), len(times)
    if imported is not None and imported.avg_duration_ms > 0:
        total, count = total + imported.avg_duration_ms * imported.attempts, count + imported.attempts
    return total / count if count else None


def _newest(latest: Sequence[str | None], before: Sequence[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in (*latest, *before) if each))[:most]


def _affinities(runs: Sequence[ExecutorRun], before: Mapping[str, float]) -> dict[str, float]:
    found = dict(before)
    for run in runs:
        went_well = 1.0 if run.outcome == "success" else 0.0
        for entity in run.entities:
            found[entity] = _EMA_KEEPS * found.get(entity, _UNKNOWN) + (1 - _EMA_KEEPS) * went_well
    return found
