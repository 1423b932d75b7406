"""What an executor handed back: an answer, or in which words it failed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Answer", "read_answer"]

_NOTHING: Final = "returned nothing"
_ERROR_STARTS: Final = ("error:", "traceback (most recent call last)", "exception:", "fatal:")
_KEYS: Final = ("answer", "output", "result", "response", "text", "content")
_NO_KEY: Final = f"returned a mapping without an answer: none of its keys is messages, {', '.join(_KEYS)}"
_ASSISTANT: Final = ("ai", "assistant", "AIMessageChunk")


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of an answer; `error` says why it is none."""

    text: str
    error: str | None = None


def read_answer(value: Any) -> Answer:
    """Return the answer in what an executor handed back: a text, a message, a state with messages, a mapping.

    A mapping may say itself that it failed: `success` False, `outcome` "failure", or an `error`.
    """
    if isinstance(value, Mapping):
        told = _told_error(value)
        text = _in_mapping(value)
        if told is None and value and not any(key in value for key in ("messages", *_KEYS)):
            return Answer("", _NO_KEY)
        return Answer(text, told) if told is not None else _judged(text)
    return _judged(_text(value))


def _judged(text: str) -> Answer:
    if not text.strip():
        return Answer("", _NOTHING)
    if text.lstrip().lower().startswith(_ERROR_STARTS):
        return Answer(text, text.strip())
    return Answer(text)


def _told_error(value: Mapping[str, Any]) -> str | None:
    error = value.get("error")
    if error:
        return str(error)
    if value.get("success") is False or value.get("outcome") == "failure":
        return "reported a failure"
    return None


def _in_mapping(value: Mapping[str, Any]) -> str:
    messages = value.get("messages")
    if isinstance(messages, Sequence) and not isinstance(messages, str):
        said = (_text(message) for message in reversed(messages) if _role(message) in _ASSISTANT)
        return next((text for text in said if text.strip()), "")
    for key in _KEYS:
        if value.get(key) not in (None, ""):
            return _text(value[key])
    return ""


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, Mapping) else getattr(message, "type", "")
    return str(role)


def _text(value: Any) -> str:
    """Return the text of a text, a message, a list of blocks or any plain value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    content = value.get("content") if isinstance(value, Mapping) else getattr(value, "content", None)
    if content is not None:
        return _text(content)
    if isinstance(value, Mapping):
        return str(value["text"]) if isinstance(value.get("text"), str) else json.dumps(value, default=str)
    if isinstance(value, list | tuple):
        return "\n".join(text for text in map(_text, value) if text)
    return str(value)
