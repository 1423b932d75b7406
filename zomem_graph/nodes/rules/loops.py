"""Open loops by rule: what a text leaves undone, of which kind, and which loops a text says are done.

The heuristics of spec F47 and F63 to F65, in the form proposed there: a denied "fixed" closes nothing, and
status words alone never make two texts about the same thing.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from zomem_graph.nodes.rules._loop_words import (
    ADVICE,
    CLOSED,
    EMPTY,
    KIND_SIGNS,
    NOT_CLOSED,
    NOT_OPEN,
    OPENS,
    OPENS_NEED,
    TASK_VERB,
    URGENT,
    URGENT_DENIED,
)
from zomem_graph.nodes.rules._statements import sentences
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.quotes import strip_not_user_text

__all__ = ["KINDS", "LoopCandidate", "fingerprint", "kind_of", "loops_in", "priority_of", "resolves"]

KINDS: Final = ("task", "bug", "incident", "approval", "commitment", "other")
"""Every kind a loop may have (spec T13); `kind_of` never says "other"."""

_MOST_LINES: Final = 200
_MOST_LOOPS: Final = 8
_SHORTEST: Final = 12
_LONGEST: Final = 120
_LONGEST_TITLE: Final = 110
_URGENT_PRIORITY: Final = 0.9
_PRIORITY: Final = 0.6
_SHARED_WORDS: Final = 2
_SHARED_PART: Final = 0.4

_BULLET = re.compile(r"^(?:[-*+•]\s+|\d{1,2}[.)]\s+)?(?P<box>\[[ xX]\]\s+)?")
_FRAGMENT = re.compile(r"—|–|\s--?\s|\.\.\.|…")
_CLAUSE_END = re.compile(r"[,;，；]|\s(?:but|and|so|aber|und|pero|mais|et|y)\s|但是?")
_CJK = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HOLLOW = re.compile(r"需要|必须|应该|待办|下一步|跟进|等待|修复|解决|完成|搞定|关闭|批准|发布|已经?|我们|了|的")
_ENDING = re.compile(r"(?:ies|es|s|ing|ed)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCandidate:
    """Something a text leaves undone.

    `quote` is the sentence it stands in, literally; `summary` is that sentence when the title says less, else "".
    """

    title: str
    summary: str
    kind: str
    priority: float
    quote: str


def loops_in(text: str, *, role: str = "user") -> list[LoopCandidate]:
    """Return what a text leaves undone, at most eight, each title once (spec F47 with the noise filter of F64).

    Only users and assistants open loops. Questions, general rules, advice to somebody else, what is denied and
    what is said to be done open none.
    """
    if role not in {"user", "assistant"}:
        return []
    text = strip_not_user_text(text)
    without_capitals = text == text.lower()
    found: dict[str, LoopCandidate] = {}
    for sentence in sentences(text)[:_MOST_LINES]:
        candidate = _open(sentence, any_case=without_capitals)
        if candidate is not None:
            found.setdefault(normal(candidate.title), candidate)
    return list(found.values())[:_MOST_LOOPS]


def kind_of(text: str) -> str:
    """Return the kind of a loop by its words: bug, incident, approval, commitment, else task (spec F63)."""
    return next((kind for kind, sign in KIND_SIGNS if sign.search(text)), "task")


def priority_of(text: str) -> float:
    """Return .9 for what is called urgent, critical, a blocker, an outage or a must, else .6 (spec F47)."""
    return _URGENT_PRIORITY if URGENT.search(URGENT_DENIED.sub(" ", text)) else _PRIORITY


def fingerprint(kind: str, entity: str | None, title: str) -> str:
    """Return what two mentions of the same loop have in common: kind::entity::title, normalised (spec F64)."""
    words = [word for word in _WORD.findall(normal(title)) if word not in {"the", "a", "an"}]
    return f"{kind}::{normal(entity or '')}::{' '.join(words) or normal(title)}"


def resolves(text: str, title: str) -> bool:
    """Return whether a text says that the loop with this title is done (spec F65, proposed form).

    Some clause must close something, undenied, and share two telling words and 40 % of the title's with it.
    """
    wanted = _telling_words(title)
    return any(
        len(wanted & said) >= max(_SHARED_WORDS, _SHARED_PART * len(wanted)) for said in _closing_statements(text)
    )


def _open(sentence: str, *, any_case: bool) -> LoopCandidate | None:
    """Return the loop a sentence opens, or None."""
    bullet = _BULLET.match(sentence)
    box = (bullet["box"] or "").strip().lower() if bullet else ""
    said = sentence[bullet.end() if bullet else 0 :].strip()
    if box == "[x]" or not (box or OPENS.search(said)) or _width(said) < _SHORTEST or len(said) > _LONGEST:
        return None
    if _is_noise(said, any_case=any_case or bool(box)) or NOT_OPEN.search(said) or ADVICE.search(said):
        return None
    if any(_closes(clause) for clause in _CLAUSE_END.split(said)):
        return None
    title = _title(said)
    return LoopCandidate(
        title=title,
        summary=said if len(said) > len(title) + len(" We need to") else "",
        kind=kind_of(said),
        priority=priority_of(said),
        quote=sentence,
    )


def _is_noise(said: str, *, any_case: bool) -> bool:
    """Return whether a line is a fragment of a document or a mere question (spec F64).

    A lower-case start marks a fragment only in a text that has capitals somewhere.
    """
    if said.endswith(("?", "？")) and not TASK_VERB.search(said):
        return True
    return _FRAGMENT.search(said) is not None or (said[0].islower() and not any_case)


def _title(said: str) -> str:
    """Return the deed without what leads to it, at most 110 characters, cut between words."""
    bare = said.rstrip(" .!。！")
    for _ in range(3):
        lead = OPENS_NEED.match(bare)
        if not lead or len(bare) - lead.end() < 4:
            break
        bare = bare[lead.end() :]
    if len(bare) > _LONGEST_TITLE:
        bare = bare[: _LONGEST_TITLE - 1].rsplit(" ", 1)[0] + "…"
    return bare[0].upper() + bare[1:]


def _width(text: str) -> int:
    """Return the length of a text with a CJK character counting as two."""
    return len(text) + sum(map(len, _CJK.findall(text)))


def _closes(clause: str) -> bool:
    """Return whether a clause says that something is done, and does not take it back."""
    closing = CLOSED.search(clause)
    if closing is None or clause.rstrip().endswith(("?", "？")):
        return False
    return not NOT_CLOSED.search(clause[: closing.start()]) and not re.search(r"\bnot yet\b|noch nicht", clause)


@lru_cache(maxsize=32)
def _closing_statements(text: str) -> tuple[frozenset[str], ...]:
    """Return the telling words of each sentence that closes something.

    Remembered, because one text is held against many titles.
    """
    closing: list[frozenset[str]] = []
    for sentence in sentences(strip_not_user_text(text)):
        if sentence.endswith(("?", "？")) or ADVICE.match(sentence):
            continue
        closed = [clause for clause in _CLAUSE_END.split(sentence) if _closes(clause)]
        open_still = [
            clause for clause in _CLAUSE_END.split(sentence) if CLOSED.search(clause) and not _closes(clause)
        ]
        # "The login is fixed and the cache too" is one statement; with a denied clause each stands for itself.
        parts = closed if open_still else closed and [sentence]
        closing += [frozenset(_telling_words(part)) for part in parts]
    return tuple(closing)


def _telling_words(text: str) -> set[str]:
    """Return the words that tell what a text is about: no status words; Chinese as pairs of characters."""
    text = CLOSED.sub(" ", normal(text))
    found = {_ENDING.sub("", word) if len(word) > 4 else word for word in _WORD.findall(_CJK.sub(" ", text))}
    found = {word for word in found if len(word) > 1 or word.isdigit()}
    for run in _CJK.findall(_HOLLOW.sub(" ", text)):
        found.update(run[place : place + 2] for place in range(len(run) - 1))
    return found - EMPTY
