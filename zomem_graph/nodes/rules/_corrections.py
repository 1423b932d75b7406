"""Where somebody corrects himself in one breath: "the port is 8080, no wait, 9090".

The tables hold all languages together, as those of `_statements` do.
"""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Correction", "begins_correction", "correction_in"]

# What leads into a correction: a comma, a dash, a bracket, three dots, perhaps a sound.
_PAUSE: Final = (
    r"(?P<pause>\s*[,;.!…]+|\s*\(|\s+[-–—]+|[—，。；])\s*"
    r"(?:(?:oh|ah|er|erm|uh|um|hmm|well|ach|äh|ähm|euh|eh|ay|and|or|but|oder|sorry|wait|oops|actually|哦)\b[,.…]*\s+){0,2}"
)
_STOP: Final = r"(?=\s*(?:[,.:;!…—–，。)]|\s-|$))"
_TAKES_BACK: Final = (
    r"(?:no[,.]?\s+)?(?:scratch|strike|forget|ignore)\s+that|correction|let\s+me\s+correct\s+(?:that|myself)|i\s+meant"
    r"(?:\s+to\s+say)?|make\s+(?:that|it)(?=\s+[A-Z\d])|streich\s+das|vergiss\s+das|korrektur|ich\s+meinte"
    r"|corrijo|corrección|quise\s+decir|olvídalo|rectification|je\s+corrige|je\s+voulais\s+dire|oublie\s+ça|说错了|更正"
)
_DENIES: Final = (
    rf"(?:no|nope|nein|non){_STOP}(?:,?\s*(?:wait|sorry|actually|hang\s+on|hold\s+on|warte|moment|perdón|espera|pardon"
    rf"|attends){_STOP})?"
    r"|no,?\s+(?:wait|sorry|actually|hang\s+on|hold\s+on|i\s+mean)|(?:wait|sorry|hang\s+on|hold\s+on),?\s+no"
    r"|nein,?\s+(?:doch|warte|moment|sorry|quatsch)|quatsch|(?:or\s+)?rather(?=,)|or\s+rather|my\s+(?:mistake|bad)|w?oops"
    r"|besser\s+gesagt|(?:oder\s+)?vielmehr|(?:o\s+)?mejor\s+dicho|(?:o\s+)?más\s+bien|ou\s+plutôt|enfin\s+non"
    r"|不对|不(?=，)|等等"
)
_HEDGES: Final = (
    rf"(?:wait|hang\s+on|hold\s+on|sorry|rather|warte|moment|entschuldigung|perdón|espera|pardon|attends|digo){_STOP}"
    rf"|(?:er|erm|uh|um|hmm|äh|ähm|euh){_STOP}|sorry(?=\s+\d)|i\s+mean|actually|ich\s+meine|eigentlich|quiero\s+decir|en\s+realidad|je\s+veux\s+dire|en\s+fait"
    r"|我是说"
)
_MARK = re.compile(
    rf"{_PAUSE}(?:(?P<back>{_TAKES_BACK})|(?P<deny>{_DENIES})|(?P<hedge>{_HEDGES}))(?![\w'’])(?P<end>[\s,:;.!…—–，)-]*)",
    re.IGNORECASE,
)
_OPENING = re.compile(rf"(?:{_TAKES_BACK}|{_DENIES}|{_HEDGES})(?![\w'’])", re.IGNORECASE)
# "No, thanks" corrects nothing, and neither does "no, really".
_FILLER = re.compile(
    r"(?:really|seriously|honestly|thanks?|thank\s+you|problem|worries|kidding|wirklich|im\s+ernst|danke|gracias"
    r"|de\s+verdad|merci|vraiment|真的|谢谢)\b",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"(?:(?:it|that)(?:['’]s|\s+is|\s+should\s+be|\s+was)|make\s+(?:that|it)|es\s+ist|das\s+ist|es|c['’]est|是)\s*"
    r"(?:actually\s+|really\s+)?(?=[A-ZÀ-Þ\d\u3400-\u9fff])"
)
_LONGEST_VALUE: Final = 3  # words
_NO_VALUE = re.compile(r"(?:I|I['’]\w+|We|You|He|She|It|They|That|This|There|Ich|Wir|Yo|Je)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A sentence that corrects itself: what was said before it, and what is to stand in the place of its end.

    When `instead` fits nowhere, the end of `before` is taken back all the same if it is `firm`. `apart` says that a
    full stop stands between the two.
    """

    before: str
    instead: str
    firm: bool
    apart: bool


def correction_in(sentence: str) -> Correction | None:
    """Return the last correction in a sentence; None when nothing is taken back."""
    found = None
    for mark in _MARK.finditer(sentence):
        rest = sentence[mark.end() :].strip(" ).")
        if mark.start() and not _FILLER.match(rest) and (rest or mark["back"]):
            found = mark
    if found is None:
        return None
    instead = _POINTER.sub("", sentence[found.end() :].strip(), count=1) if found.end() < len(sentence) else ""
    instead = re.sub(r"\s+actually\W*$", "", instead.replace(")", ""))
    pause = found["pause"].strip()
    apart = pause[:1] in {".", "!", "。"} and not pause.startswith("..")
    is_value = re.match(r"[A-ZÀ-Þ\d\u3400-\u9fff]", instead) and not _NO_VALUE.match(instead)
    short = len(instead.split()) <= _LONGEST_VALUE
    return Correction(
        before=sentence[: found.start()],
        instead=instead,
        firm=bool(found["back"] or (found["deny"] and not apart) or (is_value and short)),
        apart=apart,
    )


def begins_correction(sentence: str) -> bool:
    """Return whether a sentence corrects the one before it, as "No wait, 9090" does."""
    return _OPENING.match(sentence) is not None
