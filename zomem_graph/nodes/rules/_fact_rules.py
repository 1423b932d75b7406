"""What a rule of extraction is: a pattern, the key it fills and the shape its value must have."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

__all__ = ["PROJECT", "SPEAKER", "Rule", "rule"]

SPEAKER: Final = "@speaker"
"""Entity of a rule about the one who speaks."""
PROJECT: Final = "project"
"""Entity of what is said about "us" or about nothing named."""

Scope = Literal["clause", "sentence"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One published pattern (docs/capture-rules.md).

    The value is read from where group `v` begins, in the given shape; groups `k`, `e` and `o` hold the
    key, the entity and an old value, where the text names them. `value` and `key` are templates.
    """

    source: str
    cased: bool
    key: str
    shape: str
    entity: str = SPEAKER
    value: str = "{}"
    category: str = "fact"
    tier: str = "stable"
    confidence: float = 1.0
    scope: Scope = "clause"
    anywhere: bool = False
    ends: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern; made at its first use, because a process that only reads needs none of them."""
        return re.compile(_BLANK.sub(_any_blanks, self.source), 0 if self.cased else re.IGNORECASE)


def rule(
    pattern: str,
    key: str,
    shape: str,
    *,
    entity: str = SPEAKER,
    value: str = "{}",
    category: str = "fact",
    tier: str = "stable",
    confidence: float = 1.0,
    scope: Scope = "clause",
    anywhere: bool = False,
    ends: bool = False,
    cased: bool = False,
) -> Rule:
    """Return a rule; a blank in the pattern matches a run of blanks, and case is free unless `cased`."""
    return Rule(
        source=pattern,
        cased=cased,
        key=key,
        shape=shape,
        entity=entity,
        value=value,
        category=category,
        tier=tier,
        confidence=confidence,
        scope=scope,
        anywhere=anywhere,
        ends=ends,
    )


_BLANK: Final = re.compile(r" (\??)")


def _any_blanks(blank: re.Match[str]) -> str:
    return r"\s*" if blank[1] else r"\s+"
