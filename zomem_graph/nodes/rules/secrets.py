"""Finds keys, tokens and passwords in text by the shape of the value, and takes them out.

A word like "password" alone is harmless; what counts is a value that can be used. Redaction runs before
hashing, full text and embedding, so every pattern is bounded and takes time linear in the text.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from zomem_graph.nodes.rules._secret_shapes import (
    ASSIGNED,
    ATTACHED,
    ATTACHED_CODE,
    BARE_VALUE,
    BARE_VALUE_WEAKLY,
    CARD,
    CHANGED_BEFORE,
    CHANGED_TO,
    CLAUSE_ENDS,
    COMMAND,
    FLAG_BEFORE,
    FLAG_VALUE,
    HEADER,
    INNOCENT_BEFORE,
    KEY_BEGIN,
    KEY_BODY,
    LOGIN_BEFORE,
    NAMED_AFTER,
    NEAR_BEGIN,
    NEAR_TOKEN,
    NUMERIC_HARMLESS,
    ORDINARY_ENDINGS,
    ORDINARY_VALUES,
    PASSWORD_WORDS,
    PREFIXED,
    QUOTED,
    REFERENCE,
    SECRET_WORD,
    SIGNED,
    SPOKEN,
    SPOKEN_WEAKLY,
    TICKET_BEFORE,
    UNQUOTED,
    URL_PASSWORD,
    VERB_BEFORE,
    WEAK_WORDS,
)

__all__ = ["Span", "find_secrets", "looks_secret", "redact", "redact_plain"]

_MARK = re.compile(r"\[secret removed: [a-z ]{1,40}\]")
_NARROW: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width letters and signs to plain ones, each one character."""
_LONGEST_PHRASE: Final = 60
_PHRASE_WORDS: Final = 4
_ASKS_FOR_ONE: Final = frozenset(("please", "enter", "type", "choose", "required", "your", "the", "this"))
_LONGEST_KEY_BLOCK: Final = 20_000
_NEAR: Final = 24
"""Characters after a secret word in which a random-looking value counts as one."""
_RANDOM_LENGTH: Final = 16
_LONG_BASE64 = re.compile(r"(?=[^A-Z]{0,60}[A-Z])(?=[^a-z]{0,60}[a-z])[A-Za-z0-9+=][A-Za-z0-9+/=]{31,511}")
_BASE64_BITS: Final = 4.0
_BARELY: Final = PASSWORD_WORDS - {"pass"}
"""Words that a password follows at once; after "pass" comes a name: pass A38."""
_UNSEEN: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_DIGIT = re.compile(r"\d")
_CHANGE = re.compile(r"(?<=[0-9])[A-Za-z]|(?<=[A-Za-z])[0-9]")
_RANDOM_READ: Final = 64
_RANDOM_CHANGES: Final = 3
_RANDOM_BITS: Final = 3.0
"""Bits per character from which a token counts as random; English words of that length stay below."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A piece of text, from start up to end, that is a secret of some kind."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[Span]:
    """Return the secrets in a text from left to right, none overlapping. Already redacted places are none."""
    if not text.isascii():
        text = text.translate(_NARROW)
        if _UNSEEN.search(text):
            return _through_unseen(text)
    return _marked(text)


def _through_unseen(text: str) -> list[Span]:
    """Return the secrets in a text with signs that nobody sees, which may stand in the middle of a word."""
    seen = [place for place, sign in enumerate(text) if not _UNSEEN.match(sign)]
    spans = _marked(_UNSEEN.sub("", text))
    return [Span(seen[span.start], seen[span.end - 1] + 1, span.kind) for span in spans]


def _marked(text: str) -> list[Span]:
    found: list[Span] = []
    start = 0
    for mark in _MARK.finditer(text):
        found.extend(_in_segment(text, start, mark.start()))
        start = mark.end()
    found.extend(_in_segment(text, start, len(text)))
    return found


def redact(text: str) -> tuple[str, int]:
    """Return the text with each secret replaced by "[secret removed: KIND]", and how many there were."""
    removed = 0
    # What stands beside a removed secret may look like one only now; each pass shortens the clear text.
    while spans := find_secrets(text):
        pieces: list[str] = []
        end = 0
        for span in spans:
            pieces += [text[end : span.start], f"[secret removed: {span.kind}]"]
            end = span.end
        text = "".join([*pieces, text[end:]])
        removed += len(spans)
    return text, removed


def redact_plain(value: Any, name: str = "") -> tuple[Any, int]:
    """Return plain data with the secrets in its texts replaced, and how many there were; a name may give one away."""
    if isinstance(value, str):
        text, removed = redact(value)
        if not removed and name and (kind := looks_secret(f"{name} = {value}")):
            return f"[secret removed: {kind}]", 1
        return text, removed
    if isinstance(value, Mapping):
        parts = {key: redact_plain(part, key) for key, part in value.items()}
        return {key: part for key, (part, _) in parts.items()}, sum(count for _, count in parts.values())
    if isinstance(value, list | tuple):
        listed = [redact_plain(part, name) for part in value]
        return [part for part, _ in listed], sum(count for _, count in listed)
    return value, 0


def looks_secret(value: str, *, key: str | None = None) -> str | None:
    """Return the kind of secret a value holds, or None. A key such as "api_key" makes it more suspicious."""
    if spans := find_secrets(value):
        return spans[0].kind
    if key is None or not (word := SECRET_WORD.search(key.lower())):
        return None
    bare = value.strip().strip("\"'`")
    usable = " " not in bare and _usable(bare, word[0], sure=True)
    return _kind(word[0]) if usable else None


def _in_segment(text: str, start: int, end: int) -> list[Span]:
    """Return the secrets between two positions, the leftmost and longest of those that overlap."""
    segment = text if (start, end) == (0, len(text)) else text[start:end]
    candidates = [*_key_blocks(segment), *_prefixed(segment), *_after_words(segment)]
    candidates += [*_in_headers(segment), *_in_commands(segment), *_in_urls(segment), *_cards(segment)]
    kept: list[Span] = []
    for span in sorted(candidates, key=lambda span: (span.start, -span.end)):
        if not kept or span.start + start >= kept[-1].end:
            kept.append(Span(span.start + start, span.end + start, span.kind))
    return kept


def _key_blocks(text: str) -> Iterator[Span]:
    """Yield whole private key blocks; one whose end is cut off goes on as long as it looks like a key."""
    begins = list(KEY_BEGIN.finditer(text))
    for begin, following in zip_longest(begins, begins[1:]):
        limit = min(begin.end() + _LONGEST_KEY_BLOCK, following.start() if following else len(text))
        closing = f"-----END {begin['label']}-----"
        end = text.find(closing, begin.end(), limit)
        if end < 0 and (body := KEY_BODY.match(text, begin.end(), limit)):
            yield Span(begin.start(), body.end(), "private key")
        else:
            yield Span(begin.start(), end + len(closing), "private key")


def _prefixed(text: str) -> Iterator[Span]:
    """Yield values whose issuer gave them a form of their own."""
    for kind, hint, pattern in PREFIXED:
        if hint in text:
            yield from (Span(found.start(), found.end(), kind) for found in pattern.finditer(text))


def _after_words(text: str) -> Iterator[Span]:
    """Yield what is assigned to, said to be, or stands beside a word like password or token."""
    # U+0130 is the only character whose lower case is longer; places must stay the same.
    for word in SECRET_WORD.finditer(text.replace("\u0130", "I").lower()):
        start, end = word.span()
        name = text[start:end]
        known = name.casefold() in PASSWORD_WORDS
        if name.casefold() == "pass" and TICKET_BEFORE.search(text, max(0, start - _NEAR), start):
            continue
        if assigned := ASSIGNED.match(text, end):
            yield from _value_at(text, assigned.end(), name, sign=assigned["sign"])
        elif (flag := FLAG_VALUE.match(text, end)) and _after_dashes(text, start):
            yield from _value_at(text, flag.end(), name, sign="=")
        elif known and (told := next(_told(text, start, end, name), None)):
            yield told
        elif not known and (spoken := SPOKEN.match(text, end)):
            yield from _value_at(text, spoken.end(), name, sign="is")
        elif not INNOCENT_BEFORE.search(text, max(0, start - _NEAR), end + _NEAR):
            yield from _random_near(text, end, name)


def _told(text: str, start: int, end: int, name: str) -> Iterator[Span]:
    """Yield what a sentence tells as the value of a password word, by the surest way of saying it first."""
    if name.casefold() == "pass":
        ways = [(_bare_pass(text, start, end), "="), (SPOKEN_WEAKLY.match(text, end), "is")]
    else:
        ways = [(BARE_VALUE.match(text, end), "="), (SPOKEN.match(text, end), "is"), (SIGNED.match(text, end), "is")]
        ways += [(ATTACHED.match(text, end), "=")]
        if name.casefold().startswith("pin"):
            ways += [(ATTACHED_CODE.match(text, end), "=")]
    if CHANGED_BEFORE.search(text, max(0, start - _NEAR), start):
        ways += [(CHANGED_TO.match(text, end), "=")]
    for way, sign in ways:
        if way:
            yield from _value_at(text, way.end(), name, sign=sign)
    yield from _named_after(text, start, end, name)


def _bare_pass(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return what stands between "pass" and the password that follows it at once; mostly it is a verb."""
    if LOGIN_BEFORE.search(text, max(0, start - _LONGEST_PHRASE), start):
        return BARE_VALUE.match(text, end)
    return None if VERB_BEFORE.search(text, max(0, start - _NEAR), start) else BARE_VALUE_WEAKLY.match(text, end)


def _named_after(text: str, start: int, end: int, name: str) -> Iterator[Span]:
    """Yield the value in "hunter22 is my password"."""
    before = NAMED_AFTER.search(text, max(0, start - _LONGEST_PHRASE), start)
    if before and CLAUSE_ENDS.match(text, end) and _usable(before["value"], name, sure=True):
        yield Span(before.start("value"), before.end("value"), _kind(name))


def _after_dashes(text: str, start: int) -> bool:
    """Return whether what begins here is the name of a command-line flag."""
    before = text[max(0, start - _NEAR) : start]
    return "-" in before and FLAG_BEFORE.search(before) is not None


def _value_at(text: str, start: int, name: str, *, sign: str) -> Iterator[Span]:
    """Yield the value that begins here when it can be a secret."""
    if quoted := QUOTED.match(text, start):
        value = quoted["value"]
        if _usable(value, name, sure=sign != "is") and (" " not in value or _phrase(value, name, sign=sign)):
            yield Span(quoted.start("value"), quoted.end("value"), _kind(name))
    elif unquoted := UNQUOTED.match(text, start):
        value = unquoted[0].rstrip(".!?")
        after = text[start + len(value) : start + len(value) + 3].strip(" .!?,;")
        # "password: please choose one" goes on with prose; "password: tulip" ends the line.
        last = not after or after[0] in "\r\n"
        sure = last if sign in {":", "：", "is"} else True
        if _usable(value, name, sure=sure) and not (sign == "is" and _adjective(value)):
            yield Span(start, start + len(value), _kind(name))


def _phrase(value: str, name: str, *, sign: str) -> bool:
    """Return whether some quoted words are a password: said to be it, or with a digit, or four and more."""
    if name.casefold() not in PASSWORD_WORDS - WEAK_WORDS or len(value) > _LONGEST_PHRASE:
        return False
    several = value.casefold().split()
    if several[0] in _ASKS_FOR_ONE:
        return False
    return sign == "is" or _DIGIT.search(value) is not None or len(several) >= _PHRASE_WORDS


def _adjective(value: str) -> bool:
    """Return whether a word after "the password is" rather describes it."""
    word = value.replace("-", "").casefold()
    return word.isalpha() and (len(word) < 6 or word.endswith(ORDINARY_ENDINGS))


def _random_near(text: str, start: int, name: str) -> Iterator[Span]:
    """Yield the first random-looking token within a few words of a secret word."""
    begin = NEAR_BEGIN.search(text, start, start + _NEAR + _RANDOM_LENGTH)
    token = NEAR_TOKEN.match(text, begin.start()) if begin else None
    if token and _random(token[0]) and not _hash_like(token[0]):
        yield Span(token.start(), token.end(), _kind(name))


def _in_headers(text: str) -> Iterator[Span]:
    """Yield the credentials of Authorization headers and of bare Bearer or Basic schemes."""
    for found in HEADER.finditer(text):
        value = found["value"]
        mixed = _DIGIT.search(value) and (found["name"] or (found["bearer"] and len(value) >= _RANDOM_LENGTH))
        if _random(value) or mixed:
            yield Span(found.start("value"), found.end("value"), "authorization header")


def _in_commands(text: str) -> Iterator[Span]:
    """Yield the password that a command takes right behind its flag: mysql -pSECRET."""
    for found in COMMAND.finditer(text):
        if not _placeholder(found["value"]):
            yield Span(found.start("value"), found.end("value"), "password")


def _in_urls(text: str) -> Iterator[Span]:
    """Yield the password of URLs of the form scheme://user:password@host."""
    if "://" not in text:
        return
    for found in URL_PASSWORD.finditer(text):
        if not _placeholder(found["value"]):
            yield Span(found.start("value"), found.end("value"), "connection password")


def _cards(text: str) -> Iterator[Span]:
    """Yield card numbers: a known beginning and length, and a right check digit."""
    for found in CARD.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if _card_length(digits) and _luhn(digits):
            yield Span(found.start(), found.end(), "card number")


def _usable(value: str, word: str, *, sure: bool) -> bool:
    """Return whether a value after a secret word can be used as a secret.

    What is surely a value (assigned, or the last word of its line) may be any word that is no
    placeholder, type or reference; otherwise it must have a form that no ordinary word has.
    """
    name = word.casefold()
    if len(value) < 4 or _placeholder(value):
        return False
    if value.replace(".", "").replace(",", "").replace("_", "").isdigit():
        return name not in NUMERIC_HARMLESS and value.isdigit()
    has_digit = _DIGIT.search(value) is not None
    if name in WEAK_WORDS:
        return has_digit and re.search(r"[^\W\d_]", value) is not None and not re.search(r"[_/.]", value)
    if name in PASSWORD_WORDS:
        return sure or has_digit or not value.strip(".:/-_'’").replace("-", "").isalnum()
    if _random(value):
        return not _hash_like(value) or "key" in name
    if not sure or len(value) < 6:
        return False
    if "/" in value:
        return _LONG_BASE64.fullmatch(value) is not None and _bits(value) >= _BASE64_BITS
    return has_digit or (word.isupper() and len(value) >= 8)


def _placeholder(value: str) -> bool:
    """Return whether a value only stands for one: a variable, a type, a call, stars or dots."""
    return (
        value.casefold().strip(".,;:") in ORDINARY_VALUES
        or value[0] in "$<{[%"
        or "(" in value
        or value[-1] == "["
        or not re.search(r"[^*x.\-_•]", value, re.IGNORECASE)
        or REFERENCE.fullmatch(value) is not None
    )


def _random(token: str) -> bool:
    """Return whether a token is long and mixed enough to be made by a machine."""
    if len(token) < _RANDOM_LENGTH or ("/" in token and not re.search(r"[A-Z]", token)):
        return False
    token = token[:_RANDOM_READ]
    # A word with a year at its end changes between letters and digits once, a key again and again.
    changes = len(_CHANGE.findall(token))
    return changes >= _RANDOM_CHANGES and _bits(token) >= _RANDOM_BITS


def _bits(token: str) -> float:
    """Return the bits per character in a token that is not empty."""
    shares = [count / len(token) for count in Counter(token).values()]
    return -sum(share * math.log2(share) for share in shares)


def _hash_like(token: str) -> bool:
    """Return whether a token is a UUID, a commit or file hash, or a file name, which are no secrets."""
    bare = token.strip(".,;:").casefold().removeprefix("sha256:").removeprefix("sha256-").removeprefix("md5:")
    return (
        re.fullmatch(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", bare) is not None
        or re.fullmatch(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}", bare) is not None
        or re.search(r"\.[a-z]{2,5}$|://", bare) is not None
    )


def _kind(word: str) -> str:
    """Return how a secret after this word is called in the text that replaces it."""
    word = word.casefold()
    if word in PASSWORD_WORDS:
        return "password"
    return "token" if "token" in word else "secret key"


def _card_length(digits: str) -> bool:
    first_two = int(digits[:2])
    return (
        (digits[0] == "4" and len(digits) in {13, 16, 19})
        or (51 <= first_two <= 55 and len(digits) == 16)
        or (2221 <= int(digits[:4]) <= 2720 and len(digits) == 16)
        or (first_two in {34, 37} and len(digits) == 15)
        or (first_two in {30, 36, 38} and len(digits) == 14)
        or (len(digits) == 16 and (digits[:4] in {"6011", "3528", "3589"} or first_two in {62, 65}))
    )


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0
