"""How much a message sounds like going on with earlier work (spec F60, F61).

Signals add points, the opening of a self-contained task takes some away; two points make a
continuation. Being short or having a full stop is no signal (spec W14).
"""

from dataclasses import dataclass
from typing import Final

from zomem_graph.nodes.rules.opening_words import Opening
from zomem_graph.nodes.rules.requests import Request
from zomem_graph.nodes.rules.sign_words import Sign

__all__ = ["CONTINUATION_THRESHOLD", "Continuation", "weigh_continuation"]

CONTINUATION_THRESHOLD: Final = 2  # spec F61
SHORT_WORDS: Final = 8  # spec F60

_SIGN_POINTS: Final = {
    Sign.OPEN_WORK: 3,
    Sign.STEP: 2,
    Sign.SHARED_PAST: 2,
    Sign.PAST_TIME: 1,
    Sign.AGAIN: 1,
}
_REFERENCE: Final = frozenset("it that this them those one same others rest".split())


@dataclass(frozen=True, slots=True)
class Continuation:
    """The sum of the points and what gave them."""

    score: int
    signals: tuple[str, ...]

    @property
    def likely(self) -> bool:
        """Whether the message goes on with earlier work."""
        return self.score >= CONTINUATION_THRESHOLD


def weigh_continuation(request: Request, signs: frozenset[Sign]) -> Continuation:
    """Return the points for going on with earlier work."""
    if request.proceed:
        return Continuation(3, ("a bare word to go on",))
    if request.courtesy_only or not request.said.words:
        return Continuation(0, ())
    score, signals = 0, []
    if Opening.RESUME in request.openings:
        score += 2
        signals.append("opens by taking work up again")
    elif Opening.REWORK in request.openings:
        score += 1
        signals.append("opens by working on something at hand")
        if len(request.said.words) <= SHORT_WORDS and _REFERENCE.intersection(request.said.words):
            score += 1
            signals.append("short and points back")
    for sign, points in _SIGN_POINTS.items():
        if sign in signs:
            score += points
            signals.append(sign.value)
    if _looks_self_contained(request, signs) or _asks_to_be_reminded(request, signs):
        score -= 2
    return Continuation(score, tuple(signals))


def _looks_self_contained(request: Request, signs: frozenset[Sign]) -> bool:
    """Say whether it opens as a task or how-to, or as a question of fact that names no open work."""
    if Opening.RESUME in request.openings:
        return False
    if request.openings & {Opening.TASK, Opening.HOW_TO}:
        return True
    return Opening.KNOWLEDGE in request.openings and not signs & {Sign.OPEN_WORK, Sign.STEP}


def _asks_to_be_reminded(request: Request, signs: frozenset[Sign]) -> bool:
    """Say whether something said once is asked for: that may be long ago, and is a search of its own."""
    names_work = Opening.RESUME in request.openings or signs & {Sign.OPEN_WORK, Sign.STEP}
    return Sign.RECALL in signs and not names_work
