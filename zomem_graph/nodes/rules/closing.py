"""Which loops a text says are done (spec F65, in the form proposed there).

A clause closes by a word for done, or by the past of the very deed a title asks for ("send …", "I sent …").
It must also say which thing is meant: status words alone never make two texts about the same thing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from zomem_graph.nodes.rules._deeds import (
    ALL_DONE,
    INFINITIVES,
    RETURNED,
    VERBS,
    deed_of,
    family,
    is_same_as_its_past,
    pasts_of,
)
from zomem_graph.nodes.rules._loop_words import (
    ADVICE,
    ATTRIBUTIVE,
    AUXILIARY,
    BEING,
    CLOSED,
    EMPTY,
    FAULTS,
    HOLLOW,
    NEED,
    NOT_CLOSED,
    NOT_YET,
    PASSING,
)
from zomem_graph.nodes.rules._statements import is_question, sentences
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.quotes import strip_not_user_text
from zomem_graph.stores.stems import stem

__all__ = ["CLAUSE_END", "done_by", "is_said_again", "resolves", "says_done"]

_SHARED_WORDS: Final = 2
_SHARED_PART: Final = 0.4
_FAULT: Final = "bug"
_FIX: Final = family("fix")
_DONE_MARK: Final = "\x01"

CLAUSE_END: Final = re.compile(r"[,;，；]|\s(?:but|and|so|aber|und|pero|mais|et|y)\s|但是?")
_CJK = re.compile(r"[\u3400-\u9fff]+")
_TOKEN = re.compile(rf"[\u3400-\u9fff]+|{_DONE_MARK}?(?:(?![\u3400-\u9fff])[^\W_])+(?:['’][^\W_]+)?|[{_DONE_MARK},]")
_CLITIC = re.compile(r"'s?$")
_ELIDED = re.compile(r"^(?:l|d|qu|j|s)'")


@dataclass(frozen=True, slots=True)
class _Aim:
    """What a title wants done.

    `words` are all its telling words; `things` those for the thing itself, where bug, issue and error are one.
    """

    words: frozenset[str]
    things: frozenset[str]
    deeds: frozenset[str]
    pasts: Mapping[str, str]
    returned: bool
    joined: bool


@dataclass(frozen=True, slots=True)
class _Clause:
    """A part of a sentence, its words, and the word by which it says that something is done, if it does."""

    text: str
    words: tuple[str, ...]
    done_by: str | None


@dataclass(frozen=True, slots=True)
class _Sentence:
    """The clauses of a sentence, and the telling words of what it says is done."""

    clauses: tuple[_Clause, ...]
    statements: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class _Match:
    """How a sentence says that a title is done: the words in common, whether all, and whether by its deed."""

    shared: frozenset[str]
    whole: bool
    by_deed: bool


def resolves(text: str, title: str) -> bool:
    """Return whether a text says that the loop with this title is done, were it the only one."""
    return bool(done_by(text, [title]))


def done_by(text: str, titles: Sequence[str]) -> list[int]:
    """Return the places of the titles that a text says are done.

    Where several titles could be meant, those are done of which most is said; of equals none.
    """
    aims = [_aim(title) for title in titles]
    found: set[int] = set()
    for sentence in _sentences(text):
        matches = {place: match for place, aim in enumerate(aims) if (match := _match(aim, sentence)) is not None}
        found.update(place for place in matches if _is_meant(place, matches, aims))
    return sorted(found)


def is_said_again(title: str, known: str) -> bool:
    """Return whether a new title speaks of a known loop again: the same deed and thing in other words.

    "The login bug is not fixed" may say less than "Fix the login bug for Ada".
    """
    new, old = _aim(title), _aim(known)
    if not new.things or not new.deeds & old.deeds:
        return False
    denied = CLOSED.search(title) is not None and not any(map(says_done, CLAUSE_END.split(title)))
    return new.things == old.things or (denied and len(new.things) >= _SHARED_WORDS and new.things < old.things)


def says_done(clause: str) -> bool:
    """Return whether a clause says that something is done, and does not take it back."""
    closing = CLOSED.search(clause)
    return closing is not None and _stands(clause, *closing.span())


def _stands(clause: str, start: int, end: int) -> bool:
    """Return whether what stands between start and end is not asked, denied, planned or an adjective."""
    if clause.rstrip().endswith(("?", "？")) or NOT_CLOSED.search(clause, 0, start) or NOT_YET.search(clause):
        return False
    return not (ATTRIBUTIVE.search(clause[:start]) and re.match(r"\s+\w", clause[end:]))


def _is_meant(place: int, matches: Mapping[int, _Match], aims: Sequence[_Aim]) -> bool:
    """Return whether no other title is meant as well or better by the same words."""
    own, aim = matches[place], aims[place]
    for other, rival in matches.items():
        if other == place or (aims[other].things, aims[other].deeds) == (aim.things, aim.deeds):
            continue
        if not own.whole and own.shared < rival.shared:
            return False
        if own.shared == rival.shared and (own.by_deed, own.whole) <= (rival.by_deed, rival.whole):
            return False
    return True


@lru_cache(maxsize=512)
def _aim(title: str) -> _Aim:
    """Read what a title wants done."""
    said = normal(title)
    need = NEED.search(said)
    words = _words(CLOSED.sub(" ", said[need.end() :] if need else said))
    first = next((word for word in words if word in VERBS or not (word in EMPTY or word.endswith("ly"))), "")
    verb = first if first in VERBS and len(words) > 1 else ""
    things = [word for word in words if word != verb and word not in INFINITIVES]
    closers = {found[0] for found in CLOSED.finditer(said)}
    pasts = {past: word for word in words for past in pasts_of(word)}
    if is_same_as_its_past(verb):
        pasts[verb] = verb
    return _Aim(
        words=_telling_words(said),
        things=_told(things),
        deeds=frozenset({deed_of(closer) or closer for closer in closers} | ({family(verb)} if verb else set())),
        pasts=pasts,
        returned=verb in RETURNED,
        joined=CLAUSE_END.search(said) is not None,
    )


@lru_cache(maxsize=32)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    """Return the sentences that may close something. Remembered: one text is held against many titles."""
    found: list[_Sentence] = []
    for sentence in sentences(strip_not_user_text(text)):
        if sentence.endswith(("?", "？")) or ADVICE.match(sentence) or is_question(sentence):
            continue
        parts = CLAUSE_END.split(sentence)
        closed = dict.fromkeys(part for part in parts if says_done(part)).keys()
        open_still = any(CLOSED.search(part) and part not in closed for part in parts)
        # "The login is fixed and the cache too" is one statement; with a denied clause each stands for itself.
        stated = list(closed) if open_still else [_undenied(parts, closed)] if closed else []
        found.append(_Sentence(tuple(map(_clause, parts)), tuple(map(_telling_words, stated))))
    return tuple(found)


def _undenied(parts: Sequence[str], closed: Set[str]) -> str:
    """Return the clauses of a sentence that close something or take nothing back."""
    return " ".join(part for part in parts if part in closed or not NOT_CLOSED.search(part))


def _clause(part: str) -> _Clause:
    said = normal(part)
    closing = CLOSED.search(said)
    by = closing[0] if closing and says_done(part) else None
    return _Clause(said, _words(CLOSED.sub(_mark, said)), by)


def _match(aim: _Aim, sentence: _Sentence) -> _Match | None:
    """Return the best way in which a sentence says that the title is done, or None."""
    matches: list[_Match] = []
    for place, clause in enumerate(sentence.clauses):
        more = [word for later in sentence.clauses[place + 1 :] for word in later.words] if aim.joined else []
        matches += _by_its_deed(aim, clause, more)
        if clause.done_by is not None and _ends(aim, clause.done_by):
            matches += _by_its_name(aim, _spoken_of(sentence, place), by_deed=clause.done_by not in ALL_DONE)
    for said in sentence.statements:
        own = any(clause.done_by and deed_of(clause.done_by) in aim.deeds for clause in sentence.clauses)
        matches += _by_many_words(aim, said, by_deed=own)
    return max(matches, key=lambda match: (match.whole, match.by_deed, len(match.shared)), default=None)


def _by_its_deed(aim: _Aim, clause: _Clause, more: Sequence[str]) -> Iterator[_Match]:
    """Yield how a clause tells of the very deed: "I sent the invoice", "Rechnung bezahlt"."""
    for place, marked in enumerate(clause.words):
        word = marked.removeprefix(_DONE_MARK)
        base = aim.pasts.get(word)
        if base is None and deed_of(word) not in aim.deeds:
            continue
        before, after = clause.words[:place], (*clause.words[place + 1 :], *more)
        helped = not AUXILIARY.isdisjoint(before)
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", clause.text)
        if (word == base and not helped) or found is None or not _stands(clause.text, *found.span()):
            continue
        passive = not BEING.isdisjoint(before)
        # In "Karim sent the invoice" the invoice is what was sent, in "the invoice was sent to Karim" too.
        said = (*before, _DONE_MARK, *after) if passive else after if _told(after) else before
        if aim.returned and base is None and said is before:
            continue
        yield from _by_its_name(aim, said, by_deed=True)
        yield from _by_many_words(aim, _told(said) | (_told([base]) if base else frozenset()), by_deed=True)


def _by_its_name(aim: _Aim, words: Sequence[str], *, by_deed: bool) -> Iterator[_Match]:
    """Yield how words name the thing a title is about: by all its words, or by some and nothing else.

    "The login page" is not the login bug: words that stand together all belong to the title.
    """
    runs = list(_runs(words, aim.things))
    said: frozenset[str] = frozenset().union(*runs)
    shared = said & aim.things
    if not shared or any(run & aim.things and not run <= aim.things for run in runs):
        return
    whole = shared == aim.things
    if whole or (said == shared and len(shared) >= max(_SHARED_WORDS, _SHARED_PART * len(aim.things))):
        yield _Match(shared, whole, by_deed)


def _by_many_words(aim: _Aim, said: frozenset[str], *, by_deed: bool) -> Iterator[_Match]:
    """Yield how words share two telling words and 40 % of the title's with it."""
    shared = aim.words & said
    if len(shared) >= max(_SHARED_WORDS, _SHARED_PART * len(aim.words)):
        yield _Match(shared, aim.things - {_FAULT} <= said, by_deed)


def _spoken_of(sentence: _Sentence, place: int) -> tuple[str, ...]:
    """Return the words for what is done: the clause's own, or for a mere "it's done" those before it."""
    words = sentence.clauses[place].words
    if place and not any(_runs(words, frozenset())) and not NOT_CLOSED.search(sentence.clauses[place - 1].text):
        return sentence.clauses[place - 1].words
    return words


def _ends(aim: _Aim, closing: str) -> bool:
    """Return whether a word for done ends the deed of a title: "fixed" does not end "call …"."""
    deed = deed_of(closing)
    if closing in ALL_DONE or not aim.deeds or deed is None or deed in aim.deeds:
        return True
    return deed == _FIX and _FAULT in aim.things


def _runs(words: Sequence[str], wanted: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield the telling words that stand together; words for when and how count only where wanted."""
    run: frozenset[str] = frozenset()
    for word in words:
        told = _told([word])
        if told and (told & wanted or not (word in PASSING or word.endswith("ly"))):
            run |= told
        elif run:
            yield run
            run = frozenset()
    if run:
        yield run


def _telling_words(text: str) -> frozenset[str]:
    """Return the words that tell what a text is about: no words for done, for faults or without meaning."""
    return _told(_words(CLOSED.sub(" ", normal(text)))) - {_FAULT}


def _told(words: Sequence[str]) -> frozenset[str]:
    """Return what words tell, as stems; Chinese as pairs of characters."""
    found: set[str] = set()
    for word in words:
        if _CJK.match(word):
            found.update(word[place : place + 2] for place in range(len(word) - 1))
        elif word in FAULTS:
            found.add(_FAULT)
        elif word[0] != _DONE_MARK and word not in EMPTY and (len(word) > 1 or word.isdigit()):
            found.add(stem(word) if word.isascii() else word.removesuffix("s"))
    return frozenset(found)


def _words(said: str) -> tuple[str, ...]:
    """Return the words of a normal text without clitics ("Karim's", "l'invoice"), Chinese without status words."""
    bare = (
        _ELIDED.sub("", _CLITIC.sub("", word)) for word in _TOKEN.findall(HOLLOW.sub(" , ", said.replace("’", "'")))
    )
    return tuple(word for word in bare if word)


def _mark(closing: re.Match[str]) -> str:
    """Return a word for done as a mark, which is no part of any name."""
    return f" {_DONE_MARK}{closing[0]} " if closing[0].isalpha() and not _CJK.match(closing[0]) else f" {_DONE_MARK} "
