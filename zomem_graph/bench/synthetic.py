"""Texts and vectors made up from a seed: chats whose words follow Zipf's law, and an embedder that is fast.

For measuring speed only; what they would say about quality means nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.ports import Embedder, Vector

__all__ = ["Chat", "ProjectionEmbedder", "Said", "chat"]

SPEAKERS = ("Ana", "Bruno", "Chidi", "Dora")
TURNS_A_SESSION = 25
_VOCABULARY = 20_000
_EXPONENT = 1.05
_START = datetime(2025, 1, 6, 9, tzinfo=UTC)
# The commonest words of English chats: with them a text has its usual share of stop words.
_COMMON = """
    i you the to a it and that of in is for we was my on but with have so me be this they just at are
    not do what about can your like had really when there get if how one all out up from think go would
    know good time an some great been as did her more has new our he she then day people them work make
    see want by love will or him their
    """.split()
_SYLLABLES = """
    ba be bi bo bra bu ca ce cla co cre da de di do dra el en fa fe fi fo ga ge gra ha he hi ho in ja ka
    ke ki ko la le li lo lu ma me mi mo mu na ne ni no nu or pa pe pi po pra ra re ri ro ru sa se si so
    sta su ta te ti to tra tu ul va ve vi vo wa we wi wo ya za ze zo
    """.split()


@dataclass(frozen=True, slots=True)
class Said:
    """One made-up message."""

    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Chat:
    """Sessions of a made-up chat, and questions in words that occur in it."""

    sessions: tuple[tuple[Said, ...], ...]
    questions: tuple[str, ...]


def chat(turns: int, questions: int, *, seed: int = 1) -> Chat:
    """Return a chat of so many turns; the same seed gives the same chat."""
    chance = np.random.default_rng(seed)
    vocabulary = _vocabulary(chance)
    texts = list(_texts(turns, vocabulary, chance))
    said = [
        Said(
            SPEAKERS[number % 2 + 2 * (number // TURNS_A_SESSION % 2)],
            text,
            _START + timedelta(days=number // TURNS_A_SESSION, minutes=number % TURNS_A_SESSION),
        )
        for number, text in enumerate(texts)
    ]
    sessions = [tuple(said[start : start + TURNS_A_SESSION]) for start in range(0, turns, TURNS_A_SESSION)]
    asked = [_question(texts[int(chance.integers(turns))], chance) for _ in range(questions)]
    return Chat(tuple(sessions), tuple(asked))


class ProjectionEmbedder:
    """Sums one fixed random direction a word, rare words first; about 0.03 ms a text.

    With `pace`, a question is given to that embedder too and its vector thrown away: so a question costs
    what it costs in use while thousands of texts are stored in seconds.
    """

    identity = "bench:projection"
    width = 384
    spread = 0.25
    usual = 0.0
    _BUCKETS = 8_192

    def __init__(self, *, pace: Embedder | None = None, seed: int = 1) -> None:
        chance = np.random.default_rng(seed)
        self._directions = chance.standard_normal((self._BUCKETS, self.width)).astype(np.float32)
        for word in _COMMON:
            self._directions[crc32(word.encode()) % self._BUCKETS] *= 0.05
        self._pace = pace

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        if self._pace is not None:
            self._pace.embed_query(text)
        return self._embed(text)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts."""
        return np.stack([self._embed(text) for text in texts])

    def _embed(self, text: str) -> Vector:
        buckets = [crc32(word.encode("utf-8", "replace")) % self._BUCKETS for word in text.lower().split()]
        total: Vector = self._directions[buckets or [0]].sum(axis=0)
        unit: Vector = total / np.float32(np.linalg.norm(total))
        return unit


def _vocabulary(chance: np.random.Generator) -> list[str]:
    """Return words by how common they are; the rare ones are made of syllables."""
    made: dict[str, None] = dict.fromkeys(_COMMON)
    while len(made) < _VOCABULARY:
        made["".join(chance.choice(_SYLLABLES, int(chance.integers(2, 5))))] = None
    return list(made)


def _texts(turns: int, vocabulary: Sequence[str], chance: np.random.Generator) -> Iterator[str]:
    """Yield texts of 4 to about 60 words, 20 in the middle, as chat turns have."""
    weights = 1.0 / np.arange(1, len(vocabulary) + 1) ** _EXPONENT
    lengths = np.clip(chance.lognormal(3.0, 0.5, turns), 4, 60).astype(int)
    words = chance.choice(len(vocabulary), int(lengths.sum()), p=weights / weights.sum())
    start = 0
    for length in lengths:
        text = " ".join(vocabulary[word] for word in words[start : start + length])
        start += int(length)
        yield text.capitalize() + "."


def _question(text: str, chance: np.random.Generator) -> str:
    """Return a question of three to six telling words of a text."""
    telling = [word for word in text.lower().strip(".").split() if word not in _COMMON] or text.lower().split()
    chosen = chance.choice(telling, min(len(telling), int(chance.integers(3, 7))), replace=False)
    return f"What did {SPEAKERS[int(chance.integers(len(SPEAKERS)))]} say about {' '.join(chosen)}?"
