"""Whether a question is about what its author did or got: "the list I made", "who gave me this"."""

from zomem_graph.nodes.rules.cue_words import IN_BETWEEN, IRREGULAR_PASTS, NOT_PASTS, TELLING

__all__ = ["tells_of_oneself"]


def tells_of_oneself(words: tuple[str, ...]) -> bool:
    """Say whether "I" or "we" stands before a past form, or "me" outside a request such as "tell me"."""
    for position, word in enumerate(words):
        if word in ("i", "we") and _is_past(_next_word(words, position + 1)):
            return True
        if word == "me" and position and words[position - 1] not in TELLING:
            return True
    return False


def _next_word(words: tuple[str, ...], position: int) -> str:
    while position < len(words) and words[position] in IN_BETWEEN:
        position += 1
    return words[position] if position < len(words) else ""


def _is_past(word: str) -> bool:
    if word in IRREGULAR_PASTS:
        return True
    return word.endswith("ed") and len(word) > 3 and word not in NOT_PASTS
