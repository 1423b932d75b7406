"""How word tables are written down: as lines of words, which reads better than a hundred quotes."""

import re

__all__ = ["alternatives", "words"]


def words(*lines: str) -> frozenset[str]:
    """Return the blank-separated words of all lines."""
    return frozenset(word for line in lines for word in line.split())


def alternatives(text: str) -> str:
    """Return a regular expression for any of the phrases parted by "|" or by blanks, longest first."""
    phrases = [phrase.strip() for phrase in text.split("|")] if "|" in text else text.split()
    kept = sorted({phrase for phrase in phrases if phrase}, key=lambda phrase: (-len(phrase), phrase))
    return "(?:" + "|".join(re.escape(phrase).replace(r"\ ", r"\s") for phrase in kept) + ")"
