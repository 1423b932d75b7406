"""The YAML in front of a note: properties, tags and other names. When it is broken the note is still read.

All values are read as text, so a date stays as written, `no` stays no and nothing can be executed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

__all__ = ["FrontMatter", "flat", "iso", "read_front_matter", "split_front_matter", "tags_in"]

_LONGEST: Final = 100_000
_DEEPEST: Final = 50
_FENCE: Final = "---"
_ENDS: Final = (_FENCE, "...")
# An anchor that is used again can make a small text unfold without end.
_REUSED = re.compile(r"(?:^|[\s\[{,])\*[\w-]")
_NOTHING: Final = frozenset({"", "null", "Null", "NULL", "~"})


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands in front: its values by name, its raw text, and what was wrong with it."""

    values: Mapping[str, Any] = field(default_factory=dict)
    raw: str = ""
    warning: str = ""

    def first(self, *names: str) -> Any:
        """Return the first value that is there under one of these names, whatever their case."""
        for wanted in names:
            for name, value in self.values.items():
                if name.lower() == wanted:
                    return value
        return None

    def lines(self) -> Iterator[str]:
        """Yield "name: value" of every property that says something; the raw text when it is broken."""
        if self.warning:
            yield from (line for line in self.raw.splitlines() if line.strip())
            return
        for name, value in self.values.items():
            if shown := ", ".join(_shown(value)):
                yield f"{name}: {shown}"


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Return (front matter, body); front matter begins on the first line and ends with a line of its own."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return None, text
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in _ENDS:
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return None, text


def read_front_matter(raw: str) -> FrontMatter:
    """Return the values; for broken front matter its raw text and one warning."""
    if len(raw) > _LONGEST:
        return FrontMatter(raw=raw, warning=f"its front matter has {len(raw):,} characters; kept as text")
    if _REUSED.search(raw):
        return FrontMatter(raw=raw, warning="its front matter refers back to itself; kept as text")
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        values = yaml.load(raw, loader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        return FrontMatter(raw=raw, warning=f"its front matter is no YAML ({_short(error)}); kept as text")
    if values is None:
        return FrontMatter(raw=raw)
    if _depth(values) > _DEEPEST:
        return FrontMatter(raw=raw, warning="its front matter is nested too deeply; kept as text")
    if not isinstance(values, dict):
        return FrontMatter(raw=raw, warning="its front matter has no names and values; kept as text")
    return FrontMatter({str(name): value for name, value in values.items()}, raw)


def _depth(value: Any) -> int:
    """Return how deep lists and mappings lie in each other, without recursion."""
    depth, layer = 0, [value]
    while layer := [one for one in layer if isinstance(one, dict | list)]:
        depth += 1
        layer = [part for one in layer for part in (one.values() if isinstance(one, dict) else one)]
    return depth


def flat(value: Any) -> Iterator[str]:
    """Yield every text inside nested lists; of a mapping inside, its names."""
    if isinstance(value, Mapping):
        value = list(value)
    if isinstance(value, list | tuple):
        for part in value:
            yield from flat(part)
    elif value is not None and str(value) not in _NOTHING:
        yield str(value).strip()


def tags_in(value: Any) -> Iterator[str]:
    """Yield tags from a text with commas or blanks, a list, a nested list or a number, without the `#`."""
    pieces: Iterable[str] = flat(value)
    if isinstance(value, str) and value not in _NOTHING:
        pieces = value.split(",") if "," in value else value.split()
    for piece in pieces:
        if tag := piece.strip().strip("[]").lstrip("#").strip():
            yield tag


def iso(value: Any) -> str:
    """Return a date or time in ISO form; what is none stays as written, a list or mapping becomes ""."""
    if not isinstance(value, str) or value in _NOTHING:
        return ""
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return value.strip()[:100]
    return value.strip() if len(value.strip()) == len("2026-05-24") else found.isoformat()


def _shown(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if shown := ", ".join(_shown(part)):
                yield f"{name} {shown}"
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _shown(part)
    elif value is not None and str(value) not in _NOTHING:
        yield str(value).strip()


def _short(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 2}" if mark is not None else ""
    return f"{' '.join(str(problem).split())[:80]}{where}"
