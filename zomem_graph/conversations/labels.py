"""Which `Word: …` at the start of a line is a speaker, and which is only a word with a colon."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from zomem_graph.conversations.dates import find_datetime, is_only_a_date
from zomem_graph.conversations.speech import heads_a_line, is_note_word, looks_like_a_name, looks_spoken
from zomem_graph.conversations.transcript import is_role

__all__ = ["Label", "fenced_lines", "label_in", "labels_in", "speakers_in"]

_LABEL = re.compile(
    r"(?:\[(?P<before>[^\]]{4,40})\]\s*)?(?P<bold>\*\*|__)?"
    r"(?P<name>[^\W\d_][\w.'’ -]{0,39}?)"
    r"(?:\s*[(\[](?P<after>[^)\]]{4,40})[)\]])?"
    r"(?(bold)(?:[:：](?P=bold)|(?P=bold)\s?[:：])|(?:：|:(?=\s|$)))[ \t]*(?P<rest>.*)",
    re.DOTALL,
)
_SIGNS = re.compile(r"[\W_]*")
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_FENCE = re.compile(r"(?:^\s*|[:：*_]\s+)(?P<mark>`{3,}|~{3,})[^`]*$")


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
    """Return the labels that are speakers; nobody in a text that only has colons, such as a note or a list.

    Role words always are. A name is one when it opens several lines, or when its only line is set
    like those of the others (bold or not, after an empty line or not). A time stamp beside a name makes it sure.
    Where that leaves nobody, names are speakers if they open the text and one of them says something.
    """
    found = list(_candidates(lines))
    counts = Counter(setting.name for setting in found)
    sure = {name for name in counts if is_role(name) or (counts[name] > 1 and looks_like_a_name(name))}
    sure |= {name for name in counts if counts[name] > 2}
    sure -= {name for name in sure if " " not in name and heads_a_line(name)}
    sure |= {setting.name for setting in found if setting.stamped and looks_like_a_name(setting.name)}
    if not sure:
        return _told_by_speech(found)
    bold = _most_common(setting.bold for setting in found if setting.name in sure)
    gap = _most_common(setting.after_gap for setting in found if setting.name in sure)
    alike = {
        setting.name
        for setting in found
        if looks_like_a_name(setting.name)
        and (bold is None or setting.bold == bold)
        and (gap is None or setting.after_gap in (None, gap))
    }
    return frozenset(sure | alike)


def _told_by_speech(found: Sequence["_Setting"]) -> frozenset[str]:
    """Return the speakers of a text where no label is sure: a chat of one line each, not a note or a list."""
    if not found or not found[0].first:
        return frozenset()
    handles = len(found) > 1 and found[-1].only and all(" " not in setting.name for setting in found)
    names = [one for one in found if not heads_a_line(one.name) and (handles or looks_like_a_name(one.name))]
    return frozenset(one.name for one in names) if any(one.spoken for one in names) else frozenset()


def labels_in(lines: Sequence[str]) -> frozenset[str]:
    """Return every label that may be a speaker, for a text that is given as a chat."""
    return frozenset(setting.name for setting in _candidates(lines))


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
    """How a label stands in the file; at the top and below a heading the gap before it says nothing.

    `first` is whether no prose stands before it, `only` whether each line up to it has a label, and `spoken`
    whether what follows reads like speech.
    """

    name: str
    bold: bool
    after_gap: bool | None
    first: bool
    only: bool
    spoken: bool
    stamped: bool


def _candidates(lines: Sequence[str]) -> Iterator[_Setting]:
    fenced = fenced_lines(lines)
    gap: bool | None = None
    first, only = True, True
    for number, line in enumerate(lines):
        label = None if number in fenced else label_in(line)
        if label and not is_note_word(label.name):
            spoken = looks_spoken(label.rest or "".join(lines[number + 1 : number + 2]))
            stamped = bool(label.stamp) and find_datetime(label.stamp, day=_SOME_DAY) is not None
            yield _Setting(label.name, label.bold, gap, first, only, spoken, stamped)
        if line.startswith("#"):
            gap = None
        elif line.strip():
            gap = False
            says_nothing = _SIGNS.fullmatch(line) is not None or is_only_a_date(line)
            first, only = first and says_nothing, only and (says_nothing or label is not None)
        elif gap is False:
            gap = True


def _most_common(values: Iterable[bool | None]) -> bool | None:
    known = Counter(value for value in values if value is not None).most_common(1)
    return known[0][0] if known else None
