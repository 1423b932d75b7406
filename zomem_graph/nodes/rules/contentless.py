"""Turns that say nothing by themselves, such as "Nice!" and "I'll remember that."; nobody needs them again."""

import re
from typing import Final

from zomem_graph.nodes.rules._wordlists import words
from zomem_graph.nodes.rules.cues import read_cues

__all__ = ["says_nothing"]

_LONGEST: Final = 60
"""Characters; what is longer says something."""
_WORD: Final = re.compile(r"[^\W_]+")
_ACKNOWLEDGING: Final = words(
    "ok okay alright sure yes yep yeah right great good nice cool wonderful lovely perfect awesome excellent",
    "fantastic amazing noted got understood gotcha sounds thanks thank you your for telling sharing letting me know",
    "now to hear i ll ve m have will do keep in mind remember remembered note noting made make making saved stored",
    "a an of it its that this s down so very really too glad happy congratulations congrats of course no problem",
    "welcome here all set",
)


def says_nothing(text: str) -> bool:
    """Return whether a turn only acknowledges what the other one said; a question always says something."""
    said = _WORD.findall(text.casefold())
    if not said or len(text) > _LONGEST or "?" in text:
        return False
    return _ACKNOWLEDGING.issuperset(said) or read_cues(text).courtesy_only
