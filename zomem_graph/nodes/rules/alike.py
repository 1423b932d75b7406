"""Which of several results say the same thing, so that a prompt does not say it twice.

Two texts are the same statement only when every word that can change the meaning is in both, in the same
order: numbers, dates, names, negations, tenses, "only", "may", units. What may differ is how it is written:
case, punctuation, articles, filler, contractions, plural endings, the form of a date and the place of
"yesterday". To show a near-duplicate costs a few tokens; to drop what is not one costs an answer.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from zomem_graph.nodes.rules._wordlists import words

__all__ = ["collapse", "statement"]

_FILLER: Final = words(
    "a an the has have really very just also well oh ok okay so please actually basically simply indeed hey",
)
_MOVABLE: Final = words("yesterday today tomorrow tonight now currently recently lately")
_COUNTED: Final = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {word: str(number) for number, word in enumerate(_COUNTED.split())}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(\d{4})(?!\w))?"
_DAY_FIRST = re.compile(rf"(?<!\w){_DAY}\s+(?:of\s+)?{_MONTH}(?!\w){_YEAR}")
_MONTH_FIRST = re.compile(rf"(?<!\w){_MONTH}\s+{_DAY}(?!\w){_YEAR}")
_DIGIT = re.compile(r"\d")
_HALF_DAY = re.compile(r"(?<=\d)\s*([ap])\.?m\b\.?")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ", "'"))
_CONTRACTED: Final = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|could|would|should)nt\b"), r"\1 not"),
    (re.compile(r"\b(it|he|she|that|there|what|who|where)'s\b"), r"\1 is"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
)
_OPENING_PHRASE = re.compile(
    r"^\s*((?:in|on|at|since|until|during|after|before|by|last|next|every)\s[^,.;:!?]{1,40}),\s+"
)
# A number with its sign, a word with the signs that make it a name (C++, C#), or any other sign that is not
# punctuation or markup: %, $, <, =, ?, an emoji.
_TOKEN = re.compile(
    r"(?<!\w)[-+]?\d+(?:[.:,/-]\d+)*(?!\w)|[^\W_]+[+#]*|[^\w\s.,;:!\"'`´()\[\]{}…–—。、・「」『』《》〈〉*~|\\/-]"
)


def collapse(scored: Sequence[tuple[str, float]]) -> tuple[int, ...]:
    """Return the positions of the texts to keep, in the order given: the best-scored of each statement.

    Of equal scores the first stays.
    """
    best: dict[tuple[str, ...], int] = {}
    for position, (text, score) in enumerate(scored):
        said = statement(text)
        if said not in best or score > scored[best[said]][1]:
            best[said] = position
    return tuple(sorted(best.values()))


def statement(text: str) -> tuple[str, ...]:
    """Return the words that carry the meaning of a text, in one spelling."""
    folded = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)).casefold().replace("−", "-")
    if "'" in folded or "nt" in folded:
        for pattern, spelled in _CONTRACTED:
            folded = pattern.sub(spelled, folded)
    folded = _with_plain_numbers(folded)
    if opening := _OPENING_PHRASE.match(folded):
        folded = f"{folded[opening.end() :]} {opening[1]}"
    found = _TOKEN.findall(folded)
    spoken = [_NUMBERS.get(token) or _singular(token) for token in found if token != "?"]
    carrying = [token for token in spoken if token not in _FILLER] or spoken
    if len(carrying) > 1 and carrying[0] in _MOVABLE:
        carrying = [*carrying[1:], carrying[0]]
    asked = ("?",) if "?" in found else ()
    return (*carrying, *asked) if carrying else (text.strip(),)


def _with_plain_numbers(text: str) -> str:
    """Return text with dates as 2023-05-31 or 05-31, hours as 5pm and thousands without commas."""
    if _DIGIT.search(text) is None:
        return text
    text = _DAY_FIRST.sub(lambda date: _iso(date[1], date[2], date[3]), text)
    text = _MONTH_FIRST.sub(lambda date: _iso(date[2], date[1], date[3]), text)
    return _HALF_DAY.sub(r"\1m", _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text))


def _iso(day: str, month: str, year: str | None) -> str:
    number = _MONTHS.index(month[:3]) + 1
    return f"{year}-{number:02}-{int(day):02}" if year else f"{number:02}-{int(day):02}"


def _singular(word: str) -> str:
    """Return likes as like, watches as watch, cities as city."""
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes")) else word[:-1]
