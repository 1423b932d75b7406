"""Counts in words: "1 fact", "2 facts"."""

__all__ = ["number_of"]


def number_of(count: int, things: str) -> str:
    """Return a count with its noun, which is given in the plural; a word such as "skipped" stays as it is."""
    if count != 1:
        return f"{count:,} {things}"
    if things.endswith("ies"):
        return f"1 {things[:-3]}y"
    return f"1 {things.removesuffix('s')}"
