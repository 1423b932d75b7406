"""Sessions of Claude Code: one `.jsonl` a session, in folders by project."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

from zomem_graph.importers.fields import listing, mapping, moment, text
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Passed, Read, Talk
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.stores.errors import InvalidInput

__all__ = ["json_lines", "read_claude_code"]

_LONGEST_LINE: Final = 64_000_000
_SPOKEN: Final = frozenset({"user", "assistant"})
_COMMAND = re.compile(r"\s*<(?:command-|local-command-|bash-)")
_FLAGS: Final = {
    "isMeta": "it is hidden",
    "isSidechain": "it belongs to a sub-agent",
    "isCompactSummary": "it sums up what is here already",
    "isApiErrorMessage": "it is an error message",
    "isVisibleInTranscriptOnly": "it is hidden",
}


def read_claude_code(place: Place) -> Iterator[Read]:
    """Yield one conversation a session file: what was typed and answered, without tool traffic."""
    for file in place.with_suffix(".jsonl"):
        try:
            with place.reading(file) as stream:
                yield from _sessions(stream, file)
        except (InvalidInput, OSError) as error:
            reason = str(getattr(error, "strerror", None) or error)
            yield Passed(id=file.name, title=file.name, kind="file", outcome="failed", reason=reason)


def json_lines(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield (number, value) of each line that is not blank; None for a line that is no JSON object."""
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(_LONGEST_LINE + 1)
            yield number, None
            continue
        if not (line := line.removeprefix(b"\xef\xbb\xbf").strip()):
            continue
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            value = None
        yield number, value if isinstance(value, dict) else None


@dataclass(slots=True)
class _Session:
    """One session while its lines are read."""

    id: str
    title: str = ""
    messages: list[Said] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def _sessions(stream: IO[bytes], file: File) -> Iterator[Read]:
    """Yield the session of a file; a file that several were written to holds several."""
    found: dict[str, _Session] = {}
    latest = ""
    for _number, line in json_lines(stream):
        latest = text(mapping(line).get("sessionId")) or latest or file.stem
        session = found.setdefault(latest, _Session(latest))
        if line is None:
            session.skipped["its line is broken"] += 1
        elif line.get("type") == "summary":
            session.title = text(line.get("summary")).strip() or session.title
        elif text(line.get("type")) in _SPOKEN:
            _take(session, line)
    if not found:
        yield Passed(id=file.stem, title=file.name, kind="file", outcome="skipped", reason="it is empty")
    for session in found.values():
        yield _finished(session, file)


def _finished(session: _Session, file: File) -> Read:
    title = session.title or file.stem
    if not session.messages:
        reason = "nothing was said in it"
        return Passed(
            id=session.id, title=title, kind="conversation", outcome="skipped", reason=reason,
            skipped=session.skipped,
        )  # fmt: skip
    messages = tuple(session.messages)
    return Talk(id=session.id, title=title, messages=messages, skipped=session.skipped)


def _take(session: _Session, line: Mapping[str, Any]) -> None:
    message = mapping(line.get("message"))
    said = _text_of(message.get("content"))
    reason = next((why for flag, why in _FLAGS.items() if line.get(flag) is True), "")
    reason = reason or ("" if said.strip() else _why_silent(message.get("content")))
    if not reason and _COMMAND.match(said):
        reason = "it is a command"
    if reason:
        session.skipped[reason] += 1
        return
    role = text(line.get("type"))
    folder = text(line.get("cwd"))
    session.messages.append(
        Said(
            role=role,
            speaker=role,
            content=said,
            at=moment(line.get("timestamp")),
            message_id=text(line.get("uuid")) or None,
            metadata={"folder": folder} if folder else {},
        )
    )


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = [mapping(block) for block in listing(content)]
    said = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
    return "\n".join(part for part in said if part.strip())


def _why_silent(content: Any) -> str:
    kinds = {text(mapping(block).get("type")) for block in listing(content)}
    if "tool_result" in kinds:
        return "it is what a tool returned"
    if "tool_use" in kinds:
        return "it only calls a tool"
    return "it is what the model thought" if "thinking" in kinds else "it holds no words"
