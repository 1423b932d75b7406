"""Cut a conversation into windows a model can read, overlapping, so that nothing is beyond a cliff."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

__all__ = ["windows"]


class _Text(Protocol):
    @property
    def content(self) -> str: ...


class _Limits(Protocol):
    @property
    def window_characters(self) -> int: ...

    @property
    def window_overlap(self) -> int: ...


T = TypeVar("T", bound=_Text)


def windows(turns: Sequence[T], limits: _Limits) -> list[list[T]]:
    """Return runs of turns of at most `window_characters`; each begins with the end of the one before.

    A single turn longer than a window stands alone.
    """
    found: list[list[T]] = []
    start = 0
    while start < len(turns):
        end, size = start, 0
        while end < len(turns) and (
            end == start or size + len(turns[end].content) <= limits.window_characters
        ):
            size += len(turns[end].content)
            end += 1
        found.append(list(turns[start:end]))
        if end == len(turns):
            break
        back, overlap = end, 0
        while back - 1 > start and overlap + len(turns[back - 1].content) <= limits.window_overlap:
            back -= 1
            overlap += len(turns[back].content)
        start = back
    return found
