"""What failed: an executor by the words of its error (spec F91), a piece of work by what is said of it."""

import re
from typing import Final

__all__ = ["FAILURE_CLASSES", "failure_class", "says_it_failed"]

# In this order: "permission denied: no such file" is about the file, and "runtime" is in many a message.
_SIGNS: Final = (
    (
        "timeout",
        # Also in one word, as errors of the network are called: ReadTimeout, APITimeoutError, ETIMEDOUT.
        r"\btime[ds]?[ -]?out\b|\b[a-z]*timed?out(?:error|exception)?\b|\bdeadline\b"
        r"|\bdid not (?:answer|end) within\b",
    ),
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

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_FAILED: Final = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|crash(?:ed|es|ing)|broke|broken|timed out|time[sd]? out|errors? out|errored"
    r"|(?:did|does|do|was|is|are)(?:n['’]?t| not) work(?:ing)?|not working|still (?:stuck|wrong|the same error))\b",
    re.IGNORECASE,
)
_MENDED: Final = re.compile(
    r"\b(?:no longer|never|without|stopped|fixed|solved|resolved|repaired|passes|passed|(?:it|that|now) works"
    r"|works (?:now|again|fine)|working (?:now|again)|(?:did|does|do|will|must|should)(?:n['’]?t| not)"
    r" (?:fail|crash|break))\b",
    re.IGNORECASE,
)

FAILURE_CLASSES: Final = (*(name for name, _ in _SIGNS), "unknown")
"""Every class there is; what no words tell is unknown."""


def failure_class(error: str) -> str:
    """Return the class of a failure by the words of its error."""
    read = error[:_LONGEST_READ]
    return next((name for name, words in _PATTERNS if words.search(read)), "unknown")


def says_it_failed(text: str) -> bool:
    """Return whether a message ends with something that does not work: the last of its sentences about it counts.

    What is only asked ("did it fail?") says neither.
    """
    failed = False
    for sentence in _SENTENCE.findall(text[-_LONGEST_READ:]):
        if _MENDED.search(sentence):
            failed = False
        elif _FAILED.search(sentence) and not sentence.endswith("?"):
            failed = True
    return failed
