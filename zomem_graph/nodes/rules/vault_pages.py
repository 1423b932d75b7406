"""The pages of a vault that people read: MEMORY.md and one summary a day (spec F116, F119).

What we write stands in one block between two markers. Everything outside of it belongs to whoever wrote it and is
kept to the letter, down to its line ends.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from zomem_graph.stores.words import on_one_line

__all__ = [
    "SECTIONS",
    "DayEntry",
    "PageFact",
    "daily_block",
    "listed_in",
    "memory_block",
    "own_lines",
    "own_text",
    "page_line",
    "struck",
    "told_in",
    "with_block",
    "without",
]

SECTIONS: Final = ("Facts Learned", "Decisions Made", "Preferences Noted", "Action Items")
"""The sections of a daily summary, in order."""

_BEGIN: Final = "<!-- zomem:begin - this block is written anew each night; write above or below it -->"
_BEGINS: Final = "<!-- zomem:begin"
_END: Final = "<!-- zomem:end -->"
_ADD_ABOVE: Final = 0.5
_LONGEST: Final = 300
_AROUND: Final = 4  # the two markers, the title and a blank line
_NOTHING: Final = "nothing"
_BOX: Final = re.compile(r"^- \[[ x]\] ")
_COUNTS: Final = re.compile(r"(\d+) sessions, (\d+) messages\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFact:
    """A fact as MEMORY.md sees it; a subject in another persona than the vault's is shown with its name.

    `lasting` is what never fades.
    """

    subject: str
    predicate: str | None
    object: str
    activation: float
    importance: float = 1.0
    lasting: bool = False

    @property
    def line(self) -> str:
        """The line of the fact under its subject."""
        return page_line(self.predicate, self.object)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayEntry:
    """One line of a daily summary: the section it stands in, what it says, and the session it came from."""

    section: str
    text: str
    session: str


def page_line(predicate: str | None, value: str) -> str:
    """Return how a fact reads under its subject."""
    said = _one_line(value)
    return f"- {_one_line(predicate)}: {said}" if predicate else f"- {said}"


def memory_block(facts: Sequence[PageFact], *, lines: int, listed: frozenset[tuple[str, str]], least: float) -> str:
    """Return the block of MEMORY.md: what lasts or is above .5, and what stood there and is still `least` or more.

    Grouped by subject; what lasts first, then what is important, then what is active. At most `lines` lines, markers
    included.
    """
    wanted = [
        fact
        for fact in facts
        if fact.lasting
        or fact.activation > _ADD_ABOVE
        or (fact.activation >= least and (_one_line(fact.subject), fact.line) in listed)
    ]
    wanted.sort(key=_rank)
    room = max(0, lines - _AROUND - 1)  # one more for the line that says what did not fit
    chosen: dict[str, list[PageFact]] = {}
    taken = 0
    for fact in wanted:
        subject = _one_line(fact.subject)
        cost = 1 if subject in chosen else 3
        if taken + cost > room:
            continue
        chosen.setdefault(subject, []).append(fact)
        taken += cost
    text = ["# Memory", ""]
    for subject, group in chosen.items():
        text += [f"## {subject}", *(fact.line for fact in group), ""]
    left = len(wanted) - sum(len(group) for group in chosen.values())
    if left:
        text.append(f"({left} more in knowledge-graph/facts.jsonl)")
    elif not wanted:
        text.append("(nothing yet)")
    return _block(text)


def _rank(fact: PageFact) -> tuple[bool, float, float, str, str, str]:
    weight = (not fact.lasting, -fact.importance, -round(fact.activation, 6))
    return *weight, fact.subject, fact.predicate or "", fact.object


def listed_in(page: str) -> frozenset[tuple[str, str]]:
    """Return (subject, line) of every fact in the block of a MEMORY.md."""
    found: set[tuple[str, str]] = set()
    subject = ""
    for line in _inside(page):
        if line.startswith("## "):
            subject = line[3:]
        elif line.startswith("- "):
            found.add((subject, line))
    return frozenset(found)


def daily_block(day: date, entries: Sequence[DayEntry], sessions: int, turns: int) -> str:
    """Return the block of a daily summary; equal lines of a section stand there once.

    An action item counts as equal whether it is done or not; the later entry says which.
    """
    text = [f"# {day:%Y-%m-%d}", "", f"{sessions} sessions, {turns} messages.", ""]
    for section in SECTIONS:
        lines = [f"- {_one_line(entry.text)}" for entry in entries if entry.section == section]
        said = {_BOX.sub("", line): line for line in lines}
        text += [f"## {section}", *(said.values() or [f"({_NOTHING})"]), ""]
    return _block(text)


def told_in(page: str) -> tuple[list[DayEntry], int, int]:
    """Return what the block of a daily summary says: its entries, and how many sessions and messages there were."""
    found: list[DayEntry] = []
    section, sessions, turns = "", 0, 0
    for line in _inside(page):
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("- ") and section in SECTIONS:
            found.append(DayEntry(section=section, text=line[2:], session=""))
        elif (counted := _COUNTS.match(line)) is not None:
            sessions, turns = int(counted[1]), int(counted[2])
    return found, sessions, turns


def with_block(page: str | None, block: str) -> str:
    """Return a page with its block replaced, or added below what stands there; the rest is kept to the letter."""
    if not page or not page.strip():
        return block
    newline = "\r\n" if "\r\n" in page else "\n"
    begin, end = _ends(page)
    written = block.replace("\n", newline)
    if begin is not None and end is not None:
        return page[:begin] + written.rstrip("\r\n") + page[end:]
    between = "" if page.endswith((newline * 2, "\n\n")) else newline if page.endswith("\n") else newline * 2
    return page + between + written


def without(page: str, said: Sequence[str]) -> str:
    """Return a page whose block has no entry with one of these texts; what stands outside of it is not touched."""
    begin, end = _ends(page)
    forms = [form for text in said if (form := _one_line(text).casefold())]
    if begin is None or end is None or not forms:
        return page
    lines = page[begin:end].splitlines(keepends=True)
    kept = [line for line in lines if not (line.startswith("- ") and any(form in line.casefold() for form in forms))]
    return page[:begin] + "".join(kept) + page[end:]


def struck(page: str, gone: Callable[[str], bool], listed: Collection[tuple[str, str]]) -> str:
    """Return a page whose block has no entry that is `gone` or `listed` (subject, line), and no empty subject.

    What stands outside of the block is not touched.
    """
    begin, end = _ends(page)
    if begin is None or end is None:
        return page
    named = {(_one_line(subject), line) for subject, line in listed}
    lines = page[begin:end].splitlines(keepends=True)
    subject, kept = "", []
    for line in lines:
        bare = line.rstrip("\r\n")
        if bare.startswith("## "):
            subject = bare[3:]
        if bare.startswith("- ") and ((subject, bare) in named or gone(line)):
            continue
        kept.append(line)
    if len(kept) == len(lines):
        return page
    return page[:begin] + "".join(_without_empty(kept)) + page[end:]


def _without_empty(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a block without the subjects that have no line left; sections of a day stay."""
    for place, line in enumerate(lines):
        after = next((each for each in lines[place + 1 :] if each.strip()), "")
        if line.startswith("## ") and not after.startswith(("- ", "(")) and line[3:].strip() not in SECTIONS:
            continue
        yield line


def own_text(page: str) -> str:
    """Return what stands outside of the block: what people wrote."""
    begin, end = _ends(page)
    if begin is None or end is None:
        return page
    return page[:begin] + page[end:]


def own_lines(page: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that stand outside of the block, with their numbers in the page."""
    begin, end = _ends(page)
    inside = range(0) if begin is None or end is None else range(begin, end)
    at = 0
    for number, line in enumerate(page.splitlines(keepends=True), start=1):
        if at not in inside:
            yield number, line
        at += len(line)


def _ends(page: str) -> tuple[int | None, int | None]:
    """Return where the block begins and ends; None when one of its markers is gone, so that nothing is lost."""
    begin = page.find(_BEGINS)
    end = page.find(_END, begin) if begin >= 0 else -1
    return (begin, end + len(_END)) if end >= 0 else (None, None)


def _inside(page: str) -> list[str]:
    begin, end = _ends(page)
    return [] if begin is None else page[begin:end].splitlines()


def _block(text: Sequence[str]) -> str:
    body = list(text)
    while body and not body[-1]:
        body.pop()
    return "\n".join([_BEGIN, *body, _END, ""])


def _one_line(text: str) -> str:
    said = on_one_line(text).replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
