"""How minilm_basis.npy was made: the principal directions of token states over made-up sentences.

To make it again: `python -m zomem_graph.models.minilm_basis HOME/models`. Tokens stored under one basis mean
nothing under another, so a new one needs a new `MiniLMTokens.identity`.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.local import MiniLM, small_minilm
from zomem_graph.models.minilm_tokens import BASIS_FILE, Vocabulary
from zomem_graph.models.token_sentences import sentences
from zomem_graph.stores.tokens import TOKEN_WIDTH

__all__ = ["fitted_basis"]

_SENTENCES = 3_000


def fitted_basis(model: MiniLM) -> NDArray[np.float16]:
    """Return the mean and the 128 main directions of telling tokens, shape (129, 384)."""
    vocabulary = Vocabulary(model.piece)
    texts = list(sentences(_SENTENCES))
    states = np.concatenate(
        [
            each.states[vocabulary.telling(each.pieces)]
            for _positions, found in model.batches_of_states(texts)
            for each in found
        ]
    )
    mean = states.mean(axis=0)
    _values, directions = np.linalg.eigh(np.cov((states - mean).T))
    main = directions[:, ::-1][:, :TOKEN_WIDTH].T
    # A direction and its opposite are as good; the larger half decides, so that every machine agrees.
    signs = np.sign(main[np.arange(TOKEN_WIDTH), np.abs(main).argmax(axis=1)])
    return np.concatenate([mean[None], main * signs[:, None]]).astype(np.float16)


if __name__ == "__main__":
    file = small_minilm(Path(sys.argv[1]))
    np.save(BASIS_FILE, fitted_basis(MiniLM(file, identity="local:minilm")))
