"""Whether a message leans on the running conversation, and with which words to search for it.

A follow-up ("why did they split up?") cannot be searched for as it stands. No model rewrites it:
the names of the conversation and, at half weight, the last question and answer are searched for
with it, which finds more than a rewrite by hand (retrieval_recipe, CANARD).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from zomem_graph.nodes.rules.cue_words import FUNCTION_WORDS
from zomem_graph.nodes.rules.followup_words import (
    AUXILIARIES,
    COMPARATIVES,
    COMPLETING,
    EMPTY_IT,
    INTERJECTIONS,
    LEANING,
    OPEN_RELATIONS,
    PAST_MARKS,
    PRONOUNS,
    RANKS,
    RELATIONAL,
    VAGUE,
    Lean,
)
from zomem_graph.nodes.rules.ordinals import points_by_order
from zomem_graph.nodes.rules.phrases import Words, fold, read_words
from zomem_graph.nodes.rules.query_terms import WeightedTerms, query_terms
from zomem_graph.stores.words import STOP_WORDS, terms

__all__ = ["FollowUp", "WeightedTerms", "is_followup", "only_asks", "query_terms"]

THRESHOLD: Final = 0.5
HEAD_CHARACTERS: Final = 600
SHORT_WORDS: Final = 25


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Whether the message needs its conversation, how strongly it shows, and by what."""

    needed: bool
    score: float
    reason: str

    def __bool__(self) -> bool:
        return self.needed


class _Signal(StrEnum):
    PRONOUN = "a pronoun without its noun"
    POINTER = "points at something said before"
    LINK = "opens with a link to what came before"
    FURTHER = "asks for more of the same"
    COMPARISON = "compares without saying with what"
    DEFINITE = "a definite noun nobody introduced"
    OPEN_RELATION = "leaves open of what"
    UNNAMED_PAST = "a past event without a name"
    FRAGMENT = "a fragment"
    VAGUE = "asks for some without saying of what"
    QUANTITY = "an amount without its noun"
    NAMES = "names what it is about"
    DEFINITION = "asks what one word means"


_WEIGHTS: Final = {
    _Signal.PRONOUN: 0.9,
    _Signal.POINTER: 0.8,
    _Signal.LINK: 0.7,
    _Signal.FURTHER: 0.8,
    _Signal.COMPARISON: 0.6,
    _Signal.DEFINITE: 0.6,
    _Signal.OPEN_RELATION: 0.5,
    _Signal.UNNAMED_PAST: 0.6,
    _Signal.FRAGMENT: 0.5,
    _Signal.VAGUE: 0.5,
    _Signal.QUANTITY: 0.6,
    _Signal.NAMES: -0.3,
    _Signal.DEFINITION: -0.3,
}


# Gaps that a first message may have as well ("describe the oceanic crust"), and that long ones fill.
_GAPS: Final = frozenset(
    {
        _Signal.COMPARISON,
        _Signal.DEFINITE,
        _Signal.OPEN_RELATION,
        _Signal.UNNAMED_PAST,
        _Signal.FRAGMENT,
        _Signal.VAGUE,
        _Signal.QUANTITY,
    }
)


def is_followup(message: str, history: Sequence[str] | None = None) -> FollowUp:
    """Say whether the message needs its conversation to be understood; any string is legal.

    `history` is what was said before, oldest first: None when it is not known, empty when the
    message is the first, in which case only pronouns and the like still count.
    """
    sentence = _read(message[:HEAD_CHARACTERS])
    signals = tuple(dict.fromkeys(_signals(sentence)))
    first = history is not None and not history
    # Whoever speaks of himself knows which dentist: "the" and a past event need no conversation then.
    if first or sentence.of_oneself or len(sentence.words.words) > SHORT_WORDS:
        signals = tuple(signal for signal in signals if signal not in _GAPS)
    score = sum(_WEIGHTS[signal] for signal in signals)
    needed = score >= THRESHOLD
    reason = max(signals, key=_WEIGHTS.__getitem__).value if needed else "stands alone"
    return FollowUp(needed, round(score, 3), reason)


def only_asks(message: str) -> bool:
    """Say whether a message has no word that an answer should hold: "what does she do?", "tell me more about it".

    Whoever speaks of himself ("I like it") asks for nothing.
    """
    if STOP_WORDS.issuperset(terms(message)):
        return True
    words = read_words(message[:HEAD_CHARACTERS]).words
    return "i" not in words and FUNCTION_WORDS.issuperset(words)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """The words of a message as written and folded, without marks."""

    words: Words
    written: tuple[str, ...]
    tokens: tuple[str, ...]
    named: frozenset[int]

    @property
    def of_oneself(self) -> bool:
        """Whether the one who asks speaks of himself."""
        asks = any(two[1] == "i" and two[0] in AUXILIARIES for two in pairwise(self.tokens))
        return asks or not _ONESELF.isdisjoint(self.tokens)


def _read(message: str) -> _Sentence:
    written = tuple(_TOKEN.findall(message))
    named = frozenset(
        position
        for position, token in enumerate(written)
        if position and token[0].isupper() and token != "I" and written[position - 1] not in _STOPS
    )
    tokens = tuple(fold(token).split("'")[0] or token for token in written)
    return _Sentence(read_words(message), written, tokens, named)


def _signals(sentence: _Sentence) -> Iterator[_Signal]:
    yield from _leaning(sentence)
    for position, token in enumerate(sentence.tokens):
        if token in PRONOUNS and _without_noun(sentence, position):
            yield _Signal.PRONOUN
        if token == "the":
            yield from _definite(sentence, position)
        if token in RELATIONAL and _without_argument(sentence, position):
            yield _Signal.OPEN_RELATION
    yield from _shape(sentence)


def _leaning(sentence: _Sentence) -> Iterator[_Signal]:
    words = sentence.words
    kinds = LEANING.kinds_in(words)
    opening = LEANING.kinds_at_start(words.words)
    if Lean.LINK in opening:
        yield _Signal.LINK
    if Lean.POINT in kinds or points_by_order(words.text):
        yield _Signal.POINTER
    if Lean.FURTHER in kinds and Lean.EMPTY not in kinds:
        yield _Signal.FURTHER
    if _DEMONSTRATIVES.intersection(words.words) or words.words[:1] == ("that",):
        yield _Signal.POINTER
    if words.words[-1:] in _PRO_FORMS:
        yield _Signal.POINTER


def _without_noun(sentence: _Sentence, position: int) -> bool:
    """Say that no noun of the message itself can be meant by the pronoun."""
    tokens = sentence.tokens
    if tokens[position] == "it" and _is_empty_it(tokens[position + 1 : position + 5]):
        return False
    before = tokens[:position]
    nouns = [token for token in before if _is_content(token)]
    if sentence.of_oneself and tokens[position] not in _SUBJECTS and nouns:
        return False  # "where does my brother keep his bike"
    if not _BREAKS.intersection(before):
        # "Did Ana sell her house": a name in the same clause may own it, but is not its subject.
        return tokens[position] in _SUBJECTS or all(name > position for name in sentence.named)
    return not nouns or "the" in before


def _is_empty_it(following: tuple[str, ...]) -> bool:
    return bool(EMPTY_IT.intersection(following[:2]) and _CLAUSES.intersection(following[1:]))


def _definite(sentence: _Sentence, position: int) -> Iterator[_Signal]:
    after = _after_noun_phrase(sentence, position + 1)
    if not sentence.named and after not in COMPLETING:
        yield _Signal.OPEN_RELATION if after in OPEN_RELATIONS else _Signal.DEFINITE


def _is_content(token: str) -> bool:
    return token[0].isalnum() and token not in FUNCTION_WORDS and token not in INTERJECTIONS


def _without_argument(sentence: _Sentence, position: int) -> bool:
    """Say that neither a noun before it ("jet lag symptoms") nor "of" after it tells of what."""
    tokens = sentence.tokens
    before = tokens[position - 1] if position else ""
    after = tokens[position + 1 : position + 3]
    if sentence.named or COMPLETING.intersection(after) or _DETERMINERS.intersection(after[:1]):
        return False
    return before in VAGUE or before in RANKS or before in FUNCTION_WORDS


def _after_noun_phrase(sentence: _Sentence, start: int) -> str:
    """Return the token after the run of content words that starts here."""
    end = start
    tokens = sentence.tokens
    while end < len(tokens) and (tokens[end] in RANKS or _is_content(tokens[end])):
        end += 1
    return tokens[end] if end < len(tokens) else ""


def _shape(sentence: _Sentence) -> Iterator[_Signal]:
    words = sentence.words.words
    named = bool(sentence.named) or '"' in sentence.tokens
    if len(sentence.named) >= 2:
        yield _Signal.NAMES
    if words[:2] in _DEFINITIONS and 3 <= len(words) <= 4 and not PAST_MARKS.intersection(words):
        yield _Signal.DEFINITION
    if named:
        return
    if PAST_MARKS.intersection(words):
        yield _Signal.UNNAMED_PAST
    if len(words) <= 4 and not AUXILIARIES.intersection(words):
        yield _Signal.FRAGMENT
    if COMPARATIVES.intersection(words) and "than" not in words:
        yield _Signal.COMPARISON
    if words[:2] in _KINDS and _is_vague(words):
        yield _Signal.VAGUE
    if words[:2] in _QUANTITIES and words[2:3] and words[2] in AUXILIARIES | {"of"}:
        yield _Signal.QUANTITY


def _is_vague(words: tuple[str, ...]) -> bool:
    if COMPLETING.intersection(words):
        return False
    return "there" in words[:2] or bool(VAGUE.intersection(words))


_STOPS: Final = frozenset(".?!")
_ONESELF: Final = frozenset("my mine we us our ours".split())
_SUBJECTS: Final = frozenset("he she it they".split())
_DETERMINERS: Final = frozenset("a an the my your our his her their its".split())
_BREAKS: Final = frozenset(", ; : . ? ! and but if when because so or while".split())
_CLAUSES: Final = frozenset("to that if when".split())
_DEMONSTRATIVES: Final = frozenset("this these those".split())
_PRO_FORMS: Final = frozenset({("one",), ("ones",), ("there",)})
_KINDS: Final = frozenset(
    {
        ("what", "are"),
        ("who", "are"),
        ("what", "were"),
        ("who", "were"),
        ("are", "there"),
        ("is", "there"),
        ("were", "there"),
        ("was", "there"),
    }
)
_DEFINITIONS: Final = frozenset({("what", "is"), ("what", "are"), ("who", "is"), ("define", "the")})
_QUANTITIES: Final = frozenset({("how", "much"), ("how", "many")})
_TOKEN: Final = re.compile(r"[^\W_][\w’'-]*|[.?!,;:\"“”]")
