"""How an executor failed, by the words of its error (spec F91)."""

import re
from typing import Final

__all__ = ["FAILURE_CLASSES", "failure_class"]

# In this order: "permission denied: no such file" is about the file, and "runtime" is in many a message.
_SIGNS: Final = (
    ("timeout", r"\btime[ds]?[ -]?out\b|\btimeouterror\b|\bdeadline\b|\bdid not (?:answer|end) within\b"),
    ("mutation_failed", r"\bmutation[ _-](?:failed|verification)|\bexpected file\b|\bnothing was changed\b"),
    ("syntax_error", r"\bsyntax ?error\b|\bunexpected token\b|\bindentationerror\b|\bcould not parse\b"),
    ("file_not_found", r"\bno such file\b|\benoent\b|\bfilenotfounderror\b|\bnot found\b"),
    ("permission_denied", r"\bpermission\b|\bpermissionerror\b|\beacces\b|\beperm\b|\bforbidden\b|\baccess denied\b"),
    ("rate_limited", r"\b429\b|\brate[ _-]?limit|\btoo many requests\b|\bquota\b"),
    (
        "context_overflow",
        r"\bcontext\b.{0,40}\b(?:overflow|too long|length|window|exceed)|\btoo long\b|\btoken limit\b",
    ),
    ("runtime_error", r"\b(?:type|reference|runtime|value|key|index|attribute|zerodivision)error\b|\bruntime\b"),
)
_PATTERNS: Final = tuple((name, re.compile(words, re.IGNORECASE)) for name, words in _SIGNS)
_LONGEST_READ: Final = 4_000

FAILURE_CLASSES: Final = (*(name for name, _ in _SIGNS), "unknown")
"""Every class there is; what no words tell is unknown."""


def failure_class(error: str) -> str:
    """Return the class of a failure by the words of its error."""
    read = error[:_LONGEST_READ]
    return next((name for name, words in _PATTERNS if words.search(read)), "unknown")
