"""Which facts of one entity and key say the same, so that one of them is enough (spec F12).

Without a model only what is the same statement is merged. A model may confirm what is merely near; it is asked
about nothing else, and numbers, dates, names and denials that differ are never near.
"""

from collections.abc import Sequence
from typing import Final

from zomem_graph.nodes.rules._polarity import contradicts
from zomem_graph.nodes.rules.alike import statement

__all__ = ["near_pairs", "twins"]

_SHARED: Final = 0.5  # of the words of both
_DENIALS: Final = frozenset({"not", "no", "never", "without", "nor", "none", "only", "may", "might", "kein", "nicht"})
_MOST_COMPARED: Final = 200


def twins(texts: Sequence[str]) -> list[list[int]]:
    """Return the positions of texts that are the same statement, two or more together, in the order given."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, text in enumerate(texts):
        groups.setdefault(statement(text), []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def near_pairs(texts: Sequence[str], *, most: int) -> list[tuple[int, int]]:
    """Return pairs of positions that may say the same in other words, for a model to confirm."""
    compared = [(place, text, statement(text)) for place, text in enumerate(texts[:_MOST_COMPARED])]
    found: list[tuple[int, int]] = []
    for number, (first, one, said) in enumerate(compared):
        for second, other, also_said in compared[number + 1 :]:
            if len(found) == most:
                return found
            if said != also_said and _is_near(one, other, set(said), set(also_said)):
                found.append((first, second))
    return found


def _is_near(one: str, other: str, said: set[str], also_said: set[str]) -> bool:
    differing = said ^ also_said
    if len(said & also_said) < _SHARED * len(said | also_said) or contradicts(one, other):
        return False
    names = {word.casefold().strip(".,;:!?\"'()") for word in f"{one} {other}".split() if word[:1].isupper()}
    return not any(word in _DENIALS or word in names or any(map(str.isdigit, word)) for word in differing)
