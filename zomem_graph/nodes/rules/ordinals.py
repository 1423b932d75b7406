"""Which of the things the conversation listed a message points at: "the second one", "option b", 第二个.

A list may stand in lines, under headings, or in a sentence ("1) … 2) …", "First: … Second: …", "A, B or C").
"""

import re
from collections.abc import Sequence
from typing import Final

from zomem_graph.nodes.rules.phrases import fold

__all__ = ["pointed_at", "points_by_order"]

_LAST: Final = -1
_PLACES: Final = {
    **dict.fromkeys("first 1st former erste ersten erster erstes primero primera premier premiere".split(), 0),
    **dict.fromkeys("primeiro primeira a 1 one eins uno un um 一".split(), 0),
    **dict.fromkeys("second 2nd zweite zweiten zweiter zweites segundo segunda deuxieme b 2".split(), 1),
    **dict.fromkeys("two zwei dos deux dois 二 两".split(), 1),
    **dict.fromkeys("third 3rd dritte dritten dritter drittes tercero tercera troisieme c 3".split(), 2),
    **dict.fromkeys("terceiro terceira three drei tres trois 三".split(), 2),
    **dict.fromkeys("fourth 4th vierte vierten vierter viertes cuarto cuarta quatrieme d 4".split(), 3),
    **dict.fromkeys("quarto quarta four vier cuatro quatre quatro 四".split(), 3),
    **dict.fromkeys("fifth 5th funfte funften funfter quinto quinta cinquieme e 5".split(), 4),
    **dict.fromkeys("five funf cinco cinq 五".split(), 4),
    **dict.fromkeys("last latter letzte letzten letzter letztes ultimo ultima dernier derniere".split(), _LAST),
}
_ENGLISH: Final = "first|1st|former|second|2nd|third|3rd|fourth|4th|fifth|5th|last|latter"
_OTHERS: Final = (
    "erste[nrs]?|zweite[nrs]?|dritte[nrs]?|vierte[nrs]?|funfte[nr]?|letzte[nrs]?"
    "|primer[oa]|segund[oa]|tercer[oa]|cuart[oa]|quint[oa]|ultim[oa]"
    "|premiere?|deuxieme|troisieme|quatrieme|cinquieme|derniere?|primeir[oa]|terceir[oa]|quart[oa]"
)
_NOUN: Final = (
    "ones?|options?|items?|points?|choices?|ideas?|suggestions?|proposals?|variants?|versions?|alternatives?"
    "|idee|punkt|vorschlag|variante|moglichkeit|opcion|propuesta|idea|opcao|proposta|proposition"
)
_VERB: Final = (
    "is|was|were|did|does|do|will|would|can|could|has|had|have|might|should|costs?|means?|works?|takes?|took|needs?"
    "|looks?|sounds?|seems?|entails?|involves?|compares?|differs?|helps?|fails?|brings?|saves?|requires?|goes|went"
)
# An ordinal counts when it stands for a thing of its own: "the second one", not "the second world war".
_BY_ORDER: Final = re.compile(
    rf"(?<!\w)(?:the\s+({_ENGLISH})|(?:der|die|das|dem|den|el|la|le|o|a|lo)\s+({_OTHERS}))"
    rf"(?=\s+(?:{_NOUN}|{_VERB})\b|\s*(?:[.,!?;:]|$|please|bitte))"
)
_BY_NUMBER: Final = re.compile(
    r"(?<!\w)(?:option|number|no\.?|nr\.?|nummer|point|item|punkt|opcion|numero|opcao|#)\s*([1-5a-e]|one|two|three|four|five)(?!\w)"
)
_BY_CJK: Final = re.compile("(?:第)?([一二两三四五1-5])(?:个|個|项|項|番目|つ目|号)")
_MARK: Final = r"(?:[*_]{2}|#{1,6}[ \t]+)*"
_NUMBER: Final = (
    r"(?:\(?(?:\d{1,2}|[a-e])[.)]|(?:option|step|choice|opción|opcion|variante)[ \t]+(?:\d|[a-e])[ \t]*[.):–-])"
)
_NUMBERED: Final = re.compile(rf"^([ \t]*){_MARK}{_NUMBER}[*_]*[ \t]+(\S.*)$", re.MULTILINE | re.IGNORECASE)
_BULLET: Final = re.compile(r"^([ \t]*)[-*•–][ \t]+(\S.*)$", re.MULTILINE)
_HEADING: Final = re.compile(r"^(#{2,6})[ \t]+(\S.*)$", re.MULTILINE)
_IN_LINE: Final = re.compile(r"(?<![\w.])\(?(\d|[a-e])[.)][ \t]+")
_IN_ORDER: Final = re.compile(
    rf"(?<![\w-])(?:(?:the|die|der|das|la|el)[ \t]+)?(?:option[ \t]+([1-5a-e])|({_ENGLISH}|{_OTHERS}))"
    rf"(?:[ \t]+(?:{_NOUN}))?(?:[ \t]*[:,–][ \t]+|[ \t]+(?:is|would be|ist|es|est)[ \t]+)",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n")
_OR: Final = re.compile(r"\s(?:or|oder|ou)\s")
_BETWEEN: Final = re.compile(r",\s*(?:or|oder|ou)\s+|\s+(?:or|oder|ou)\s+|,\s*")
# What offers a choice, and what stands between that and the first of three things or more.
_OFFERED: Final = re.compile(
    r"\b(?:could|can|might|either|options?|choices?|alternatives?|choose|consider|between|könntest|können|entweder"
    r"|optionen|podrías|opciones|pourrais|pourriez)\b"
    r"(?:\s+(?:are|is|be|do|use|try|go|with|pick|choose|either|from|between|among|include|here|you|we|i|have|für|sind|son|sont))*"
    r"[\s:]+([^,.;:?!]+(?:,\s*[^,.;:?!]+)+?),?\s+(?:or|and|oder|und|o|y|ou|et)\s+([^,.;:?!]+)",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"[,;]?\s+(?:or|and|oder|und|ou|et)$")
_LONGEST_CHOICE: Final = 8
"""Words; a longer part of a sentence is a clause, not a thing to choose."""
_LONGEST: Final = 300
_LONGEST_LIST: Final = 8_000
_LOOKED_BACK: Final = 4


def pointed_at(message: str, history: Sequence[str]) -> str | None:
    """Return the text of the listed thing that the message points at by its place, or None.

    The history is oldest first; the latest message that lists two things or more is looked at.
    """
    place = _place(fold(message[:_LONGEST]))
    if place is None:
        return None
    for said in reversed(history[-_LOOKED_BACK:]):
        things = _things(said[-_LONGEST_LIST:])
        if len(things) > 1:
            return things[place][:_LONGEST] if place < len(things) else None
    return None


def points_by_order(message: str) -> bool:
    """Return whether a message speaks of the first, second, … thing of something listed before."""
    return _BY_ORDER.search(fold(message[:_LONGEST])) is not None


def _place(message: str) -> int | None:
    for shape in (_BY_ORDER, _BY_NUMBER, _BY_CJK):
        found = shape.search(message)
        if found:
            return _number(next(group for group in found.groups() if group))
    return None


def _number(name: str) -> int | None:
    return int(name) - 1 if name.isdigit() else _PLACES.get(fold(name))


def _things(said: str) -> list[str]:
    """Return what a message lists, from the plainest form of a list to the least plain."""
    for things in (_lines(said), _marked(said), _offered(said), _asked(said)):
        if len(things) > 1:
            return [_bare(thing) for thing in things]
    return []


def _lines(said: str) -> list[str]:
    """Return the numbered lines, else headings of one level, else bullets; what is set in deeper is no thing."""
    for shape in (_NUMBERED, _HEADING, _BULLET):
        found = shape.findall(said)
        if len(found) > 1:
            outer = min(len(depth) for depth, _ in found)
            return [thing for depth, thing in found if len(depth) == outer]
    return []


def _marked(said: str) -> list[str]:
    """Return the things that are numbered within a line: "1) … 2) …", "First option: … Second option: …"."""
    for shape in (_IN_LINE, _IN_ORDER):
        wanted, starts = 0, []
        for found in shape.finditer(said):
            if _number(next(group for group in found.groups() if group)) == wanted:
                starts.append(found)
                wanted += 1
        if wanted > 1:
            ends = [*(found.start() for found in starts[1:]), len(said)]
            return [
                _SENTENCE_END.split(said[found.end() : end], maxsplit=1)[0]
                for found, end in zip(starts, ends, strict=True)
            ]
    return []


def _offered(said: str) -> list[str]:
    """Return the three things or more that a sentence offers: "you could do A, B, or C"."""
    for sentence in reversed(_SENTENCE_END.split(said)):
        found = _OFFERED.search(sentence)
        if found:
            things = [*found[1].split(","), found[2]]
            if all(0 < len(thing.split()) <= _LONGEST_CHOICE for thing in things):
                return things
    return []


def _asked(said: str) -> list[str]:
    """Return what the last question gives to choose from."""
    for sentence in reversed(_SENTENCE_END.split(said)):
        if sentence.endswith("?") and _OR.search(sentence):
            return [part for part in _BETWEEN.split(sentence) if part.strip(" ?")]
    return []


def _bare(thing: str) -> str:
    """Return a listed thing without the marks of Markdown and of lists around it."""
    return _JOINT.sub("", thing.replace("**", "").replace("__", "").strip(" \t,;.?#*_"))
