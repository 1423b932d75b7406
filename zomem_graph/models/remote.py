"""Embedders that are asked through LangChain: OpenAI's, an integration's, or the program's own object."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.deadlines import MODEL_DEADLINE_SECONDS, wait_within
from zomem_graph.models.failures import provider_errors
from zomem_graph.models.vectors import batches, embeddable, unit_rows
from zomem_graph.nodes.ports import Vector
from zomem_graph.stores.errors import ModelError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["LangChainEmbedder", "identity_of_embeddings", "openai_embeddings"]

# A recall waits for this one; documents are embedded behind the scenes.
QUERY_DEADLINE_SECONDS = 10.0
# OpenAI takes 300,000 tokens a request; three bytes a token at the least leaves a margin.
_BATCH_TEXTS = 256
_BATCH_BYTES = 400_000

# About five standard deviations of the cosine between unrelated texts (retrieval recipe §4). The
# one of text-embedding-3-small is an estimate: it was not measured. 0.4 where nothing is known.
_SPREADS = {"openai:text-embedding-3-small": 0.5}
_SPREAD_UNKNOWN = 0.4
_USUAL_UNKNOWN = 0.1
_WIDTHS = {
    "openai:text-embedding-3-small": 1536,
    "openai:text-embedding-3-large": 3072,
    "openai:text-embedding-ada-002": 1536,
}
# Where integrations keep the name of their model.
_MODEL_ATTRIBUTES = ("model", "model_name", "model_id", "deployment")


def openai_embeddings(model: str, *, api_key: str, base_url: str | None, width: int | None = None) -> "Embeddings":
    """Build the official client for an OpenAI or OpenAI-compatible address; imports it (about 1.5 s)."""
    from langchain_openai import OpenAIEmbeddings
    from pydantic import SecretStr

    return OpenAIEmbeddings(
        model=model,
        openai_api_key=SecretStr(api_key),
        openai_api_base=base_url,
        dimensions=width,
        # Its own length check loads a table over the network; `embeddable` cuts to a safe length.
        check_embedding_ctx_length=False,
        request_timeout=MODEL_DEADLINE_SECONDS,
        max_retries=1,
    )


def identity_of_embeddings(embeddings: "Embeddings") -> str:
    """Return "openai:model" for OpenAI's, else class name and model of an Embeddings object."""
    kind = type(embeddings).__name__
    names = (getattr(embeddings, attribute, None) for attribute in _MODEL_ATTRIBUTES)
    model = next((name for name in names if isinstance(name, str) and name), "")
    width = getattr(embeddings, "dimensions", None)
    identity = f"{'openai' if kind == 'OpenAIEmbeddings' else kind}:{model}" if model else kind
    return f"{identity}@{width}" if isinstance(width, int) else identity


class LangChainEmbedder:
    """Any LangChain Embeddings, built at first use, asked within a deadline and checked."""

    def __init__(
        self,
        build: "Callable[[], Embeddings]",
        *,
        identity: str,
        query_seconds: float = QUERY_DEADLINE_SECONDS,
    ) -> None:
        """Take how to build it, so that nothing is imported before the first text."""
        self._build = build
        self._built: Embeddings | None = None
        self._lock = Lock()
        self._identity = identity
        self._query_seconds = query_seconds
        self._width = _WIDTHS.get(identity, 0)

    @property
    def identity(self) -> str:
        """The name of its vector space."""
        return self._identity

    @property
    def width(self) -> int:
        """How many numbers a vector has; asks the model once when that is not known."""
        if not self._width:
            self.embed_query("width")
        return self._width

    @property
    def spread(self) -> float:
        """About five standard deviations of the cosine between unrelated texts."""
        return _SPREADS.get(self._identity, _SPREAD_UNKNOWN)

    @property
    def usual(self) -> float:
        """The cosine of two texts that have nothing to do with each other; unmeasured for remote models."""
        return _USUAL_UNKNOWN

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question; raises ModelTimeout (after 10 s) or ModelError."""
        call = partial(self._embeddings().embed_query, embeddable(text))
        vector = wait_within(call, seconds=self._query_seconds, who=self._identity)
        row: Vector = self._checked([vector], count=1)[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts; raises ModelTimeout (after 60 s a batch) or ModelError."""
        if not texts:
            return np.empty((0, self.width), np.float32)
        parts = []
        for batch in batches([embeddable(text) for text in texts], count=_BATCH_TEXTS, size=_BATCH_BYTES):
            call = partial(self._embeddings().embed_documents, batch)
            vectors = wait_within(call, seconds=MODEL_DEADLINE_SECONDS, who=self._identity)
            parts.append(self._checked(vectors, count=len(batch)))
        return np.concatenate(parts)

    def _embeddings(self) -> "Embeddings":
        with self._lock:
            if self._built is None:
                with provider_errors(self._identity):
                    self._built = self._build()
            return self._built

    def _checked(self, vectors: list[list[float]], *, count: int) -> NDArray[np.float32]:
        rows = unit_rows(vectors, count=count, who=self._identity)
        if self._width and rows.shape[1] != self._width:
            raise ModelError(
                f"{self._identity} returned {rows.shape[1]} numbers a vector instead of {self._width}. "
                "Another model answers under this name: check the base URL."
            )
        self._width = rows.shape[1]
        return rows
