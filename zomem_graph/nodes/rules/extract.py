"""Finds facts in what a user says, by published patterns alone: no model, no guesses.

A candidate names the sentence it came from. What is asked, imagined, doubted, reported or quoted gives
nothing, and neither does anything said by an assistant, a tool or a system (docs/capture-rules.md).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from zomem_graph.nodes.rules._corrections import begins_correction, correction_in
from zomem_graph.nodes.rules._english_life import LIFE_RULES
from zomem_graph.nodes.rules._english_self import SELF_RULES
from zomem_graph.nodes.rules._english_things import ATTRIBUTE_SHAPES, THING_RULES
from zomem_graph.nodes.rules._fact_rules import SPEAKER, Rule
from zomem_graph.nodes.rules._fact_values import is_time_only, read_values
from zomem_graph.nodes.rules._other_tongues import ATTRIBUTES, KIN, OTHER_RULES
from zomem_graph.nodes.rules._statements import LONGEST_SENTENCE, clauses, opened, statements
from zomem_graph.nodes.rules._wordlists import words
from zomem_graph.nodes.rules.controls import as_written, without_controls
from zomem_graph.nodes.rules.keys import is_many, normal, slot
from zomem_graph.nodes.rules.secrets import find_secrets

__all__ = ["MOST_FACTS", "SHORTEST_QUOTE", "Candidate", "columns", "facts_in"]

MOST_FACTS: Final = 20
"""Facts taken from one message (spec F37)."""
SHORTEST_QUOTE: Final = 10
"""Columns a quote must fill before a list-like key grows (spec F37, there of the value)."""

_GROUPS: Final[tuple[tuple[Rule, ...], ...]] = (
    *SELF_RULES,
    *LIFE_RULES,
    *THING_RULES,
    *OTHER_RULES,
)
_KEY_NAMES: Final = {
    "mom": "mother", "mum": "mother", "dad": "father", "grandma": "grandmother", "grandpa": "grandfather",
    "puppy": "dog", "kitten": "cat", "kid": "child", "time zone": "timezone", "home town": "hometown",
    "mother tongue": "native language", "first language": "native language", "hostname": "host",
    "host name": "host", "due date": "deadline", "codename": "code name", "colour": "color",
    "user name": "username", "os": "operating system", "licence": "license", "occupation": "job",
    "profession": "job", "job title": "job", "api version": "version", "state": "status", "bicycle": "bike",
    "neighbor": "neighbour", "coworker": "colleague", "contact": "contacts", "contact person": "contacts",
    "kids": "child", "children": "child", "cats": "cat", "dogs": "dog", "sons": "son",
    "brothers": "brother", "daughters": "daughter", "sisters": "sister", "main branch": "default branch",
    "ip address": "address", "homepage": "url", "website": "url",
}  # fmt: skip
_VALUE_SHAPES: Final = frozenset({"number", "counted", "dated", "status", "url"})
_LONGEST_ENTITY_WORDS: Final = 5
_MARKS: Final = " .,;:!?)\"'"
_ALREADY: Final = re.compile(
    r"\s+(?:now|currently|today|at the moment|these days|jetzt|ahora|maintenant)$", re.IGNORECASE
)
_NO_ENTITY: Final = words(
    "it this that these those there here he she they we you i who what which everything something nothing",
    "someone everyone nobody one the a an my your his her their our all both each every some any no not if when",
    "and or but today tomorrow yesterday now then so also please first second last next other another movie",
    "weather food set change update make put use edit rename replace let",
    "das es er sie wir ihr ich eso esto ce cela ça 它 他 她 这 那",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A fact a sentence states. `quote` is a literal piece of the message; `ends` an old value that is over.

    With `ends` and a list-like key, the slot of the ended value is no longer current.
    """

    entity: str
    key: str
    value: str
    category: str
    tier: str
    confidence: float
    quote: str
    many: bool
    ends: str | None = None


def facts_in(text: str, *, speaker: str | None, role: str) -> list[Candidate]:
    """Return the facts a message states, in its order, at most MOST_FACTS; none unless the role is "user".

    In the first person the entity is the speaker's name, or "user" when there is none.
    """
    if role != "user":
        return []
    found: dict[str, Candidate] = {}
    said = without_controls(text)
    for quote in _with_corrections(list(dict.fromkeys(statements(said))), said):
        _meant, candidates = _as_meant(quote, quote, (speaker or "").strip() or "user")
        if candidates and (find_secrets(quote) or "[secret removed:" in quote):
            continue
        for candidate in candidates:
            if not candidate.many or columns(quote) >= SHORTEST_QUOTE:
                place = slot(candidate.entity, candidate.key, candidate.value, many=candidate.many)
                # Of two values in one message the later one is the correction.
                found.pop(place, None)
                found[place] = replace(candidate, quote=as_written(candidate.quote, text))
    return list(found.values())[:MOST_FACTS]


def _with_corrections(stated: list[str], text: str) -> list[str]:
    """Return the statements, each with those right after it that correct it, as in "It is 8080. No, 9090"."""
    joined: list[str] = []
    for sentence in stated:
        both = f"{joined[-1]} {sentence}" if joined and begins_correction(sentence) else ""
        if both and len(both) <= LONGEST_SENTENCE and both in text and correction_in(both) is not None:
            joined[-1] = both
        else:
            joined.append(sentence)
    return joined


def _as_meant(sentence: str, quote: str, speaker: str) -> tuple[str, list[Candidate]]:
    """Return a sentence as it stands after its speaker corrected it, and its facts; what was taken back is none."""
    correction = correction_in(sentence)
    if correction is None:
        return sentence, _in_sentence(sentence, quote, speaker)
    before, found = _as_meant(correction.before, quote, speaker)
    anew = _in_sentence(correction.instead, quote, speaker)
    before = _ALREADY.sub("", before.rstrip(_MARKS))
    last = [one for one in found if before.endswith(one.value)]
    kept = [one for one in found if one not in last]
    if {one.key for one in anew} & {one.key for one in found}:
        return correction.instead, [*(one for one in kept if one.key not in {new.key for new in anew}), *anew]
    for one in last if correction.instead else ():
        meant = _with_end(before.removesuffix(one.value), correction.instead)
        again = [new for new in _in_sentence(meant, quote, speaker) if (new.entity, new.key) == (one.entity, one.key)]
        if again:
            return meant, [*kept, *again]
    if correction.firm:
        return correction.instead, [*(kept if last else ()), *anew]
    return sentence, [*found, *anew] if correction.apart else _in_sentence(sentence, quote, speaker)


def _with_end(begun: str, end: str) -> str:
    """Return a sentence with another end, whose first words may repeat the last before it: "in Rome, no, in Oslo"."""
    words_said = end.split()
    for count in (2, 1):
        repeated = " ".join(words_said[:count])
        if len(words_said) > count and f" {begun.rstrip()}".casefold().endswith(f" {repeated.casefold()}"):
            return f"{begun.rstrip()} {' '.join(words_said[count:])}"
    return begun + end


def _in_sentence(sentence: str, quote: str, speaker: str) -> list[Candidate]:
    """Return the facts of one sentence; a note is kept only when nothing more exact was found."""
    parts = clauses(sentence)
    whole = [opened(sentence.strip(" .!。"))]
    found: list[Candidate] = []
    for group in _GROUPS:
        for part in dict.fromkeys([*parts, *whole]):
            for a_rule in group:
                if part not in (whole if a_rule.scope == "sentence" else parts):
                    continue
                if candidates := list(_apply(a_rule, part, quote, speaker)):
                    found += candidates
                    break
    exact = [candidate for candidate in found if candidate.key != "note"]
    return _one_for_each_value(exact or found)


def _apply(a_rule: Rule, clause: str, quote: str, speaker: str) -> Iterator[Candidate]:
    """Yield what one rule finds in one clause: several values of a list-like key, else one."""
    matches = a_rule.pattern.finditer(clause) if a_rule.anywhere else [a_rule.pattern.match(clause)]
    for match in matches:
        if match is None:
            continue
        said = match.groupdict(default="")
        key = _key(a_rule.key.replace("{k}", said.get("k", "")))
        entity = _entity(said["e"]) if a_rule.entity == "{e}" else a_rule.entity
        shape = ATTRIBUTE_SHAPES.get(key, "short") if a_rule.shape == "by key" else a_rule.shape
        values = read_values(shape, said["v"])
        # "The port is blocked" is no status of a thing called port.
        misread = key == "status" and ATTRIBUTE_SHAPES.get(entity.casefold()) in _VALUE_SHAPES
        if not key or not entity or not values or misread:
            continue
        if shape == "timed":
            key = "time" if is_time_only(values[0]) else "date"
        many = is_many(key)
        for value in values if many else values[:1]:
            yield Candidate(
                entity=speaker if entity == SPEAKER else entity,
                key=key,
                value=a_rule.value.replace("{}", speaker if value == SPEAKER else value),
                category=a_rule.category,
                tier="active" if shape in {"dated", "status"} and a_rule.tier == "stable" else a_rule.tier,
                confidence=a_rule.confidence,
                quote=quote,
                many=many,
                ends=value if a_rule.ends else said.get("o", "").strip() or None,
            )


def _one_for_each_value(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates of a sentence without those that read a value a second time."""
    kept: dict[str, Candidate] = {}
    for candidate in candidates:
        kept.setdefault(normal(candidate.value), candidate)
    return list(kept.values())


def _key(name: str) -> str:
    """Return the published name of a key."""
    bare = re.sub(r"[\s_-]+", " ", name).strip().casefold()
    return (_KEY_NAMES.get(bare) or KIN.get(bare) or ATTRIBUTES.get(bare) or bare).replace("colour", "color")


def _entity(name: str) -> str:
    """Return an entity without article, or "" when the words name nothing."""
    bare = re.sub(r"^(?:the|our|my|a|an)\s+|['’]s$", "", name.strip(" .,:;'\"`"), flags=re.IGNORECASE)
    first = bare.split(" ", 1)[0].casefold().rstrip("'’") if bare else ""
    return "" if not first or first in _NO_ENTITY or len(bare.split()) > _LONGEST_ENTITY_WORDS else bare


def columns(text: str) -> int:
    """Return how wide a text is, a CJK character counting as two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
