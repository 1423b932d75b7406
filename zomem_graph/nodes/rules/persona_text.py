"""What a persona file says, as lines for the model: hints, empty headings and Markdown signs are left out."""

import re
from typing import Final

__all__ = ["persona_lines"]

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+(?P<name>.*\S)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+")
_MOST_LINES: Final = 400


def persona_lines(text: str) -> list[str]:
    """Return the lines of a persona file that say something, each with the heading it stands under."""
    bare = _COMMENT.sub("", _FRONT_MATTER.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n")))
    lines: list[str] = []
    heading = ""
    for raw in bare.splitlines():
        line = raw.strip()
        if found := _HEADING.fullmatch(line):
            heading = found["name"]
        elif said := _BULLET.sub("", line, count=1).strip():
            if said.endswith(":") and not _BULLET.match(line):
                heading = said.removesuffix(":")
            elif not _unfilled(said):
                lines.append(f"{heading}: {said}" if heading else said)
    return lines[:_MOST_LINES]


def _unfilled(said: str) -> bool:
    """Return whether a line of a template has its name only: "Working style:"."""
    return said.endswith(":") or said in {"-", "*", "---"}
