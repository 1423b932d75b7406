"""Which of the things the conversation listed a message points at: "the second one", "option b", 第二个."""

import re
from collections.abc import Sequence
from typing import Final

from zomem_graph.nodes.rules.phrases import fold

__all__ = ["pointed_at"]

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
# An ordinal counts when it stands for a thing of its own: "the second one", not "the second world war".
_BY_ORDER: Final = re.compile(
    rf"(?<!\w)(?:the\s+({_ENGLISH})|(?:der|die|das|dem|den|el|la|le|o|a|lo)\s+({_OTHERS}))"
    rf"(?=\s+(?:{_NOUN})\b|\s*(?:[.,!?;:]|$|please|bitte))"
)
_BY_NUMBER: Final = re.compile(
    r"(?<!\w)(?:option|number|no\.?|nr\.?|nummer|point|item|punkt|opcion|numero|opcao|#)\s*([1-5a-e]|one|two|three|four|five)(?!\w)"
)
_BY_CJK: Final = re.compile("(?:第)?([一二两三四五1-5])(?:个|個|项|項|番目|つ目|号)")
_LISTED: Final = re.compile(r"^[ \t]*(?:\(?(?:\d{1,2}|[a-eA-E])[.)]|[-*•–])[ \t]+(\S.*)$", re.MULTILINE)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n")
_OR: Final = re.compile(r"\s(?:or|oder|ou)\s")
_BETWEEN: Final = re.compile(r",\s*(?:or|oder|ou)\s+|\s+(?:or|oder|ou)\s+|,\s*")
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


def _place(message: str) -> int | None:
    for shape in (_BY_ORDER, _BY_NUMBER, _BY_CJK):
        found = shape.search(message)
        if found:
            name = next(group for group in found.groups() if group)
            return int(name) - 1 if name.isdigit() else _PLACES.get(name)
    return None


def _things(said: str) -> list[str]:
    listed = [line.strip() for line in _LISTED.findall(said)]
    if len(listed) > 1:
        return listed
    for sentence in reversed(_SENTENCE_END.split(said)):
        if sentence.endswith("?") and _OR.search(sentence):
            return [part.strip(" ?") for part in _BETWEEN.split(sentence) if part.strip(" ?")]
    return []
