"""JSON conversations: a list of messages, an object with `messages`, our bundled form, LoCoMo."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from zomem_graph.conversations.locomo import locomo_conversation, looks_like_locomo
from zomem_graph.conversations.transcript import (
    Conversation,
    Message,
    Question,
    Session,
    conversation_of,
    is_role,
    speaker,
)
from zomem_graph.stores.errors import InvalidInput

__all__ = ["conversation_from_json", "questions_from_json"]


def conversation_from_json(document: object, *, title: str) -> Conversation:
    """Return the conversation in parsed JSON. Raises InvalidInput saying what was found instead."""
    if isinstance(document, list):
        if document and isinstance(document[0], dict) and not {"role", "name", "content"} & document[0].keys():
            raise InvalidInput(f"is a list of {len(document)} objects ({_keys(document[0])}), not of messages")
        return _bundled({"sessions": [{"messages": document}]}, title=title)
    if not isinstance(document, dict):
        raise InvalidInput(f"holds JSON, but it is {_kind(document)}")
    if looks_like_locomo(document):
        return locomo_conversation(document)
    if isinstance(document.get("sessions"), list):
        return _bundled(document, title=title)
    if isinstance(document.get("messages"), list):
        return _bundled({**document, "sessions": [{"messages": document["messages"]}]}, title=title)
    raise InvalidInput(f"is a JSON object of an unknown shape ({_keys(document)})")


def questions_from_json(entries: object, *, known: Mapping[str, Message]) -> tuple[Question, ...]:
    """Return labelled questions. Raises InvalidInput when one is incomplete or its evidence is unknown."""
    if not isinstance(entries, list):
        raise InvalidInput(f"has questions that are {_kind(entries)}, not a list")
    return tuple(_question(entry, where=f"question {n}", known=known) for n, entry in enumerate(entries, 1))


def _bundled(document: Mapping[str, Any], *, title: str) -> Conversation:
    skipped: list[str] = []
    sessions = [_session(entry, number=n, skipped=skipped) for n, entry in enumerate(document["sessions"], 1)]
    known = {message.id: message for session in sessions for message in session.messages}
    return conversation_of(
        str(document.get("title") or title),
        sessions,
        questions=questions_from_json(document.get("questions", []), known=known),
        skipped=skipped,
    )


def _session(entry: object, *, number: int, skipped: list[str]) -> Session:
    if not isinstance(entry, dict) or not isinstance(entry.get("messages"), list):
        raise InvalidInput(f"has a session without a list of messages (session {number})")
    session_id = str(entry.get("id") or f"s{number}")
    at = _moment(entry.get("at"), where=f"session {session_id}")
    messages = []
    for n, raw in enumerate(entry["messages"], 1):
        # Numbered by place in the file, so that labels written against the file stay right.
        place = f"{session_id}:{n}"
        message = _message(raw, place=place, at=at)
        wordless = _wordless_blocks(raw["content"])
        if message.content.strip():
            messages.append(message)
        elif not wordless:
            skipped.append(f"message {place}: no text")
        if wordless:
            skipped.append(f"message {place}: {wordless} without text")
    return Session(session_id, at, tuple(messages))


def _message(raw: object, *, place: str, at: datetime | None) -> Message:
    if not isinstance(raw, dict):
        raise InvalidInput(f"has a message that is {_kind(raw)}, not an object (message {place})")
    label, name = raw.get("role") or raw.get("name"), raw.get("name")
    if not isinstance(label, str):
        raise InvalidInput(f"has a message with neither role nor name (message {place})")
    if "content" not in raw:
        raise InvalidInput(f"has a message without content (message {place})")
    role, said_by = speaker(label.strip())
    if isinstance(name, str) and name.strip() and not is_role(name.strip()):
        said_by = name.strip()
    return Message(
        role,
        _flat(raw["content"], place=place),
        said_by,
        _moment(raw.get("at"), where=f"message {place}") or at,
        str(raw.get("id") or place),
    )


def _flat(content: object, *, place: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidInput(f"has a content that is {_kind(content)}, not text (message {place})")
    blocks = (block if isinstance(block, str) else _block_text(block) for block in content)
    return "\n".join(text for text in blocks if text)


def _wordless_blocks(content: object) -> str:
    blocks = content if isinstance(content, list) else []
    kinds = [block.get("type") for block in blocks if isinstance(block, dict) and not _block_text(block)]
    return ", ".join(str(kind)[:30] for kind in kinds)


def _block_text(block: object) -> str:
    # Pictures, tool calls and the like carry no words to remember.
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""


def _question(entry: object, *, where: str, known: Mapping[str, Message]) -> Question:
    if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
        raise InvalidInput(f"has a {where} without its text")
    evidence = _strings(entry.get("evidence", []), where=f"{where}, evidence")
    for turn_id in evidence:
        if turn_id not in known:
            raise InvalidInput(f"has a {where} whose evidence {turn_id!r} names no message")
    answer = entry.get("answer")
    return Question(
        text=entry["question"],
        answer=None if answer is None else str(answer),
        evidence=evidence,
        stale=_strings(entry.get("stale", []), where=f"{where}, stale"),
        needs_memory=bool(entry.get("needs_memory", True)),
        kind=str(entry.get("kind", "fact")),
    )


def _strings(values: object, *, where: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InvalidInput(f"needs a list of texts at {where}")
    return tuple(values)


def _moment(value: object, *, where: str) -> datetime | None:
    """Read an ISO time or seconds since 1970; without an offset UTC is meant."""
    if value is None:
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value, UTC)
        at = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"has a time that cannot be read: {str(value)[:60]!r} ({where})") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _kind(value: object) -> str:
    names: Sequence[tuple[type, str]] = (
        (dict, "an object"),
        (list, "a list"),
        (str, "a text"),
        (bool, "true or false"),
        (int, "a number"),
        (float, "a number"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _keys(document: Mapping[str, Any]) -> str:
    shown = ", ".join(repr(key[:30]) for key in list(document)[:6])
    return f"keys {shown}" if shown else "no keys"
