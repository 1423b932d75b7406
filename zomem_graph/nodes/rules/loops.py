"""Open loops by rule: what a text leaves undone, and of which kind (spec F47, F63, F64)."""

import re
from dataclasses import dataclass
from typing import Final

from zomem_graph.nodes.rules._loop_words import (
    ADVICE,
    KIND_SIGNS,
    NOT_OPEN,
    OPENS,
    OPENS_NEED,
    TASK_VERB,
    URGENT,
    URGENT_DENIED,
)
from zomem_graph.nodes.rules._statements import sentences
from zomem_graph.nodes.rules.closing import CLAUSE_END, says_done
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.quotes import strip_not_user_text

__all__ = ["KINDS", "LoopCandidate", "fingerprint", "kind_of", "loops_in", "priority_of"]

KINDS: Final = ("task", "bug", "incident", "approval", "commitment", "other")
"""Every kind a loop may have (spec T13); `kind_of` never says "other"."""

_MOST_LINES: Final = 200
_MOST_LOOPS: Final = 8
_SHORTEST: Final = 12
_LONGEST: Final = 120
_LONGEST_TITLE: Final = 110
_URGENT_PRIORITY: Final = 0.9
_PRIORITY: Final = 0.6

_BULLET = re.compile(r"^(?:[-*+•]\s+|\d{1,2}[.)]\s+)?(?P<box>\[[ xX]\]\s+)?")
_FRAGMENT = re.compile(r"—|–|\s--?\s|\.\.\.|…")
_CJK = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


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


def fingerprint(kind: str, entity: str | None, title: str, rest: str = "") -> str:
    """Return what two mentions of the same loop have in common: kind::entity::title, normalised (spec F64).

    `rest` stands for what a cut title leaves out, so that loops that only begin alike stay apart.
    """
    words = [word for word in _WORD.findall(normal(title)) if word not in {"the", "a", "an"}]
    return f"{kind}::{normal(entity or '')}::{' '.join(words) or normal(title)}{rest and f'::{rest}'}"


def _open(sentence: str, *, any_case: bool) -> LoopCandidate | None:
    """Return the loop a sentence opens, or None."""
    bullet = _BULLET.match(sentence)
    box = (bullet["box"] or "").strip().lower() if bullet else ""
    said = sentence[bullet.end() if bullet else 0 :].strip()
    if box == "[x]" or not (box or OPENS.search(said)) or _width(said) < _SHORTEST or len(said) > _LONGEST:
        return None
    if _is_noise(said, any_case=any_case or bool(box)) or NOT_OPEN.search(said) or ADVICE.search(said):
        return None
    if any(map(says_done, CLAUSE_END.split(said))):
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
