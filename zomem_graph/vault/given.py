"""What is given to `ingest`: facts or messages, as JSON lines, as one list, or as dicts.

All of it is looked at before anything is stored, and an error names the line.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from zomem_graph.nodes.rules.given import listed
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.paths import path_given
from zomem_graph.stores.vault_files import json_object

__all__ = [
    "GivenLine",
    "GivenLines",
    "is_fact",
    "lines_in",
    "listed_numbers",
    "missing_of_a_fact",
    "read_given",
    "worded",
]

_FACT: Final = ("subject", "object")
_MESSAGE: Final = ("role", "content")
_OTHER_WORDS: Final = {"entity": "subject", "name": "subject", "value": "object"}
_OF_A_SESSION: Final = ("role", "type", "message")


@dataclass(frozen=True, slots=True)
class GivenLine:
    """One JSON object, and how to name it to a person."""

    name: str
    said: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLines:
    """The lines of something that was given, and what to call it."""

    where: str
    lines: Sequence[GivenLine] = ()

    def parted(self) -> tuple[list[GivenLine], list[GivenLine]]:
        """Return the facts and the messages, of which one is empty; raise InvalidInput that names what is neither."""
        facts = [line for line in self.lines if is_fact(line.said)]
        said = [line for line in self.lines if not is_fact(line.said)]
        for line in said:
            if (missing := missing_of_a_fact(line.said)) is not None:
                raise InvalidInput(f"{self.where}: {line.name} {missing}. Nothing was stored.")
        if facts and said:
            fact, other = facts[0].name, said[0].name
            raise InvalidInput(
                f"{self.where} mixes facts ({fact}) and messages ({other}). Give them one after the other; nothing "
                "was stored."
            )
        if said and not any(_of_a_session(line.said) for line in said):
            raise InvalidInput(
                f"{self.where}: {said[0].name} is neither a fact ({_lacking(said[0].said, _FACT)}) nor a message "
                f"({_lacking(said[0].said, _MESSAGE)}). Nothing was stored."
            )
        return facts, said


def is_fact(line: Mapping[str, Any]) -> bool:
    """Return whether a line is a fact and no message."""
    return "subject" in line and "object" in line


def read_given(given: object) -> GivenLines:
    """Return what was given: the path of a file, dicts, or lines that were read; raise InvalidInput."""
    if given is None:
        return GivenLines(where="sessions")
    if isinstance(given, GivenLines):
        return given
    if isinstance(given, str | Path):
        path = path_given("given", given, of="a file")
        try:
            return lines_in(path.read_bytes().decode("utf-8"), path.name)
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{path} is no text in UTF-8. Give JSON lines of facts or messages; nothing was stored."
            ) from error
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error
    lines = listed("given", given, of="dicts, or a path")
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, Mapping):
            raise InvalidInput(f"entry {number} must be a dict, not {type(line).__name__}.")
    return GivenLines(where="what was given", lines=_entries([dict(line) for line in lines]))


def lines_in(text: str, where: str) -> GivenLines:
    """Return the JSON objects of a text: one a line, one list of them, or a single one.

    Everything is looked at before anything is stored: raises InvalidInput that names the bad lines.
    """
    whole = text.removeprefix("\ufeff")
    try:
        said = json.loads(whole)
    except ValueError:
        said = None
    except RecursionError as error:
        raise InvalidInput(f"{where} is nested too deeply to be read.") from error
    if isinstance(said, dict):
        return GivenLines(where=where, lines=[GivenLine("line 1", said)])
    if isinstance(said, list):
        bad = [number for number, one in enumerate(said, start=1) if not isinstance(one, dict)]
        if bad:
            raise InvalidInput(f"{where}: entry {bad[0]} is no JSON object; nothing was stored.")
        return GivenLines(where=where, lines=_entries(said))
    found, wrong = [], []
    for number, line in enumerate(whole.split("\n"), start=1):
        if line.strip():
            one = json_object(line)
            if one is None:
                wrong.append(number)
            else:
                found.append(GivenLine(f"line {number}", one))
    if wrong:
        raise InvalidInput(
            f"{where}: line {listed_numbers(wrong)} is no JSON object; nothing was stored. Correct it and try again."
        )
    return GivenLines(where=where, lines=found)


def worded(value: Any) -> Any:
    """Return a number as text: it may be a name too."""
    return str(value) if isinstance(value, int | float) else value


def listed_numbers(numbers: Iterable[int]) -> str:
    """Return numbers of lines as a text, of many only the first ones."""
    found = sorted(numbers)
    return ", ".join(map(str, found[:10])) + (" …" if len(found) > 10 else "")


def _entries(said: Sequence[dict[str, Any]]) -> list[GivenLine]:
    return [GivenLine(f"entry {number}", one) for number, one in enumerate(said, start=1)]


def missing_of_a_fact(line: Mapping[str, Any]) -> str | None:
    """Return what a line lacks that begins as a fact and is no message; None for any other line."""
    if is_fact(line) or _of_a_session(line) or not any(name in line for name in (*_FACT, "predicate")):
        return None
    called = [
        f"{ours!r} is called {theirs!r} there"
        for theirs, ours in _OTHER_WORDS.items()
        if theirs in line and ours not in line
    ]
    return f"is a fact that {_lacking(line, _FACT)}" + "".join(f"; {one}" for one in called)


def _lacking(line: Mapping[str, Any], names: Sequence[str]) -> str:
    return f"has no {' and no '.join(repr(name) for name in names if name not in line)}"


def _of_a_session(line: Mapping[str, Any]) -> bool:
    """Return whether a line may stand in a session log, which also holds the bookkeeping of its host."""
    return any(name in line for name in _OF_A_SESSION)
