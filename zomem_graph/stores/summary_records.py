"""What keeps a long past short: summaries of episodes, where they come from, and how full a prompt is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["ContextBudget", "Summary", "SummarySource"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Several episodes in a few sentences; of level 2 and above: several summaries (spec T16, F80).

    `method` is "rules" or the "provider:model" that wrote it. It covers `first_at` to `last_at`, `episodes`
    counts those at the bottom. `sources` are the ids of what it was made from, in order.
    """

    id: str
    persona: str
    level: int
    summary: str
    key_decisions: Sequence[str]
    key_outcomes: Sequence[str]
    method: str
    first_at: datetime
    last_at: datetime
    episodes: int
    original_tokens: int
    tokens: int
    created_at: datetime
    sources: tuple[str, ...] = field(default=())

    @property
    def ratio(self) -> float:
        """How much was saved: 1 - tokens after / before, 0 at least."""
        return max(0.0, 1.0 - self.tokens / self.original_tokens) if self.original_tokens else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySource:
    """An episode or summary and the one summary it went into."""

    source_id: str
    summary_id: str
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """How many tokens the prompt of a thread may hold and holds (spec T14); "" is the thread of no thread.

    `warning_fired` and `critical_fired` say that the alarm has rung, `saved` that a checkpoint was written,
    each since the use was last well below.
    """

    persona: str
    thread: str
    max_tokens: int
    warn_at: float
    critical_at: float
    used: int
    warning_fired: bool
    critical_fired: bool
    saved: bool
    updated_at: datetime
