"""What a message that goes on with earlier work is about, once the words for going on are set aside.

"Where did we leave off on the website review?" is about "website review"; a bare "weiter" is about nothing
of its own.
"""

import re
from typing import Final

from zomem_graph.nodes.rules.cue_words import FUNCTION_WORDS
from zomem_graph.nodes.rules.going_on import without_going_on
from zomem_graph.nodes.rules.going_on_words import GOING_ON, Going
from zomem_graph.nodes.rules.opening_words import OPENINGS, Opening
from zomem_graph.nodes.rules.phrases import has_cjk
from zomem_graph.nodes.rules.query_terms import CHARACTERS_READ
from zomem_graph.nodes.rules.requests import read_request
from zomem_graph.nodes.rules.sign_words import ANYWHERE, Sign
from zomem_graph.stores.words import terms

__all__ = ["topic_words"]

_GOING_ON: Final = frozenset({Sign.OPEN_WORK, Sign.STEP, Sign.SHARED_PAST, Sign.PAST_TIME, Sign.AGAIN, Sign.RECALL})
_OPENINGS: Final = frozenset({Opening.RESUME, Opening.REWORK})
# Chinese and Japanese words that only hold a sentence together; runs of hiragana are endings and particles.
_CJK_FUNCTION: Final = re.compile(
    "[\u3041-\u309f]+|我们|你们|咱们|大家|那个|那個|这个|這個|那张|那張|这张|這張|关于|關於|我們|你們|咱們|[我你的了吗嗎呢吧事说說把给給在件]"
)


def topic_words(message: str) -> tuple[str, ...]:
    """Return what the message itself names, as words to search for; () for a bare word to go on.

    The beginning of a long message tells.
    """
    request = read_request(message[:CHARACTERS_READ])
    if request.proceed or request.courtesy_only:
        return ()
    if has_cjk(request.said.text):
        left, _ = ANYWHERE.strip_substrings(request.said.text)
        left, _ = GOING_ON.strip_substrings(left, skip=Going.GLUE)
        return terms(_CJK_FUNCTION.sub(" ", left))
    words = without_going_on(request.core or request.said.words)
    opening = OPENINGS.at(words, 0)
    position = opening[1] if opening is not None and opening[0] in _OPENINGS else 0
    kept: list[str] = []
    while position < len(words):
        sign = ANYWHERE.at(words, position)
        if sign is not None and sign[0] in _GOING_ON:
            position += sign[1]
            continue
        if words[position] not in FUNCTION_WORDS:
            kept.append(words[position])
        position += 1
    return terms(" ".join(kept))
