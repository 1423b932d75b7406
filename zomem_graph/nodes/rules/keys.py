"""Where a fact lives: which keys hold one value, which hold many, and when two values are the same.

A single-valued key is one slot with one current value; a list-like key has one slot for each value.
Supersession compares slots, never wording: no similarity threshold can tell a correction from a new fact.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

from zomem_graph.nodes.rules._dates import moments_clash, moments_in, same_moments
from zomem_graph.nodes.rules._polarity import contradicts
from zomem_graph.nodes.rules._quantities import quantities_clash, quantities_in, same_quantities
from zomem_graph.nodes.rules._wordlists import words

__all__ = [
    "LIST_LIKE",
    "OPPOSITES",
    "ConflictKind",
    "conflict_kind",
    "address",
    "entity_prefix",
    "is_many",
    "normal",
    "opposite_slots",
    "same_value",
    "slot",
]

ConflictKind = Literal["exact", "number", "date", "negation", "text"]

LIST_LIKE: Final[frozenset[str]] = frozenset(
    {
        *("likes", "dislikes", "loves", "hates", "prefers", "interests", "hobbies", "habits"),
        *("uses", "depends on", "owns", "knows", "visited", "skills", "languages", "allergies"),
        *("contacts", "members", "friends", "friend", "colleagues", "colleague", "neighbours", "neighbour"),
        *("roommate", "flatmate", "cousin", "twin", "stepson", "stepdaughter", "hamster", "tortoise", "pony"),
        *(
            "children",
            "child",
            "son",
            "daughter",
            "siblings",
            "brother",
            "sister",
            "grandmother",
            "grandfather",
        ),
        *("aunt", "uncle", "niece", "nephew", "pets", "pet", "dog", "cat", "rabbit", "horse", "parrot"),
        *(
            "tags",
            "aliases",
            "topics",
            "links",
            "goals",
            "decision",
            "decisions",
            "convention",
            "conventions",
        ),
        *("note", "notes", "commitment", "commitments"),
    }
)
"""The keys that collect values (design §5). Everything else has one current value."""

OPPOSITES: Final[dict[str, str]] = {
    "likes": "dislikes",
    "dislikes": "likes",
    "loves": "hates",
    "hates": "loves",
}
"""Pairs of list-like keys where the same value under one ends it under the other."""

_SEPARATOR: Final = "\x1f"
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060\ufeff\s]+")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:(?:,\d{3})+(?!,?\d)|(?:['’_]\d{3})+(?!['’_]?\d))")
# No-break, figure, thin and narrow spaces inside a number; a plain space may part two numbers.
_SPACED_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:[\u00a0\u2007\u2009\u202f]\d{3})+(?!\d)")
_NOT_A_DIGIT = re.compile(r"\D")
_TRAILING: Final = " .,;:!?…。！？，；：、"
_QUOTES: Final = "\"'`“”‘’„«»「」"
# "on 3 May" and "3 May" say the same.
_AROUND: Final = words("on at the am um el le")
_CODED: Final = re.compile(
    r"\b(?:versions?|release|build|api|sdk|runtime|python|node|java|ruby|php|code|codes|ssid|wifi|wlan|network|pass\w*"
    r"|pin|ids?|serial|number|no|phone|mobile|zip|postcode|postal|sku|tag|commit|hash|token|keys?|user ?name|login"
    r"|model|account|iban|isbn|coupon|voucher|ticket|order|flight|gate|room|chapter|section|clause)\b(?! name)"
)
"""Keys whose values are names made of digits and letters, not amounts."""
_MIXED: Final = re.compile(r"[^\W\d_A-Z][A-Z]")
_JOINTS = re.compile(r"[\s_\-]+")


def is_many(key: str | None, *, many: bool | None = None, extra: Iterable[str] = ()) -> bool:
    """Return whether a key collects values: `many` decides, then LIST_LIKE and `extra`; no key does."""
    if many is not None:
        return many
    if key is None or not key.strip():
        return True
    form = _address(key)
    return form in LIST_LIKE or form in {_address(name) for name in extra}


def normal(text: str) -> str:
    """Return the text in the form in which values are compared; normalising twice changes nothing.

    NFKC, casefold, one space for any run of blanks, thousand separators gone ("1,000" is "1000"), no
    enclosing quote marks, no trailing punctuation. A text of punctuation only is kept as it is.
    """
    text = _SPACED_THOUSANDS.sub(lambda found: _NOT_A_DIGIT.sub("", found[0]), text)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = _UNSEEN.sub(" ", text).strip()
    text = _THOUSANDS.sub(lambda found: _NOT_A_DIGIT.sub("", found[0]), text)
    bare = text.strip(_QUOTES + _TRAILING[:1]).rstrip(_TRAILING + _QUOTES)
    return bare or text


def slot(entity: str, key: str | None, value: str, *, many: bool) -> str:
    """Return the address under which exactly one value is current: entity and key, normalised.

    The parts are joined by the unit separator, U+001F. For a list-like key the value is part of the
    address, and so it is for a fact without a key. Case, blanks, hyphens and underscores in
    entity and key make no difference.
    """
    parts = [_address(entity), _address(key or "")]
    if many or not parts[1]:
        parts.append(_storable(normal(value)))
    return _SEPARATOR.join(parts)


def entity_prefix(entity: str) -> str:
    """Return how every slot of an entity begins; it ends with the separator, so no other entity's does."""
    return f"{_address(entity)}{_SEPARATOR}"


def address(entity: str, key: str | None = None) -> str:
    """Return what the slots of an entity, or of one key of it, are or begin with (before a separator)."""
    return _address(entity) if key is None else _SEPARATOR.join((_address(entity), _address(key)))


def opposite_slots(entity: str, key: str | None, value: str) -> tuple[str, ...]:
    """Return the slots a new fact ends elsewhere: to dislike tea ends to like tea."""
    opposite = OPPOSITES.get(_address(key or ""))
    return () if opposite is None else (slot(entity, opposite, value, many=True),)


def same_value(a: str, b: str, *, key: str | None = None) -> bool:
    """Return whether two values say the same: equal when normalised, or one number or date in two forms.

    "30 s" and "30 seconds", "3 May" and "May 3rd" are the same; "allowed" and "not allowed" never are. Under a
    key that names versions or codes, and beside words, a number is compared as it is written: 3.10 is not 3.1.
    """
    coded = key is not None and _CODED.search(_address(key)) is not None
    if _differ_in_case(a.strip(_QUOTES + _TRAILING), b.strip(_QUOTES + _TRAILING), coded=coded):
        return False
    a, b = normal(a), normal(b)
    if a == b:
        return True
    dates_a, rest_a = moments_in(a)
    dates_b, rest_b = moments_in(b)
    if not same_moments(dates_a, dates_b):
        return False
    numbers_a, words_a = quantities_in(rest_a)
    numbers_b, words_b = quantities_in(rest_b)
    found_some = bool(dates_a or numbers_a)
    spoken_a, spoken_b = _words(words_a), _words(words_b)
    if not found_some or spoken_a != spoken_b:
        return False
    return same_quantities(numbers_a, numbers_b, as_written=coded or bool(spoken_a))


def conflict_kind(old: str, new: str) -> ConflictKind | None:
    """Return how two values of one slot contradict each other, or None when they do not (spec F83).

    "number", "date" and "negation" name what differs. "exact": two short values that are simply not the
    same. "text": longer wordings that differ, which may be a paraphrase; a model or an embedding decides.
    None: the same, or one is only more precise ("3 May" and "3 May 2027").
    """
    if same_value(old, new):
        return None
    old, new = normal(old), normal(new)
    dates_old, rest_old = moments_in(old)
    dates_new, rest_new = moments_in(new)
    numbers_old, words_old = quantities_in(rest_old)
    numbers_new, words_new = quantities_in(rest_new)
    if quantities_clash(numbers_old, numbers_new):
        return "number"
    if moments_clash(dates_old, dates_new):
        return "date"
    if contradicts(old, new):
        return "negation"
    both_dated = bool(dates_old and dates_new) or bool(numbers_old and numbers_new)
    if both_dated and _words(words_old) == _words(words_new):
        return None
    return "exact" if max(len(old.split()), len(new.split())) <= 3 else "text"


def _address(name: str) -> str:
    """Return an entity or a key in the form in which addresses are compared; empty when nothing of it shows."""
    form = normal(name)
    return _storable(_JOINTS.sub(" ", form).strip() or form)


def _differ_in_case(a: str, b: str, *, coded: bool) -> bool:
    """Return whether two words are two codes that differ in capitals alone: "aBcD" is not "abcd"."""
    if a == b or a.casefold() != b.casefold() or any(character.isspace() for character in a):
        return False
    mixed = any(_MIXED.search(one) for one in (a, b))
    digits = any(character.isdigit() for character in a)
    return (mixed or digits) if coded else (mixed and digits)


def _storable(form: str) -> str:
    # A lone surrogate would change the form in which the database keeps the address.
    return form.encode("utf-8", "replace").decode("utf-8")


def _words(text: str) -> list[str]:
    """Return what is left of a value beside its dates and numbers."""
    # "on 3 May" and "3 May" say the same.
    return [word for word in re.findall(r"\w+", text) if word not in {"on", "at", "the", "am", "um", "el", "le"}]
