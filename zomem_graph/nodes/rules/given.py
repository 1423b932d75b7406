"""What a caller gives, checked by its kind: the error names the argument and says what it must be."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from typing import Any

from zomem_graph.stores.errors import InvalidInput

__all__ = ["callback", "flag", "name_of", "named_strings", "names", "plain_metadata", "strings_in", "text", "whole"]

_LONGEST_NAME = 200
_DEEPEST = 50


def text(name: str, value: Any) -> str:
    """Return a text, blank or not; raise InvalidInput for anything else."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}.")
    return value


def whole(name: str, value: Any) -> int:
    """Return a whole number; raise InvalidInput for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number, not {value!r:.40}.")
    return value


def flag(name: str, value: Any) -> bool:
    """Return True or False; raise InvalidInput for anything else."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True or False, not {value!r:.40}.")
    return value


def name_of(name: str, value: Any) -> str:
    """Return a short text that is not blank; raise InvalidInput for anything else."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_NAME:
        raise InvalidInput(f"{name} must be a text of 1 to {_LONGEST_NAME} characters, not {value!r:.80}.")
    return value


def names(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts; raise InvalidInput for one text alone and for anything else."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        given = tuple(value)
        if all(isinstance(one, str) for one in given):
            return given
    raise InvalidInput(f'{name} must be a list of names, such as ["Lyon", "office"], not {value!r:.80}.')


def callback(name: str, value: Any) -> None:
    """Raise InvalidInput for what is given to be called and cannot be."""
    if value is not None and not callable(value):
        raise InvalidInput(f"{name} must be a function, not {value!r:.40}.")


def plain_metadata(name: str, value: Any) -> dict[str, Any]:
    """Return a copy of metadata as it is kept: keys and what JSON has no form for as text, times in ISO form.

    Raises InvalidInput for what is no mapping, and for data that is nested too deep or holds itself.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a dict, not {type(value).__name__}.")
    return {str(key): _plain(part, f"{name}.{key}", 1) for key, part in value.items()}


def _plain(value: Any, place: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise InvalidInput(f"{place:.200} is nested more than {_DEEPEST} deep or holds itself.")
    if isinstance(value, Mapping):
        return {str(key): _plain(part, f"{place}.{key}", depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part, f"{place}[{number}]", depth + 1) for number, part in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value - value == 0:  # neither infinite nor NaN, which JSON has no form for
        return float(value)
    return value.isoformat() if isinstance(value, date | time) else str(value)


def strings_in(value: Any) -> Iterator[str]:
    """Yield every text in plain data, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from strings_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings_in(part)


def named_strings(value: Any, name: str = "") -> Iterator[str]:
    """Yield every text in plain data behind its name, as a line of a settings file: "password = hunter2"."""
    if isinstance(value, str):
        yield f"{name} = {value}" if name else value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from named_strings(part, key)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from named_strings(part, name)
