"""What was done and how long it took: numbers only, no word of anybody."""

from dataclasses import dataclass
from datetime import datetime

__all__ = ["ModelCall", "Operation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One search, recall or the like (spec T18). `imagined` says that an imagined answer helped."""

    name: str
    persona: str
    latency_ms: float
    results: int
    imagined: bool
    failed: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call of a chat model: who really answered, how fast, for how much (spec F148)."""

    workload: str
    provider: str
    model: str
    latency_ms: float
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    failed: bool
    created_at: datetime
