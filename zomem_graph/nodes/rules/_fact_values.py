"""The shapes a value can have, and what of a clause is read as a value of each.

Every reader returns nothing when the text holds no value of its shape: "the port is open" names no port.
"""

import re
from collections.abc import Callable
from typing import Final

from zomem_graph.nodes.rules._dates import has_moment, moments_in
from zomem_graph.nodes.rules._fact_rules import SPEAKER
from zomem_graph.nodes.rules._noun_phrases import (
    NAME,
    NOT_A_NAME,
    UNREAL,
    bare_text,
    first_word,
    name_at,
    names_at,
    phrase,
    points_into_talk,
    split_list,
    things_in,
    without_purpose,
    without_tail,
)
from zomem_graph.nodes.rules._wordlists import words

__all__ = ["is_time_only", "read_values"]

_NOT_LIKED = re.compile(
    r"(?:the|your|my|our|its|how|when|what|to be|being|also|to help|help|everything|everybody)\b",
    re.IGNORECASE,
)
_NOT_USED = re.compile(
    r"(?:the|this|that|these|your|his|her|their|it|to|my|our|out|into|late|away|up|down|too|more|less|a lot"
    r"|lots|much|many|all|every|public|each)\b",
    re.IGNORECASE,
)
_NOT_NOTED = re.compile(
    r"(?:this|that|these|those|you|your|you['’]re|it['’]s|it|every|everyone|there|life|love|we all)\b",
    re.IGNORECASE,
)
_FEELINGS: Final = words(
    "said been heard seen had knew thought felt went told wrote understood forget remember know feel find want",
    "look get love hate like try think hope enjoy end was were am wish believe wonder guess mean need seem",
    "really quite so too just also do did have has got made make say mind worry expect notice understand dream",
    "see",
)
"""What people always or never do without its being a habit."""
_STATES: Final = UNREAL | words(
    "like been best worst about on in at under going gone killing acting dead new old slow fast private great",
    "awesome expensive cheap small big huge tiny messy dirty clean short long noisy loud warm cold hot secret",
    "public simple nice lovely amazing terrible perfect",
)
_UNDECIDED: Final = words(
    "it this that these those them nothing something anything yet yesterday today already together disagree",
    "differently otherwise quickly",
)
_NO_PLACE: Final = NOT_A_NAME | words(
    "python node java rust go kotlin typescript javascript git github gitlab docker kubernetes postgres",
    "postgresql mysql mariadb sqlite redis kafka aws azure gcp linux windows macos ubuntu debian fedora slack",
    "teams notion jira linear figma react vue svelte angular django flask fastapi rails terraform pulumi ansible",
)
_NO_LOWER_PLACE: Final = UNREAL | words(
    "peace fear hope house town there here this that his her their your its it one another something a an the my",
    "our some what where how harmony sync denial trouble",
)
_NUMBER_WORDS: Final = words("one two three four five six seven eight nine ten eleven twelve")
_URL = re.compile(
    r"https?://[^\s\"'<>]{1,300}|(?:[a-z0-9-]{1,40}\.){1,5}[a-z]{2,10}(?:/[^\s\"'<>]{0,200})?", re.IGNORECASE
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PHONE = re.compile(r"\+?\(?\d[\d ()/.-]{5,20}\d")
_WHEN = re.compile(
    r"^(?:(?:planned|scheduled|set|due|fixed) (?:for|on) |(?:on|at|am|um|el|le|for|is) )", re.IGNORECASE
)
_AFTER_WHEN = re.compile(r",\s(?=[A-Za-z])|\s(?:in the \w+ (?:room|office)|so|because|but|from next)\b")
_SINCE_MONTH = re.compile(
    r"\s(?:in|since) (?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|\d{4})$",
    re.IGNORECASE,
)


def read_values(shape: str, text: str) -> list[str]:
    """Return the values of a shape that a text begins with; none when it holds no such thing."""
    return [value for value in _SHAPES[shape](text) if value]


def is_time_only(value: str) -> bool:
    """Return whether a value names times of the day and no day."""
    moments, rest = moments_in(value.casefold())
    dayless = all(moment.hour >= 0 and not moment.weekday and not moment.day for moment in moments)
    return dayless and not re.search(r"\b(?:every|each|daily|weekly|monthly|tomorrow)\b", rest)


def _thing(text: str) -> list[str]:
    return [phrase(without_tail(text))]


def _exact(text: str) -> list[str]:
    return [bare_text(text)]


def _speaker(_text: str) -> list[str]:
    return [SPEAKER]


# What people like, use, own and do


def _liked(text: str) -> list[str]:
    """Return what is liked, if it can be named outside this conversation."""
    if _NOT_LIKED.match(text):
        return []
    return [thing for thing in things_in(text) if not points_into_talk(thing)]


def _preferred(text: str) -> list[str]:
    """Return what is preferred, with what it is preferred to."""
    if re.match(r"(?:not|if|it|that|this|your|you)\b", text, re.IGNORECASE):
        return []
    return [phrase(re.split(r"[,;]?\s(?:because|since|so|when|please)\b", text, maxsplit=1)[0])]


def _tools(text: str) -> list[str]:
    """Return the tools of a list; a part that goes on with another verb ends it."""
    found: list[str] = []
    for part in split_list(text):
        bare = phrase(without_purpose(part))
        named = bool(re.search(r"[A-Z\d]", bare)) or len(part.split()) == 1
        if not bare or len(bare.split()) > 3 or points_into_talk(bare) or (found and not named):
            break
        found.append(bare)
    return found


def _used(text: str) -> list[str]:
    return [] if _NOT_USED.match(text) else _tools(text)


def _proper(text: str) -> list[str]:
    """Return the tools that have a proper name or a digit: "Rust", "a Hetzner CX41"."""
    return [bare for bare in _tools(text) if re.search(r"[A-Z\d]", bare)]


def _owned(text: str) -> list[str]:
    """Return a thing bought or owned; a present for somebody and "a lot of" are none."""
    if re.search(r"\bfor (?:my|our|his|her|him|the|a)\b|as a gift", text):
        return []
    bare = phrase(without_purpose(re.split(r"\s(?:and|that|which)\s", without_tail(text))[0]))
    vague = first_word(bare) in {"lot", "couple", "few", "bunch", "ton", "bit", "ticket"}
    return [] if vague or len(bare.split()) > 6 else [bare]


def _own(text: str) -> list[str]:
    """Return what something of one's own is; a state ("flickering", "broken") is no value."""
    if re.match(r"\d{1,5}\s+[A-Z]", text):  # a street: its commas belong to it
        return [bare_text(text)]
    bare = phrase(re.split(r",\s|\s(?:because|since|so|but|and i)\b", text)[0])
    return [] if re.match(r"[a-z]+(?:ing|ed|en)\b", bare) or first_word(bare) in _STATES else [bare]


def _habit(text: str) -> list[str]:
    bare = re.sub(r"^i\s+", "", bare_text(text), flags=re.IGNORECASE)
    verb = bare.split()[1].casefold() if len(bare.split()) > 1 else ""
    vague = verb in _FEELINGS or verb.endswith("ed") or points_into_talk(bare)
    return [] if vague or not verb or len(bare.split()) > 12 else [bare]


def _stopped(text: str) -> list[str]:
    """Return an ended habit without the time it ended."""
    return [phrase(re.split(r"\s(?:in|on|last|since|at|after|when|a \w+ ago)\b", without_tail(text))[0])]


# What was agreed, ordered, noted


def _decided(text: str) -> list[str]:
    bare = bare_text(re.split(r",?\s(?:because|since|so that|which|as it)\b", text)[0])
    return [] if len(bare) < 3 or points_into_talk(bare) or first_word(bare) in _UNDECIDED else [bare]


def _order(text: str) -> list[str]:
    """Return a standing order that can be followed without this conversation."""
    bare = bare_text(text)
    return [] if re.search(r"\b(?:it|this|that|them|give up)$", bare, re.IGNORECASE) else [bare]


def _note(text: str) -> list[str]:
    """Return what is to be remembered, unless it is only a good word to somebody."""
    return [] if _NOT_NOTED.match(bare_text(text)) else [bare_text(text)]


def _promised(text: str) -> list[str]:
    return [bare_text(text)] if has_moment(text) else []


# Names, places, jobs


def _name(text: str) -> list[str]:
    return [name_at(text)]


def _languages(text: str) -> list[str]:
    """Return the capitalised words of a list."""
    parts = [phrase(part) for part in split_list(text)]
    return [part for part in parts if re.fullmatch(r"[A-ZÀ-Þ][\w-]+(?: [A-Z]\w+)?", part)]


def _place(text: str) -> list[str]:
    """Return a capitalised place, or one or two plain words in a text written without capitals."""
    if found := re.match(NAME, text):
        bare = bare_text(found[0])
        return [] if first_word(bare) in _NO_PLACE or re.search(r"\d", bare) else [bare]
    bare = bare_text(without_tail(text))
    plain = re.fullmatch(r"[a-zà-ž][\w'’-]{2,}(?: [a-zà-ž][\w'’-]{2,})?", bare)
    return [bare] if plain and first_word(bare) not in _NO_LOWER_PLACE | _NO_PLACE else []


def _places(text: str) -> list[str]:
    text = re.sub(r"\s(?:once|twice|\w+ times|before|already|last \w+|in \d{4})\b", "", text)
    text = re.sub(r"(?:,|\s)(?:and\s)?to\s(?=[A-Z])", ", ", text)
    return [place for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", text) for place in _place(part)]


def _organisation(text: str) -> list[str]:
    """Return a capitalised name, or up to four words after an article ("a bank")."""
    if re.match(NAME, text):
        return [name_at(text)]
    if not re.match(r"(?:an?|the|eine[mr]?|un|una|une)\s", text):
        return []
    bare = phrase(without_purpose(without_tail(text)))
    return [] if len(bare.split()) > 4 or re.search(r"\d", bare) else [bare]


def _job(text: str) -> list[str]:
    bare = phrase(without_purpose(without_tail(text)))
    looks_so = re.search(r"(?:er|or|ist|ant|eer|ian|nurse|lead|chief)$", bare)
    return [bare] if looks_so and len(bare.split()) <= 4 else []


# Dates, numbers, addresses, states


def _dated(text: str) -> list[str]:
    bare = bare_text(_AFTER_WHEN.split(_WHEN.sub("", bare_text(text)))[0])
    return [bare] if has_moment(bare) and len(bare.split()) <= 9 else []


def _counted(text: str) -> list[str]:
    bare = bare_text(without_tail(text))
    return [bare] if re.search(r"\d", bare) and len(bare.split()) <= 8 else []


def _number(text: str) -> list[str]:
    found = re.match(r"(?:port )?(\d{1,15}(?:[.,]\d{1,6})*)\b(?![\d-])", bare_text(text))
    return [found[1]] if found else []


def _age(text: str) -> list[str]:
    found = re.match(r"(\d{1,3}|[a-z]+)\b(?!\s?(?:%|min|hours|days|weeks|months|km|steps|people|times|of))", text)
    number = found[1] if found else ""
    plausible = number in _NUMBER_WORDS or (number.isdigit() and 1 <= int(number) <= 120)
    return [number] if plausible else []


def _matching(pattern: re.Pattern[str]) -> Callable[[str], list[str]]:
    def values(text: str) -> list[str]:
        found = pattern.search(text)
        return [found[0].rstrip(".,;:)")] if found else []

    return values


def _token(text: str) -> list[str]:
    """Return a machine-like name: with a digit, dot, dash or slash, or in capitals."""
    bare = bare_text(next(iter(bare_text(text).split()), ""))
    machine = re.search(r"[\d._/:-]", bare) or bare[:1].isupper()
    return [bare] if machine and bare.casefold() not in UNREAL else []


def _short(text: str) -> list[str]:
    bare = phrase(without_tail(text))
    return [] if len(bare.split()) > 6 or first_word(bare) in UNREAL else [bare]


def _status(text: str) -> list[str]:
    bare = bare_text(text)
    return [] if re.match(r"(?:un|not\b|tbd|open question|what|the same)", bare, re.IGNORECASE) else [bare]


_AND_DOES: Final = re.compile(r",?\s+and\s+(?=[a-z]+\s)")  # "in Porto and works as a baker"


def _located(text: str) -> list[str]:
    """Return a place, a path, a region or a street; plain words ("in use", "at risk") are none."""
    alone = _AND_DOES.split(text)[0]
    bare = _SINCE_MONTH.sub("", re.sub(r"^(?:the|a|an|our)\s+", "", bare_text(alone), flags=re.IGNORECASE))
    real = re.search(r"[/\dA-Z]", bare) and len(bare.split()) <= 8 and not has_moment(bare)
    return [bare] if real else []


_SHAPES: Final[dict[str, Callable[[str], list[str]]]] = {
    "age": _age,
    "counted": _counted,
    "dated": _dated,
    "decided": _decided,
    "email": _matching(_EMAIL),
    "exact": _exact,
    "habit": _habit,
    "job": _job,
    "languages": _languages,
    "liked": _liked,
    "located": _located,
    "name": _name,
    "names": names_at,
    "note": _note,
    "number": _number,
    "order": _order,
    "organisation": _organisation,
    "own": _own,
    "owned": _owned,
    "phone": _matching(_PHONE),
    "place": _place,
    "places": _places,
    "preferred": _preferred,
    "promised": _promised,
    "proper": _proper,
    "short": _short,
    "speaker": _speaker,
    "state": _exact,
    "status": _status,
    "stopped": _stopped,
    "thing": _thing,
    "things": things_in,
    "timed": _dated,
    "token": _token,
    "url": _matching(_URL),
    "used": _used,
}
