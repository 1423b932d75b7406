"""How sure a multi-hop search may be that it has what was asked (spec F82)."""

from collections.abc import Collection, Mapping, Sequence

__all__ = ["confidence", "open_terms"]


def confidence(covered: float, scores: Sequence[float], entities: Collection[str]) -> float:
    """Return .5 coverage of the question + .3 mean of the three best scores + .2 diversity, in [0, 1].

    `covered` is the share of the question's rarity that the finds hold together; three different entities
    make full diversity.
    """
    best = sorted(scores, reverse=True)[:3]
    mean = sum(best) / len(best) if best else 0.0
    return min(1.0, 0.5 * covered + 0.3 * mean + 0.2 * min(1.0, len(entities) / 3))


def open_terms(rarity: Mapping[str, float], held: Collection[str]) -> list[str]:
    """Return the stems of the question that nothing found so far holds, rarest first."""
    return sorted((stem for stem in rarity if stem not in held), key=lambda stem: -rarity[stem])
