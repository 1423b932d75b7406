"""What a caller gives, checked by its kind: the error names the argument and says what it must be."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from numbers import Integral, Rational, Real
from operator import index
from reprlib import Repr
from typing import Any, TypeVar

from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.stores.errors import InvalidInput

__all__ = [
    "LARGEST_METADATA",
    "LONGEST_SESSION",
    "bounded_metadata",
    "callback",
    "checked_name",
    "choice",
    "flag",
    "if_given",
    "in_order",
    "is_large",
    "is_number",
    "json_bytes",
    "listed",
    "name_of",
    "named_strings",
    "names",
    "number",
    "of_kind",
    "plain_metadata",
    "shown",
    "strings_in",
    "text",
    "whole",
]

T = TypeVar("T")

LARGEST_METADATA = 100_000
"""Bytes of metadata as JSON that are kept of one thing."""
LONGEST_SESSION = 500
"""Characters of the name of a session."""

_LONGEST_NAME = 200
_DEEPEST = 50
_LARGEST = 2**63 - 1  # what databases count to
_READ = 2_000  # characters of a text that an error may show the beginning of


class _Short(Repr):
    """A short form of a value, in which no text shows a secret: half of one would not be known any more."""

    def repr_str(self, x: str, level: int) -> str:
        return super().repr_str(redact(x)[0] if len(x) <= _READ else f"{redact(x[:_READ])[0][:_SHOWN]}…", level)


_SHOWN = 60
_SHORT = _Short()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother, _SHORT.maxlong = 3, 80, 80, 40
_FARTHEST = 1.7e308  # what is beyond is no number to reckon with: infinite, NaN, a whole number past all bounds


def shown(value: Any) -> str:
    """Return what somebody gave as an error shows it: short, however large, deep or odd it is, without secrets."""
    return redact(_SHORT.repr(value))[0]


def if_given(check: Callable[..., T], name: str, value: Any, **bounds: Any) -> T | None:
    """Return None for None, and what the check says of anything else."""
    return None if value is None else check(name, value, **bounds)


def text(name: str, value: Any, *, most: int | None = None) -> str:
    """Return a text, blank or not, of at most so many characters; raise InvalidInput for anything else."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}.")
    if most is not None and len(value) > most:
        raise InvalidInput(f"{name} must be a text of at most {most:,} characters, not {len(value):,}.")
    return value


def whole(name: str, value: Any, *, least: int = -_LARGEST, most: int = _LARGEST) -> int:
    """Return a whole number within bounds; raise InvalidInput for anything else."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= index(value) <= most:
        raise InvalidInput(f"{name} must be a whole number{_bounds(value, least, most)}, not {shown(value)}.")
    return index(value)


def _bounds(value: Any, least: int, most: int) -> str:
    """Say which numbers will do; that there is a largest one only where it matters."""
    if most < _LARGEST or (isinstance(value, Integral) and index(value) > most):
        return f" from {least:,} to {most:,}"
    return f" from {least:,} on" if least > -_LARGEST else ""


def is_number(value: Any) -> bool:
    """Return whether something is a finite number: Python's, NumPy's or a Decimal; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return False
    try:
        return -_FARTHEST <= float(value) <= _FARTHEST
    except (OverflowError, ValueError):  # past all bounds, or a Decimal that signals
        return False


def number(
    name: str, value: Any, *, least: float | None = None, most: float | None = None, above: float | None = None
) -> float:
    """Return a finite number within bounds, `above` left out; raise InvalidInput for anything else."""
    if (
        is_number(value)
        and (least is None or float(value) >= least)
        and (most is None or float(value) <= most)
        and (above is None or float(value) > above)
    ):
        return float(value)
    if above is not None:
        bounds = f" above {above:,.12g}" + ("" if most is None else f" and of at most {most:,.12g}")
    else:
        bounds = "" if least is None else f" from {least:,.12g}" + (" on" if most is None else f" to {most:,.12g}")
    raise InvalidInput(f"{name} must be a number{bounds}, not {shown(value)}.")


def flag(name: str, value: Any) -> bool:
    """Return True or False; raise InvalidInput for anything else."""
    truth = _from_numpy(value)
    if not isinstance(truth, bool):
        raise InvalidInput(f"{name} must be True or False, not {shown(value)}.")
    return truth


def name_of(name: str, value: Any, *, most: int = _LONGEST_NAME) -> str:
    """Return a short text that is not blank; raise InvalidInput for anything else."""
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise InvalidInput(f"{name} must be a text of 1 to {most:,} characters, not {shown(value)}.")
    return value


def checked_name(what: str, name: Any) -> str:
    """Return the name of an executor or category, without blanks around; raise InvalidInput."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"{what} must be a name of 1 to {_LONGEST_NAME} characters, not {shown(name)}.")
    return name.strip()


def in_order(since: datetime | None, until: datetime | None) -> None:
    """Raise InvalidInput for a span of time that ends before it begins."""
    if since is not None and until is not None and since > until:
        raise InvalidInput(f"since ({since:%Y-%m-%d %H:%M}) is after until: swap them.")


def choice(name: str, value: Any, known: Iterable[str]) -> str:
    """Return one of the known words; raise InvalidInput for anything else."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise InvalidInput(f"{name} must be one of {', '.join(words)}, not {shown(value)}.")
    return value


def of_kind(name: str, value: Any, kind: type[T]) -> T:
    """Return an object of a class; raise InvalidInput for anything else."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{name} must be {kind.__name__}, not {type(value).__name__}.")
    return value


def listed(name: str, value: Any, *, of: str) -> list[Any]:
    """Return what is to be gone through as a list; raise InvalidInput for one text or dict alone, or no list."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping | type):
        raise InvalidInput(f"{name} must be a list of {of}, not {type(value).__name__}.")
    return list(value)


def names(name: str, value: Any, *, such_as: str = '["Lyon", "office"]') -> tuple[str, ...]:
    """Return a list of texts; raise InvalidInput for one text alone and for anything else."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | type):
        given = tuple(value)
        if all(isinstance(one, str) for one in given):
            return given
    raise InvalidInput(f"{name} must be a list of names, such as {such_as}, not {shown(value)}.")


def callback(name: str, value: Any) -> None:
    """Raise InvalidInput for what is given to be called and cannot be."""
    if value is not None and not callable(value):
        raise InvalidInput(f"{name} must be a function, not {shown(value)}.")


def plain_metadata(name: str, value: Any) -> dict[str, Any]:
    """Return a copy of metadata as it is kept: plain data that reads back from JSON as it is returned.

    Numbers stay numbers, NumPy's too, and its arrays become lists. An Enum is its value, a date or time its ISO form.
    What JSON has no form for becomes text: keys, Decimal and Fraction (exact as they are), UUID, Path, NaN.
    Raises InvalidInput for what is no mapping, and for data that is nested too deep or holds itself.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a dict, not {type(value).__name__}.")
    return {str(key): _plain(part, f"{name}.{key}", 1) for key, part in value.items()}


def bounded_metadata(name: str, value: Any) -> dict[str, Any]:
    """Return metadata as `plain_metadata` does; raise InvalidInput for more than is kept of one thing."""
    plain = plain_metadata(name, value)
    if is_large(plain):
        raise InvalidInput(
            f"{name} is larger than {LARGEST_METADATA:,} bytes as JSON. Keep it elsewhere, and its place in {name}."
        )
    return plain


def is_large(metadata: Mapping[str, Any]) -> bool:
    """Return whether plain metadata is more than is kept of one thing."""
    return bool(metadata) and json_bytes(metadata) > LARGEST_METADATA


def json_bytes(plain: Any) -> int:
    """Return how many bytes plain data takes as JSON."""
    return len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace"))


def _plain(value: Any, place: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise InvalidInput(f"{place:.200} is nested more than {_DEEPEST} deep or holds itself.")
    if isinstance(value, Mapping):
        return {str(key): _plain(part, f"{place}.{key}", depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part, f"{place}[{number}]", depth + 1) for number, part in enumerate(value)]
    if isinstance(value, Enum):
        return _plain(value.value, place, depth + 1)
    if (python := _from_numpy(value)) is not value:
        return _plain(python, place, depth + 1)
    return _plain_one(value)


def _plain_one(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return index(value)
    if isinstance(value, Real) and not isinstance(value, Rational) and is_number(value):
        return float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _from_numpy(value: Any) -> Any:
    """Return what NumPy or its kin hold as Python has it: arrays as lists, one value as it is. Others stay."""
    if hasattr(value, "dtype") and callable(getattr(value, "tolist", None)) and not isinstance(value, str | bytes):
        return value.tolist()
    return value


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
    """Yield every text in plain data behind its name, as a line of a settings file: "password = hunter2".

    Of what is no text the name.
    """
    if isinstance(value, str):
        yield f"{name} = {value}" if name else value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if not isinstance(part, str):
                yield key
            yield from named_strings(part, key)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from named_strings(part, name)
