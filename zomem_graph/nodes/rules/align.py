"""Which messages of a history are new: growing, trimmed and replayed histories store each turn once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

__all__ = ["Mark", "first_new"]

_FAR_BACK = 3  # so many equal messages in a row, away from the end, make a replay; an exchange may be said again


@dataclass(frozen=True, slots=True)
class Mark:
    """How a message is recognised: its content and role as a digest, its id and time when it has them."""

    digest: str
    message_id: str | None = None
    at: datetime | None = None


def first_new(stored: Sequence[Mark], incoming: Sequence[Mark], *, replayed: bool = False) -> int:
    """Return the index of the first incoming message that is new; its length when nothing is.

    The incoming history is laid over the stored one where its beginning agrees for the longest run,
    the latest such place winning; a place where ids or times say that it is the same message wins over any
    other. What agrees only away from the end was said again, unless it is long or goes on from the beginning
    of the session. A single message equal to the last stored one is a repeat unless both have an id or a time of
    their own that differ. `replayed` says that the run was sent back to an earlier point, where messages without an
    id are given new ones.
    """
    best = known = 0
    for start in range(len(stored) - 1, -1, -1):
        run = _agreeing(stored, incoming, start)
        if run > best and ((replayed and start == 0) or _counts(stored, incoming, start, run)):
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
    same_id = _same_id(stored[start], incoming[0])
    goes_on = start == 0 and run < len(incoming)  # begins as the session began and has grown, whatever its new ids
    if start + run == len(stored):
        if run == 1 == len(incoming):
            return same_id is not False
        return goes_on or (run > 1 and not _at_other_times(stored[start], incoming[0])) or same_id is not False
    if run == 1:
        return same_id is True
    return goes_on or (run >= _FAR_BACK and not _at_other_times(stored[start], incoming[0]))


def _at_other_times(old: Mark, new: Mark) -> bool:
    return old.at is not None and new.at is not None and old.at != new.at


def _same_id(old: Mark, new: Mark) -> bool | None:
    """Return whether ids or times tell the two apart; None when they say nothing."""
    if old.message_id is not None and new.message_id is not None:
        return old.message_id == new.message_id
    if old.at is not None and new.at is not None:
        return old.at == new.at
    return None
