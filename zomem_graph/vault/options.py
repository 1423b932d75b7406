"""How a vault behaves (spec F127): one frozen dataclass, checked as a whole, read from flags, variables and YAML.

The order is flag, then ZOMEM_VAULT_NAME, then `memory_oracle` in the settings file, then the default. Only the
path has no plain default: without one it is /data/memory where that can be written.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from zomem_graph.nodes.rules.given import name_of, shown, text
from zomem_graph.nodes.rules.option_kinds import Options, bounded
from zomem_graph.nodes.scope import zone_given
from zomem_graph.settings import vault_settings
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.paths import path_given

__all__ = ["INTERVALS", "USUAL_PATH", "VaultOptions", "known_option", "read_options"]

USUAL_PATH: Final = Path("/data/memory")
INTERVALS: Final[Mapping[str, int]] = {"daily": 1, "weekly": 7, "monthly": 31}
"""How many days may pass between two quality probes, by `canary_check_interval`."""

_MOST_DAYS: Final = 700_000  # as far as a calendar goes back


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultOptions(Options):
    """Every figure of a vault; the defaults are spec F127's.

    `home` is where the database lies, None for the usual home. `embedding_model` is "auto" (a local one that is
    installed), "none", a name such as multilingual-e5-small, or a folder with model.onnx and tokenizer.json.
    """

    data_path: Path
    home: Path | None = None
    persona: str = "shared"
    time_zone: str = "UTC"
    half_life_days: float = bounded(30.0, above=0)
    recall_boost: float = bounded(0.3, above=0, most=1)
    search_threshold: float = 0.15
    prune_threshold: float = 0.05
    max_facts: int = bounded(10_000, least=1)
    session_retention_days: int = bounded(30, least=1, most=_MOST_DAYS)
    daily_retention_days: int = bounded(365, least=1, most=_MOST_DAYS)
    backup_retention_days: int = bounded(7, least=1, most=_MOST_DAYS)
    memory_md_max_lines: int = bounded(200, least=10)
    canary_check_interval: Literal["daily", "weekly", "monthly"] = "weekly"
    embedding_model: str = "auto"
    embedding_device: Literal["cpu", "gpu"] = "cpu"
    lease_minutes: int = bounded(60, least=1, most=1_000_000_000)

    def __post_init__(self) -> None:
        super(VaultOptions, self).__post_init__()  # with slots a bare super() speaks of another class
        if not 0 < self.prune_threshold < self.search_threshold < 1:
            raise InvalidInput(
                "0 < prune_threshold < search_threshold < 1 must hold, not "
                f"{self.prune_threshold} and {self.search_threshold}."
            )
        name_of("persona", self.persona)
        zone_given(self.time_zone)

    @classmethod
    def called(cls, name: str) -> str:
        """Return what an error calls a field: what flags, variables and lines of YAML are called too."""
        return name

    @property
    def zone(self) -> ZoneInfo:
        """The time zone that says where a day begins."""
        return ZoneInfo(self.time_zone)


def read_options(file: Path, *, usual_zone: str = "UTC", **given: Any) -> VaultOptions:
    """Return the options of flags (`given`; None counts as not given), environment, file and defaults.

    Raises InvalidInput that names what is wrong and where it was said.
    """
    for name in given:
        known_option(name)
    found = vault_settings(file, [one.name for one in fields(VaultOptions)])
    found |= {name: (value, "argument") for name, value in given.items() if value is not None}
    found.setdefault("time_zone", (text("usual_zone", usual_zone), "default"))
    if "data_path" not in found:
        found["data_path"] = (_usual_path(), "default")
    return VaultOptions(**{name: _typed(name, value, source) for name, (value, source) in found.items()})


def known_option(name: str, *, but: Collection[str] = ()) -> None:
    """Raise InvalidInput with what was perhaps meant unless a vault has an option of this name, other than `but`."""
    names = [one.name for one in fields(VaultOptions) if one.name not in but]
    if name not in names:
        near = get_close_matches(name, names, n=3) or names
        raise InvalidInput(f"A vault has no option {name!r:.60}. Did you mean {' or '.join(near)}?")


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
            raise InvalidInput(f"{name} ({source}) must be {wanted}, not {shown(value)}.") from error
    if not isinstance(value, str | Path) or not str(value).strip():
        raise InvalidInput(f"{name} ({source}) must be a text, not {shown(value)}.")
    return path_given(name, value, of="a folder") if name in ("data_path", "home") else str(value)
