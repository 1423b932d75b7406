"""What a new fact does to what is already known: take its place, stand beside it, or wait for a decision.

Only an address decides what is retired: the same slot, or the opposite of the same statement. Shared words
never do. Wording decides two smaller things: whether a statement speaks of the past, and whether two
statements about one entity deny each other, which is marked and left to somebody who knows.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from zomem_graph.nodes.rules._dates import moments_clash, moments_in
from zomem_graph.nodes.rules._polarity import contradicts
from zomem_graph.nodes.rules._quantities import quantities_clash, quantities_in
from zomem_graph.nodes.rules._wordlists import alternatives, words
from zomem_graph.nodes.rules.keys import conflict_kind, normal, same_value
from zomem_graph.stores.records import ConflictType, Strategy

__all__ = [
    "STRATEGIES",
    "Judgement",
    "Outcome",
    "Place",
    "Rival",
    "Statement",
    "Strategy",
    "deny_each_other",
    "differ_in_number",
    "judge",
    "may_deny",
    "merged_value",
    "speaks_of_change",
    "speaks_of_the_past",
    "without_numbers",
]

STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
Place = Literal["slot", "opposite", "entity"]
Outcome = Literal["superseded", "merged", "flagged", "pending", "late", "past"]
"""What becomes of the two: the first four as in spec T23; late and past retire the newcomer instead."""

_OUTCOMES: Final[dict[Strategy, Outcome]] = {
    "supersede": "superseded",
    "merge": "merged",
    "flag": "flagged",
    "pending": "pending",
}
_OF_WORDING: Final = frozenset({"negation", "text"})

# How statements say that something was so and is no more, and that something is so from now on. The words of
# the first list speak of the past of what follows them.
_PAST = re.compile(
    # "The knife used to cut bread" is about a knife of today.
    r"^used to\s|\b(?:i|we|he|she|they|you|it|there|who)\sused to\s|\bused to (?:be|live|have)\b|(?<!\w)"
    + alternatives(
        "formerly|previously|back then|once upon a time|was once|until recently|"
        "früher|ehemals|damals|antiguamente|anteriormente|autrefois|auparavant"
    )
    + r"(?!\w)|以前|曾经"
)
_CHANGE = re.compile(
    r"(?<!\w)"
    + alternatives(
        "now|as of|no longer|any more|anymore|from now on|starting|moved to|moved from|switched to|"
        "changed to|changed from|these days|currently|instead of|since|not any longer|has become|became|"
        "jetzt|nunmehr|ab sofort|nicht mehr|inzwischen|seit|umgezogen|gewechselt|"
        "ahora|ya no|a partir de|desde|se mudó a|cambió a|"
        "maintenant|désormais|dorénavant|ne plus|à partir de|depuis"
    )
    + r"(?!\w)|现在|如今|不再|从现在起|改为|换成|搬到"
)
_CJK = re.compile(r"[\u3400-\u9fff]")
_CLAUSE_ENDS = re.compile(r"[.;:!?\n。；！？]|,|，|\bbut\b|\baber\b|\bpero\b|\bmais\b|但")
_DENIALS = re.compile(
    r"\b(?:not?|nt|never|none|cannot|without|neither|nor|non|forbidden|prohibited|banned|disallowed|disabled|"
    r"inactive|deactivated|false|off|closed|shut|optional|unnecessary|impossible|dislikes?|hates?|down|offline|"
    r"private|nicht|keine?[nmr]?|nie|niemals|ohne|verboten|falsch|nein|nunca|jamás|sin|ningun[oa]?|ningún|pas|"
    r"jamais|sans|aucune?)\b|n['’]t\b|[不没未无别勿]|禁止"
)
_WORD = re.compile(r"[\u3400-\u9fff]|\w+")
_CONTRACTED = re.compile(r"\b(\w+?)n['’]t\b")
_EMPTY: Final = words(
    "a an the is are was were be been am do does did has have had it this that there to of for on in at by",
    "and or any more anymore longer now ever still as der die das ist el la los las le les est es un una une",
)
_NEGATORS: Final = words(
    "not no never none cannot can without neither nor nt n t non nicht kein keine keinen keinem keiner nie",
    "niemals ohne nunca jamás sin ningún ninguna ne pas jamais sans aucun aucune 不 没 未 无 别 勿",
)
_SIGNED: Final = words(
    "allowed permitted erlaubt forbidden prohibited banned disallowed verboten enabled active activated",
    "disabled inactive deactivated true yes on false off open opened closed shut always required mandatory",
    "necessary optional unnecessary possible impossible with like likes love loves dislike dislikes hate",
    "hates up online down offline public private ja nein wahr falsch sí oui mit con avec immer siempre",
    "toujours",
)
_SAYING_LITTLE: Final = _EMPTY | _NEGATORS | _SIGNED
_LEAST_SHARED: Final = 0.75
"""Share of the telling words of both statements that must be common before one can deny the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is being said: the value, the words around it, and when it was said.

    `said` is what is compared by its wording: the key and the value, without the entity.
    """

    value: str
    said: str
    at: datetime
    quote: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A current fact that a new one meets, and where: in its slot, under the opposite, or beside it."""

    id: str
    place: Place
    value: str
    said: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What becomes of one rival and the new fact, and why."""

    rival_id: str
    place: Place
    outcome: Outcome
    conflict_type: ConflictType
    detector: str
    note: str = ""


def judge(new: Statement, rivals: Iterable[Rival], *, strategy: Strategy = "supersede") -> list[Judgement]:
    """Return a judgement for every rival that a new fact contradicts; those it leaves alone are left out.

    In a slot the strategy decides, except that what was said earlier, or speaks of the past, never
    replaces what is current. Beside a slot only a denial counts: it supersedes when the new statement
    says that something changed, else both stay and are flagged (spec F83, F84).
    """
    found = []
    for rival in rivals:
        judged = _beside(new, rival) if rival.place == "entity" else _in_slot(new, rival, strategy)
        if judged is not None:
            found.append(judged)
    return found


def deny_each_other(a: str, b: str) -> bool:
    """Return whether two statements about one thing say the opposite in almost the same words.

    One must hold all telling words of the other, and no number or date may differ: "no deploys on
    Monday" and "deploys on Friday" are two statements.
    """
    a, b = normal(a), normal(b)
    if not (_DENIALS.search(a) or _DENIALS.search(b)) or not contradicts(a, b):
        return False
    (dates_a, rest_a), (dates_b, rest_b) = moments_in(a), moments_in(b)
    numbers_a, numbers_b = quantities_in(rest_a)[0], quantities_in(rest_b)[0]
    if dates_a != dates_b or numbers_a != numbers_b:
        return False
    words_a, words_b = _telling(a), _telling(b)
    if not words_a or not words_b:
        return words_a == words_b
    shared = len(words_a & words_b) / len(words_a | words_b)
    return shared >= _LEAST_SHARED and (words_a <= words_b or words_b <= words_a)


def may_deny(text: str) -> bool:
    """Return whether a statement denies anything; of two that contradict each other one always does."""
    return bool(_DENIALS.search(text.casefold()))


def differ_in_number(a: str, b: str) -> bool:
    """Return whether two statements are the same but for a number or a date."""
    if not (bare := without_numbers(a)) or bare != without_numbers(b):
        return False
    (dates_a, rest_a), (dates_b, rest_b) = moments_in(normal(a)), moments_in(normal(b))
    numbers_a, numbers_b = quantities_in(rest_a)[0], quantities_in(rest_b)[0]
    return moments_clash(dates_a, dates_b) or quantities_clash(numbers_a, numbers_b)


def without_numbers(text: str) -> tuple[str, ...]:
    """Return the words of a statement beside its numbers and dates; none when they say nothing alone."""
    rest = quantities_in(moments_in(normal(text))[1])[1]
    return tuple(_WORD.findall(rest)) if _telling(rest) else ()


def merged_value(values: Sequence[str], *, key: str | None = None) -> str:
    """Return the distinct values joined by "; ", in order (spec F84)."""
    kept: list[str] = []
    for value in (part.strip() for joined in values for part in joined.split(";")):
        if value and not any(same_value(value, known, key=key) for known in kept):
            kept.append(value)
    return "; ".join(kept)


def speaks_of_the_past(new: Statement) -> bool:
    """Return whether a statement says that something was so and is no more: "used to be Lyon"."""
    return _says(_PAST, new) and not _says(_CHANGE, new)


def speaks_of_change(new: Statement) -> bool:
    """Return whether a statement says that something is so from now on: "now", "moved to", "as of"."""
    return _says(_CHANGE, new)


def _in_slot(new: Statement, rival: Rival, strategy: Strategy) -> Judgement:
    kind = conflict_kind(rival.value, new.value) if rival.place == "slot" else "negation"
    detector = "opposite" if rival.place == "opposite" else kind or "precision"
    if new.at < rival.at:
        why = "said before the current value, learned after it"
        return Judgement(
            rival_id=rival.id,
            place=rival.place,
            outcome="late",
            conflict_type="temporal",
            detector=detector,
            note=why,
        )
    if rival.place == "slot" and speaks_of_the_past(new):
        return Judgement(
            rival_id=rival.id,
            place="slot",
            outcome="past",
            conflict_type="temporal",
            detector=detector,
            note="speaks of the past",
        )
    outcome = _OUTCOMES[strategy]
    if rival.place == "opposite" and outcome == "merged":
        outcome = "superseded"  # to like and to dislike tea cannot be joined
    return Judgement(
        rival_id=rival.id,
        place=rival.place,
        outcome=outcome,
        conflict_type=_type_of(new, kind),
        detector=detector,
    )


def _type_of(new: Statement, kind: str | None) -> ConflictType:
    if speaks_of_change(new):
        return "temporal"
    return "semantic" if kind in _OF_WORDING else "exact"


def _beside(new: Statement, rival: Rival) -> Judgement | None:
    if not deny_each_other(rival.said, new.said):
        return None
    if new.at >= rival.at and speaks_of_change(new) and not speaks_of_the_past(new):
        return Judgement(
            rival_id=rival.id,
            place="entity",
            outcome="superseded",
            conflict_type="temporal",
            detector="negation",
        )
    return Judgement(
        rival_id=rival.id,
        place="entity",
        outcome="flagged",
        conflict_type="semantic",
        detector="negation",
        note="one denies the other; both are kept",
    )


def _says(pattern: re.Pattern[str], new: Statement) -> bool:
    """Return whether the statement itself, or the clause of the quote that holds the value, says so."""
    if pattern.search(normal(new.value)):
        return True
    quoted = normal(new.quote or "")
    value = normal(new.value)
    if not quoted or not value:
        return False
    for clause in _CLAUSE_ENDS.split(quoted):
        place = clause.find(value)
        if place < 0:
            continue
        before = clause[:place]
        if pattern.search(before) or (_CJK.search(before) and pattern.search(clause)):
            return True
    return False


def _telling(text: str) -> set[str]:
    """Return the words that say what a statement is about, beside its denial and its small words."""
    tokens = _WORD.findall(_CONTRACTED.sub(r"\1 not", text).replace("禁止", "不"))
    return {token for token in tokens if token not in _EMPTY and token not in _NEGATORS and token not in _SIGNED}
