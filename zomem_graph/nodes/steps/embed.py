"""Give stored texts their vectors and feed the index; never inside a write transaction."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.ports import Embedder, Services, TextTokens, token_model
from zomem_graph.stores.errors import IndexUnavailable, ModelError
from zomem_graph.stores.journal import EMBEDDER_KEY
from zomem_graph.stores.tokens import NewTokens

__all__ = ["add_missing_tokens", "changed_over", "embed_pending", "feed_and_heal", "feed_index"]


def embed_pending(services: Services, *, limit: int, ids: Sequence[str] | None = None, after: int = 0) -> int:
    """Embed up to `limit` live items without a vector of this embedder; return how many got one. Raises ModelError.

    `ids` are all that is asked for; `after` leaves items of lower numbers out. A text that another item has too
    gets the vector of that one. They get their token vectors where there is a model for them. Two processes may embed
    the same text; the second write changes nothing of value.
    """
    embedder = services.embedder
    if embedder is None:
        return 0
    with services.stores.read() as unit:
        waiting = unit.unembedded.texts(embedder=embedder.identity, limit=limit, ids=ids, after=after)
        recorded = unit.journal.meta(EMBEDDER_KEY)
        known = unit.unembedded.known([digest for _num, _text, digest in waiting], embedder=embedder.identity)
    if not waiting:
        return 0
    if recorded not in (None, embedder.identity):
        raise ModelError(changed_over(recorded, embedder.identity))
    fresh = [one for one in waiting if one[2] not in known]
    vectors, tokens = _embedded(embedder, [text for _num, text, _digest in fresh])
    known |= {digest: vector for (_num, _text, digest), vector in zip(fresh, vectors, strict=True)}
    with services.stores.write() as unit:
        if recorded is None:
            unit.journal.set_meta(EMBEDDER_KEY, embedder.identity)
        rows = [(num, digest, known[digest]) for num, _text, digest in waiting]
        stored = unit.items.set_vectors(rows, embedder=embedder.identity)
        if tokens and (model := token_model(embedder)) is not None:
            unit.tokens.put(_new_tokens(fresh, tokens), model=model.identity)
        return stored


def changed_over(recorded: str | None, own: str) -> str:
    """Return what to say where another process has changed the embedder of a store that is open here."""
    return f"this store holds vectors of {recorded} now, and this memory makes those of {own}: open it again."


def add_missing_tokens(services: Services, *, limit: int) -> int:
    """Give up to `limit` live items the token vectors they lack; return how many had none. Raises ModelError.

    For what was stored before the model was there.
    """
    model = token_model(services.embedder)
    if model is None:
        return 0
    with services.stores.read() as unit:
        lacking = unit.tokens.pending(model=model.identity, limit=limit)
    if not lacking:
        return 0
    tokens, _vectors = model.documents([text for _num, text, _digest in lacking])
    with services.stores.write() as unit:
        unit.tokens.put(_new_tokens(lacking, tokens), model=model.identity)
    return len(lacking)


def _embedded(embedder: Embedder, texts: Sequence[str]) -> tuple[NDArray[np.float32], Sequence[TextTokens]]:
    """Return vectors and tokens, in one pass where one model gives both; no tokens when their model fails."""
    model = token_model(embedder)
    if model is None or not texts:
        return embedder.embed_documents(texts), ()
    if model.vectors_of == embedder.identity:
        tokens, vectors = model.documents(texts)
        return vectors, tokens
    vectors = embedder.embed_documents(texts)
    try:
        return vectors, model.documents(texts)[0]
    except ModelError:
        return vectors, ()  # `add_missing_tokens` tries again and says why


def _new_tokens(items: Sequence[tuple[int, str, str]], tokens: Sequence[TextTokens]) -> list[NewTokens]:
    return [
        NewTokens(num, digest, each.pieces, each.vectors)
        for (num, _text, digest), each in zip(items, tokens, strict=True)
    ]


def feed_index(services: Services, *, everything: bool = False, enough: Callable[[], bool] | None = None) -> int:
    """Let the index follow the outbox once enough is waiting; return how many changes it took.

    With `everything` it waits for its turn and leaves nothing, unless `enough` says between two batches that
    it is time to stop. Raises IndexUnavailable.
    """
    with services.stores.read() as unit:
        depth = unit.outbox.depth()
    if not everything and depth < max(1, services.options.write.drain_at):
        return 0
    total = 0
    while True:
        drained = services.stores.index.drain(limit=500, wait_seconds=30.0 if everything else 0.0)
        total += drained.applied
        if everything and drained.busy:
            raise IndexUnavailable("Another process has been feeding the index for 30 seconds. Flush again later.")
        if drained.applied == 0 or (enough is not None and enough()):
            return total


def feed_and_heal(services: Services) -> int:
    """Let the index follow everything, and rebuild what of it is damaged; return how many changes it took."""
    index = services.stores.index
    try:
        fed = feed_index(services, everything=True)
    except IndexUnavailable:
        if index.heal() is None:
            raise
        return feed_index(services, everything=True)
    index.heal()
    return fed
