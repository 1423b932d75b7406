"""Who asks: persona, thread, executor and time zone of one call."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from zomem_graph.nodes.rules.given import flag, if_given, name_of, shown
from zomem_graph.stores.errors import InvalidInput

__all__ = ["NOBODY", "SHARED", "Scope", "kept_name", "scope_from", "scope_given", "scope_of_run", "zone_given"]

SHARED = "shared"
NOBODY = "no persona given"
"""What `degraded` says where the shared persona stepped in."""
_PERSONA_NAMES = ("persona", "user_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Who asks. `persona` owns what is stored; `thread` is the conversation; `time_zone` an IANA name.

    `named` is False when neither persona nor user_id was given and the default stepped in.
    """

    persona: str = SHARED
    thread: str | None = None
    executor: str | None = None
    time_zone: str = "UTC"
    named: bool = True

    def __post_init__(self) -> None:
        name_of("persona", self.persona)
        if_given(name_of, "thread", self.thread)
        if_given(name_of, "executor", self.executor)
        object.__setattr__(self, "named", flag("named", self.named))
        zone_given(self.time_zone)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which calendar words are meant."""
        return ZoneInfo(self.time_zone)


def zone_given(name: Any) -> ZoneInfo:
    """Return the time zone of a name; raise InvalidInput for one that is not known."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, TypeError) as error:
        raise InvalidInput(f"time_zone {shown(name)} is not known. Use an IANA name such as Europe/Paris.") from error


def scope_given(scope: Scope | None) -> Scope:
    """Return the scope of a call, the shared one for none; raise InvalidInput for what is no Scope."""
    if scope is not None and not isinstance(scope, Scope):
        raise InvalidInput(f'scope must be a Scope, such as Scope(persona="ana"), not {shown(scope)}.')
    return scope or Scope()


def scope_of_run(
    context: Any, configurable: Mapping[str, Any] | None, state: Mapping[str, Any], *, strict: bool
) -> Scope:
    """Return the scope of a running graph: who the run names, else whose thread it is by its state.

    Raises InvalidInput when a strict memory is asked by nobody.
    """
    scope = scope_from(context, configurable or {}, Scope())
    kept = state.get("memory_persona")
    if kept is not None and not isinstance(kept, str):
        raise InvalidInput(
            f"'memory_persona' of the graph's state holds {type(kept).__name__}, not text. Leave memory's keys out "
            "of your state, or take them from MemoryState."
        )
    if not scope.named and kept:
        scope = replace(scope, persona=kept, named=True)
    if strict and not scope.named:
        raise InvalidInput(
            "This memory was opened with strict_scope=True and the run names no persona. "
            'Pass context={"persona": …} or config={"configurable": {"persona": …}}.'
        )
    return scope


def kept_name(scope: Scope) -> dict[str, str]:
    """Return what a thread's state keeps of who asked, so that a later run that names nobody is known."""
    return {"memory_persona": scope.persona} if scope.named else {}


def scope_from(context: Any, configurable: Mapping[str, Any], default: Scope) -> Scope:
    """Return the scope of a running graph: its context first, then config["configurable"], then the default.

    Context may be an object or a mapping; `persona` is looked for before `user_id`. Other shapes are taken as
    naming nobody, so the caller can say so. Raises InvalidInput for a name that is no text; ids may be numbers.
    """
    if isinstance(context, Scope) and context.persona == SHARED:
        context = {name: getattr(context, name) for name in ("thread", "executor", "time_zone")}  # it names nobody
    persona = _first(context, configurable, _PERSONA_NAMES)
    thread = _first(context, configurable, ("thread", "thread_id"))
    executor = _first(context, configurable, ("executor",))
    time_zone = _first(context, configurable, ("time_zone",))
    return replace(
        default,
        persona=persona or default.persona,
        named=persona is not None,
        thread=thread or default.thread,
        executor=executor or default.executor,
        time_zone=time_zone or default.time_zone,
    )


def _first(context: Any, configurable: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for source in (context, configurable):
        for name in names:
            value = source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
            if value is not None:
                return _named(name, value)
    return None


def _named(name: str, value: Any) -> str:
    """Return what a run calls somebody or something, as text; raise InvalidInput for what is no name."""
    if isinstance(value, str):
        return name_of(name, str.__str__(value))  # an enum of texts is its text
    if name.endswith("id") and isinstance(value, Integral | UUID) and not isinstance(value, bool):
        return str(value)
    kinds = "text, a whole number or a UUID" if name.endswith("id") else "text"
    raise InvalidInput(f"{name} of the run must be {kinds}, not {shown(value)}.")
