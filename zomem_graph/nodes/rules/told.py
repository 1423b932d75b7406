"""What the summary of a session lists as learned and as finished, and how one item is taken out of a list again."""

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["FINISHED", "LEARNED", "LONGEST_ITEM", "listed", "without_item"]

LONGEST_ITEM: Final = 160
LEARNED: Final = "Learned"
FINISHED: Final = "Finished"
_MOST_TOLD: Final = 5


def listed(verb: str, things: Sequence[str]) -> str:
    """Return "Verb: one; two and 3 more", empty when there is nothing."""
    if not things:
        return ""
    shown = "; ".join(thing[:LONGEST_ITEM] for thing in things[:_MOST_TOLD])
    more = len(things) - _MOST_TOLD
    return f"{verb}: {shown}" + (f" and {more} more" if more > 0 else "")


def without_item(summary: str, verb: str, said: str) -> str:
    """Return a summary that no longer lists this under the verb; the same when it does not list it."""
    piece = said[:LONGEST_ITEM]
    item = re.compile(
        rf"(?P<before>(?P<first>(?:^| ){verb}: )|; ){re.escape(piece)}"
        r"(?:(?P<next>; )| and (?P<more>\d+) more\b|(?P<end>\.?)(?= |$))"
    )
    lists = re.compile(rf"(?:^| ){verb}: .*?(?= (?:{LEARNED}|{FINISHED}): |$)", re.DOTALL)
    left = lists.sub(lambda found: item.sub(_rest, found[0]), summary)
    return _without_cut_end(left, verb, piece).strip()


def _rest(found: re.Match[str]) -> str:
    """Return what stays where an item was taken out."""
    before, first = found["before"], found["first"] is not None
    if found["next"]:
        return before
    if found["more"]:
        return f"{before}{found['more']} more" if first else f" and {found['more']} more"
    return "" if first else found["end"]


def _without_cut_end(summary: str, verb: str, piece: str) -> str:
    """Return a summary without its last item when that is this one, cut short by the length of summaries."""
    if not summary.endswith("…"):
        return summary
    head, mark, tail = summary[:-1].rpartition(f"{verb}: ")
    kept, _, last = tail.rpartition("; ")
    if (
        not mark
        or not last
        or any(f" {other}: " in tail for other in (LEARNED, FINISHED))
        or not piece.startswith(last)
    ):
        return summary
    return f"{head}{mark}{kept}." if kept else head
