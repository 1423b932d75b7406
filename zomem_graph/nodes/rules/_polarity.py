"""Whether two texts say the opposite of each other in nearly the same words."""

import re
from typing import Final

from zomem_graph.nodes.rules._wordlists import words

__all__ = ["contradicts"]

SHARED: Final = 0.5
"""Share of the words of both texts that must be common before a missing "not" makes a contradiction."""

_NEGATORS: Final = words(
    "not no never none cannot without neither nor nt non ",
    "nicht kein keine keinen keinem keiner nie niemals ohne ",
    "nunca jamás sin ningún ninguna ne pas jamais sans aucun aucune 不 没 未 无 别 勿",
)
_OPPOSITES: Final[dict[str, tuple[str, int]]] = {
    word: (base, sign)
    for base, positive, negative in (
        ("allowed", "allowed permitted erlaubt", "forbidden prohibited banned disallowed verboten"),
        ("enabled", "enabled active activated", "disabled inactive deactivated"),
        ("true", "true yes on ja sí oui wahr 是", "false off nein falsch"),
        ("open", "open opened", "closed shut"),
        ("always", "always immer siempre toujours", "never nie niemals nunca jamais"),
        ("required", "required mandatory necessary", "optional unnecessary"),
        ("possible", "possible", "impossible"),
        ("with", "with mit con avec", "without ohne sin sans"),
        ("like", "like likes love loves", "dislike dislikes hate hates"),
        ("up", "up online", "down offline"),
        ("public", "public", "private"),
    )
    for sign, names in ((1, positive), (-1, negative))
    for word in names.split()
}
_EMPTY: Final = words(
    "is are was were be been am do does did it s the a an to longer more anymore any ist el",
)
_WORD = re.compile(r"[\u3400-\u9fff]|\w+")
_CONTRACTED = re.compile(r"\b(\w+?)n['’]t\b|\b(do|does|is|are|was|were|did|have|has|ca|wo|should)nt\b")


def contradicts(a: str, b: str) -> bool:
    """Return whether two normalised texts share most words and differ in being affirmed or denied."""
    words_a, sign_a = _read(a)
    words_b, sign_b = _read(b)
    if sign_a == sign_b:
        return False
    together = words_a | words_b
    return not together or len(words_a & words_b) >= SHARED * len(together)


def _read(text: str) -> tuple[set[str], int]:
    """Return the words that carry the statement, and 1 when it is affirmed or -1 when denied."""
    text = _CONTRACTED.sub(r"\1\2 not", text).replace("禁止", "不允许")
    tokens = _WORD.findall(text)
    if tokens == ["no"]:
        return {"true"}, -1
    carrying: set[str] = set()
    sign = 1
    for token in tokens:
        base, its_sign = _OPPOSITES.get(token, (token, -1 if token in _NEGATORS else 1))
        sign *= its_sign
        if token in _OPPOSITES or (token not in _NEGATORS and token not in _EMPTY):
            carrying.add(base)
    return carrying, sign
