"""How a thing that was learned names where it was learned."""

__all__ = ["CONVERSATION", "learned_source"]

CONVERSATION = "conversation:"


def learned_source(source: str) -> str:
    """Return the source of a fact or loop that a capture from `source` found (spec F41, F45)."""
    if source.startswith(CONVERSATION):
        return f"conversation-capture:{source.removeprefix(CONVERSATION)}"
    return f"auto-capture:{source}"
