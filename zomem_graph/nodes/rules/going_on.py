"""Going on from where one stopped: when a message says nothing else, when it asks for it, and what it brings along.

"Mach da weiter, wo wir aufgehört haben" names nothing; "where did we stop with the lease?" is about the lease;
"where did the ship stop?" is about neither, and "continue the sequence 2, 4, 8" brings all it needs.
"""

import re
from collections.abc import Sequence, Set
from typing import Final

from zomem_graph.nodes.rules.going_on_words import GOING_ON, Going
from zomem_graph.nodes.rules.phrases import word_set

__all__ = ["asks_where_we_stopped", "brings_its_material", "opens_with_going_on", "says_go_on", "without_going_on"]

_CORE: Final = frozenset({Going.ON, Going.WHERE, Going.WERE, Going.STOPPED, Going.PAUSED})
_BETWEEN: Final = frozenset({Going.GLUE, Going.WE})
_OURS: Final = frozenset({Going.WE, Going.WERE})
_WORDS_BETWEEN: Final = 4  # "where did we, with the lease, stop"
_FEW: Final = 2  # words after a colon that may still be a topic
_SERIES: Final = re.compile(r"(?<!\w)(?:-?\d+(?:\.\d+)?|\w)(?:\s*[,;、，]\s*(?:-?\d+(?:\.\d+)?|\w)(?!\w)){2,}")
_MATERIAL: Final = re.compile(r"[:：]\s*(?P<told>\S.*)|[\"“„«「`](?P<quoted>[^\"”“»」`]+)", re.DOTALL)
_WORD: Final = re.compile(r"[^\W_]+")
_A_TEXT: Final = word_set(
    """
    this these following story tale poem sequence series pattern sentence paragraph song lyrics verse rhyme text
    diese dieses diesen dieser folgende folgenden folgendes geschichte gedicht reihe zahlenreihe folge satz lied text
    esta este estos siguiente historia cuento poema secuencia serie frase cancion texto
    cette ce cet suivante suivant histoire conte poeme suite phrase chanson texte
    seguinte conto sequencia cancao questa questo seguente storia racconto poesia sequenza testo
    dit deze volgende verhaal gedicht reeks zin liedje tekst
    """
)


def says_go_on(kinds: Set[Going]) -> bool:
    """Say whether phrases of these kinds, and nothing else, ask to go on."""
    if Going.ON in kinds:
        return True
    stopped = kinds & {Going.WERE, Going.STOPPED} or {Going.PAUSED, Going.WE} <= kinds
    return Going.WHERE in kinds and bool(stopped)


def asks_where_we_stopped(words: tuple[str, ...]) -> bool:
    """Say whether "where we stopped" stands in the words, and not where something else did."""
    for position in range(len(words)):
        kind, length = GOING_ON.at(words, position) or (None, 1)
        if kind is Going.WHERE and _we_stopped(words, position + length):
            return True
    return False


def _we_stopped(words: tuple[str, ...], position: int) -> bool:
    """Say whether what follows "where" says that the two of us stopped there."""
    ours, others = False, 0
    while position < len(words) and others <= _WORDS_BETWEEN:
        kind, length = GOING_ON.at(words, position) or (None, 1)
        if kind is Going.STOPPED and not others:
            return True
        if kind in {Going.STOPPED, Going.PAUSED} and ours:
            return True
        ours = ours or (kind in _OURS and not others)
        others += kind not in _BETWEEN | _OURS
        position += length
    return False


def opens_with_going_on(words: tuple[str, ...]) -> bool:
    """Say whether the words begin with "let us go on with"; what follows is no word of that kind."""
    position, kinds = 0, list[Going]()
    while found := GOING_ON.at(words, position):
        kinds.append(found[0])
        position += found[1]
    return Going.ON in kinds and kinds[-1] is Going.WITH


def without_going_on(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words without "go on", "where we stopped", and what joins these to each other and to a topic."""
    kept: list[str] = []
    held: tuple[str, ...] = ()  # may join two phrases, or belong to what follows
    position, joined = 0, True
    while position < len(words):
        kind, length = GOING_ON.at(words, position) or (None, 1)
        ends = position + length == len(words)
        if kind in _CORE and (kind is not Going.ON or not kept or ends):
            held, joined = (), True
        elif kind in _BETWEEN and joined:
            held += words[position : position + length]
        elif kind is Going.WITH and joined:
            held, joined = (), False
        else:
            kept += [*held, *words[position : position + length]]
            held, joined = (), False
        position += length
    return tuple(kept)


def brings_its_material(message: str, words: Sequence[str]) -> bool:
    """Say whether a message to go on holds what is to be gone on with: a series, or a text that it names first.

    "Continue with steps 2, 3, 4" names what is known already.
    """
    named = not _A_TEXT.isdisjoint(words)
    if _SERIES.search(message) and (named or all(map(str.isdigit, without_going_on(tuple(words))))):
        return True
    found = _MATERIAL.search(message)
    return named and found is not None and len(_WORD.findall(found["told"] or found["quoted"])) > _FEW
