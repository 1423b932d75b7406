"""The one place that reads the environment: arguments, variables and HOME/zomem.yaml become frozen settings.

Text is taken as it is. Switches, numbers and choices are checked by pydantic-settings, which is
imported only when one of them is set: it costs about a sixth of the time the command line has.
"""

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from zomem_graph.nodes.rules.given import shown
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.paths import path_given

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

__all__ = ["SETTINGS_FILE", "VARIABLES", "RoutingStrategy", "Settings", "vault_settings"]

SETTINGS_FILE: Final = "zomem.yaml"  # in the home

RoutingStrategy = Literal["fast", "reliable", "balanced", "explore"]

# Setting -> the variables that set it, the first one wins (spec F139, design §8).
VARIABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "home": ("ZOMEM_HOME",),
        "persona": ("ZOMEM_PERSONA",),
        "memory_db": ("ZO_MEMORY_DB",),
        "database_url": ("ZOMEM_DATABASE_URL",),
        "chroma_url": ("ZOMEM_CHROMA_URL",),
        "checkpoint_dir": ("ZO_CHECKPOINT_DIR",),
        "eval_data": ("ZOMEM_EVAL_DATA",),
        "openai_api_key": ("OPENAI_API_KEY", "ZO_OPENAI_API_KEY"),
        "openai_base_url": ("OPENAI_BASE_URL",),
        "model_embedding": ("ZO_MODEL_EMBEDDING",),
        "model_gate": ("ZO_MODEL_GATE",),
        "model_hyde": ("ZO_MODEL_HYDE",),
        "model_extraction": ("ZO_MODEL_EXTRACTION",),
        "model_summarization": ("ZO_MODEL_SUMMARIZATION",),
        "model_briefing": ("ZO_MODEL_BRIEFING",),
        "model_capture": ("ZO_CAPTURE_MODEL", "ZO_MODEL_CAPTURE"),
        "model_capture_fallback": ("ZO_CAPTURE_FALLBACK_MODEL",),
        "model_conversation": ("ZO_MODEL_CONVERSATION",),
        "model_evolution": ("ZO_EVOLUTION_MODEL",),
        "hyde_default": ("ZO_HYDE_DEFAULT",),
        "routing_strategy": ("SWARM_ROUTING_STRATEGY",),
        "mcp_token": ("ZO_MEMORY_MCP_TOKEN",),
        "port": ("PORT",),
        "capture_roots": ("ZO_CAPTURE_ROOTS",),
        "report_smtp": ("ZO_REPORT_SMTP",),
        "report_from": ("ZO_REPORT_FROM",),
        "report_to": ("ZO_REPORT_TO",),
    }
)

# The section of the settings file that is the vault's (spec F127); ZOMEM_VAULT_NAME sets one of its names.
_VAULT_SECTION, _VAULT_PREFIX = "memory_oracle", "ZOMEM_VAULT_"

_PATHS = frozenset({"memory_db", "checkpoint_dir", "eval_data"})
_SECRETS = frozenset({"openai_api_key", "mcp_token"})
_URLS = frozenset({"database_url", "chroma_url", "openai_base_url", "report_smtp"})
_ALLOWED = MappingProxyType(
    {
        "hyde_default": "true or false",
        "port": "a whole number from 1 to 65535",
        "routing_strategy": "fast, reliable, balanced or explore",
    }
)
_PASSWORD = re.compile(r"(?<=://)[^/?#\s]*(?=@)|(?<=[?&])(password|token|key|api_key)=[^&#\s]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """Where memory lives and which models it asks; never shows a secret when printed.

    Model settings are "provider:model" texts, None where nothing was chosen. `threads` is how many
    threads a local embedder may use, None for what OMP_NUM_THREADS says.
    """

    home: Path
    persona: str | None = None
    memory_db: Path | None = None
    database_url: str | None = None
    chroma_url: str | None = None
    checkpoint_dir: Path | None = None
    eval_data: Path | None = None
    openai_api_key: str | None = None
    openai_base_url: str | None = None
    model_embedding: str | None = None
    model_gate: str | None = None
    model_hyde: str | None = None
    model_extraction: str | None = None
    model_summarization: str | None = None
    model_briefing: str | None = None
    model_capture: str | None = None
    model_capture_fallback: str | None = None
    model_conversation: str | None = None
    model_evolution: str | None = None
    hyde_default: bool = True
    routing_strategy: RoutingStrategy = "balanced"
    mcp_token: str | None = None
    port: int = 48400
    capture_roots: str | None = None
    report_smtp: str | None = None
    report_from: str | None = None
    report_to: str | None = None
    threads: int | None = 1
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def load(cls, home: str | Path | None = None, **overrides: object) -> Self:
        """Read argument, environment, HOME/zomem.yaml and default, in this order; raises InvalidInput.

        An empty variable and an override that is None count as not given.
        """
        folder, source = _home(home)
        found = _found(folder, overrides)
        values = {name: value for name, (value, _) in found.items()}
        sources = dict.fromkeys(VARIABLES, "default") | {name: where for name, (_, where) in found.items()}
        return cls(
            home=folder,
            threads=_threads(),
            sources=MappingProxyType(sources | {"home": source}),
            **_checked(values, sources),
        )

    @property
    def database_file(self) -> Path:
        """The SQLite file that is used when no database URL is set."""
        return self.memory_db or self.home / "zomem.db"

    @property
    def checkpoint_folder(self) -> Path:
        """Where checkpoints are written."""
        return self.checkpoint_dir or self.home / "checkpoints"

    @property
    def capture_folders(self) -> tuple[Path, ...]:
        """Where workspaces are looked for: folders, divided as PATH is."""
        return tuple(Path(each).expanduser() for each in (self.capture_roots or "").split(os.pathsep) if each.strip())

    @property
    def model_folders(self) -> tuple[Path, ...]:
        """Where a model file may lie: our own folder, then the one that Chroma downloads to."""
        return self.home / "models", Path.home() / ".cache" / "chroma" / "onnx_models"

    def model_for(self, workload: str) -> str | None:
        """Return the model chosen for a workload ("gate", "hyde", …), None when none was chosen."""
        name = f"model_{workload}"
        return getattr(self, name) if name in VARIABLES else None

    def masked(self) -> dict[str, object]:
        """Return every setting by name, secrets and passwords in addresses replaced by "***"."""
        return {name: _shown(name, getattr(self, name)) for name in VARIABLES}

    def __repr__(self) -> str:
        given = {name: value for name, value in self.masked().items() if self.sources.get(name) != "default"}
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _home(argument: str | Path | None) -> tuple[Path, str]:
    if argument is not None:
        return path_given("home", argument, of="a folder"), "argument"
    variable = VARIABLES["home"][0]
    if named := os.environ.get(variable):
        return path_given(variable, named, of="a folder"), f"environment {variable}"
    return Path.home() / ".zomem", "default"


def _found(home: Path, overrides: Mapping[str, object]) -> dict[str, tuple[object, str]]:
    """Return what was given for each setting but home, and where it was given."""
    _refuse_unknown(overrides, "argument")
    given = {name: value for name, value in overrides.items() if value is not None}
    in_file = dict(_from_file(home / SETTINGS_FILE))
    found: dict[str, tuple[object, str]] = {}
    for name, variables in VARIABLES.items():
        variable = next((each for each in variables if os.environ.get(each)), None)
        if name == "home":
            continue
        if name in given:
            found[name] = given[name], "argument"
        elif variable is not None:
            found[name] = os.environ[variable].strip(), f"environment {variable}"
        elif in_file.get(name) is not None:
            found[name] = in_file[name], "zomem.yaml"
    return found


def vault_settings(file: Path, names: Iterable[str]) -> dict[str, tuple[object, str]]:
    """Return what environment or the section `memory_oracle` of a file say of the vault, each with its source.

    An empty variable counts as not given. Raises InvalidInput for a bad file or a name not in `names`.
    """
    known = list(names)
    section = _content(file).get(_VAULT_SECTION) or {}
    if not isinstance(section, dict):
        raise InvalidInput(f"{file}: {_VAULT_SECTION} must hold lines of the form `name: value`.")
    for name in section:
        if name not in known:
            near = get_close_matches(str(name), known, n=3) or known
            raise InvalidInput(f"{file}: {_VAULT_SECTION} has no {name!r}. Did you mean {', '.join(near)}?")
    found: dict[str, tuple[object, str]] = {
        name: (value, f"{file} ({_VAULT_SECTION}.{name})") for name, value in section.items() if value is not None
    }
    _warn_of_unknown_variables(known)
    for name in known:
        variable = f"{_VAULT_PREFIX}{name.upper()}"
        if value := os.environ.get(variable):
            found[name] = value.strip(), variable
    return found


def _warn_of_unknown_variables(known: Sequence[str]) -> None:
    """Warn of variables that begin as the vault's do and set nothing."""
    variables = [f"{_VAULT_PREFIX}{name.upper()}" for name in known]
    for name in os.environ:
        if name.startswith(_VAULT_PREFIX) and name not in variables:
            near = get_close_matches(name, variables, n=2)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            warnings.warn(f"The variable {name} sets nothing of a vault.{meant}", UserWarning, stacklevel=3)


def _from_file(path: Path) -> Iterator[tuple[str, object]]:
    content = {name: value for name, value in _content(path).items() if name != _VAULT_SECTION}
    _refuse_unknown(content, str(path))
    yield from content.items()


def _content(path: Path) -> dict[Any, Any]:
    if not path.is_file():
        return {}
    import yaml

    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}. Correct the file or move it away.") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InvalidInput(f"{path} must hold lines of the form `name: value`.")
    return content


def _refuse_unknown(names: Mapping[Any, object], where: str) -> None:
    known = [name for name in VARIABLES if name != "home"]
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), known, n=3) or known
            raise InvalidInput(f"{where}: there is no setting {name!r}. Did you mean {', '.join(near)}?")


def _checked(values: Mapping[str, object], sources: Mapping[str, str]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for name in values.keys() - _ALLOWED.keys():
        value = values[name]
        if name in _PATHS and isinstance(value, str | Path):
            checked[name] = path_given(name, value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            checked[name] = str(value)
        else:
            raise _refusal(name, value, source=sources[name], allowed="a text")
    typed = {name: value for name, value in values.items() if name in _ALLOWED}
    return checked | (_more_than_text(typed, sources) if typed else {})


def _more_than_text(values: Mapping[str, object], sources: Mapping[str, str]) -> dict[str, Any]:
    from pydantic import ValidationError

    try:
        schema = _schema().model_validate({VARIABLES[name][0]: value for name, value in values.items()})
    except ValidationError as error:
        wrong = error.errors()[0]["loc"][0]
        name = next(name for name in values if wrong == VARIABLES[name][0])
        raise _refusal(name, values[name], source=sources[name], allowed=_ALLOWED[name]) from error
    return {name: getattr(schema, name) for name in values}


@cache
def _schema() -> "type[BaseSettings]":
    from pydantic import Field
    from pydantic_settings import BaseSettings, SettingsConfigDict

    def read(name: str) -> str:
        return VARIABLES[name][0]

    class Schema(BaseSettings):
        model_config = SettingsConfigDict(env_ignore_empty=True)

        hyde_default: bool = Field(default=True, validation_alias=read("hyde_default"))
        port: int = Field(default=48400, ge=1, le=65535, validation_alias=read("port"))
        routing_strategy: RoutingStrategy = Field(default="balanced", validation_alias=read("routing_strategy"))

    return Schema


def _refusal(name: str, value: object, *, source: str, allowed: str) -> InvalidInput:
    told = "***" if name in _SECRETS else shown(_shown(name, value) if isinstance(value, str | Path) else value)
    variable = VARIABLES[name][0]
    named = source.removeprefix("environment ") if source.startswith("environment ") else f"{name} ({source})"
    hint = "" if variable == named else f" Its variable is {variable}."
    return InvalidInput(f"{named} is {told}; it must be {allowed}.{hint}")


def _shown(name: str, value: object) -> object:
    if value is None:
        return None
    if name in _SECRETS:
        return "***"
    if name in _URLS:
        return _PASSWORD.sub(_hidden, str(value))
    return str(value) if isinstance(value, Path) else value


def _hidden(match: re.Match[str]) -> str:
    if match[1]:
        return f"{match[1]}=***"
    user, colon, _ = match[0].partition(":")
    return f"{user}:***" if colon else "***"


def _threads() -> int | None:
    # OpenMP's threads spin while they wait: on a busy machine with two cores a question took 1,280 ms
    # with two of them and 70 ms with one. Who sets OpenMP's own variable is obeyed.
    return None if os.environ.get("OMP_NUM_THREADS") else 1
