"""What forgetting means for wording: which texts hold a fact, and how an erased text is known again."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from zomem_graph.nodes.rules.contentless import says_nothing
from zomem_graph.nodes.rules.entities import named_in
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.stores.words import STOP_WORDS, search_text

__all__ = [
    "FactForms",
    "Mark",
    "Retold",
    "fact_marks",
    "message_marks",
    "names_in",
    "names_told",
    "needles_of",
    "named_marks",
    "read_again_marks",
    "says_it_briefly",
    "shares_wording",
    "shingles",
    "source_marks",
    "telling",
    "turn_marks",
]

Mark = tuple[str, str]
"""A kind and a content: what a tombstone is made of."""

_TELLING: Final = 20
_TELLING_WITH_A_DIGIT: Final = 6
_RUN: Final = 4  # words
_MOST_NAMED: Final = 6  # words of a name or text
_LEAST_NEEDLE: Final = 8  # bytes; anything shorter is found by chance in any large file
_WINDOW: Final = 48  # characters looked for of a long text, so that a page boundary hides only one of them
_MOST_WINDOWS: Final = 6
_WORD = re.compile(r"\w+")
_FIRST = re.compile(r"^\S+")
_LAST = re.compile(r"\S+$")
_SEPARATOR: Final = "\x1f"


def telling(text: str) -> bool:
    """Return whether a text is long or odd enough that it stands for itself wherever it is found."""
    form = normal(text)
    return len(form) >= _TELLING or (
        len(form) >= _TELLING_WITH_A_DIGIT and any(character.isdigit() for character in form)
    )


@dataclass(frozen=True, slots=True)
class FactForms:
    """A fact in the forms in which texts are searched for it."""

    whole: tuple[str, ...]
    value: str
    value_tells: bool
    names: tuple[str, ...]

    @classmethod
    def of(cls, *, entity: str, key: str | None, value: str, sentence: str, quote: str | None) -> "FactForms":
        """Return the forms of a fact: its sentence and quote, its value, and the names beside it."""
        return cls(
            whole=tuple(normal(part) for part in (sentence, quote or "") if telling(part)),
            value=normal(value),
            value_tells=telling(value),
            names=tuple(normal(name) for name in (entity, key or "") if name.strip()),
        )

    def said_in(self, form: str) -> bool:
        """Return whether a normalised text says the fact: whole, by a telling value, or name and value."""
        if any(part in form for part in self.whole):
            return True
        if not self.value or self.value not in form or not _occurs(self.value, form):
            return False
        return self.value_tells or any(_occurs(name, form) for name in self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retold:
    """How a text is recognised that tells what goes: by what was named, in its own words, or by a telling value.

    A single word says nothing by itself: it stands in many texts. `name` is the key of an entity, `piece` a folded
    text.
    """

    runs: frozenset[str] = frozenset()
    pieces: tuple[str, ...] = ()
    forms: tuple[FactForms, ...] = ()
    name: str | None = None
    piece: str | None = None

    def told_in(self, text: str) -> bool:
        """Return whether a text tells any of it."""
        if not text:
            return False
        if self.piece is not None and self.piece in text.casefold():
            return True
        if self.name is not None and named_in(self.name, text):
            return True
        form = normal(text)
        return (
            shares_wording(text, self.runs)
            or any(piece in form for piece in self.pieces)
            or any(each.said_in(form) for each in self.forms)
        )


def names_in(name: str, text: str) -> bool:
    """Return whether a text has a name in it, as whole words."""
    form = normal(name)
    return bool(form) and _occurs(form, normal(text))


def shingles(text: str) -> set[str]:
    """Return the runs of four words of a text by which a summary of it is recognised."""
    spoken = _WORD.findall(normal(text))
    runs = (" ".join(spoken[start : start + _RUN]) for start in range(len(spoken) - _RUN + 1))
    return {run for run in runs if len(run) >= _TELLING - _RUN}


def shares_wording(text: str, runs: Collection[str]) -> bool:
    """Return whether a text has any of these runs of words in it."""
    return not shingles(text).isdisjoint(runs)


def fact_marks(slot: str, value: str, sentence: str) -> list[Mark]:
    """Return what a fact is known by when it comes again: its address with its value, its sentence, its value.

    The value alone is for turns that say nothing else: the same date may stand under another key.
    """
    marks = [("fact", f"{slot}{_SEPARATOR}{normal(value)}")]
    if telling(sentence):
        marks.append(("text", normal(sentence)))
    if telling(value):
        marks.append(("value", normal(value)))
    return marks


def source_marks(*ids: object) -> list[Mark]:
    """Return the marks of the ids a source gives its own things; what is no text is left out."""
    return [("source", one) for one in ids if isinstance(one, str) and one.strip()]


def message_marks(*ids: object, session: str) -> list[Mark]:
    """Return the marks of the ids of a message; many who number theirs begin anew in each session."""
    return [("message", f"{session}{_SEPARATOR}{one}") for _kind, one in source_marks(*ids)]


def turn_marks(content: str, *, session: str) -> list[Mark]:
    """Return what a turn is known by: its words; few and common ones only within their session."""
    if telling(content):
        return [("text", normal(content)), ("value", normal(content))]
    return [("short", f"{session}{_SEPARATOR}{normal(content)}")]


def read_again_marks(content: str) -> list[Mark]:
    """Return what a turn of few words is known by in any session, where it is read out of a file; else none."""
    return [] if telling(content) else [("brief", normal(content))]


def says_it_briefly(content: str, *, words: Collection[str], piece: str | None = None) -> bool:
    """Return whether a turn of few words holds what was forgotten, so that it says it in any session.

    It does with the `piece` that was named, or with one of the `words` that nobody else uses; what only
    acknowledges does not, and neither do function words.
    """
    if telling(content) or says_nothing(content):
        return False
    if piece is not None and piece in content.casefold():
        return True
    return not STOP_WORDS.issuperset(set(search_text(content).split()).intersection(words))


def named_marks(text: str) -> list[Mark]:
    """Return what a name or text that was named is known by in messages which are not stored yet."""
    words = _WORD.findall(normal(text))
    return [("named", " ".join(words))] if 0 < len(words) <= _MOST_NAMED else []


def names_told(content: str) -> Iterator[Mark]:
    """Yield what a message would be known by if any of its words, or a few in a row, were what was named."""
    words = _WORD.findall(normal(content))
    for count in range(1, _MOST_NAMED + 1):
        for start in range(len(words) - count + 1):
            yield ("named", " ".join(words[start : start + count]))


def needles_of(texts: Iterable[str]) -> list[str]:
    """Return the strings to look for as proof that texts are gone: the whole or parts spread over it."""
    found: dict[str, None] = {}
    for text in texts:
        for part in _windows(text.strip()):
            # One plain word may stand in any dictionary; the sentence it was said in is looked for too.
            if not part.isalpha() and len(part.encode("utf-8", "surrogatepass")) >= _LEAST_NEEDLE:
                found[part] = None
    return list(found)


def _windows(text: str) -> Sequence[str]:
    if len(text) <= 2 * _WINDOW:
        return [text]
    steps = min(_MOST_WINDOWS, len(text) // _WINDOW)
    last = len(text) - _WINDOW
    return [_whole_words(text, start) for start in (last * i // (steps - 1) for i in range(steps))]


def _whole_words(text: str, start: int) -> str:
    """Return a window of a text without the words that its ends cut in two, where much of it is left then.

    What indexes hold of a part of a word is not a part of what they hold of the word.
    """
    end = start + _WINDOW
    window = whole = text[start:end]
    if start and not text[start - 1].isspace():
        whole = _FIRST.sub("", whole)
    if end < len(text) and not text[end].isspace():
        whole = _LAST.sub("", whole)
    return whole.strip() if len(whole.strip()) >= _WINDOW // 2 else window.strip()


def _occurs(words: str, text: str) -> bool:
    """Return whether words stand in a text as whole words; other signs count wherever they are."""
    if not _WORD.search(words):
        return words in text
    before = r"(?<!\w)" if _WORD.match(words) else ""
    after = r"(?!\w)" if _WORD.match(words[-1]) else ""
    return re.search(f"{before}{re.escape(words)}{after}", text) is not None
