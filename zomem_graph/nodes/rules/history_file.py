"""The original's executor-history.json, read strictly and written so that it can be read again (spec F90)."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any, Final

from zomem_graph.nodes.rules.executors import CategoryProfile
from zomem_graph.nodes.rules.given import number, whole
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.work_records import ExecutorHistory

__all__ = ["read_history", "written_history"]

_OTHER: Final = "general"
_MILLISECONDS_FROM: Final = 1e11  # seconds would be the year 5138
_EPISODES: Final = 10
_PATTERNS: Final = 5
_FORM: Final = (
    'It must be one JSON object of entries "EXECUTOR:CATEGORY" with attempts, successes, avgDurationMs and '
    "lastUpdated (milliseconds)."
)


def read_history(text: str, *, persona: str, now: datetime) -> list[ExecutorHistory]:
    """Return the entries of a history file, also of an old one without the cognitive fields.

    Raises InvalidInput that names what is wrong; nothing of a damaged file is taken.
    """
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The history is no JSON: {error}. {_FORM}") from error
    if not isinstance(entries, dict):
        raise InvalidInput(f"The history is a {type(entries).__name__}. {_FORM}")
    if "version" in entries and not isinstance(entries["version"], dict):
        raise InvalidInput(f"The history is of version {entries['version']!r:.20}, which is not known here. {_FORM}")
    return [_entry(key, entry, persona=persona, now=now) for key, entry in entries.items()]


def written_history(profiles: Iterable[CategoryProfile]) -> dict[str, Any]:
    """Return profiles in the form of the file."""
    return {
        f"{one.executor}:{one.category}": {
            "attempts": one.attempts,
            "successes": one.successes,
            "avgDurationMs": round(one.average_ms or 0.0, 3),
            "lastUpdated": ceil(one.last_at.timestamp() * 1000),  # what it counts is never later
            "recent_episode_ids": list(one.recent_episode_ids),
            "failure_patterns": list(one.failure_patterns),
            "entity_affinities": {name: round(value, 4) for name, value in one.entity_affinities.items()},
        }
        for one in profiles
    }


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
        executor=executor.strip(),
        category=category.strip(),
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
