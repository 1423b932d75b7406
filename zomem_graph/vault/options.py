"""How a vault behaves (spec F127): one frozen dataclass, checked as a whole, read from flags, variables and YAML.

The order is flag, then ZOMEM_VAULT_NAME, then `memory_oracle` in the settings file, then the default. Only the
path has no plain default: without one it is /data/memory where that can be written.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from zomem_graph.settings import vault_settings
from zomem_graph.stores.errors import InvalidInput

__all__ = ["INTERVALS", "USUAL_PATH", "VaultOptions", "read_options"]

USUAL_PATH: Final = Path("/data/memory")
INTERVALS: Final[Mapping[str, int]] = {"daily": 1, "weekly": 7, "monthly": 31}
"""How many days may pass between two quality probes, by `canary_check_interval`."""

_FEWEST_LINES: Final = 10
_WHOLE: Final = (
    ("max_facts", 1), ("session_retention_days", 1), ("daily_retention_days", 1), ("backup_retention_days", 1),
    ("memory_md_max_lines", _FEWEST_LINES), ("lease_minutes", 1),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultOptions:
    """Every figure of a vault; the defaults are spec F127's.

    `home` is where the database lies, None for the usual home. `embedding_model` is "auto" (a local one that is
    installed), "none", a name such as multilingual-e5-small, or a folder with model.onnx and tokenizer.json.
    """

    data_path: Path
    home: Path | None = None
    persona: str = "shared"
    time_zone: str = "UTC"
    half_life_days: float = 30.0
    recall_boost: float = 0.3
    search_threshold: float = 0.15
    prune_threshold: float = 0.05
    max_facts: int = 10_000
    session_retention_days: int = 30
    daily_retention_days: int = 365
    backup_retention_days: int = 7
    memory_md_max_lines: int = 200
    canary_check_interval: str = "weekly"
    embedding_model: str = "auto"
    embedding_device: str = "cpu"
    lease_minutes: int = 60

    def __post_init__(self) -> None:
        for name in ("half_life_days", "recall_boost", "search_threshold", "prune_threshold"):
            _number(name, getattr(self, name))
        for name, least in _WHOLE:
            _whole(name, getattr(self, name), least)
        if self.half_life_days <= 0:
            raise InvalidInput(f"half_life_days must be more than 0, not {self.half_life_days}.")
        if not 0 < self.recall_boost <= 1:
            raise InvalidInput(f"recall_boost must be more than 0 and at most 1, not {self.recall_boost}.")
        if not 0 < self.prune_threshold < self.search_threshold < 1:
            raise InvalidInput(
                "0 < prune_threshold < search_threshold < 1 must hold, not "
                f"{self.prune_threshold} and {self.search_threshold}."
            )
        _one_of("canary_check_interval", self.canary_check_interval, INTERVALS)
        _one_of("embedding_device", self.embedding_device, ("cpu", "gpu"))
        try:
            ZoneInfo(self.time_zone)
        except (KeyError, ValueError, OSError, TypeError) as error:
            raise InvalidInput(
                f"time_zone {self.time_zone!r} is not known. Use a name such as Europe/Paris."
            ) from error

    @property
    def zone(self) -> ZoneInfo:
        """The time zone that says where a day begins."""
        return ZoneInfo(self.time_zone)


def read_options(file: Path, *, usual_zone: str = "UTC", **given: Any) -> VaultOptions:
    """Return the options of flags (`given`; None counts as not given), environment, file and defaults.

    Raises InvalidInput that names what is wrong and where it was said.
    """
    names = [one.name for one in fields(VaultOptions)]
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=3) or names
            raise InvalidInput(f"A vault has no option {name!r}. Did you mean {', '.join(near)}?")
    found = vault_settings(file, names)
    found |= {name: (value, "argument") for name, value in given.items() if value is not None}
    found.setdefault("time_zone", (usual_zone, "default"))
    if "data_path" not in found:
        found["data_path"] = (_usual_path(), "default")
    return VaultOptions(**{name: _typed(name, value, source) for name, (value, source) in found.items()})


def _usual_path() -> Path:
    """Return /data/memory when it can be written; raise InvalidInput with the cure otherwise."""
    nearest = next(folder for folder in (USUAL_PATH, *USUAL_PATH.parents) if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK):
        return USUAL_PATH
    raise InvalidInput(
        f"No folder was given for the vault and {USUAL_PATH} cannot be written. Pass --data-path DIR, "
        "or set data_path under memory_oracle in zomem.yaml."
    )


def _typed(name: str, value: object, source: str) -> Any:
    """Return a value in the type of its field; texts of variables and flags are read as numbers where one is due."""
    kind = VaultOptions.__annotations__[name]
    wanted = {float: "a number", int: "a whole number"}.get(kind)
    if wanted is not None:
        try:
            if isinstance(value, bool):
                raise ValueError
            number = float(str(value))
            if kind is int and number != int(number):
                raise ValueError
            return kind(number)
        except (ValueError, OverflowError) as error:
            raise InvalidInput(f"{name} ({source}) must be {wanted}, not {value!r:.40}.") from error
    if not isinstance(value, str | Path) or not str(value).strip():
        raise InvalidInput(f"{name} ({source}) must be a text, not {value!r:.40}.")
    return Path(value).expanduser() if name in ("data_path", "home") else str(value)


def _number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise InvalidInput(f"{name} must be a number, not {value!r:.40}.")


def _whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, not {value!r:.40}.")


def _one_of(name: str, value: object, allowed: Any) -> None:
    if value not in allowed:
        raise InvalidInput(f"{name} must be {' or '.join(allowed)}, not {value!r:.40}.")
