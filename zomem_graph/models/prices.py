"""What a call costs, from a small table; a model that is not in it costs 0 here, not in truth."""

import re
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["PRICES", "cost_usd"]

# US dollars per million tokens (in, out): OpenAI's list prices for standard use, without cache or
# batch discount (developers.openai.com/api/docs/pricing), as reported in June 2026.
PRICES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "gpt-4o-mini": (0.15, 0.60),
        "gpt-4o": (2.50, 10.00),
        "gpt-4.1": (2.00, 8.00),
        "gpt-4.1-mini": (0.40, 1.60),
        "gpt-4.1-nano": (0.10, 0.40),
        "gpt-5": (1.25, 10.00),
        "gpt-5-mini": (0.25, 2.00),
        "text-embedding-3-small": (0.02, 0.0),
        "text-embedding-3-large": (0.13, 0.0),
        "text-embedding-ada-002": (0.10, 0.0),
    }
)

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def cost_usd(model: str, *, prompt_tokens: int, completion_tokens: int = 0) -> float:
    """Return the list price of a call in US dollars; 0.0 for a model without a known price."""
    price_in, price_out = PRICES.get(_DATED.sub("", model), (0.0, 0.0))
    return (prompt_tokens * price_in + completion_tokens * price_out) / 1_000_000
