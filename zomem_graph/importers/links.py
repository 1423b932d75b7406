"""What a note points to: wikilinks in all their forms, links to files beside it, and tags in the text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote

from zomem_graph.importers.markdown import in_fences

__all__ = ["NoteNames", "WikiLink", "inline_tags", "links_in", "without_code"]

_WIKILINK = re.compile(
    r"(?P<embed>!?)\[\[(?P<target>[^\[\]|#\n\\]*)(?:#(?P<anchor>[^\[\]|\n\\]*))?(?:\\?\|(?P<alias>[^\[\]\n]*))?\]\]"
)
_FILE_LINK = re.compile(
    r"(?P<embed>!?)\[(?P<alias>[^\[\]\n]*)\]\(<?(?P<target>[^()<>\n]+\.md)(?:#(?P<anchor>[^()<>\n]*))?>?\)"
)
_TAG = re.compile(r"(?<!\S)#([^\s#.,;:!?'\"`()\[\]{}<>|\\^*=+~，。！？；：、]+)")
_INLINE_CODE = re.compile(r"(`+)(?:(?!\1)[^\n]){1,500}?\1(?!`)")
_NOT_ONLY_DIGITS = re.compile(r"[^\d/_-]")
_NOTE_ENDINGS: Final = (".md", ".markdown")


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiLink:
    """One link: where it leads, the heading or block there, the text shown instead, and whether it embeds."""

    target: str
    anchor: str = ""
    alias: str = ""
    embed: bool = False


class NoteNames:
    """Finds the note a link means, as a vault does: by path, by the end of it, by name, the nearest first."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = {_bare(path).casefold(): path for path in paths}
        self._by_name: dict[str, list[str]] = {}
        for path in self._paths.values():
            self._by_name.setdefault(_name(path).casefold(), []).append(path)

    def is_unique(self, path: str) -> bool:
        """Return whether no other note has the same name."""
        return len(self._by_name.get(_name(path).casefold(), ())) < 2

    def title(self, path: str) -> str:
        """Return what a note is called: its name, or its path where several have that name."""
        return _name(path) if self.is_unique(path) else _bare(path)

    def resolve(self, target: str, *, of: str) -> str | None:
        """Return the path of the note that a link in note `of` leads to, or None when there is none."""
        wanted = _bare(target.strip().strip("/")).casefold()
        if not wanted:
            return of if not target.strip() else None
        beside = (PurePosixPath(of).parent / wanted).as_posix().casefold()
        for path in (_flattened(beside), wanted):
            if path in self._paths:
                return self._paths[path]
        near = [
            path
            for path in self._by_name.get(wanted.rpartition("/")[2], ())
            if f"/{_bare(path).casefold()}".endswith(f"/{wanted.removeprefix('./')}")
        ]
        return min(near, key=lambda path: (_apart(path, of), path), default=None)


def links_in(text: str) -> Iterator[WikiLink]:
    """Yield the links of a text that are not in code, in order of kind."""
    for pattern in (_WIKILINK, _FILE_LINK):
        for found in pattern.finditer(text):
            target = found["target"].strip()
            if pattern is _FILE_LINK:
                if "://" in target:
                    continue
                target = unquote(target)
            if target or found["anchor"]:
                yield WikiLink(
                    target=target,
                    anchor=(found["anchor"] or "").strip(),
                    alias=(found["alias"] or "").strip(),
                    embed=bool(found["embed"]),
                )


def inline_tags(text: str) -> Iterator[str]:
    """Yield the tags of a text that is free of code; a number alone is none."""
    for found in _TAG.finditer(text):
        if (tag := found[1].strip("/")) and _NOT_ONLY_DIGITS.search(tag):
            yield tag


def without_code(text: str) -> str:
    """Return a text without code fences and code in lines."""
    lines = text.split("\n")
    kept = [line for line, fenced in zip(lines, in_fences(lines), strict=True) if not fenced]
    return _INLINE_CODE.sub(" ", "\n".join(kept))


def _bare(path: str) -> str:
    return next((path[: -len(end)] for end in _NOTE_ENDINGS if path.lower().endswith(end)), path)


def _name(path: str) -> str:
    return _bare(path).rpartition("/")[2]


def _flattened(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", "..", ""):
            parts.append(part)
    return "/".join(parts)


def _apart(one: str, other: str) -> tuple[int, int]:
    """Return how far two notes are apart: folders not shared, then the depth of the first."""
    a, b = PurePosixPath(one).parts[:-1], PurePosixPath(other).parts[:-1]
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return len(a) + len(b) - 2 * shared, len(a)
