"""What a document is, says, and how a filter reads it: JSON values of a key-value store."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any, Final

from zomem_graph.stores.errors import InvalidInput, InvalidOperation

__all__ = ["checked_filter", "matches", "plain_json", "said_in"]

_ORDER: Final = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_OPERATORS: Final = frozenset({"$eq", "$ne", *_ORDER})
_DEEPEST: Final = 100


def plain_json(value: Any, name: str = "value") -> dict[str, Any]:
    """Return a copy of a value as JSON keeps it; raise InvalidInput that names the first part it cannot keep."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a dict, not {type(value).__name__}.")
    copied: dict[str, Any] = _plain(value, name, 0)
    return copied


def _plain(value: Any, place: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise InvalidInput(f"{place:.200} is nested more than {_DEEPEST} deep or holds itself.")
    if value is None or type(value) in (str, bool, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{place:.200} is {value}, which JSON cannot keep.")
        return float(value)
    if isinstance(value, str | int):
        return str(value) if isinstance(value, str) else int(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInput(f"{place:.200} has the key {key!r:.80}; keys in JSON are text.")
        return {str(key): _plain(part, f"{place}.{key}", depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, f"{place}[{number}]", depth + 1) for number, part in enumerate(value)]
    raise InvalidInput(f"{place:.200} is of type {type(value).__name__}, which JSON cannot keep. Pass plain data.")


def said_in(value: Any, name: str = "") -> Iterator[str]:
    """Yield what a value says, line by line: its texts as they are, its numbers with their names."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from said_in(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from said_in(part, name)
    elif value is not None:
        yield f"{name}: {json.dumps(value)}" if name else json.dumps(value)


def checked_filter(wanted: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return a filter; raise InvalidOperation for what is none and for an operator that is not known."""
    if wanted is not None and not isinstance(wanted, Mapping):
        raise InvalidOperation(f"filter must be a dict, not {type(wanted).__name__}.")
    for condition in (wanted or {}).values():
        _check(condition, 0)
    return wanted or {}


def _check(condition: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise InvalidOperation(f"filter is nested more than {_DEEPEST} deep or holds itself.")
    if not isinstance(condition, Mapping):
        return
    if _is_operation(condition):
        unknown = sorted(str(name) for name in condition if name not in _OPERATORS)
        if unknown:
            raise InvalidOperation(
                f"Unsupported operator: {', '.join(unknown)}. Use {', '.join(sorted(_OPERATORS))}."
            )
        return
    for part in condition.values():
        _check(part, depth + 1)


def _is_operation(condition: Mapping[str, Any]) -> bool:
    return any(str(name).startswith("$") for name in condition)


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a document's value fulfils a filter; what cannot be compared does not."""
    return all(_fulfils(value.get(name), condition) for name, condition in wanted.items())


def _fulfils(held: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if _is_operation(condition):
            return all(_compares(held, name, operand) for name, operand in condition.items())
        return isinstance(held, Mapping) and matches(held, condition)
    if isinstance(condition, list | tuple):
        return (
            isinstance(held, Sequence)
            and not isinstance(held, str)
            and len(held) == len(condition)
            and all(_fulfils(part, other) for part, other in zip(held, condition, strict=True))
        )
    return bool(held == condition)


def _compares(held: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(held == operand)
    if name == "$ne":
        return bool(held != operand)
    alike = (isinstance(held, str) and isinstance(operand, str)) or (_is_number(held) and _is_number(operand))
    return alike and bool(_ORDER[name](held, operand))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
