"""The nearest stored vectors: an exact scan of a small collection, else the index plus an exact tail."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.chroma_index import ChromaIndex
from zomem_graph.stores.errors import IndexUnavailable
from zomem_graph.stores.items import VectorRows
from zomem_graph.stores.outbox import collection_name
from zomem_graph.stores.unit import Unit

__all__ = ["nearest"]

_MOST_KNOWN = 200_000  # ids, about 30 MB


def nearest(
    unit: Unit,
    index: ChromaIndex | None,
    *,
    persona: str,
    kind: str,
    embedder: str,
    vector: NDArray[np.float32],
    limit: int,
    live_only: bool = True,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[int, float]:
    """Return number and cosine of the nearest items, best first.

    Without an index every stored vector is compared. With one, its answer is completed by an exact scan of
    what it has not seen yet; the caller drops what is no longer live. Raises IndexUnavailable.
    """

    def scan(after_seq: int) -> VectorRows:
        return unit.items.vectors(
            persona=persona,
            kind=kind,
            embedder=embedder,
            after_seq=after_seq,
            live_only=live_only,
            since=since,
            until=until,
        )

    if index is None:
        return _best(scan(-1), vector, limit)
    name = collection_name(persona, kind, embedder)
    answer = index.nearest(name, vector, limit=limit, standing=unit.standing_of(name))
    numbers = _numbers(unit, index.numbers, [near.item_id for near in answer.neighbours])
    found = {numbers[near.item_id]: near.similarity for near in answer.neighbours if near.item_id in numbers}
    found.update(_best(scan(answer.seen), vector, limit))
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:limit])


def _numbers(unit: Unit, known: dict[str, int], ids: Sequence[str]) -> dict[str, int]:
    """Return the numbers of these ids. Neither is ever given again, so what was read once stays true."""
    if unknown := [item_id for item_id in ids if item_id not in known]:
        if len(known) > _MOST_KNOWN:
            known.clear()
        known.update(unit.items.numbers_of(unknown))
    return {item_id: known[item_id] for item_id in ids if item_id in known}


def _best(rows: VectorRows, vector: NDArray[np.float32], limit: int) -> dict[int, float]:
    if not rows.nums:
        return {}
    if rows.matrix.shape[1] != vector.size:  # the embedder was changed meanwhile, or two share a name
        raise IndexUnavailable(
            f"Its vectors have {rows.matrix.shape[1]} numbers and the question's {vector.size}; ask again, or make "
            "all of them anew with `zomem index --embeddings`."
        )
    cosine = rows.matrix @ vector
    top = np.argsort(-cosine, kind="stable")[:limit]
    return {rows.nums[i]: float(cosine[i]) for i in top}
