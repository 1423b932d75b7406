"""Options by name: one setting on the command line, and the named ingredients that an ablation takes away."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.stores.errors import InvalidInput

__all__ = ["INGREDIENTS", "MEANING_ONLY", "with_settings"]

# What the other signals add is taken away, so that the vector stands alone.
MEANING_ONLY = (
    *("words=false", "late=false", "fusion.speaker=0", "fusion.session=0", "hop.seeds=0", "collapse_alike=false"),
)

# Name -> the settings that take one ingredient away, or put its usual rival in its place.
INGREDIENTS: Mapping[str, tuple[str, ...]] = {
    "without words": ("words=false",),
    "without meaning": ("meaning=false",),
    "without the date": ("column_weights=1,0.5,0.3,0,2",),
    "without the neighbours": ("column_weights=1,0,0,1,2",),
    "without the title": ("column_weights=1,0.5,0.3,1,0",),
    "without the speaker": ("fusion.speaker=0",),
    "without the session": ("fusion.session=0",),
    "without late interaction": ("late=false",),
    "without the hop": ("hop.seeds=0",),
    "the hop over names in any number of items": ("hop.most=1000000",),
    "the hop, whatever the receiver covers": ("hop.base_gain=1", "hop.cover_gain=0", "hop.late_base_gain=1"),
    "without collapsing what is alike": ("collapse_alike=false",),
    "words and meaning alone": (
        *("late=false", "column_weights=1,0,0,0,0", "fusion.speaker=0", "fusion.session=0", "hop.seeds=0"),
    ),
    "rank fusion, k=10": ("fusion.method=rrf", "fusion.rank_damping=10"),
    "rank fusion, k=60": ("fusion.method=rrf", "fusion.rank_damping=60"),
    "50 candidates a leg": ("pool=50",),
    "100 candidates a leg": ("pool=100",),
}


def with_settings(options: MemoryOptions, settings: Iterable[str]) -> MemoryOptions:
    """Return the options with each "name=value" applied; names without a step belong to `retrieve`.

    "fusion.session=0" and "gate.floor=0.3" are such settings; a tuple is given as "1,0.5,0.3,1,2".
    Raises InvalidInput with the names there are.
    """
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InvalidInput(f"{setting!r} must have the form name=value, for example fusion.session=0.")
        path = name.strip().split(".")
        steps = {field.name for field in fields(MemoryOptions)}
        options = _changed(options, path if path[0] in steps else ["retrieve", *path], value.strip(), setting)
    return options


def _changed(options: Any, path: list[str], value: str, setting: str) -> Any:
    names = [field.name for field in fields(options)]
    if path[0] not in names:
        raise InvalidInput(f"{setting!r}: there is no {path[0]!r} here; there are {', '.join(names)}.")
    current = getattr(options, path[0])
    if is_dataclass(current) == (len(path) == 1):
        raise InvalidInput(f"{setting!r} must name one value, for example fusion.session=0.")
    new = _changed(current, path[1:], value, setting) if len(path) > 1 else _read(value, current, setting)
    return replace(options, **{path[0]: new})


def _read(value: str, current: Any, setting: str) -> Any:
    """Return the value in the type of the present one."""
    try:
        if isinstance(current, bool):
            return {"true": True, "false": False}[value.lower()]
        if isinstance(current, tuple):
            return tuple(_read(part.strip(), current[0] if current else "", setting) for part in value.split(","))
        if isinstance(current, int | float):
            return type(current)(json.loads(value))
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidInput(f"{setting!r}: the present value is {current!r}; give one of its kind.") from error
    return value
