"""With which words a follow-up is searched for: its own, the names of the talk, the last exchange.

Measured on CANARD (retrieval_recipe §3): the message with the capitalised words of its history at
full weight and the words of the last question and answer at half weight finds the answer more
often than a rewrite by hand. Nothing is rewritten and no model is asked.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from zomem_graph.nodes.rules.cue_words import FUNCTION_WORDS
from zomem_graph.nodes.rules.phrases import fold

__all__ = ["CONTEXT_WEIGHT", "HISTORY_WEIGHT", "WeightedTerms", "query_terms"]

HISTORY_WEIGHT: Final = 1.0
CONTEXT_WEIGHT: Final = 0.5
MOST_NAMES: Final = 40
MOST_CONTEXT: Final = 60
MESSAGES_READ: Final = 40
CHARACTERS_READ: Final = 2_000

_TERM: Final = re.compile(r"[^\W_]+(?:[’'.&-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class WeightedTerms:
    """Words of a query in three groups, each without repeats and without those of the former.

    `own` weighs 1, `history` HISTORY_WEIGHT, `context` CONTEXT_WEIGHT.
    """

    own: tuple[str, ...]
    history: tuple[str, ...]
    context: tuple[str, ...]


def query_terms(message: str, history: Sequence[str]) -> WeightedTerms:
    """Return the words to search for; the history is oldest first, its last two are the last exchange."""
    texts = [text[:CHARACTERS_READ] for text in history[-MESSAGES_READ:]]
    own = _new(_content(message[:CHARACTERS_READ]), set())
    seen = {fold(word) for word in own}
    names = _new(_names(texts), seen)[:MOST_NAMES]
    seen.update(fold(word) for word in names)
    context = _new((word for text in texts[-2:] for word in _content(text)), seen)[:MOST_CONTEXT]
    return WeightedTerms(own, names, context)


def _content(text: str) -> list[str]:
    words = _TERM.findall(text)
    return [word for word in words if fold(word) not in FUNCTION_WORDS] or words


def _names(texts: Sequence[str]) -> list[str]:
    """Capitalised words, newest message first, that are never written small in the same talk."""
    words = [word for text in reversed(texts) for word in _TERM.findall(text)]
    small = {word for word in words if word.islower()}
    return [
        word for word in words if word[0].isupper() and word.lower() not in small and fold(word) not in FUNCTION_WORDS
    ]


def _new(words: Iterable[str], seen: set[str]) -> tuple[str, ...]:
    kept = {fold(word): word for word in reversed(list(words)) if fold(word) not in seen}
    return tuple(reversed(list(kept.values())))
