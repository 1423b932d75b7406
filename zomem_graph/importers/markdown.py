"""Markdown by its headings: each piece of text with the path of headings above it. No text is lost.

What stands in a code fence is never a heading. A heading with nothing under it is kept as a line of the
piece above it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from zomem_graph.importers.records import Section

__all__ = ["chunks", "in_fences", "section_key", "sections_of"]

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<text>\S.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(?P<mark>={2,}|-{2,})[ \t]*")
_NO_TITLE_LINE = re.compile(r"\s*(?:[-*+>|#]|\d+[.)]\s|$)")
_FENCE = re.compile(r"[\s>]*(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<rest>.*)")
_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]|!?\[([^\[\]\n]+)\]\([^()\n]*\)")
_DECORATION = re.compile(r"\*\*|__|`|\s+\^[\w-]+$")
_JOINT: Final = " > "
_LONGEST_KEY: Final = 300
_LONGEST_CHUNK: Final = 2_000
_BREAKS: Final = ("\n\n", "\n", ". ", " ")


@dataclass(slots=True)
class _Draft:
    """A piece while it is read: its heading line and level, the path above it, and its own lines."""

    path: tuple[str, ...]
    level: int = 0
    heading: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def says(self) -> bool:
        return any(line.strip() for line in self.lines)


def sections_of(text: str, *, title: str = "") -> tuple[Section, ...]:
    """Return the pieces of a Markdown text in order; a first heading that repeats the title is left out."""
    drafts = _drafts(text.split("\n"), title.strip())
    _keep_bare_headings(drafts, title.strip())
    return tuple(Section(draft.path, _trimmed(draft.lines)) for draft in drafts if draft.says)


def section_key(path: Sequence[str], *, number: int = 1) -> str:
    """Return the headings as one key of at most 300 characters; "text" for none; later ones are numbered."""
    key = _JOINT.join(path) or "text"
    if len(key) > _LONGEST_KEY:
        key = f"{key[: _LONGEST_KEY // 2].rstrip()} … {key[-_LONGEST_KEY // 3 :].lstrip()}"
    return key if number == 1 else f"{key} ({number})"


def in_fences(lines: Sequence[str]) -> list[bool]:
    """Say of each line whether it belongs to a code fence, the fence itself included."""
    marks: list[bool] = []
    opened = ""
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if not opened:
            opened = fence["mark"] if fence else ""
            marks.append(bool(opened))
            continue
        marks.append(True)
        if fence and fence["mark"].startswith(opened) and not fence["rest"].strip():
            opened = ""
    return marks


def chunks(text: str, *, most: int = _LONGEST_CHUNK) -> Iterator[str]:
    """Yield a text in pieces of at most `most` characters, parted where it breaks best; blanks at cuts go."""
    text = text.strip("\n")
    while len(text) > most:
        cut = _best_cut(text, most)
        if piece := text[:cut].rstrip():
            yield piece
        text = text[cut:].lstrip("\n")
    if text.strip():
        yield text


def _best_cut(text: str, most: int) -> int:
    for mark in _BREAKS:
        at = text.rfind(mark, most // 3, most)
        if at >= 0:
            return at + len(mark)
    return most


def _drafts(lines: Sequence[str], title: str) -> list[_Draft]:
    drafts = [_Draft(())]
    above: list[tuple[int, str]] = []
    for line, fenced in zip(lines, in_fences(lines), strict=True):
        level, heading = (0, "") if fenced else _heading(line, drafts[-1])
        if not level:
            drafts[-1].lines.append(line)
            continue
        above = [(each, name) for each, name in above if each < level] + [(level, _readable(heading))]
        path = tuple(name for _level, name in above)
        if path[0].casefold() == title.casefold():
            path = path[1:]
        drafts.append(_Draft(path, level, f"{'#' * level} {heading}"))
    return drafts


def _heading(line: str, before: _Draft) -> tuple[int, str]:
    """Return (level, text) of a heading, (0, "") for any other line.

    An underlined one takes its text back from the lines before.
    """
    if found := _HEADING.fullmatch(line):
        return len(found["marks"]), found["text"]
    under = _UNDERLINE.fullmatch(line)
    lines = before.lines
    if not under or not lines or _NO_TITLE_LINE.match(lines[-1]) or (len(lines) > 1 and lines[-2].strip()):
        return 0, ""
    return 1 if under["mark"][0] == "=" else 2, lines.pop().strip()


def _keep_bare_headings(drafts: Sequence[_Draft], title: str) -> None:
    """Give a heading without text and without headings below it to the piece above it, as a line."""
    for number, draft in enumerate(drafts[1:], 1):
        following = drafts[number + 1].level if number + 1 < len(drafts) else 0
        if draft.says or following > draft.level or draft.heading.lstrip("# ").casefold() == title.casefold():
            continue
        higher = next(one for one in reversed(drafts[:number]) if one.level < draft.level)
        higher.lines = [*higher.lines, draft.heading]


def _trimmed(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n").rstrip()


def _readable(heading: str) -> str:
    """Return a heading without the marks of links and emphasis."""
    shown = _LINK.sub(lambda found: found[1] or found[2], heading)
    return _DECORATION.sub("", shown).strip() or heading
