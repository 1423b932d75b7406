"""Vectors already paid for, kept in the database by embedder and text hash (spec T11)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from zomem_graph.stores import sql
from zomem_graph.stores.database import Database

__all__ = ["SqlVectorCache"]

_t = sql.embedding_cache.c


class SqlVectorCache:
    """A cache of vectors in the `embedding_cache` table; safe between threads and processes."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the vectors that are there, by hash."""
        found: dict[str, NDArray[np.float32]] = {}
        with self._database.read() as connection:
            for start in range(0, len(hashes), 500):
                part = list(hashes[start : start + 500])
                rows = connection.execute(
                    select(_t.text_hash, _t.vector).where(_t.model == model, _t.text_hash.in_(part))
                )
                found.update((digest, np.frombuffer(data, dtype=np.float32)) for digest, data in rows)
        return found

    def put_many(self, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep these vectors, by hash; raise StoreLocked soon rather than make a question wait."""
        if not vectors:
            return
        now = self._clock()
        rows = [
            {
                "model": model,
                "text_hash": digest,
                "vector": vector.astype(np.float32).tobytes(),
                "created_at": now,
            }
            for digest, vector in vectors.items()
        ]
        with self._database.write(hasty=True) as connection:
            connection.execute(self._database.dialect.insert_new(sql.embedding_cache), rows)
