"""Whether what a model read is what the user said: the words of the quote must bear the fact it is given for."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from zomem_graph.nodes.rules._statements import sentences, states_a_rule, without_quotations
from zomem_graph.nodes.rules._wordlists import words
from zomem_graph.nodes.rules.conflict import may_deny
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.quotes import quote_occurs

__all__ = ["LONGEST_VALUE", "bears", "denies", "said_around", "states_the_rule"]

LONGEST_VALUE: Final = 500
"""Characters of what one sentence can state, as long as the longest sentence that is read."""
_MOST_TOGETHER: Final = 8  # sentences that one quote may run over
_LEAST_STEM: Final = 4
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_SMALL: Final = words(
    "a an the is are was were be been am do does did has have had it its this that there to of for on in at by",
    "and or but not no with from as my your our their his her i you we they he she me us s t m re ve ll d",
    "der die das ist ein eine und mein im el la los las es un una y mi le les est et mon ma de du des",
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|im|me|my|mine|we|us|our|ich|mir|mich|meine?[nmrs]?|wir|uns|unsere?[nmrs]?|yo|mis?|nosotros|nuestr[oa]s?"
    r"|je|j|moi|mon|ma|mes|nous|notre|nos)\b|[我咱]",
    re.IGNORECASE,
)
_SPEAKERS: Final = words("user me i myself speaker")
_DATED = re.compile(r"\d{4}-\d\d|\b\d{1,2}[.:/]\d|\b20\d\d\b")
_FROM_TODAY = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|next|last|this|in|ago|heute|morgen|gestern|nächste\w*|hoy|mañana|ayer|demain"
    r"|hier|aujourd)\b|[今明昨]天|下[周个]",
    re.IGNORECASE,
)
_NOT: Final = r"(?:\b(?:not|never|no longer|neither|nicht|nie|niemals|kein\w*|pas|jamais|nunca)|n['’]t)"
_NO_DENIAL = re.compile(
    rf"{_NOT}\s+(?:only|just|forget|wait|help|nur|solo|seulement)\b|\bno,|\bwhy (?:don['’]t|not)\b", re.IGNORECASE
)
_NEGATIVE_KEY = re.compile(
    r"\b(?:dislikes?|hates?|allerg\w+|avoids?|diet|intoleran\w+|former\w*|previous\w*|past|old|ex|ended|stopped|quit"
    r"|without|missing|lacks?|rejected|excluded|against)\b",
    re.IGNORECASE,
)


def said_around(quote: str, sentences: Sequence[str]) -> str | None:
    """Return the sentence or sentences of the user that hold a quote; None when they are not his own words.

    What stands only between quote marks is somebody else's.
    """
    wanted = without_quotations(quote)
    if not quote_occurs(wanted, without_quotations("\n".join(sentences))):
        return None
    for together in range(1, _MOST_TOGETHER + 1):
        for start in range(len(sentences)):
            run = " ".join(sentences[start : start + together])
            if quote_occurs(wanted, without_quotations(run)):
                return run
    return None


def bears(said: str, *, entity: str, key: str, value: str, speaker: str = "") -> bool:
    """Return whether what was said shares a telling word with the value, or with both the entity and the key.

    A day may be said as "tomorrow" and kept as a date.
    """
    spoken = _telling(said)
    if _share(spoken, _telling(value)) or normal(value) in normal(said):
        return True
    if _DATED.search(value) and _FROM_TODAY.search(said):
        return True
    subject = _telling(entity)
    named = _share(spoken, subject)
    if not named and _is_speaker(subject, speaker):
        named = _FIRST_PERSON.search(said) is not None
    return named and _share(spoken, _telling(key))


def denies(said: str, *, key: str, value: str) -> bool:
    """Return whether a value is named only to say that it is not so: "the cabin is not teal"."""
    if may_deny(value) or may_deny(key) or _NEGATIVE_KEY.search(key.replace("_", " ")):
        return False
    bare = normal(value)
    found = list(re.finditer(rf"(?<!\w){re.escape(bare)}(?!\w)", normal(said))) if bare else []
    return bool(found) and all(_is_denied(normal(said)[: place.start()]) for place in found)


def states_the_rule(said: str, value: str) -> bool:
    """Return whether what was said makes this rule: the user's own order, in mostly the same words."""
    telling = _telling(value)
    spoken = [word for sentence in sentences(said) if states_a_rule(sentence) for word in _telling(sentence)]
    shared = sum(_share(spoken, [word]) for word in telling)
    return shared * 2 > len(telling)


def _is_denied(before: str) -> bool:
    clause = re.split(r"[,;:.!?，。；]|\b(?:but|and|aber|und|sondern|pero|sino|mais)\b", before)[-1]
    clause = _NO_DENIAL.sub(" ", clause)
    return re.search(rf"{_NOT}(?:\s+[\w'’-]+){{0,3}}\s*$", clause, re.IGNORECASE) is not None


def _telling(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", normal(text)).casefold()
    found = _WORD.findall(plain)
    return [word for word in found if word not in _SMALL] or found


def _share(spoken: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(_alike(one, other) for one in set(wanted) for other in set(spoken))


def _alike(a: str, b: str) -> bool:
    """Return whether two words are the same or two forms of one: "colour" and "colours", "works" and "working"."""
    if a == b:
        return True
    if a.isdigit() or b.isdigit() or min(len(a), len(b)) < _LEAST_STEM:
        return False
    stem = max(_LEAST_STEM, min(len(a), len(b)) - 2)
    return a[:stem] == b[:stem]


def _is_speaker(subject: Sequence[str], speaker: str) -> bool:
    return bool(_SPEAKERS.intersection(subject)) or bool(set(_telling(speaker)).intersection(subject))
