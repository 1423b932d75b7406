"""Model replies to typed values, or a clear refusal; never a guess, never a silent loss.

Reads what models really send: thinking aloud before the answer, code fences, prose around JSON, one
object instead of a list, broken escapes (field reports 59, 61).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zomem_graph.stores.errors import ModelError

__all__ = ["Extracted", "ReplyUnreadable", "json_in", "read_facts", "without_thinking"]

_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"^.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_STARTS = re.compile(r"[\[{]")
_MOST_STARTS = 200


class ReplyUnreadable(ModelError):
    """The reply holds nothing of the asked shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """One fact as a model gave it (spec F36). Missing confidence counts .7."""

    entity: str
    key: str
    value: str
    category: str
    tier: str
    confidence: float
    quote: str


def json_in(reply: str) -> Iterator[Any]:
    """Yield every JSON object or list that stands in a reply, outermost first, in order."""
    text = without_thinking(reply)
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_MOST_STARTS):
        start = _STARTS.search(text, position)
        if start is None:
            return
        for candidate in (text[start.start() :], _BAD_ESCAPE.sub(r"\\\\", text[start.start() :])):
            try:
                value, length = decoder.raw_decode(candidate)
            except (ValueError, RecursionError):
                continue
            yield value
            position = start.start() + length
            break
        else:
            position = start.end()


def without_thinking(reply: str) -> str:
    """Return a reply without what the model thought aloud before it."""
    return _THOUGHT_END.sub("", _THINKING.sub("", reply))


def read_facts(reply: str) -> list[Extracted]:
    """Return the facts of an extraction reply; an honest empty list is no fault.

    Raises ReplyUnreadable when no list of facts stands in it, or when none of its entries can be read.
    """
    for value in json_in(reply):
        entries = _entries(value)
        if entries is None:
            continue
        facts = [fact for entry in entries if (fact := _fact(entry)) is not None]
        if entries and not facts:
            continue
        return facts
    raise ReplyUnreadable(
        "The reply holds no JSON list of facts with entity, key, value and source_quote. "
        f"It began with {reply[:80]!r}."
    )


def _entries(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        if isinstance(value.get("facts"), list):
            return list(value["facts"])
        if "entity" in value and "value" in value:
            return [value]
    return None


def _fact(entry: Any) -> Extracted | None:
    if not isinstance(entry, Mapping):
        return None
    parts = {name: entry.get(name) for name in ("entity", "key", "value", "source_quote")}
    if any(not isinstance(part, str | int | float) or not str(part).strip() for part in parts.values()):
        return None
    confidence = entry.get("confidence", 0.7)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        confidence = 0.7
    return Extracted(
        entity=str(parts["entity"]).strip(),
        key=str(parts["key"]).strip(),
        value=str(parts["value"]).strip(),
        category=str(entry.get("category", "fact")),
        tier=str(entry.get("decay_class", entry.get("tier", "stable"))),
        confidence=min(1.0, max(0.0, float(confidence))),
        quote=str(parts["source_quote"]),
    )
