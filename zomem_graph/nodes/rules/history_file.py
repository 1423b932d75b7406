"""The original's executor-history.json, read strictly and written so that it can be read again (spec F90)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, Final, get_args

from zomem_graph.nodes.rules.executors import CategoryProfile, Known
from zomem_graph.nodes.rules.failures import FAILURE_CLASSES
from zomem_graph.nodes.rules.given import checked_name, choice, if_given, number, text, whole
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.work_records import ExecutorHistory, ExecutorRun, RunOutcome

__all__ = ["HistoryFile", "read_history", "written_history"]

_OTHER: Final = "general"
_OURS: Final = "zomem"  # what only an export of ours holds
_A_MOMENT: Final = timedelta(seconds=1)  # runs of one instant are stored one behind the other
_RUN_FIELDS: Final = ("id", "outcome", "failure_class", "duration_ms", "episode_id", "entities")
_MILLISECONDS_FROM: Final = 1e11  # seconds would be the year 5138
_EPISODES: Final = 10
_PATTERNS: Final = 5
_FORM: Final = (
    'It must be one JSON object of entries "EXECUTOR:CATEGORY" with attempts, successes, avgDurationMs and '
    "lastUpdated (milliseconds)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFile:
    """What a file holds: `histories` to be counted beside our runs, and `runs` of our own that an export carries."""

    entries: int
    histories: Sequence[ExecutorHistory]
    runs: Sequence[ExecutorRun]


def read_history(written: str, *, persona: str, now: datetime) -> HistoryFile:
    """Return what a history file says, also an old one without the cognitive fields.

    Raises InvalidInput that names what is wrong; nothing of a damaged file is taken.
    """
    try:
        entries = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The history is no JSON: {error}. {_FORM}") from error
    if not isinstance(entries, dict):
        raise InvalidInput(f"The history is a {type(entries).__name__}. {_FORM}")
    if "version" in entries and not isinstance(entries["version"], dict):
        raise InvalidInput(f"The history is of version {entries['version']!r:.20}, which is not known here. {_FORM}")
    seen: dict[tuple[str, str], str] = {}
    histories: list[ExecutorHistory] = []
    runs: list[ExecutorRun] = []
    for key, entry in entries.items():
        told = _entry(key, entry, persona=persona, now=now)
        twin = seen.setdefault((told.executor, told.category), key)
        if twin != key:
            raise InvalidInput(f"The entries {twin!r:.80} and {key!r:.80} are the same executor and category.")
        ours = entry.get(_OURS)
        if ours is None:
            histories.append(told)
            continue
        if not isinstance(ours, Mapping) or not isinstance(ours.get("runs"), list):
            raise InvalidInput(f"{_OURS} of the entry {key!r:.80} must be an object with a list of runs.")
        runs += [_run(key, one, told, now) for one in ours["runs"]]
        if ours.get("imported") is not None:
            histories.append(_entry(key, ours["imported"], persona=persona, now=now))
    return HistoryFile(entries=len(entries), histories=histories, runs=runs)


def written_history(known: Iterable[Known]) -> dict[str, Any]:
    """Return what is known in the form of the file.

    Each entry carries its runs with their ids, and what was imported before: where they are known already, reading
    the file again adds nothing.
    """
    return {f"{one.profile.executor}:{one.profile.category}": _written(one) for one in known}


def _written(known: Known) -> dict[str, Any]:
    profile = known.profile
    ours: dict[str, Any] = {"runs": [_plain_run(run) for run in known.runs]}
    if known.imported is not None:
        ours["imported"] = _plain(known.imported, known.imported.last_updated, known.imported.avg_duration_ms)
    entry = _plain(profile, profile.last_at, profile.average_ms or 0.0)
    return {**entry, "lastUpdated": ceil(entry["lastUpdated"]), _OURS: ours}


def _plain(told: CategoryProfile | ExecutorHistory, at: datetime, average_ms: float) -> dict[str, Any]:
    return {
        "attempts": told.attempts,
        "successes": told.successes,
        "avgDurationMs": round(average_ms, 3),
        "lastUpdated": at.timestamp() * 1000,
        "recent_episode_ids": list(told.recent_episode_ids),
        "failure_patterns": list(told.failure_patterns),
        "entity_affinities": {name: round(value, 4) for name, value in told.entity_affinities.items()},
    }


def _plain_run(run: ExecutorRun) -> dict[str, Any]:
    plain = {name: getattr(run, name) for name in _RUN_FIELDS}
    return {**plain, "at": run.at.isoformat()}


def _run(key: str, given: Any, told: ExecutorHistory, now: datetime) -> ExecutorRun:
    where = f"of a run of the entry {key!r:.80}"
    if not isinstance(given, Mapping):
        raise InvalidInput(f"A run of the entry {key!r:.80} must be an object, not {type(given).__name__}.")
    try:
        at = datetime.fromisoformat(text(f"at {where}", given.get("at")))
    except ValueError as error:
        raise InvalidInput(f"at {where} is no time: {given.get('at')!r:.40}.") from error
    if at.tzinfo is None:
        raise InvalidInput(f"at {where} needs a time zone, as in {now.isoformat()}.")
    outcome = choice(f"outcome {where}", given.get("outcome"), get_args(RunOutcome))
    failed = if_given(choice, f"failure_class {where}", given.get("failure_class"), known=FAILURE_CLASSES)
    return ExecutorRun(
        id=checked_name(f"id {where}", given.get("id")),
        persona=told.persona,
        executor=told.executor,
        category=told.category,
        outcome=outcome,
        failure_class=None if outcome == "success" else failed or "unknown",
        error=None,
        duration_ms=if_given(number, f"duration_ms {where}", given.get("duration_ms"), least=0),
        episode_id=if_given(checked_name, f"episode_id {where}", given.get("episode_id")),
        procedure_id=None,
        swarm=None,
        entities=_names(key, given, "entities"),
        at=at.astimezone(UTC) if at <= now + _A_MOMENT else now,  # a clock that was ahead
    )


def _entry(key: str, entry: Any, *, persona: str, now: datetime) -> ExecutorHistory:
    if not isinstance(entry, Mapping):
        raise InvalidInput(f"The entry {key!r:.80} is no object. {_FORM}")
    executor, colon, category = key.rpartition(":")
    if not colon:
        executor, category = key, _OTHER
    if not executor.strip() or not category.strip():
        raise InvalidInput(f"The entry {key!r:.80} names no executor or no category. {_FORM}")
    attempts, successes = _count(key, entry, "attempts"), _count(key, entry, "successes")
    if successes > attempts:
        raise InvalidInput(f"The entry {key!r:.80} has more successes ({successes}) than attempts ({attempts}).")
    return ExecutorHistory(
        persona=persona,
        executor=checked_name(f"The executor of the entry {key!r:.80}", executor),
        category=checked_name(f"The category of the entry {key!r:.80}", category),
        attempts=attempts,
        successes=successes,
        avg_duration_ms=_number(key, entry, "avgDurationMs"),
        last_updated=_time(key, entry, now),
        recent_episode_ids=_names(key, entry, "recent_episode_ids")[:_EPISODES],
        failure_patterns=_names(key, entry, "failure_patterns")[:_PATTERNS],
        entity_affinities=_shares(key, entry, "entity_affinities"),
    )


def _number(key: str, entry: Mapping[str, Any], name: str) -> float:
    return number(f"{name} of the entry {key!r:.80}", entry.get(name, 0), least=0)


def _count(key: str, entry: Mapping[str, Any], name: str) -> int:
    if name not in entry:
        raise InvalidInput(f"The entry {key!r:.80} has no {name}. {_FORM}")
    value = _number(key, entry, name)
    if value != int(value):
        raise InvalidInput(f"{name} of the entry {key!r:.80} must be a whole number, not {value}.")
    return whole(f"{name} of the entry {key!r:.80}", int(value))


def _time(key: str, entry: Mapping[str, Any], now: datetime) -> datetime:
    value = _number(key, entry, "lastUpdated")
    if not value:
        return now
    try:
        at = datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS_FROM else value, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise InvalidInput(f"lastUpdated of the entry {key!r:.80} is no time: {value:.0f}.") from error
    return min(at, now)  # a clock that was ahead


def _names(key: str, entry: Mapping[str, Any], name: str) -> list[str]:
    value = entry.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidInput(f"{name} of the entry {key!r:.80} must be a list of texts.")
    return value


def _shares(key: str, entry: Mapping[str, Any], name: str) -> dict[str, float]:
    value = entry.get(name) or {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} of the entry {key!r:.80} must be an object of names and numbers.")
    shares = {each: _number(f"{key} → {each}", value, each) for each in value}
    if any(share > 1 for share in shares.values()):
        raise InvalidInput(f"{name} of the entry {key!r:.80} must be numbers from 0 to 1.")
    return shares
