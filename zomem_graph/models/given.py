"""An embedder that the program brought itself: a question waits for it only so long, and its errors become ours."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.around import AroundEmbedder
from zomem_graph.models.deadlines import wait_within
from zomem_graph.models.failures import provider_errors
from zomem_graph.models.remote import QUERY_DEADLINE_SECONDS
from zomem_graph.models.vectors import unit_rows
from zomem_graph.nodes.ports import Embedder, Vector

__all__ = ["GivenEmbedder"]


class GivenEmbedder(AroundEmbedder):
    """The program's own Embedder, asked within a deadline and checked."""

    def __init__(self, embedder: Embedder, *, query_seconds: float = QUERY_DEADLINE_SECONDS) -> None:
        """Wrap `embedder`, whose answer to a question is waited for so long."""
        super().__init__(embedder)
        self._query_seconds = query_seconds

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question; raises ModelTimeout (after 10 s) or ModelError."""
        call = partial(self._embedder.embed_query, text)
        found = wait_within(call, seconds=self._query_seconds, who=self.identity)
        row: Vector = unit_rows([found], count=1, who=self.identity)[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts, however long it takes: nobody waits; raises ModelError."""
        with provider_errors(self.identity):
            rows = self._embedder.embed_documents(texts)
        return unit_rows(rows, count=len(texts), who=self.identity)
