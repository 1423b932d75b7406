"""What every dataclass of options is: checked field by field when it is made, by the types it names."""

from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

from zomem_graph.nodes.rules.given import choice, flag, number, of_kind, shown, text, whole
from zomem_graph.stores.errors import InvalidInput

__all__ = ["LONGEST", "Options", "bounded", "options_given", "span"]

T = TypeVar("T")

LONGEST: Final = MappingProxyType({"seconds": 4e6, "minutes": 1e8, "hours": 1e7, "days": 7e5})
"""As far as systems can wait and calendars go back."""


def span(usual: float, unit: Literal["seconds", "minutes", "hours", "days"]) -> Any:
    """Return the field of a length of time."""
    return bounded(usual, least=0, most=LONGEST[unit])


def bounded(usual: float | None, **bounds: float) -> Any:
    """Return the field of a number with `least`, `most` or `above`. Whole numbers without are counts, from 0 on."""
    return field(default=usual, metadata=bounds)


class Options:
    """A base for frozen dataclasses of options."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Raise InvalidInput for the first field whose value is not of its kind."""
        for one in fields(self):  # type: ignore[arg-type]  # every class made of it is a dataclass
            value = _checked(self.called(one.name), getattr(self, one.name), one.type, one.metadata)
            object.__setattr__(self, one.name, value)  # a number of NumPy's becomes one of Python's

    @classmethod
    def called(cls, name: str) -> str:
        """Return what an error calls a field."""
        return f"{cls.__name__}.{name}"


def options_given(value: T | None, usual: T) -> T:
    """Return options that were given, or the usual ones for None; raise InvalidInput for anything else."""
    return usual if value is None else of_kind("options", value, type(usual))


def _checked(name: str, value: Any, kind: Any, bounds: Mapping[str, Any]) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        inner = next(part for part in parts if part is not type(None))
        return None if value is None else _checked(name, value, inner, bounds)
    if origin is Literal:
        return choice(name, value, parts)
    if origin is tuple:
        return _checked_tuple(name, value, parts)
    if kind is bool:
        return flag(name, value)
    if kind is int:
        return whole(name, value, **(bounds or {"least": 0}))
    if kind is float:
        return number(name, value, **bounds)
    return text(name, value) if kind is str else of_kind(name, value, kind)


def _checked_tuple(name: str, value: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    same = parts[-1] is Ellipsis
    if not isinstance(value, tuple) or not (same or len(value) == len(parts)):
        wanted = "a tuple" if same else f"a tuple of {len(parts)} values"
        raise InvalidInput(f"{name} must be {wanted}, not {shown(value)}.")
    return tuple(
        _checked(f"{name}[{place}]", part, parts[0] if same else parts[place], {}) for place, part in enumerate(value)
    )
