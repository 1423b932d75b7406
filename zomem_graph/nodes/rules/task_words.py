"""What a task is: its category by its words, where nobody says it, and its text without ballast (spec F138)."""

import html
import re
from collections import Counter
from typing import Final

from zomem_graph.nodes.rules._wordlists import words
from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import terms

__all__ = ["CATEGORIES", "category_of", "similarity", "tidied"]

_OTHER: Final = "general"
_SIGNS: Final = {
    "fix": "bug bugs fix repair crash crashes error broken traceback exception regression debug failing hotfix",
    "test": "test tests testing unittest pytest coverage assert fixture fixtures qa",
    "docs": "document documentation docs readme docstring changelog manual tutorial guide",
    "review": "review audit critique proofread inspect approve feedback",
    "data": "data dataset csv sql query table database rows column chart statistics spreadsheet aggregate",
    "deploy": "deploy release rollout docker kubernetes server pipeline provision migrate nginx cron ci",
    "research": "research investigate compare survey sources find summarize summary explain literature benchmark",
    "writing": "write draft email letter essay article blog post poem translate rewrite headline slogan",
    "plan": "plan roadmap schedule estimate prioritize milestone agenda organize",
    "code": "code implement function class refactor api endpoint module script program build feature python",
}
_STEMS: Final = {name: frozenset(stem(word) for word in words(said)) for name, said in _SIGNS.items()}
_READ: Final = 4_000  # characters from the beginning: what is to be done stands there

CATEGORIES: Final = (*_SIGNS, _OTHER)
"""What `category_of` can say; callers may use names of their own."""

_TAG: Final = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|</?[a-zA-Z][^<>]{0,500}>|<!--.*?-->", re.DOTALL)
_SPACES: Final = re.compile(r"[ \t\u00a0\u2000-\u200b]+")
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})


def category_of(task: str) -> str:
    """Return the category most words of a task speak for, "general" when none does."""
    said = Counter(stem(word) for word in terms(task[:_READ]))
    scores = {name: sum(said[one] for one in signs) for name, signs in _STEMS.items()}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] else _OTHER


def tidied(text: str) -> str:
    """Return a text without tags, doubled spaces, curly quotes and repeated lines."""
    lines = html.unescape(_TAG.sub(" ", text)).translate(_QUOTES).splitlines()
    clean = (_SPACES.sub(" ", line).strip() for line in lines)
    return "\n".join(dict.fromkeys(line for line in clean if line))


def similarity(left: str, right: str) -> float:
    """Return the share of words two texts have in common, 0-1."""
    a, b = set(terms(left[:_READ])), set(terms(right[:_READ]))
    return len(a & b) / len(a | b) if a or b else 0.0
