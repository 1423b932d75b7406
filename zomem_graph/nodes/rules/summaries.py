"""What a summary of many episodes says when no model writes it, and when a model's summary may stand.

The extractive one takes the sentences that together cover most of what was spoken of, in the order in which
it happened, and says how it all ended.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from zomem_graph.nodes.rules.budget import BYTES_PER_TOKEN, tokens
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.replies import ReplyUnreadable, json_in, shape_of
from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import terms

__all__ = [
    "Condensed",
    "Told",
    "extract",
    "fault_of",
    "how_it_went",
    "how_many",
    "read_condensed",
    "without_heading",
]

MOST_POINTS: Final = 5
_LONGEST_POINT: Final = 160  # characters
_BORDER = re.compile(r"(?<=[.!?…])[\"”')\]]*\s+|(?<=[。！？])|\n+")
_DECIDED = re.compile(
    r"\b(?:decid\w+|chose\w*|agreed|settled on|switch(?:ed|es) to|opted|picked|adopted|from now on)\b", re.IGNORECASE
)
_HEADING = re.compile(r"^\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d(?:: \d+ of \d+ went well(?:, \d+ failed)?)?\.\s*")
_NUMBER = re.compile(r"\d+")
_WENT_WELL: Final = frozenset({"success", "resolved"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An episode or summary as it is read: its text, when it was, and how it ended ("" for a summary).

    `ended` counts how all the episodes in it ended, and `until` is when the last of them was.
    """

    id: str
    text: str
    at: datetime
    until: datetime
    ended: Mapping[str, int]
    outcome: str = ""
    decisions: Sequence[str] = ()
    outcomes: Sequence[str] = ()

    @property
    def whole(self) -> str:
        """All that is told, one point a line."""
        return "\n".join([self.text, *self.decisions, *self.outcomes])


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """A summary with what was decided and how things ended."""

    summary: str
    decisions: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it, one point a line."""
        return "\n".join([self.summary, *self.decisions, *self.outcomes])

    @property
    def tokens(self) -> int:
        """What all of it costs."""
        return tokens(self.text)


def how_many(loose: int, *, threshold: int, most: int) -> int:
    """Return how many of the oldest are summed up when so many are loose; 0 while there is no need (F79)."""
    return min(loose - threshold + 1, most) if loose > threshold else 0


def extract(told: Sequence[Told], *, max_tokens: int) -> Condensed:
    """Return a summary in the episodes' own sentences, in at most `max_tokens` and half of what they take."""
    room = min(max_tokens, tokens("\n".join(one.whole for one in told)) // 2)
    heading = _heading(told)
    decisions = _points([point for one in told for point in (*one.decisions, *_deciding(one.text))])
    outcomes = _points([point for one in told for point in (*one.outcomes, *_ending(one))])
    left = room - tokens(heading)
    # What failed last may take half: of a few episodes no smaller share has room for a sentence.
    last = tokens(f"{outcomes[-1]}\n") / left if outcomes and left > 0 else 1.0
    outcomes, left = _fitting(outcomes, left, share=max(0.3, last if last <= 0.5 else 0.0))
    decisions, left = _fitting(decisions, left, share=0.25)
    body = _covering([part for one in told for part in _sentences(one.text)], left)
    return Condensed(summary=" ".join([heading, *body]), decisions=decisions, outcomes=outcomes)


def read_condensed(reply: str) -> Condensed:
    """Return the summary in a model's reply; raises ReplyUnreadable when there is none of the asked shape."""
    for value in json_in(reply):
        if isinstance(value, Mapping) and isinstance(value.get("summary"), str):
            return Condensed(
                summary=" ".join(value["summary"].split()),
                decisions=_listed(value.get("key_decisions")),
                outcomes=_listed(value.get("key_outcomes")),
            )
    raise ReplyUnreadable(f"The reply holds no JSON object with a summary. {shape_of(reply)}")


def fault_of(condensed: Condensed, told: Sequence[Told], *, known: Iterable[str] = ()) -> str | None:
    """Return why a model's summary of these may not stand, or None. `known` are earlier summaries' texts."""
    form = normal(condensed.summary)
    if not form:
        return "it says nothing"
    if condensed.tokens >= tokens("\n".join(one.whole for one in told)):
        return "it is no shorter than what it sums up"
    if form in {normal(one.text) for one in told}:
        return "it repeats one episode"
    if form in {normal(one) for one in known}:
        return "it is the same text as an earlier summary"
    strange = sorted(_numbers(condensed.text) - _numbers_told(told))
    return f"it tells of {strange[0]}, which none of them does" if strange else None


def _heading(told: Sequence[Told]) -> str:
    """Return from when to when it goes and how all the episodes below it ended."""
    first, last = min(one.at for one in told), max(one.until for one in told)
    return f"{first.date().isoformat()} to {last.date().isoformat()}: {how_it_went(told)}."


def how_it_went(told: Sequence[Told]) -> str:
    """Return in words how many of the episodes went well, at whatever level they are told."""
    total, well, failed = _totals(told)
    return f"{well} of {total} went well" + (f", {failed} failed" if failed else "")


def _totals(told: Sequence[Told]) -> tuple[int, int, int]:
    """Return how many episodes there are, how many went well and how many failed."""
    ended = sum((Counter(one.ended) for one in told), Counter[str]())
    return ended.total(), sum(ended[outcome] for outcome in _WENT_WELL), ended["failure"]


def without_heading(text: str) -> str:
    """Return what a summary by rules says below its dates and totals, which those of a higher level replace."""
    return _HEADING.sub("", text)


def _sentences(text: str) -> list[str]:
    return [part for piece in _BORDER.split(text) if piece and (part := piece.strip())]


def _deciding(text: str) -> list[str]:
    return [part for part in _sentences(text) if _DECIDED.search(part)]


def _ending(told: Told) -> list[str]:
    """Return how an episode ended where that is worth a word: failed, or a contradiction was settled."""
    if told.outcome not in ("failure", "resolved"):
        return []
    first = next(iter(_sentences(told.text)), "")
    return [f"{'Failed' if told.outcome == 'failure' else 'Resolved'}: {first}"] if first else []


def _points(points: Iterable[str]) -> tuple[str, ...]:
    """Return the latest points, each once and not too long."""
    once: dict[str, str] = {}
    for point in points:
        once.pop(normal(point), None)
        once[normal(point)] = _short(point)
    return tuple(list(once.values())[-MOST_POINTS:])


def _short(point: str) -> str:
    point = " ".join(point.split())
    return point if len(point) <= _LONGEST_POINT else f"{point[: _LONGEST_POINT - 1].rstrip()}…"


def _fitting(points: Sequence[str], left: int, *, share: float) -> tuple[tuple[str, ...], int]:
    """Return the latest points that fit into a share of what is left, and what is left then."""
    room = round(left * share)
    kept: list[str] = []
    for point in reversed(points):
        if (price := tokens(f"{point}\n")) <= room:
            kept.insert(0, point)
            room -= price
            left -= price
    return tuple(kept), left


def _covering(sentences: Sequence[str], room: int) -> list[str]:
    """Return the sentences that together cover most of what all of them speak of, in their order.

    A word counts as often as sentences hold it, and only once; each sentence is paid for with its length.
    """
    held = [frozenset(stem(word) for word in terms(sentence)) for sentence in sentences]
    weight = Counter(root for roots in held for root in roots)
    prices = [tokens(f"{sentence} ") for sentence in sentences]
    chosen: list[int] = []
    covered: set[str] = set()
    while True:
        best, most = -1, 0.0
        for number, roots in enumerate(held):
            if number in chosen or prices[number] > room:
                continue
            gain = sum(weight[root] for root in roots - covered) / (prices[number] + BYTES_PER_TOKEN)
            if gain > most:
                best, most = number, gain
        if best < 0:
            return [sentences[number] for number in sorted(chosen)]
        chosen.append(best)
        covered |= held[best]
        room -= prices[best]


def _listed(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(_short(point) for point in value if isinstance(point, str) and point.strip())[:MOST_POINTS]


def _numbers(text: str) -> set[str]:
    return {number.lstrip("0") or "0" for number in _NUMBER.findall(text)}


def _numbers_told(told: Sequence[Told]) -> set[str]:
    """Return the numbers in the episodes, in their dates, and those that may count them."""
    counts = {str(number) for number in (*range(len(told) + 1), *_totals(told))}
    for one in told:
        counts |= {str(number) for number in _totals([one])}
        counts |= _numbers(f"{one.whole} {one.at.date().isoformat()} {one.until.date().isoformat()}")
    return counts
