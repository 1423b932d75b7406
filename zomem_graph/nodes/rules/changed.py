"""What has changed since something was said: how it is told, and where it stands beside what holds now."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["SINCE_THEN", "current_first", "since_then", "with_since"]

SINCE_THEN = "since_then"
"""The key of a hit's metadata under which changes stand: dicts of `was`, `now`, `fact_id`, `turn_id`."""

_MOST_TOLD = 3
_LONGEST = 120  # characters of one fact


def since_then(metadata: Mapping[str, Any]) -> str:
    """Return in a few words what has changed since, "" when nothing is known to have."""
    changes = metadata.get(SINCE_THEN) or ()
    now = dict.fromkeys(_short(change["now"]) for change in changes if change["now"] is not None)
    gone = dict.fromkeys(_short(change["was"]) for change in changes if change["now"] is None)
    return "; ".join([*_told("since then", now), *_told("no longer so", gone)])


def with_since(text: str, metadata: Mapping[str, Any]) -> str:
    """Return a text with what has changed since behind it."""
    since = since_then(metadata)
    return f"{text} ({since})" if since else text


def current_first(hits: Sequence[tuple[str, Mapping[str, Any]]]) -> list[int]:
    """Return the order of (id, metadata) in which nothing outdated stands before what took its place.

    It moves right behind that; what is itself outdated in another point holds nobody back.
    """
    outdated = {id_ for id_, metadata in hits if metadata.get(SINCE_THEN)}
    standing = {id_ for id_, _metadata in hits} - outdated
    order: list[int] = []
    shown: set[str] = set()
    waiting: list[tuple[int, set[str]]] = []
    for place, (id_, metadata) in enumerate(hits):
        before = _heirs(metadata) & standing
        if before and not before & shown:
            waiting.append((place, before))
            continue
        order.append(place)
        if id_ in standing:
            shown.add(id_)
            order += [late for late, heirs in waiting if id_ in heirs]
            waiting = [(late, heirs) for late, heirs in waiting if id_ not in heirs]
    return order


def _heirs(metadata: Mapping[str, Any]) -> set[str]:
    changes = metadata.get(SINCE_THEN) or ()
    return {heir for change in changes for heir in (change["fact_id"], change["turn_id"]) if heir}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _told(how: str, texts: Iterable[str]) -> list[str]:
    said = list(texts)
    more = f" and {len(said) - _MOST_TOLD} more" if len(said) > _MOST_TOLD else ""
    return [f"{how}: {'; '.join(said[:_MOST_TOLD])}{more}"] if said else []
