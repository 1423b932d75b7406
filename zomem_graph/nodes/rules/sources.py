"""How a thing that was learned names where it was learned."""

__all__ = ["CONVERSATION", "VAULT", "episode_label", "learned_source", "may_tell_no_time"]

CONVERSATION = "conversation:"
VAULT = "vault"
_LEARNED = "auto-capture:"
_LABELS = {_LEARNED: "capture.", "conversation-capture:": "conversation."}


def learned_source(source: str) -> str:
    """Return the source of a fact or loop that a capture from `source` found (spec F41, F45)."""
    if source.startswith(CONVERSATION):
        return f"conversation-capture:{source.removeprefix(CONVERSATION)}"
    return f"{_LEARNED}{source}"


def may_tell_no_time(source: str) -> bool:
    """Return whether messages of a source without a time of their own may have that of the file they stand in."""
    return source == VAULT or source.startswith(CONVERSATION)


def episode_label(source: str) -> str | None:
    """Return the label under which the episodes of a captured source are found; None for what was told by hand.

    It stands among the names of the episode, and nobody said it.
    """
    for start, label in _LABELS.items():
        if source.startswith(start):
            return f"{label}{source.removeprefix(start)}"
    return None
