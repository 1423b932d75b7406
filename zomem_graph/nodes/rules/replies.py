"""Model replies to typed values, or a clear refusal; never a guess, never a silent loss.

Reads what models really send: thinking aloud before the answer, code fences, prose around JSON, one
object instead of a list, broken escapes (field reports 59, 61).
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from zomem_graph.stores.errors import ModelError
from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import terms

__all__ = [
    "Extracted",
    "GateReply",
    "Readout",
    "ReplyUnreadable",
    "json_in",
    "read_conflict",
    "read_facts",
    "read_gate",
    "read_imagined",
    "read_numbers",
    "read_search_words",
    "shape_of",
    "without_thinking",
]

_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"^.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_STARTS = re.compile(r"[\[{]")
_MOST_STARTS = 200
_LONGEST_READ = 200_000  # characters
_SPEAKING = re.compile(r"\b(?:i|i'm|i'll|i’m|me|you|sorry|can't|cannot|unable|sure|okay|apolog\w+)\b", re.IGNORECASE)
# How a reply begins that answers nothing. "I can't eat peanuts" may be an answer, so what it cannot do counts.
_REFUSING = re.compile(
    r"(?:unfortunately,? )?(?:(?:i['’]m|i am) (?:(?:so|very|really) )?(?:sorry|afraid|unable)\b|(?:my )?apologies\b"
    r"|sorry\b|i apologi[sz]e\b|as an ai\b|i (?:don['’]t|do not) (?:know"
    r"|have (?:any |enough |that |the |access|information))"
    r"|i (?:can['’]?t|cannot|can not|could not|couldn['’]t|won['’]t|will not|am not able to) (?:help|assist|answer"
    r"|provide|tell|access|know|share|say|do (?:that|this)|fulfil+|comply|discuss|imagine|respond)"
    r"|(?:es )?tut mir leid\b|ich kann (?:dir|ihnen|dabei|das|diese) |lo siento\b|no puedo (?:ayud|respond)"
    r"|(?:je suis )?désolée?\b|je ne peux pas\b|desculpe|sinto muito|não posso (?:ajud|respond)"
    r"|抱歉|对不起|我无法|申し訳)",
    re.IGNORECASE,
)
_FEW_WORDS = 4  # that may name what nobody has named yet
_UNSURE = 0.7
_MOST_KEYWORDS = 6  # spec F70


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


@dataclass(frozen=True, slots=True)
class GateReply:
    """What a model says about a message: whether it needs memory, and in a few words why."""

    needed: bool
    reason: str
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Readout:
    """What a reply gave: its facts, how many entries were no facts, and whether it broke off."""

    facts: tuple[Extracted, ...]
    unread: int = 0
    cut: bool = False

    @property
    def whole(self) -> bool:
        """Return whether nothing of the reply was lost."""
        return not self.unread and not self.cut


def shape_of(reply: str) -> str:
    """Return what a reply is without a word of it: errors are kept, and it may tell what is forgotten."""
    said = without_thinking(reply).strip()
    kind = "empty" if not said else "JSON" if said[0] in "[{" else "fenced" if said.startswith("```") else "prose"
    return f"It is {kind}, {len(reply):,} characters long."


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


def read_search_words(reply: str, known: Collection[str], *, most: int = 100) -> str:
    """Return the words a model would search with next, in one line.

    A few words may name something new; of more at least half are among the stems that are `known`, from the question
    and from what was found. Raises ReplyUnreadable for one that speaks instead: a refusal, a promise, thinking aloud.
    """
    said = _texts_in(without_thinking(reply).strip())
    words = " ".join(said.strip("\"'`*.").split())
    stems = {stem(term) for term in terms(words)}
    if not stems or len(words) > most or _SPEAKING.search(words) or _yes_or_no(words) is not None:
        raise ReplyUnreadable(f"no search words were named. {shape_of(reply)}")
    if len(words.split()) > _FEW_WORDS and 2 * len(stems & set(known)) < len(stems):
        raise ReplyUnreadable(f"the search words are about something else. {shape_of(reply)}")
    return words


def read_imagined(reply: str) -> str:
    """Return the answer that a model imagined. Raises ReplyUnreadable for a refusal and for what says nothing."""
    said = without_thinking(reply).strip()
    # Lists and braces within a sentence are a part of it.
    said = said if said[:1] not in ("[", "{", "`") and not _is_bare(said) else _texts_in(said)
    if not said or _REFUSING.match(said):
        raise ReplyUnreadable(f"no answer was imagined. {shape_of(reply)}")
    return said


def _texts_in(said: str) -> str:
    """Return the texts of the first JSON that stands in a reply, the reply itself when there is none.

    A bare number, null or true, and JSON that breaks off, hold no text.
    """
    for value in json_in(said):
        texts = value.values() if isinstance(value, Mapping) else value
        return " ".join(one for one in texts if isinstance(one, str)).strip()
    return "" if _is_bare(said) or (said[:1] in ("[", "{") and _is_cut(said)) else said


def _is_bare(said: str) -> bool:
    """Return whether a reply is one JSON value that is neither text, list nor object."""
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return False
    return not isinstance(value, str | list | Mapping)


def read_facts(reply: str) -> Readout:
    """Return the facts of an extraction reply and what of it could not be read; an honest empty list is no fault.

    The first list with facts in it wins, and what later ones have besides counts as unread; where there is
    none, facts that stand alone are gathered. Raises ReplyUnreadable when neither is there.
    """
    listed: list[Extracted] = []
    lone: list[Extracted] = []
    unread, empty = 0, False
    for value in json_in(reply):
        if (entries := _entries(value)) is None:
            continue
        facts = [fact for entry in entries if (fact := _fact(entry)) is not None]
        unread += len(entries) - len(facts)
        empty = empty or not entries
        if _is_lone(value):
            lone += facts
        elif listed:
            unread += sum(fact not in listed for fact in facts)
        else:
            listed = facts
    if listed or lone:
        cut = not listed and _is_cut(without_thinking(reply))
        return Readout(tuple(listed or lone), unread=unread, cut=cut)
    if empty and not unread:
        return Readout(())
    raise ReplyUnreadable(
        f"The reply holds no JSON list of facts with entity, key, value and source_quote. {shape_of(reply)}"
    )


def read_gate(reply: str) -> GateReply:
    """Return the first object of a reply that says yes or no; prose is no answer. Raises ReplyUnreadable."""
    for value in json_in(reply):
        if isinstance(value, Mapping) and (needed := _yes_or_no(value.get("needs_memory"))) is not None:
            words = value.get("keywords")
            said = words if isinstance(words, list) else []
            keywords = tuple(word.strip()[:50] for word in said if isinstance(word, str) and word.strip())
            reason = value.get("reason")
            return GateReply(
                needed=needed,
                reason=" ".join(reason[:200].split()) if isinstance(reason, str) else "",
                keywords=keywords[:_MOST_KEYWORDS],
            )
    raise ReplyUnreadable(f"The reply holds no JSON with needs_memory true or false. {shape_of(reply)}")


def read_conflict(reply: str) -> str | None:
    """Return why two statements cannot both hold, None when they can. Raises ReplyUnreadable."""
    for value in json_in(reply):
        if isinstance(value, Mapping) and (clash := _yes_or_no(value.get("conflict"))) is not None:
            reason = value.get("reason")
            said = " ".join(reason[:200].split()) if isinstance(reason, str) else ""
            return (said or "they cannot both hold") if clash else None
    raise ReplyUnreadable(f"The reply holds no JSON with conflict true or false. {shape_of(reply)}")


def read_numbers(reply: str, *, most: int) -> list[int]:
    """Return the numbers from 1 to `most` that a reply lists under "same", each once, in order.

    Anything else in it means nothing. Raises ReplyUnreadable when there is no such list.
    """
    for value in json_in(reply):
        listed = value.get("same") if isinstance(value, Mapping) else None
        if isinstance(listed, list):
            numbers = [one for one in listed if isinstance(one, int) and not isinstance(one, bool)]
            return [one for one in dict.fromkeys(numbers) if 1 <= one <= most]
    raise ReplyUnreadable(f"The reply holds no JSON with a list under same. {shape_of(reply)}")


def _yes_or_no(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _is_cut(text: str) -> bool:
    """Return whether a list or object that was begun is never closed."""
    depth, quoted, escaped = 0, False, False
    for character in text[:_LONGEST_READ]:
        if quoted:
            quoted, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            quoted = depth > 0
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth = max(0, depth - 1)
    return depth > 0


def _entries(value: Any) -> list[Any] | None:
    """Return what may be facts: a list, the one list in an object (or in the object in it), or one fact."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    if _is_lone(value):
        return [value]
    inner = [part for part in value.values() if isinstance(part, list | Mapping)]
    if len(inner) != 1:
        return None
    (part,) = inner
    if isinstance(part, Mapping):
        return _entries(part) if any(isinstance(one, list) for one in part.values()) else None
    return part


def _is_lone(value: Any) -> bool:
    return isinstance(value, Mapping) and "entity" in value and "value" in value


def _fact(entry: Any) -> Extracted | None:
    if not isinstance(entry, Mapping):
        return None
    parts = {name: entry.get(name) for name in ("entity", "key", "value", "source_quote")}
    if any(not isinstance(part, str | int | float) or not str(part).strip() for part in parts.values()):
        return None
    if any(isinstance(part, bool) or (isinstance(part, float) and not isfinite(part)) for part in parts.values()):
        return None
    return Extracted(
        entity=str(parts["entity"]).strip(),
        key=str(parts["key"]).strip(),
        value=str(parts["value"]).strip(),
        category=str(entry.get("category", "fact")),
        tier=str(entry.get("decay_class", entry.get("tier", "stable"))),
        confidence=_confidence(entry.get("confidence")),
        quote=str(parts["source_quote"]),
    )


def _confidence(given: Any) -> float:
    """Return a confidence from 0 to 1; what is no number counts .7 (spec F36)."""
    try:
        number = _UNSURE if given is None or isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = _UNSURE
    return min(1.0, max(0.0, number)) if isfinite(number) else _UNSURE
