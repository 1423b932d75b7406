"""What of the recalled material fits into the tokens a prompt may spend on it (spec F77).

The most relevant comes first. What does not fit is cut around its answer before it is left out.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import search_text

__all__ = ["BYTES_PER_TOKEN", "MESSAGE_TOKENS", "Fit", "Passage", "fit", "tokens", "trim"]

BYTES_PER_TOKEN: Final = 4
MESSAGE_TOKENS: Final = 4
"""What a message costs in a prompt besides its text."""
LEAST_TOKENS: Final = 8
"""Below this a cut passage says nothing, so it is left out."""
LARGEST_SHARE: Final = 0.5
"""The part of the budget one passage may take while others wait."""

_CUT: Final = "…"
_BORDER = re.compile(r"(?<=[.!?…])[\"”')\]]*\s+|(?<=[。！？])|\n+")
_SPACE = re.compile(r"\s+")
_CHUNK: Final = 12
"""Characters of the pieces a text without spaces is cut into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Something recalled that wants a place in the prompt.

    `relevance` is comparable within one call; `overhead` is what its line costs in tokens besides the text.
    """

    key: str
    text: str
    relevance: float
    overhead: int = 0

    @property
    def tokens(self) -> int:
        """What the passage costs with its line."""
        return tokens(self.text) + self.overhead


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What goes into the prompt, in the order it came.

    `kept` holds the passages to show, cut ones with their shorter text; `trimmed` the same cut ones as they
    were; `dropped` what found no room.
    """

    kept: tuple[Passage, ...]
    dropped: tuple[Passage, ...]
    trimmed: tuple[Passage, ...]

    @property
    def tokens(self) -> int:
        """What all kept passages cost together; never more than the budget."""
        return sum(passage.tokens for passage in self.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """A stretch of a text and how many terms it holds."""

    span: tuple[int, int]
    terms: int
    hits: int
    of_sentences: bool


def tokens(text: str) -> int:
    """Return the price of a text: its UTF-8 bytes / 4, rounded up. The same for every model."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def fit(
    passages: Sequence[Passage], budget: int, *, terms: Collection[str] = (), share: float = LARGEST_SHARE
) -> Fit:
    """Return what fits into `budget` tokens, the most relevant first.

    A passage is left out only when not even a cut around the `terms` (see `trim`) fits beside the more
    relevant ones. While others wait, one passage gets at most `share` of the budget; what then is left over
    goes back to those that were cut, the most relevant first.
    """
    by_relevance = sorted(range(len(passages)), key=lambda i: -passages[i].relevance)
    crowded = sum(passage.tokens for passage in passages) > budget
    most = max(LEAST_TOKENS, int(budget * share)) if crowded and len(passages) > 1 else budget
    kept: dict[int, Passage] = {}
    left = budget
    for i in by_relevance:
        shown = _within(passages[i], min(left, most + passages[i].overhead), terms)
        if shown is not None:
            kept[i] = shown
            left -= shown.tokens
    for i in by_relevance:
        if i in kept and left > 0 and kept[i].text != passages[i].text:
            longer = _within(passages[i], left + kept[i].tokens, terms)
            if longer is not None and longer.tokens > kept[i].tokens:
                left -= longer.tokens - kept[i].tokens
                kept[i] = longer
    return Fit(
        kept=tuple(kept[i] for i in sorted(kept)),
        dropped=tuple(passage for i, passage in enumerate(passages) if i not in kept),
        trimmed=tuple(passages[i] for i in sorted(kept) if kept[i].text != passages[i].text),
    )


def trim(text: str, terms: Collection[str], budget: int) -> str | None:
    """Return the stretch of a text that holds most of the terms, in at most `budget` tokens.

    Terms are words as `stores.words.terms` gives them. Cuts fall between sentences where they can, else
    between words, and are marked "…". None when the budget is too small to say anything.
    """
    if tokens(text) <= budget or tokens(text := text.strip()) <= budget:
        return text
    if budget < LEAST_TOKENS:
        return None
    room = budget * BYTES_PER_TOKEN - 2 * len(f"{_CUT} ".encode())
    wanted = {stem(term) for term in terms}
    start, end = max(_windows(text, wanted, room), key=_merit).span
    body = text[start:end].strip()
    before = f"{_CUT} " if text[:start].strip() else ""
    after = f" {_CUT}" if text[end:].strip() else ""
    return f"{before}{body}{after}"


def _within(passage: Passage, room: int, terms: Collection[str]) -> Passage | None:
    shorter = trim(passage.text, terms, room - passage.overhead)
    return None if shorter is None else replace(passage, text=shorter)


def _merit(window: _Window) -> tuple[int, bool, int, int]:
    """Different terms count first; then whole sentences; then terms in all; then what comes first."""
    return window.terms, window.terms > 0 and window.of_sentences, window.hits, -window.span[0]


def _windows(text: str, wanted: set[str], room: int) -> Iterator[_Window]:
    """Yield the best window of each stretch of whole sentences, and of each sentence of more than `room`."""
    whole: list[tuple[int, int]] = []
    for start, end in _spans(_BORDER, text, 0, len(text)):
        if _size(text[start:end]) <= room:
            whole.append((start, end))
            continue
        if whole:
            yield _best_window(text, whole, wanted, room=room, of_sentences=True)
            whole = []
        yield _best_window(text, list(_words(text, start, end, room)), wanted, room=room, of_sentences=False)
    if whole:
        yield _best_window(text, whole, wanted, room=room, of_sentences=True)


def _words(text: str, start: int, end: int, room: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of words; a word of more than `room` bytes in chunks."""
    for first, last in _spans(_SPACE, text, start, end):
        step = last - first if _size(text[first:last]) <= room else min(_CHUNK, room // BYTES_PER_TOKEN)
        yield from ((at, min(last, at + step)) for at in range(first, last, step))


def _spans(border: re.Pattern[str], text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans between the borders, each with the border behind it."""
    cuts = [start, *(match.end() for match in border.finditer(text, start, end)), end]
    return [(a, b) for a, b in pairwise(cuts) if a < b]


def _best_window(
    text: str, pieces: list[tuple[int, int]], wanted: set[str], *, room: int, of_sentences: bool
) -> _Window:
    """Return the longest window of at most `room` bytes with most different terms, the first of equals."""
    sizes = [_size(text[start:end]) for start, end in pieces]
    hits = [_hits(text[start:end], wanted) if wanted else () for start, end in pieces]
    best = _Window(span=pieces[0], terms=-1, hits=-1, of_sentences=of_sentences)
    inside: Counter[str] = Counter()
    used = first = 0
    for last, (_, end) in enumerate(pieces):
        used += sizes[last]
        inside.update(hits[last])
        while used > room:
            used -= sizes[first]
            inside.subtract(hits[first])
            first += 1
        start = pieces[first][0]
        different, all_hits = sum(1 for count in inside.values() if count > 0), inside.total()
        better = (different, all_hits) > (best.terms, best.hits)
        if better or ((different, all_hits) == (best.terms, best.hits) and start == best.span[0]):
            best = _Window(span=(start, end), terms=different, hits=all_hits, of_sentences=of_sentences)
    return best


def _hits(piece: str, wanted: set[str]) -> tuple[str, ...]:
    beginnings = {root[:2] for root in wanted}  # which a stem keeps
    near = (word for word in search_text(piece).split() if word[:2] in beginnings)
    return tuple(root for word in near if (root := stem(word)) in wanted)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
