"""Token vectors out of all-MiniLM-L6-v2, for late interaction: only telling tokens, 128 numbers each.

The model's 384 numbers are reduced by a fixed basis (minilm_basis.npy), so that tokens stored on one
machine mean the same on another. How it was made: `minilm_basis.py`.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.local import MiniLM, TokenStates
from zomem_graph.nodes.ports import TextTokens
from zomem_graph.stores.words import STOP_WORDS

__all__ = ["BASIS_FILE", "MiniLMTokens", "telling_pieces"]

BASIS_FILE = Path(__file__).with_name("minilm_basis.npy")

_NOT_WORDS = frozenset({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
# What the tokenizer leaves of "he'll", "didn't", "could've": no words of their own.
_SPLINTERS = frozenset(
    """d ll m re ve didn doesn isn wasn aren weren hasn haven hadn couldn wouldn shouldn shall may might must
    us yours also""".split()
)


class MiniLMTokens:
    """Makes token vectors and, in the same pass, the vector of the whole text."""

    identity = "minilm-l6-128.1"

    def __init__(self, model: MiniLM) -> None:
        """Use this model; nothing is loaded until the first text."""
        self._model = model

    @property
    def vectors_of(self) -> str:
        """The identity of the embedder whose vectors come along."""
        return self._model.identity

    def question(self, text: str) -> TextTokens:
        """Return the tokens of a question; none when it has no word of its own. Raises ModelError."""
        return self._reduced([self._model.question_states(text)])[0]

    def documents(self, texts: Sequence[str]) -> tuple[list[TextTokens], NDArray[np.float32]]:
        """Return the tokens of stored texts and their unit vectors, shape (len(texts), 384)."""
        tokens: dict[int, TextTokens] = {}
        vectors = np.empty((len(texts), self._model.width), np.float32)
        for positions, found in self._model.batches_of_states(texts):
            vectors[positions] = self._model.units(found)
            tokens.update(zip(positions, self._reduced(found), strict=True))
        return [tokens[position] for position in range(len(texts))], vectors

    def _reduced(self, found: Sequence[TokenStates]) -> list[TextTokens]:
        mean, directions = self._basis
        reduced = []
        for each in found:
            kept = self._telling[each.pieces]
            vectors = (each.states[kept] - mean) @ directions
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
            reduced.append(TextTokens(each.pieces[kept].astype(np.uint16), vectors))
        return reduced

    @cached_property
    def _telling(self) -> NDArray[np.bool_]:
        return telling_pieces(self._model.vocabulary())

    @cached_property
    def _basis(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        rows = np.load(BASIS_FILE).astype(np.float32)
        return rows[0], rows[1:].T


def telling_pieces(vocabulary: dict[str, int]) -> NDArray[np.bool_]:
    """Return for each number of a vocabulary whether that piece tells texts apart."""
    telling = np.zeros(max(vocabulary.values(), default=-1) + 1, np.bool_)
    for piece, number in vocabulary.items():
        dull = piece in STOP_WORDS or piece in _SPLINTERS or piece in _NOT_WORDS
        telling[number] = not dull and any(character.isalnum() for character in piece)
    return telling
