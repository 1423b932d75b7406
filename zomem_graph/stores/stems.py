"""English word stems as the full text makes them: Porter's algorithm of 1980, step by step.

FTS5's `porter` tokenizer stems inside the database; this is the same rule for what must be compared
outside of it. A test holds both equal on real words.
"""

from collections.abc import Collection
from functools import lru_cache

__all__ = ["stem", "stems_among"]

_VOWELS = frozenset("aeiou")
_STEP2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
)
_STEP3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP4 = (
    "al",
    "ance",
    "ence",
    "er",
    "ic",
    "able",
    "ible",
    "ant",
    "ement",
    "ment",
    "ent",
    "ion",
    "ou",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
)
_LONGEST = 64  # FTS5 leaves longer words as they are


def stems_among(text: str, wanted: Collection[str]) -> frozenset[str]:
    """Return which of the wanted stems the words of a text have.

    Stems keep the first letter of their words, so only words that begin like a wanted one are stemmed.
    """
    first = {one[:1] for one in wanted}
    return frozenset(found for word in text.split() if word[:1] in first and (found := stem(word)) in wanted)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of one lower-case word; words of up to two letters stay."""
    if not 3 <= len(word) < _LONGEST or not word.isascii():
        return word
    for step in (_step1a, _step1b, _step1c, _step2, _step3, _step4, _step5):
        word = step(word)
    return word


def _is_vowel(word: str, place: int) -> bool:
    letter = word[place]
    return letter in _VOWELS or (letter == "y" and place > 0 and not _is_vowel(word, place - 1))


def _measure(part: str) -> int:
    """Count how often vowels are followed by consonants."""
    changes, was_vowel = 0, False
    for place in range(len(part)):
        vowel = _is_vowel(part, place)
        changes += was_vowel and not vowel
        was_vowel = vowel
    return changes


def _has_vowel(part: str) -> bool:
    """Whether there is a vowel; here SQLite takes every y but a first one for one, whatever stands before it."""
    return "y" in part[1:] or any(letter in _VOWELS for letter in part)


def _ends_short(part: str) -> bool:
    """Whether a part ends consonant, vowel, consonant, the last not w, x or y."""
    return (
        len(part) >= 3
        and not _is_vowel(part, len(part) - 3)
        and _is_vowel(part, len(part) - 2)
        and not _is_vowel(part, len(part) - 1)
        and part[-1] not in "wxy"
    )


def _step1a(word: str) -> str:
    if word.endswith(("sses", "ies")) and word not in ("sses", "ies"):
        return word[:-2]
    if word.endswith("ss") or not word.endswith("s"):
        return word
    return word[:-1]


def _step1b(word: str) -> str:
    if word.endswith("eed") and len(word) > len("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and _has_vowel(word[: -len(ending)]):
            return _mended(word[: -len(ending)])
    return word


def _mended(part: str) -> str:
    if part.endswith(("at", "bl", "iz")):
        return part + "e"
    if len(part) > 1 and part[-1] == part[-2] and part[-1] not in "aeioulsz":  # for SQLite "yy" too
        return part[:-1]
    return part + "e" if _measure(part) == 1 and _ends_short(part) else part


def _step1c(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, new in endings:
        if word.endswith(ending):
            part = word[: -len(ending)]
            return part + new if _measure(part) > 0 else word
    return word


def _step2(word: str) -> str:
    return _replaced(word, _STEP2)


def _step3(word: str) -> str:
    return _replaced(word, _STEP3)


def _step4(word: str) -> str:
    for ending in _STEP4:
        if word.endswith(ending):
            part = word[: -len(ending)]
            if ending == "ion" and not part.endswith(("s", "t")):
                continue
            return part if _measure(part) > 1 else word
    return word


def _step5(word: str) -> str:
    if word.endswith("e"):
        part = word[:-1]
        if _measure(part) > 1 or (_measure(part) == 1 and not _ends_short(part)):
            word = part
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
