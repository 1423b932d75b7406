"""Cuts noun phrases and lists of them out of a clause: what follows, why and when is left behind."""

import re
from typing import Final

from zomem_graph.nodes.rules._wordlists import words

__all__ = [
    "NAME",
    "NAMES",
    "NOT_A_NAME",
    "UNREAL",
    "bare_text",
    "first_word",
    "name_at",
    "names_at",
    "phrase",
    "points_into_talk",
    "split_list",
    "things_in",
    "without_purpose",
    "without_tail",
]

_CAP: Final = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’.&-]{0,30}|[A-Z]\.)"
_PARTICLES: Final = r"(?:(?:de|da|del|van|von|der|den|la|le|al|bin|y|of|the|upon|am) ){0,2}"
NAME: Final = rf"{_CAP}(?: {_PARTICLES}{_CAP}){{0,4}}"
"""A capitalised name of up to five words. Compile the pattern around it with case."""
NAMES: Final = rf"{NAME}(?:(?:, (?:and )?| and | & | und | y | et ){NAME}){{0,5}}"

_EDGE: Final = " \t\"'`“”‘’«»„,;:!?。！？，.*"
_LONGEST_WORDS: Final = 12
_JOIN = re.compile(r"\s*(?:,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+&\s+|\s+und\s+|\s+y\s+|\s+et\s+|、|和|以及|及)\s*")
_ENUMERATION = re.compile(r"(?:[^\s,]+(?: [^\s,]+){0,2}, ){1,6}(?:and |or )?[^\s,]+(?: [^\s,]+){0,3}")
_TAIL = re.compile(
    r"\s*(?:,(?!\d)|\s(?:because|since|as it|so that|so|when|while|in case|these days|right now|at the moment"
    r"|anymore|any more|too|as well|by the way|btw|please|already|again|everywhere|from now on|since \w+"
    r"|last \w+|nowadays|a lot|very much|more than|even more|thanks|lately|if"
    r"|this (?:week|month|year|morning|evening|summer|winter|spring|autumn|time))\b).*$"
    r"|\s+(?:now|currently|today|yet)$",
    re.IGNORECASE | re.DOTALL,
)
_PURPOSE = re.compile(r"\s(?:for|to|with|on|in|at|as|from|until|during|instead of)\s.*$", re.IGNORECASE | re.DOTALL)
_ARTICLE = re.compile(
    r"^(?:an?|the|my|our|some|a bit of|a little|fluent|of|to|den|die|das|dem|der|ein|eine|el|la|los|las|un"
    r"|una|le|les|une|du|des|de la|au|aux|al)\s+|^l['’]",
    re.IGNORECASE,
)
_POINTING: Final = words(
    "it this that these those them him her you me us myself yourself how what when where why who which there",
    "here something anything everything nothing someone one ones your his its their both all to the way idea",
    "sound look so not no more less better being option variant first second third latter former next previous",
    "last whole es das dies nicht nichts mehr dein deine deinen euer eure eso esto nada mucho tu tus su sus",
    "ça cela rien bien ton ta tes votre vos 它 这 那 这个 那个",
)
_DANGLING: Final = words(
    "to in on at for with of from the a an and or this that by about into is are was were be been than as if",
    "my your",
)
_CONTEXT = re.compile(
    r"\b(?:it|him|her|them|this|that|these|those|you|your|yours|there|here|his|their|one|ones|others)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\b(?:to|with|for|of|into|in|on|from|about|being|when|how|\w+ing)\s", re.IGNORECASE)
UNREAL: Final = words(
    "not no never unknown wrong unreachable gone broken missing open closed down up fine ok okay good bad great",
    "too very really still also only different same correct right here there important required needed high low",
    "easy hard clear unclear due over full empty free busy",
)
"""Words that begin a judgement, not a value."""
NOT_A_NAME: Final = words(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august",
    "september october november december today tomorrow yesterday i i'm i've ok okay sorry back fine vegan",
    "vegetarian german french english spanish italian dutch polish american british irish scottish welsh",
    "swedish danish norwegian finnish swiss austrian belgian greek turkish russian indian chinese japanese",
    "korean brazilian mexican canadian australian european jewish muslim christian hindu the a an my our we he",
    "she it they this that and but so not is was are here there later when ready sure happy sad tired busy",
    "excited bored hungry curious interested looking trying working going thinking using",
    "having done all just really very too on in at from with",
)
"""Capitalised words that are nobody's name."""


def bare_text(text: str) -> str:
    """Return a text without blanks, quote marks and punctuation around it."""
    return text.strip(_EDGE)


def first_word(text: str) -> str:
    """Return the first word of a text in lower case, without a possessive ending; "" when there is none."""
    return text.split(" ", 1)[0].casefold().removesuffix("'s").removesuffix("’s")


def without_tail(text: str) -> str:
    """Return a text up to its reasons, conditions and asides."""
    return _TAIL.sub("", text)


def without_purpose(text: str) -> str:
    """Return a text up to its first preposition."""
    return _PURPOSE.sub("", f" {text}").strip()


def points_into_talk(text: str) -> bool:
    """Return whether a text holds words ("this", "them") that mean nothing outside the conversation."""
    return _CONTEXT.search(text) is not None


def phrase(text: str) -> str:
    """Return a noun phrase without article, or "" when it only points at something or breaks off."""
    bare = bare_text(text)
    for _ in range(2):
        bare = bare_text(_ARTICLE.sub("", bare))
    parts = bare.split()
    if not parts or len(parts) > _LONGEST_WORDS:
        return ""
    return "" if first_word(bare) in _POINTING or parts[-1].casefold() in _DANGLING else bare


def split_list(text: str) -> list[str]:
    """Return the parts of "a, b and c"; a comma that is no part of a list ends the text."""
    listed = _ENUMERATION.match(text)
    if listed and re.search(r",? (?:and|or) ", listed[0]):
        return [cut for part in _JOIN.split(listed[0]) if (cut := without_tail(part))]
    return _JOIN.split(without_tail(text))


def things_in(text: str) -> list[str]:
    """Return the noun phrases of a list; a single phrase with "and" inside it stays whole."""
    parts = [bare for part in split_list(text) if (bare := phrase(part))]
    short = all(len(part.split()) <= 3 and not _GOES_ON.search(part) for part in parts)
    if short or all(re.match(r"[a-z]+ing\b", part) for part in parts):
        return parts
    bare = phrase(without_tail(text))
    return [bare] if bare else []


def name_at(text: str) -> str:
    """Return the capitalised name a text begins with, or ""."""
    found = re.match(NAME, text)
    bare = re.sub(r"['’]s$", "", bare_text(found[0])) if found else ""
    return "" if first_word(bare) in NOT_A_NAME else bare


def names_at(text: str) -> list[str]:
    """Return the capitalised names a text begins with."""
    found = re.match(NAMES, text)
    return [name for part in _JOIN.split(found[0]) if (name := name_at(part))] if found else []
