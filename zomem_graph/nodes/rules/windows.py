"""Cut a conversation into windows a model can read, overlapping, so that nothing is beyond a cliff."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

__all__ = ["pieces", "windows"]


class _Text(Protocol):
    @property
    def content(self) -> str: ...


class _Limits(Protocol):
    @property
    def window_characters(self) -> int: ...

    @property
    def window_overlap(self) -> int: ...


T = TypeVar("T", bound=_Text)


def windows(turns: Sequence[T], limits: _Limits, *, cut: Callable[[T, str], T]) -> list[list[T]]:
    """Return runs of turns of at most `window_characters`; each begins with the end of the one before.

    A single turn longer than a window becomes several, overlapping as well; `cut` makes a turn of a piece of one.
    """
    parts = [part for turn in turns for part in _parted(turn, limits, cut)]
    found: list[list[T]] = []
    start = 0
    while start < len(parts):
        end, size = start, 0
        while end < len(parts) and (end == start or size + len(parts[end].content) <= limits.window_characters):
            size += len(parts[end].content)
            end += 1
        found.append(list(parts[start:end]))
        if end == len(parts):
            break
        back, overlap = end, 0
        while back - 1 > start and overlap + len(parts[back - 1].content) <= limits.window_overlap:
            back -= 1
            overlap += len(parts[back].content)
        start = back
    return found


def pieces(text: str, *, most: int, overlap: int) -> Iterator[str]:
    """Yield a text in pieces of at most `most` characters, each beginning with the end of the one before.

    Cut where a line, sentence or word ends, when there is such a place in the last quarter of a piece.
    """
    start = 0
    while len(text) - start > most:
        end = _border(text, start + most - most // 4, start + most)
        yield text[start:end]
        back = end - min(overlap, most // 2)
        space = text.find(" ", back, end)
        start = space + 1 if 0 <= space < end - 1 else back
    yield text[start:]


def _parted(turn: T, limits: _Limits, cut: Callable[[T, str], T]) -> Sequence[T]:
    most, overlap = limits.window_characters, limits.window_overlap
    if len(turn.content) <= most:
        return [turn]
    return [cut(turn, piece) for piece in pieces(turn.content, most=most, overlap=overlap)]


def _border(text: str, low: int, high: int) -> int:
    """Return the last good place to cut in a stretch: after a line, else a sentence, else a word."""
    for mark in ("\n", ". ", "! ", "? ", "。", " "):
        place = text.rfind(mark, low, high)
        if place >= 0:
            return place + len(mark)
    return high
