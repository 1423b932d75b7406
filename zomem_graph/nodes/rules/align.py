"""Which messages of a history are new: growing, trimmed and replayed histories store each turn once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

__all__ = ["Mark", "first_new"]

_FAR_BACK = 2  # so many equal messages in a row, away from the end, make a replay; one alone is a repetition


@dataclass(frozen=True, slots=True)
class Mark:
    """How a message is recognised: its content and role as a digest, its id and time when it has them."""

    digest: str
    message_id: str | None = None
    at: datetime | None = None


def first_new(stored: Sequence[Mark], incoming: Sequence[Mark]) -> int:
    """Return the index of the first incoming message that is new; its length when nothing is.

    The incoming history is laid over the stored one where its beginning agrees for the longest run,
    the latest such place winning; a place where ids or times say that it is the same message wins over any
    other. A single message equal to the last stored one is a repeat unless both have an id or a time of their
    own that differ.
    """
    best = known = 0
    for start in range(len(stored) - 1, -1, -1):
        run = _agreeing(stored, incoming, start)
        if run > best and _counts(stored, incoming, start, run):
            best = run
        if run > known and _same_id(stored[start], incoming[0]):
            known = run
    return known or best


def _agreeing(stored: Sequence[Mark], incoming: Sequence[Mark], start: int) -> int:
    length = 0
    for old, new in zip(stored[start:], incoming, strict=False):
        if old.digest != new.digest:
            break
        length += 1
    return length


def _counts(stored: Sequence[Mark], incoming: Sequence[Mark], start: int, run: int) -> bool:
    reaches_end = start + run == len(stored)
    same_id = _same_id(stored[start], incoming[0])
    if run >= _FAR_BACK:
        return True
    if len(incoming) > 1 and reaches_end:
        # One that begins as the session began has grown, whatever ids it was given on the way.
        return start == 0 or same_id is not False
    return same_id if same_id is not None else reaches_end


def _same_id(old: Mark, new: Mark) -> bool | None:
    """Return whether ids or times tell the two apart; None when they say nothing."""
    if old.message_id is not None and new.message_id is not None:
        return old.message_id == new.message_id
    if old.at is not None and new.at is not None:
        return old.at == new.at
    return None
