"""Token vectors out of all-MiniLM-L6-v2, for late interaction: only telling tokens, 128 numbers each.

The model was taught English. Of a text in another language its vocabulary holds only splinters, whose vectors
lead astray; such a text has no tokens here, and search goes without them.

The model's 384 numbers are reduced by a fixed basis (minilm_basis.npy), so that tokens stored on one
machine mean the same on another. How it was made: `minilm_basis.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.local import MiniLM, TokenStates
from zomem_graph.nodes.ports import TextTokens
from zomem_graph.stores.words import STOP_WORDS

__all__ = ["BASIS_FILE", "MiniLMTokens", "Vocabulary"]

BASIS_FILE = Path(__file__).with_name("minilm_basis.npy")

_NOT_WORDS = frozenset({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
# What the tokenizer leaves of "he'll", "didn't", "could've": no words of their own.
_SPLINTERS = frozenset(
    """d ll m re ve didn doesn isn wasn aren weren hasn haven hadn couldn wouldn shouldn shall may might must
    us yours also""".split()
)
# The share of words that the vocabulary holds whole. Questions in English have 0.7 to 1, in others up to 0.6;
# for stored texts, with their names and numbers, the line is drawn lower.
_LEAST_WHOLE_ASKED, _LEAST_WHOLE_STORED = 2 / 3, 0.51


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
        return self._reduced([self._model.question_states(text)], least_whole=_LEAST_WHOLE_ASKED)[0]

    def forget_questions(self) -> None:
        """Drop the questions that are remembered."""
        self._model.forget_questions()

    def documents(self, texts: Sequence[str]) -> tuple[list[TextTokens], NDArray[np.float32]]:
        """Return the tokens of stored texts and their unit vectors, shape (len(texts), 384)."""
        tokens: dict[int, TextTokens] = {}
        vectors = np.empty((len(texts), self._model.width), np.float32)
        for positions, found in self._model.batches_of_states(texts):
            vectors[positions] = self._model.units(found)
            reduced = self._reduced(found, least_whole=_LEAST_WHOLE_STORED)
            tokens.update(zip(positions, reduced, strict=True))
        return [tokens[position] for position in range(len(texts))], vectors

    def _reduced(self, found: Sequence[TokenStates], *, least_whole: float) -> list[TextTokens]:
        mean, directions = self._basis
        reduced = []
        for each in found:
            kept = self._vocabulary.telling(each.pieces)
            if self._vocabulary.share_whole(each.pieces) < least_whole:
                kept[:] = False
            vectors = (each.states[kept] - mean) @ directions
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
            reduced.append(TextTokens(each.pieces[kept].astype(np.uint16), vectors))
        return reduced

    @cached_property
    def _vocabulary(self) -> "Vocabulary":
        return Vocabulary(self._model.piece)

    @cached_property
    def _basis(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        rows = np.load(BASIS_FILE).astype(np.float32)
        return rows[0], rows[1:].T


class Vocabulary:
    """What a word piece says by itself; asked of the tokenizer when it is first met."""

    def __init__(self, piece_of: Callable[[int], str]) -> None:
        """Name pieces by `piece_of`."""
        self._piece_of = piece_of
        self._known: dict[int, _Piece] = {}

    def telling(self, pieces: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pieces tell texts apart: no stop words, no marks, nothing unknown."""
        return np.array([self._about(number).tells for number in pieces.tolist()], np.bool_)

    def share_whole(self, pieces: NDArray[np.int64]) -> float:
        """Return the share of words that stand in the vocabulary as they are, 1 when there is no word."""
        about = [self._about(number) for number in pieces.tolist()]
        words = broken = 0
        for one, following in zip(about, [*about[1:], None], strict=True):
            words += one.begins
            broken += one.begins and (one.unknown or (following is not None and following.goes_on))
        return 1.0 - broken / words if words else 1.0

    def _about(self, number: int) -> "_Piece":
        if number not in self._known:
            self._known[number] = _sorted(self._piece_of(number))
        return self._known[number]


@dataclass(frozen=True, slots=True)
class _Piece:
    tells: bool
    begins: bool  # a word
    goes_on: bool  # with a word
    unknown: bool


def _sorted(piece: str) -> _Piece:
    unknown = piece == "[UNK]"
    is_word = piece not in _NOT_WORDS and any(character.isalnum() for character in piece)
    return _Piece(
        tells=is_word and piece not in STOP_WORDS and piece not in _SPLINTERS,
        begins=unknown or (is_word and not piece.startswith("##")),
        goes_on=is_word and piece.startswith("##"),
        unknown=unknown,
    )
