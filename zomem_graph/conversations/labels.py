"""Which `Word: …` at the start of a line is a speaker, and which is only a word with a colon."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from zomem_graph.conversations.transcript import is_role

__all__ = ["Label", "fenced_lines", "label_in", "speakers_in"]

_LABEL = re.compile(
    r"(?:\[(?P<before>[^\]]{4,40})\]\s*)?(?P<bold>\*\*|__)?"
    r"(?P<name>[^\W\d_][\w.'’ -]{0,39}?)"
    r"(?:\s*[(\[](?P<after>[^)\]]{4,40})[)\]])?"
    r"(?(bold)(?:[:：](?P=bold)|(?P=bold)\s?[:：])|(?:：|:(?=\s|$)))[ \t]*(?P<rest>.*)",
    re.DOTALL,
)
_FENCE = re.compile(r"(?:^\s*|[:：*_]\s+)(?P<mark>`{3,}|~{3,})[^`]*$")
# Words that people put before a colon inside a message.
_WORDS_BEFORE_A_COLON = """
    note notes nb ps p.s. todo tip tips hint example examples warning caution important summary result
    results step steps ingredients method instructions update edit source sources link url http https re
    subject from to cc date time address title problem solution conclusion reason pros cons output input
    total tldr
"""
_NEVER_A_SPEAKER = frozenset(_WORDS_BEFORE_A_COLON.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The start of a line that may open a message: who, the rest of the line, its setting and time stamp."""

    name: str
    rest: str
    bold: bool
    stamp: str


def label_in(line: str) -> Label | None:
    """Return the label a line begins with, or None; whether it is a speaker only the whole file can tell."""
    match = _LABEL.fullmatch(line)
    if not match or len(match["name"].split()) > 4:
        return None
    return Label(
        name=match["name"].strip(),
        rest=match["rest"],
        bold=bool(match["bold"]),
        stamp=match["before"] or match["after"] or "",
    )


def speakers_in(lines: Sequence[str]) -> frozenset[str]:
    """Return the labels that are speakers.

    Role words always are. A name is one when it opens several lines, or when its only line is set
    like those of the others (bold or not, after an empty line or not). If that leaves nobody, any label
    will do, except words such as "note".
    """
    found = list(_candidates(lines))
    counts = Counter(setting.name for setting in found)
    sure = {name for name in counts if is_role(name) or (counts[name] > 1 and _looks_like_a_name(name))}
    sure |= {name for name in counts if counts[name] > 2}
    bold = _most_common(setting.bold for setting in found if setting.name in sure)
    gap = _most_common(setting.after_gap for setting in found if setting.name in sure)
    alike = {
        setting.name
        for setting in found
        if _looks_like_a_name(setting.name)
        and (bold is None or setting.bold == bold)
        and (gap is None or setting.after_gap in (None, gap))
    }
    return frozenset(sure | alike or set(counts))


def fenced_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the lines inside code fences, where nothing opens a message.

    A fence that is never closed is none.
    """
    fenced: list[int] = []
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        if opened is None:
            if match := _FENCE.search(line[:200]):
                opened = number, match["mark"]
        elif line.strip() == opened[1]:
            fenced.extend(range(opened[0] + 1, number + 1))
            opened = None
    return frozenset(fenced)


@dataclass(frozen=True, slots=True)
class _Setting:
    """How a label stands in the file; at the top and below a heading the gap before it says nothing."""

    name: str
    bold: bool
    after_gap: bool | None


def _candidates(lines: Sequence[str]) -> Iterator[_Setting]:
    fenced = fenced_lines(lines)
    gap: bool | None = None
    for number, line in enumerate(lines):
        label = None if number in fenced else label_in(line)
        if label and label.name.casefold().split()[0] not in _NEVER_A_SPEAKER:
            yield _Setting(label.name, label.bold, gap)
        if line.startswith("#"):
            gap = None
        elif line.strip():
            gap = False
        elif gap is False:
            gap = True


def _most_common(values: Iterable[bool | None]) -> bool | None:
    known = Counter(value for value in values if value is not None).most_common(1)
    return known[0][0] if known else None


def _looks_like_a_name(label: str) -> bool:
    words = label.split()
    return not (words[0][0].islower() or words[-1][0].islower())
