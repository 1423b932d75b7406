"""What is written after a command word: text or `-`, times, files and conversations."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from zomem_graph.cli.zone import machine_zone
from zomem_graph.stores.errors import InvalidInput

if TYPE_CHECKING:
    from zomem_graph.conversations import Conversation, Session

__all__ = [
    "AsOf",
    "FileWord",
    "Limit",
    "TimeZone",
    "conversation_in",
    "instant",
    "json_array_in",
    "listed",
    "messages_of",
    "seconds_in",
    "session_name",
    "text_given",
]

_STDIN = "-"
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}

TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        metavar="ZONE",
        help="Where calendar words are meant, such as Europe/Paris; else the machine's.",
        show_default=False,
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="Answer as it was known then.", show_default=False),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000, help="The most to return.")]
FileWord = Annotated[str, typer.Argument(metavar="FILE|-", help="A file, or - for standard input.")]


def text_given(word: str) -> str:
    """Return the word itself, or standard input when it is `-`; bytes that are no UTF-8 become signs."""
    if word != _STDIN:
        return word
    return _standard_input().buffer.read().decode("utf-8", "replace").removesuffix("\n")


def conversation_in(word: str) -> "Conversation":
    """Return the conversation in a file or on standard input. Raises InvalidInput with the accepted forms."""
    from zomem_graph.conversations import read_conversation

    return read_conversation(_standard_input() if word == _STDIN else Path(word))


def messages_of(session: "Session") -> list[dict[str, Any]]:
    """Return the messages of a session as `Memory` takes them."""
    return [
        {"role": message.role, "content": message.content, "name": message.name, "at": message.at}
        for message in session.messages
    ]


def session_name(conversation: "Conversation", session: "Session", given: str | None) -> str:
    """Return the name under which a session is kept; the same file gives the same names again."""
    name = given or conversation.title
    return name if len(conversation.sessions) == 1 else f"{name}/{session.id}"


def json_array_in(word: str) -> list[Mapping[str, Any]]:
    """Return the JSON array of objects in a file or on standard input. Raises InvalidInput."""
    where = "standard input" if word == _STDIN else word
    try:
        raw = _standard_input().buffer.read() if word == _STDIN else Path(word).read_bytes()
        found = json.loads(raw.decode("utf-8-sig"))
    except OSError as error:
        raise InvalidInput(f"{where} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where} is no JSON: {error}. It must be an array of objects.") from error
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InvalidInput(f"{where} must be a JSON array of objects with entity, key and value.")
    return found


def instant(text: str | None, time_zone: str | None, *, edge: Literal["start", "end"] = "start") -> datetime | None:
    """Return the moment that words such as "yesterday" or "2026-05-03" mean; None for None."""
    from zomem_graph.nodes.rules.dates import parse_instant

    if text is None:
        return None
    return parse_instant(text, now=datetime.now(UTC), time_zone=time_zone or machine_zone(), edge=edge)


def listed(text: str | None) -> Iterator[str]:
    """Yield the words of a list with commas."""
    yield from (part.strip() for part in (text or "").split(",") if part.strip())


def _standard_input() -> TextIO:
    if sys.stdin is None:
        raise InvalidInput("standard input is closed. Name a file or write the text itself.")
    return sys.stdin


def seconds_in(name: str, text: str) -> float:
    """Return the seconds of a span such as 90s, 30m, 1h or 2d; "0" is none. Raises InvalidInput."""
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidInput(f"{name} must be a span such as 30m, 1h or 1d, or 0, not {text!r:.40}.")
    return float(found[1]) * _UNITS[found[2] or "s"]
