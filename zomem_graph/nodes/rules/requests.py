"""Where the request in a message begins, once quotes, greetings and polite frames are set aside.

"Hi! Could you tell me what size shoes my kids wear?" is judged by "what size shoes my kids wear".
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from zomem_graph.nodes.rules.courtesy_words import COURTESIES, FRAMES, Courtesy
from zomem_graph.nodes.rules.cue_words import ANSWER_WORDS, FUNCTION_WORDS
from zomem_graph.nodes.rules.going_on import brings_its_material, opens_with_going_on, says_go_on
from zomem_graph.nodes.rules.going_on_words import GOING_ON, Going
from zomem_graph.nodes.rules.opening_words import OPENINGS, Opening
from zomem_graph.nodes.rules.phrases import Kind, PhraseBook, Words, has_cjk, read_words

__all__ = ["Request", "read_request", "without_quotes"]

_QUOTED: Final = re.compile(
    r"""```[^`]*```|`[^`\n]*`|"[^"\n]*"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|(?<!\w)['‘][^'‘’\n]+['’](?!\w)|「[^「」\n]*」"""
)
COURTESY_WORDS: Final = 8

_GROUNDS: Final = frozenset({("for",), ("that",), ("it",), ("this",), ("you",)})
_PLEASE: Final = frozenset("please pls plz kindly bitte stp svp".split())
_ASKING: Final = frozenset("what which who where when why how me my our".split())
_LETTER: Final = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a message, what courtesies it holds, and how its request opens.

    `proceed` says that the whole message is nothing but courtesies and a word to go on.
    """

    said: Words
    courtesies: frozenset[Courtesy]
    core: tuple[str, ...]
    openings: frozenset[Opening]
    courtesy_only: bool
    proceed: bool


def without_quotes(message: str) -> str:
    """Return the message without quoted spans and code; a message that is all quote stays."""
    spoken = _QUOTED.sub(" ", message)
    return spoken if _LETTER.search(spoken) else message


def read_request(message: str) -> Request:
    """Return where the request begins and how; what follows a task's colon is its material."""
    said = read_words(without_quotes(message))
    request = _unspaced_request(said) if has_cjk(said.text) else _spaced_request(said)
    if Opening.RESUME in request.openings and brings_its_material(message, request.core):
        request = replace(request, openings=request.openings - {Opening.RESUME} | {Opening.TASK})
    head, colon, _ = message.partition(":")
    if colon and Opening.TASK in request.openings and _LETTER.search(head):
        return replace(read_request(head), openings=request.openings, courtesy_only=False, proceed=False)
    return request


def _spaced_request(said: Words) -> Request:
    words = said.words
    start, found = _consume(words, 0, COURTESIES, skip=Courtesy.PROCEED)
    everything = _consumed_whole(words)
    if everything:
        proceed = Courtesy.PROCEED in everything and Courtesy.REPAIR not in everything
        return Request(said, everything, (), frozenset(), not proceed, proceed)
    if _only_goes_on(words):
        return Request(said, found, (), frozenset(), False, True)
    core = words[start:]
    openings = OPENINGS.kinds_at_start(core)
    framed, _ = _consume(core, 0, FRAMES)
    if framed < len(core):
        openings |= OPENINGS.kinds_at_start(core[framed:])
        core = core[framed:]
    if opens_with_going_on(core):
        openings |= {Opening.RESUME}
    only_courtesy = not openings and _is_thanks_or_answer(core, found)
    return Request(said, found, core, openings, only_courtesy, False)


def _consumed_whole(words: tuple[str, ...]) -> frozenset[Courtesy]:
    """Return the kinds of courtesy when there is nothing else, trying again without "please"."""
    for tried in (words, tuple(word for word in words if word not in _PLEASE)):
        end, found = _consume(tried, 0, COURTESIES)
        if words and end == len(tried):
            return found or frozenset({Courtesy.POLITE})
    return frozenset()


def _only_goes_on(words: tuple[str, ...]) -> bool:
    """Say whether nothing is said but courtesies, and to go on or where we stopped."""
    position, found = 0, set[Going]()
    while position < len(words):
        going = GOING_ON.at(words, position)
        courtesy = COURTESIES.at(words, position)
        if courtesy is not None and (going is None or courtesy[1] > going[1]):
            position += courtesy[1]
        elif going is not None:
            found.add(going[0])
            position += going[1]
        else:
            return False
    return says_go_on(found)


def _is_thanks_or_answer(core: tuple[str, ...], found: frozenset[Courtesy]) -> bool:
    """Say whether few words ask for nothing: "thanks for that answer", "that would be correct"."""
    if len(core) > COURTESY_WORDS:
        return False
    if Courtesy.THANKS in found and core[:1] in _GROUNDS:
        return True
    if _ASKING.intersection(core):
        return False
    return bool(ANSWER_WORDS.intersection(core)) and all(
        word in ANSWER_WORDS or word in FUNCTION_WORDS for word in core
    )


def _unspaced_request(said: Words) -> Request:
    left, found = COURTESIES.strip_substrings(said.text)
    if not _LETTER.search(left):
        proceed = Courtesy.PROCEED in found
        return Request(said, found, (), frozenset(), not proceed, proceed)
    left, going = GOING_ON.strip_substrings(said.text)
    left, _ = COURTESIES.strip_substrings(left)
    only = says_go_on(going) and not _LETTER.search(left)
    return Request(said, found, () if only else said.words, frozenset(), False, only)


def _consume(
    words: tuple[str, ...], start: int, book: PhraseBook[Kind], *, skip: Kind | None = None
) -> tuple[int, frozenset[Kind]]:
    """Return how far phrases of the book reach without a gap, and their kinds."""
    position, found = start, set[Kind]()
    while match := book.at(words, position, skip=skip):
        kind, length = match
        found.add(kind)
        position += length
    return position, frozenset(found)
