"""What one message of a ChatGPT export says, for every kind of content, and which ones nobody said."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from zomem_graph.importers.fields import listing, mapping, moment, plain_text, text

__all__ = ["Spoken", "said_in"]

_PROFILE: Final = frozenset({"user_editable_context", "model_editable_context"})
_THOUGHTS: Final = frozenset({"thoughts", "reasoning_recap"})
_TEXT_FIELDS: Final = ("text", "result", "summary", "output_str", "snippet", "content", "value")
# Marks that the app turns into links; to a reader of the text they are noise.
_CITATION = re.compile("\ue200[^\ue200\ue201]{0,400}\ue201")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a node holds: its text, or the reason why there is none to take.

    `exists` is False for a node without a message.
    """

    exists: bool = True
    role: str = ""
    text: str = ""
    reason: str = ""
    id: str = ""
    speaker: str = ""
    at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def said_in(message: Any) -> Spoken:
    """Return what a message says, whatever its form."""
    if message is None:
        return Spoken(exists=False)
    if not isinstance(message, Mapping):
        return Spoken(reason="it is broken")
    author = mapping(message.get("author"))
    role = text(author.get("role")) or text(message.get("role"))
    at = moment(message.get("create_time"), message.get("update_time"))
    content = message.get("content")
    reason = _reason_to_skip(message, role, content)
    said = "" if reason else _text_of(content)
    if not said.strip():
        return Spoken(role=role, at=at, reason=reason or _without_words(content))
    return Spoken(
        role=role,
        text=said,
        id=plain_text(message.get("id")),
        speaker=text(author.get("name")).strip() if role != "user" else "",
        at=at,
        metadata=_metadata(message, mapping(content)),
    )


def _reason_to_skip(message: Mapping[str, Any], role: str, content: Any) -> str:
    metadata = mapping(message.get("metadata"))
    kind = text(mapping(content).get("content_type"))
    if kind in _PROFILE or metadata.get("is_user_system_message") is True:
        return "it is the user's profile, not something said"
    if metadata.get("is_visually_hidden_from_conversation") is True:
        return "it is hidden"
    if role in ("system", "developer"):
        return "it is a system message"
    if role not in ("user", "assistant", "tool", "function"):
        return "nobody is named who said it"
    return "it is what the model thought" if kind in _THOUGHTS else ""


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    fields = mapping(content)
    parts = [text_ for part in listing(fields.get("parts")) if (text_ := _part(part)).strip()]
    if not parts and isinstance(fields.get("parts"), str):
        parts = [fields["parts"]]
    lines = [*_quoted_from(fields), *(parts or _fields_of(fields))]
    return _CITATION.sub("", "\n".join(lines)).strip("\n")


def _part(part: Any) -> str:
    """Return the words in one part: a text, or what was spoken in a recording. Pictures have none."""
    if isinstance(part, str):
        return part
    return next((found for name in ("text", "transcript") if (found := text(mapping(part).get(name)))), "")


def _quoted_from(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a quoted page comes from."""
    for name in ("title", "url"):
        if found := text(fields.get(name)).strip():
            yield found


def _fields_of(fields: Mapping[str, Any]) -> list[str]:
    found = [text(fields.get(name)) for name in _TEXT_FIELDS]
    kept = list(dict.fromkeys(line for line in found if line.strip()))
    if not kept and isinstance(fields.get("content"), Mapping | list):
        kept = [json.dumps(fields["content"], ensure_ascii=False, default=str)]
    return kept


def _without_words(content: Any) -> str:
    fields = mapping(content)
    if any(isinstance(part, Mapping) for part in listing(fields.get("parts"))):
        return "it holds pictures or sound without words"
    kind = text(fields.get("content_type"))
    return "it is empty" if kind in ("", "text", "multimodal_text") else f"{kind[:40]} without words"


def _metadata(message: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, str]:
    kind = text(content.get("content_type"))
    found = {
        "model": text(mapping(message.get("metadata")).get("model_slug")),
        "content_type": "" if kind == "text" else kind,
        "recipient": "" if message.get("recipient") in (None, "all") else text(message.get("recipient")),
    }
    return {name: value for name, value in found.items() if value}
