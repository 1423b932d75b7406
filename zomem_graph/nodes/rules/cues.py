"""What a message shows by its words alone, and what follows for memory.

`read_cues` looks, `judge` decides. Both are pure and take microseconds, so every message can pass
through them. A miss costs more than a look in vain: only what is surely without need of memory is
skipped, and whatever the words leave open is left to the evidence (spec F61, F69, F73).
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from zomem_graph.nodes.rules.continuation import weigh_continuation
from zomem_graph.nodes.rules.courtesy_words import Courtesy
from zomem_graph.nodes.rules.cue_words import ASSISTANT_TALK, FUNCTION_WORDS, SHARED_NOUNS, WORLD_NAMES
from zomem_graph.nodes.rules.going_on import asks_where_we_stopped
from zomem_graph.nodes.rules.oneself import tells_of_oneself
from zomem_graph.nodes.rules.opening_words import Opening
from zomem_graph.nodes.rules.phrases import fold, has_cjk
from zomem_graph.nodes.rules.requests import Request, read_request, without_quotes
from zomem_graph.nodes.rules.sign_words import ANYWHERE, Sign

__all__ = ["Cues", "Judgement", "Verdict", "judge", "read_cues"]

# A pasted document says nothing more after this; the question is at its head or its end.
HEAD_CHARACTERS: Final = 1_500
TAIL_CHARACTERS: Final = 500
KEYWORDS: Final = 6  # spec F60
_A_FEW: Final = 3  # words that tell; a greeting with no more asks for nothing


class Verdict(StrEnum):
    """What the gate does with a message."""

    CONTINUE = "continue"
    NEEDED = "needed"
    SKIP = "skip"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its reason in one line; `unless_named`: it falls with the first name that memory knows."""

    verdict: Verdict
    reason: str
    unless_named: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """What the words of one message show."""

    empty: bool
    greeting: bool
    thanks: bool
    courtesy_only: bool
    small_talk: bool
    self_contained_task: bool
    general_knowledge: bool
    generic_form: bool
    continuation: bool
    continuation_score: int
    signals: tuple[str, ...]
    recall_question: bool
    own_state: bool
    shared_past: bool
    advice: bool
    personal: bool
    to_come: bool
    past_reference: bool
    is_question: bool
    wikilinks: tuple[str, ...]
    capitalised_names: tuple[str, ...]
    keywords: tuple[str, ...]


def read_cues(message: str) -> Cues:
    """Return what the words of the message show; any string at all is legal."""
    text = _ends(message)
    request = read_request(text)
    signs = ANYWHERE.kinds_in(request.said)
    if asks_where_we_stopped(request.said.words):
        signs |= {Sign.OPEN_WORK}
    continuation = weigh_continuation(request, signs)
    names = _capitalised_names(without_quotes(text))
    return Cues(
        empty=not request.said.words,
        greeting=Courtesy.GREETING in request.courtesies,
        thanks=Courtesy.THANKS in request.courtesies,
        courtesy_only=request.courtesy_only,
        small_talk=_is_small_talk(request),
        self_contained_task=_is_task(request, signs, names),
        general_knowledge=_is_general(request, signs, names),
        generic_form=Sign.HOW_TO in signs or bool(request.openings & {Opening.TASK, Opening.HOW_TO}),
        continuation=continuation.likely,
        continuation_score=continuation.score,
        signals=continuation.signals,
        recall_question=Sign.RECALL in signs,
        own_state=Sign.OWN_STATE in signs or tells_of_oneself(request.core),
        shared_past=Sign.SHARED_PAST in signs,
        advice=Sign.ADVICE in signs and bool(signs & _TOLD or "i" in request.core),
        personal=Sign.OWN in signs,
        to_come=Sign.TO_COME in signs,
        past_reference=bool(signs & {Sign.PAST_TIME, Sign.SHARED_PAST}),
        is_question=_is_question(text, request),
        wikilinks=_wikilinks(text),
        capitalised_names=names,
        keywords=_keywords(text),
    )


def judge(cues: Cues, *, leaning: bool = False) -> Judgement:
    """Return what the gate does, and why: continuation first, then wikilinks, then the other cues.

    `leaning` says that the message leans on its conversation: then "what does she do?" asks of somebody in it, and
    its own words do not make it general knowledge.
    """
    if cues.empty:
        return Judgement(Verdict.SKIP, "the message is empty")
    if cues.continuation:
        return Judgement(Verdict.CONTINUE, "; ".join(cues.signals))
    if cues.wikilinks:
        return Judgement(Verdict.NEEDED, f"links to {cues.wikilinks[0]}")
    if cues.courtesy_only:
        return Judgement(Verdict.SKIP, "only courtesies or an answer")
    return (
        _need(cues) or _no_need(cues, leaning=leaning) or Judgement(Verdict.UNSURE, "the words alone do not decide")
    )


def _need(cues: Cues) -> Judgement | None:
    if cues.recall_question:
        return Judgement(Verdict.NEEDED, "asks to be reminded")
    if cues.shared_past:
        return Judgement(Verdict.NEEDED, "points at what was said or done together")
    if cues.own_state and not cues.generic_form:
        return Judgement(Verdict.NEEDED, "asks about the user's own past or habits")
    if cues.advice:
        return Judgement(Verdict.NEEDED, "asks for a suggestion that fits the user")
    if cues.personal and not (cues.generic_form or cues.to_come):
        return Judgement(Verdict.NEEDED, "speaks of the user's own things")
    return None


def _no_need(cues: Cues, *, leaning: bool) -> Judgement | None:
    if cues.small_talk and not leaning:
        return Judgement(Verdict.SKIP, "small talk about the assistant")
    if cues.greeting and not cues.is_question and len(cues.keywords) <= _A_FEW and not cues.capitalised_names:
        return Judgement(Verdict.SKIP, "a greeting and little else")
    if cues.self_contained_task:
        return Judgement(Verdict.SKIP, "a task that holds all it needs", unless_named=True)
    if cues.general_knowledge and not leaning:
        return Judgement(Verdict.SKIP, "general knowledge", unless_named=True)
    return None


def _is_small_talk(request: Request) -> bool:
    """Every word is about the assistant or says nothing, and only the assistant is addressed."""
    words = request.core
    if not _ASSISTANT.intersection(request.said.words):
        return False
    if _SPEAKER.intersection(words) or any(
        word == "me" and _HELPING.isdisjoint(words[max(position - 1, 0) : position])
        for position, word in enumerate(words)
    ):
        return False
    return bool(words) and all(word in ASSISTANT_TALK or word in FUNCTION_WORDS for word in words)


def _is_task(request: Request, signs: frozenset[Sign], names: tuple[str, ...]) -> bool:
    if _ARITHMETIC.fullmatch(request.said.text):
        return True
    if signs & _TIED or Sign.AGENDA in signs:
        return False
    return Opening.TASK in request.openings and (Sign.COMMON in signs or not _specific(request, names))


def _is_general(request: Request, signs: frozenset[Sign], names: tuple[str, ...]) -> bool:
    if signs & _TIED:
        return False
    if Sign.COMMON in signs:
        return True
    if signs & {Sign.AGENDA, Sign.PAST_TIME} or tells_of_oneself(request.core):
        return False
    general = request.openings & {Opening.KNOWLEDGE, Opening.HOW_TO} or _is_definition(request)
    if _SPEAKER.intersection(request.core) and not request.openings & {Opening.HOW_TO}:
        return False
    return bool(general) and not _specific(request, names)


def _is_definition(request: Request) -> bool:
    """Say whether a bare word is asked for: "what is entropy", "what does ephemeral mean"."""
    core = request.core
    if core[:2] in _WHAT_IS and 3 <= len(core) <= 4:
        return True
    return core[:1] == ("what",) and core[-1:] == ("mean",)


def _specific(request: Request, names: tuple[str, ...]) -> bool:
    """Something particular is meant: a name, or "the", "this", "that" with a noun of one's own."""
    if names:
        return True
    words = request.core
    task = Opening.TASK in request.openings
    for position, word in enumerate(words):
        if word in _POINTING and not (task and word == "this"):
            following = words[position + 1 : position + 3]
            if following and not SHARED_NOUNS.intersection(following):
                return True
    return False


def _is_question(text: str, request: Request) -> bool:
    return "?" in text or "？" in text or request.core[:1] in _QUESTION_WORDS


def _ends(message: str) -> str:
    if len(message) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return message
    return message[:HEAD_CHARACTERS] + "\n" + message[-TAIL_CHARACTERS:]


def _wikilinks(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in _WIKILINK.findall(text) if name.strip()))


def _capitalised_names(text: str) -> tuple[str, ...]:
    """Return runs of capitalised words the world does not know; what opens a sentence is no name."""
    runs: list[list[str]] = []
    opens, open_run = True, False
    for token in _TOKEN.findall(text):
        if not token[0].isalpha():
            opens, open_run = opens or token != ",", False
            continue
        if not _is_name(token, opens=opens):
            open_run = False
        elif open_run:
            runs[-1].append(token)
        else:
            runs.append([token])
            open_run = True
        opens = False
    return tuple(dict.fromkeys(" ".join(run) for run in runs))


def _is_name(token: str, *, opens: bool) -> bool:
    word = fold(token)
    if not token[0].isupper() or word in WORLD_NAMES or word in FUNCTION_WORDS or opens:
        return False
    return not (token.isupper() and len(token) <= 5)


def _keywords(text: str) -> tuple[str, ...]:
    words = (word for word in _KEYWORD.findall(fold(text)) if len(word) >= 3 or has_cjk(word))
    return tuple(dict.fromkeys(word for word in words if word not in FUNCTION_WORDS))[:KEYWORDS]


_ASSISTANT: Final = frozenset("you your yours yourself ai bot".split())
_HELPING: Final = frozenset("help helping assist tell telling teach with".split())
_SPEAKER: Final = frozenset("i my mine we our us".split())
_TOLD: Final = frozenset({Sign.SITUATION, Sign.OWN})
_POINTING: Final = frozenset("the this that these those".split())
_WHAT_IS: Final = frozenset({("what", "is"), ("what", "are"), ("define", "the"), ("was", "ist")})
_QUESTION_WORDS: Final = frozenset(
    (word,)
    for word in (
        "what which who whom whose when where why how did do does is are was were have has can could should"
        " would wer was wie wo wann warum welche que quien como cuando donde cual qui quoi quel quelle"
        " comment quand pourquoi quem onde qual"
    ).split()
)
_TIED: Final = frozenset({Sign.OWN, Sign.OWN_STATE, Sign.RECALL, Sign.SHARED_PAST, Sign.OPEN_WORK})
_ARITHMETIC: Final = re.compile(r"[\s\d.,+*/x×÷^()=?%-]*\d[\s\d.,+*/x×÷^()=?%-]*")
_WIKILINK: Final = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_TOKEN: Final = re.compile(r"[.!?:;,\n¿¡]|[^\W\d_][\w'’-]*")
_KEYWORD: Final = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*")
