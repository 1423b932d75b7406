"""Channels of our state that parallel branches may write in one step, where LangGraph's own would refuse.

Each is a `LastValue` to LangGraph, so a host may name the same key with a channel of its own, and a thread saved
with plain ones goes on.
"""

from collections.abc import Sequence

from langgraph.channels import LastValue
from langgraph.channels.base import Value

__all__ = ["Latest", "Notes"]


class Latest(LastValue[Value]):
    """Keeps the latest value."""

    __slots__ = ()

    def update(self, values: Sequence[Value]) -> bool:
        """Take the last of what a step wrote; return whether there was any."""
        return super().update(values[-1:])


class Notes(LastValue[list[str]]):
    """Keeps every note once; an empty list, or None, clears what was there before the step that writes it."""

    __slots__ = ()

    def update(self, values: Sequence[list[str] | None]) -> bool:
        """Add what a step wrote; return whether there was any."""
        begun = not self.is_available() or not all(values)
        known = [] if begun else self.value
        new = [note for notes in values for note in notes or ()]
        return super().update([list(dict.fromkeys([*known, *new]))] if values else [])
