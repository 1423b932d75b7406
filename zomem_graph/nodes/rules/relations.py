"""The relations a link may have, each with its inverse and what it says of before and after (spec F26, F27).

Any other relation is kept too, with a warning.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["RELATIONS", "RELATION_TYPES", "STAYING", "RelationType", "relation_note", "upward"]

Category = Literal["dependency", "structural", "causal", "temporal", "reference", "general"]
Up = Literal["target", "source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationType:
    """One relation: what `A relation B` says.

    `inverse` is how the same is said from B, the name itself where both ends are alike. `up` names the end
    that comes first in meaning, the ancestor: what is required, the cause, the whole, what was there before.
    None: the relation says nothing of before and after.
    """

    name: str
    inverse: str
    category: Category
    about: str
    up: Up | None = None

    @property
    def directed(self) -> bool:
        """Return whether the two ends play different parts."""
        return self.inverse != self.name


def _pair(name: str, inverse: str, category: Category, about: str, back: str, up: Up | None) -> list[RelationType]:
    down: Up | None = None if up is None else ("source" if up == "target" else "target")
    return [
        RelationType(name=name, inverse=inverse, category=category, about=about, up=up),
        RelationType(name=inverse, inverse=name, category=category, about=back, up=down),
    ]


def _mutual(name: str, about: str) -> list[RelationType]:
    return [RelationType(name=name, inverse=name, category="general", about=about)]


RELATION_TYPES: Final[Mapping[str, RelationType]] = MappingProxyType(
    {
        one.name: one
        for one in (
            *_pair("depends_on", "required_by", "dependency", "A needs B", "B needs A", "target"),
            *_pair("implements", "implemented_by", "dependency", "A carries out B", "B carries out A", "target"),
            *_pair("blocks", "blocked_by", "dependency", "B has to wait for A", "A has to wait for B", "source"),
            *_pair("part_of", "contains", "structural", "A is a part of B", "B is a part of A", "target"),
            *_pair("caused_by", "causes", "causal", "B is why A is", "A is why B is", "target"),
            *_pair("supersedes", "superseded_by", "temporal", "A took B's place", "B took A's place", "target"),
            *_pair("derived_from", "source_of", "temporal", "A was made from B", "B was made from A", "target"),
            *_pair("wikilink", "wikilinked_by", "reference", "A's text has [[B]]", "B's text has [[A]]", None),
            *_pair("mentions", "mentioned_by", "reference", "A names B", "B names A", None),
            *_mutual("related", "A and B have to do with each other"),
            *_mutual("related_to", "A and B have to do with each other"),
            *_mutual("co-captured", "A and B come from one conversation"),
            *_mutual("community_related", "A and B belong to one cluster"),
            *_mutual("contradicts", "A and B cannot both hold"),
        )
    }
)
"""The published relations by name; A is where the arrow begins."""

RELATIONS: Final[frozenset[str]] = frozenset(RELATION_TYPES)

STAYING: Final[frozenset[str]] = frozenset(
    {"supersedes", "superseded_by", "contradicts", "co-captured", "derived_from", "source_of"}
)
"""The relations that say something of one value only; all others hold for the next value of a slot too."""


def upward(relation: str, *, named: Iterable[str] = ()) -> Up | None:
    """Return which end of a link is the ancestor, None for neither.

    A relation that is not published counts where it is named, as if A came from B.
    """
    known = RELATION_TYPES.get(relation)
    if known is not None and known.up is not None:
        return known.up
    return "target" if relation in named else None


def relation_note(relation: str) -> str | None:
    """Return a warning for a relation that is not published, with what may have been meant."""
    if relation in RELATIONS:
        return None
    near = get_close_matches(relation.lower().replace(" ", "_").replace("-", "_"), RELATIONS, n=2, cutoff=0.7)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"unknown relation {relation!r:.60} is kept.{meant} Known: {', '.join(sorted(RELATIONS))}."
