"""The relations a link may have by name (spec F26, F27); others are kept too, with a warning."""

from typing import Final

__all__ = ["RELATIONS"]

RELATIONS: Final[frozenset[str]] = frozenset(
    {
        *("related", "related_to", "co-captured", "wikilink", "community_related", "mentions"),
        *("depends_on", "required_by", "implements", "implemented_by", "blocks", "blocked_by"),
        *("supersedes", "superseded_by", "contradicts", "derived_from"),
        *("caused_by", "causes", "part_of", "contains"),
    }
)
