"""What one line of a session log says: a message, a fact, or nothing that memory wants.

Logs of OpenClaw, Claude Code and plain `{"role", "content"}` lines are read alike. Thinking, tool calls and the
bookkeeping of a host are left out.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from zomem_graph.nodes.rules.calendar_days import keepable, to_utc
from zomem_graph.stores.errors import InvalidInput

__all__ = ["SESSION_PREFIX", "message_in"]

SESSION_PREFIX: Final = "vault/"
"""How the sessions of a vault's logs begin in the database."""

_ROLES: Final[Mapping[str, str]] = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "bot": "assistant",
    "agent": "assistant", "model": "assistant", "tool": "tool", "toolresult": "tool", "tool_result": "tool",
    "function": "tool",
}  # fmt: skip
_TIMES: Final = ("at", "timestamp", "ts", "time", "created_at", "created", "date")
_MILLISECONDS_FROM: Final = 1e11  # as seconds that is the year 5138
_SPOKEN: Final = ("text", "input_text", "output_text")


def message_in(line: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the message of a line as {"role", "content", "at"?, "id"?, "name"?}; None when it holds none."""
    inner = line.get("message")
    told: Mapping[str, Any] = inner if isinstance(inner, Mapping) else line
    role = _ROLES.get(
        str(told.get("role") or line.get("role") or line.get("type") or "").casefold().replace("-", "_")
    )
    content = told.get("content", told.get("text", inner if isinstance(inner, str) else None))
    text = _spoken(content)
    if role is None or not text.strip():
        return None
    message: dict[str, Any] = {"role": role, "content": text}
    if (moment := _moment(told) or _moment(line)) is not None:
        message["at"] = moment
    for name, value in (("id", told.get("id") or line.get("id") or line.get("uuid")), ("name", told.get("name"))):
        if isinstance(value, str) and value.strip():
            message[name] = value
    return message


def _spoken(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return ""
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in _SPOKEN and isinstance(part.get("text"), str):
            parts.append(part["text"])
    return "\n".join(parts)


def _moment(line: Mapping[str, Any]) -> datetime | None:
    for name in _TIMES:
        value = line.get(name)
        if isinstance(value, str):
            try:
                found = datetime.fromisoformat(value.strip())
                return keepable(name, to_utc(found.replace(tzinfo=UTC) if found.tzinfo is None else found))
            except (ValueError, InvalidInput):
                continue
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                seconds = value / 1000 if value > _MILLISECONDS_FROM else value
                return keepable(name, datetime.fromtimestamp(seconds, UTC))
            except (ValueError, OverflowError, OSError, InvalidInput):
                continue
    return None
