"""Messages of any kind, read into one plain form: LangChain messages, dicts, or text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from zomem_graph.nodes.rules.calendar_days import keepable
from zomem_graph.nodes.rules.given import is_number, plain_metadata
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import content_hash

__all__ = ["Said", "read_messages", "text_of", "to_said", "with_summed_up"]

_ROLES: Final[Mapping[str, str]] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "bot": "assistant",
    "aimessagechunk": "assistant",
    "humanmessagechunk": "user",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
    "document": "document",
}
_SUMMARIZED: Final = "summarization"
_UNSAID: Final = frozenset({"system", "remove"})
_TEXT_BLOCKS: Final = frozenset({"text", "input_text"})
_DEEPEST: Final = 50
_BLANK: Final = "blank"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message: `role` is user, assistant, tool or document; `speaker` is a name or the role.

    `at` is the time it has of its own; of a file that tells none it may be the file's, which is not `dated`. `heard`
    is when it came in, of one that is heard as it is said.
    """

    role: str
    speaker: str
    content: str
    at: datetime | None = None
    message_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    dated: bool = True
    heard: datetime | None = None

    @property
    def said_at(self) -> datetime | None:
        """When it was said, as far as that is known for sure."""
        return self.at if self.at is not None and self.dated else self.heard

    @property
    def digest(self) -> str:
        """What makes two messages the same: role and content."""
        return content_hash(self.role, self.content)


def to_said(messages: Iterable[Any]) -> list[Said]:
    """Return messages in plain form; system messages and those without words are left out.

    Raises InvalidInput that names the first message that cannot be read.
    """
    return read_messages(messages)[0]


def read_messages(messages: Iterable[Any]) -> tuple[list[Said], int]:
    """Do the same, and return too how many were left out for want of words; those that call a tool count as none."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput(
            "messages must be a list of messages or of dicts with 'role' and 'content', "
            f"not {type(messages).__name__}."
        )
    read = [_one(message, number) for number, message in enumerate(messages)]
    said = [message for message in read if isinstance(message, Said)]
    return said, read.count(_BLANK)


def with_summed_up(messages: Sequence[Any], heard: Iterable[Any]) -> list[Any]:
    """Return messages, and before them those `heard` before that a model's summary has taken the place of."""
    if not any(_is_summary(_attributes(one)) for one in messages):
        return list(messages)
    there = {getattr(one, "id", None) for one in messages}
    return [*(one for one in heard if getattr(one, "id", None) not in there), *messages]


def text_of(content: Any, *, depth: int = 0) -> str:
    """Return the text of a message content: a text, or the text blocks of a list; raise InvalidInput for others."""
    if depth > _DEEPEST:
        raise InvalidInput(f"message content is nested more than {_DEEPEST} deep or holds itself.")
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, Mapping):
        kind, said = content.get("type", "text"), content.get("text")
        is_text = isinstance(said, str | int | float) and isinstance(kind, str) and kind in _TEXT_BLOCKS
        return str(said) if is_text and said else ""
    if isinstance(content, list | tuple):
        return "\n".join(part for part in (text_of(block, depth=depth + 1) for block in content) if part)
    raise InvalidInput(f"message content must be text or a list of blocks, not {type(content).__name__}.")


def _one(message: Any, number: int) -> Said | str:
    """Return a message in plain form, or what it is when it is none to keep."""
    fields = message if isinstance(message, Mapping) else _attributes(message)
    role_name = next((one for one in map(fields.get, ("role", "type")) if isinstance(one, str) and one), None)
    if role_name is None or "content" not in fields:
        raise InvalidInput(
            f"message {number} ({type(message).__name__}) has no role and content. "
            "Pass LangChain messages or dicts with 'role' and 'content'."
        )
    role = _ROLES.get(role_name.lower(), role_name.lower())
    if role in _UNSAID or _is_summary(fields):
        return role
    if role not in ("user", "assistant", "tool", "document"):
        raise InvalidInput(f"message {number} has the unknown role {role_name!r:.80}.")
    content = text_of(fields["content"])
    if not content.strip():
        return "a call" if fields.get("tool_calls") else _BLANK
    name = fields.get("name")
    metadata = fields.get("metadata")
    return Said(
        role=role,
        speaker=name if isinstance(name, str) and name.strip() else role,
        content=content,
        at=_time(fields.get("at"), number),
        message_id=fields.get("id") if isinstance(fields.get("id"), str) else None,
        metadata=plain_metadata(f"metadata of message {number}", metadata) if isinstance(metadata, Mapping) else {},
    )


def _is_summary(fields: Mapping[str, Any]) -> bool:
    """Return whether a message is a model's summary of others, which LangChain puts in as the user's."""
    extra = fields.get("additional_kwargs")
    return isinstance(extra, Mapping) and extra.get("lc_source") == _SUMMARIZED


def _attributes(message: Any) -> dict[str, Any]:
    """Read a LangChain message without importing LangChain; the time may ride in additional_kwargs."""
    extra = getattr(message, "additional_kwargs", None)
    extra = extra if isinstance(extra, Mapping) else {}
    found = {
        name: getattr(message, name)
        for name in ("role", "type", "content", "name", "id", "tool_calls")
        if hasattr(message, name)
    }
    if found.get("type") == "chat" and str(found.get("role")).lower() not in _ROLES:
        found = {**found, "role": "assistant", "name": found.get("name") or found["role"]}  # one agent of several
    return {**found, "at": _own_time(extra), "metadata": extra.get("metadata"), "additional_kwargs": extra}


def _own_time(extra: Mapping[str, Any]) -> datetime | None:
    """Return the time that rides along with a LangChain message; None for what the host keeps there instead."""
    try:
        return _time(extra.get("at"), 0)
    except InvalidInput:
        return None


def _time(value: Any, number: int) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise InvalidInput(f"message {number} has the time {value!r:.80}; use ISO 8601.") from error
    if is_number(value):
        try:
            value = datetime.fromtimestamp(float(value), UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise InvalidInput(f"message {number} has the time {value!r:.80}; use seconds since 1970.") from error
    if not isinstance(value, datetime):
        raise InvalidInput(f"message {number} has a time of type {type(value).__name__}; use ISO 8601 or a datetime.")
    try:
        at = value.astimezone(UTC) if value.tzinfo is not None else value.replace(tzinfo=UTC)
    except OverflowError as error:
        said = f"message {number} has the time {value.isoformat()}, which in UTC is outside the years 1 to 9999."
        raise InvalidInput(said) from error
    return keepable(f"the time of message {number}", at)
