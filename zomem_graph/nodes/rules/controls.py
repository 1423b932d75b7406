"""Text as people see it: without the control characters that stand in it by accident, such as a bell within a word.

A tab and the ends of lines stay. The other controls that begin a line or page do so only where no word goes on.
"""

import re
from typing import Final

__all__ = ["as_written", "without_controls"]

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BREAKS: Final = frozenset("\x0b\x0c\x1c\x1d\x1e\x85")


def without_controls(text: str) -> str:
    """Return a text without C0 and C1 controls."""
    return _CONTROLS.sub(_instead, text)


def as_written(piece: str, text: str) -> str:
    """Return the literal piece of a text of which this is the form without controls; the form where there is none."""
    if piece in text or (start := without_controls(text).find(piece)) < 0:
        return piece
    kept = [at for at, sign in enumerate(text) if not _CONTROLS.match(sign) or _stays(text, at)]
    return text[kept[start] : kept[start + len(piece) - 1] + 1]


def _instead(found: re.Match[str]) -> str:
    return "\n" if _stays(found.string, found.start()) else ""


def _stays(text: str, at: int) -> bool:
    """Return whether a control stands for the end of a line."""
    around = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    return text[at] in _BREAKS and not all(side.isalnum() for side in around)
