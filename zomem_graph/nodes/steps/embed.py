"""Give stored texts their vectors and feed the index; never inside a write transaction."""

from zomem_graph.nodes.ports import Services

__all__ = ["EMBEDDER_KEY", "embed_pending", "feed_index"]

EMBEDDER_KEY = "embedder"


def embed_pending(services: Services, *, limit: int) -> int:
    """Embed up to `limit` live items that have no vector yet; return how many got one. Raises ModelError.

    Two processes may embed the same text; the second write changes nothing of value.
    """
    embedder = services.embedder
    if embedder is None:
        return 0
    with services.stores.read() as unit:
        waiting = unit.items.pending(embedder=embedder.identity, limit=limit)
        recorded = unit.journal.meta(EMBEDDER_KEY)
    if not waiting:
        return 0
    vectors = embedder.embed_documents([text for _num, text, _digest in waiting])
    with services.stores.write() as unit:
        if recorded is None:
            unit.journal.set_meta(EMBEDDER_KEY, embedder.identity)
        rows = [(num, digest, vector) for (num, _text, digest), vector in zip(waiting, vectors, strict=True)]
        return unit.items.set_vectors(rows, embedder=embedder.identity)


def feed_index(services: Services, *, everything: bool = False) -> int:
    """Let the index follow the outbox once enough is waiting; return how many changes it took.

    With `everything` it waits for its turn and leaves nothing. Raises IndexUnavailable.
    """
    with services.stores.read() as unit:
        depth = unit.outbox.depth()
    if depth == 0 or (not everything and depth < services.options.write.drain_at):
        return 0
    total = 0
    while True:
        drained = services.stores.index.drain(limit=500, wait_seconds=30.0 if everything else 0.0)
        total += drained.applied
        if drained.applied == 0:
            return total
