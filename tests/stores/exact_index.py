"""The exact vector index in memory: the meaning of `VectorIndex`, which the contract holds the others to."""

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import Closed, IndexUnavailable
from zomem_graph.stores.index_feed import Batch, Feed, Outcome, VectorSource, readable
from zomem_graph.stores.index_meta import Edition, IndexMeta
from zomem_graph.stores.vector_index import (
    CollectionReport,
    Drained,
    IndexReport,
    IndexState,
    Nearest,
    Neighbour,
    Progress,
    Pruned,
    Rebuilt,
    other_width,
    question,
    state_of,
)

__all__ = ["ExactIndex"]


class ExactIndex:
    """Compares with every vector, in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._feed = Feed(database)
        self._vectors: dict[str, dict[str, NDArray[np.float32]]] = {}
        self._generation = -1
        self._seen = 0
        self._turn = Lock()
        self._closed = False

    def nearest(self, collection: str, vector: NDArray[np.float32], *, limit: int) -> Nearest:
        """Return the nearest by cosine similarity; equal ones by id."""
        asked = question(vector)
        with self._turn:
            self._catch_up()
            held = self._vectors.get(collection, {})
            seen = self._seen
            ids = sorted(held)
            rows = [held[item_id] for item_id in ids]
        if not rows or limit < 1:
            return Nearest([], seen)
        if len(asked) != len(rows[0]):
            raise IndexUnavailable(other_width(collection, asked, f"its vectors have {len(rows[0])}"))
        scores = _unit(np.stack(rows)) @ _unit(asked)
        best = np.argsort(-scores, kind="stable")[:limit]
        return Nearest([Neighbour(ids[i], float(scores[i])) for i in best], seen)

    def drain(self, *, limit: int = 200, wait_seconds: float = 0.0) -> Drained:
        """Follow the outbox."""
        with self._turn:
            self._catch_up()
            batch = self._feed.take(limit)
            if batch is None:
                return Drained(0)
            generation, _store = self._feed.announce()
            outcome = self._follow(batch, generation)
            settled = self._feed.settle(batch, outcome, generation=generation)
            self._generation = generation
            self._seen = settled.applied
            return Drained(settled.done, refused=settled.refused)

    def verify(self) -> IndexReport:
        """Compare memory with the database."""
        with self._turn:
            self._catch_up()
            with self._database.read() as connection:
                source = VectorSource(connection)
                waiting = source.waiting()
                reports = []
                for name, space in sorted(source.spaces().items()):
                    expected, held = source.ids(space), set(self._vectors.get(name, {}))
                    missing = tuple(sorted(expected - held - waiting))
                    orphaned = tuple(sorted(held - expected - waiting))
                    reports.append(
                        CollectionReport(collection=name, expected=len(expected), missing=missing, orphaned=orphaned)
                    )
        return IndexReport(tuple(reports))

    def rebuild(self, collections: Sequence[str] | None = None, *, progress: Progress | None = None) -> Rebuilt:
        """Read everything again, what waits too."""
        with self._turn:
            self._catch_up()
            with self._database.read() as connection:
                self._read_all(connection, up_to=None)
            count = sum(len(held) for held in self._vectors.values())
            if progress:
                progress(count, count)
            return Rebuilt(tuple(sorted(self._vectors)), count)

    def prune_orphans(self) -> Pruned:
        """Do nothing: memory that follows the database has none."""
        return Pruned()

    def state(self) -> IndexState:
        """Return how the index stands."""
        return state_of(self._database)

    def close(self) -> None:
        """Let go of the vectors."""
        self._closed = True
        self._vectors = {}

    def _catch_up(self) -> None:
        """Read all vectors when another process has fed its own index since."""
        if self._closed:
            raise Closed("This index was closed. Open the memory again.")
        with self._database.read() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            generation = meta.generation()
            if generation == self._generation:
                return
            self._seen = meta.applied()
            self._generation = generation
            self._read_all(connection, up_to=self._seen)

    def _read_all(self, connection: Connection, *, up_to: int | None) -> None:
        source = VectorSource(connection)
        self._vectors = {}
        for name, space in source.spaces().items():
            stored = [
                (row.item_id, row.embedding)
                for row in source.page(space, after=-1, size=None)
                if row.vec_seq is not None and (up_to is None or row.vec_seq <= up_to)
            ]
            self._put(name, stored)

    def _follow(self, batch: Batch, generation: int) -> Outcome:
        outcome = Outcome()
        for name, changes in batch.changes.items():
            before = batch.editions.get(name) or Edition(generation)
            outcome.editions[name] = Edition(before.number, before.changes + len(changes))
            for change in changes:
                self._vectors.get(name, {}).pop(change.item_id, None)
            refused = self._put(name, [(c.item_id, c.embedding) for c in changes if c.embedding is not None])
            if refused:
                outcome.refused[name] = refused
        return outcome

    def _put(self, name: str, stored: Sequence[tuple[str, bytes]]) -> dict[str, str]:
        """Hold vectors of one width; return the others with the reason."""
        vectors, refused = readable(stored)
        held = self._vectors.setdefault(name, {})
        for item_id, vector in vectors:
            width = len(next(iter(held.values()), vector))
            if len(vector) == width:
                held[item_id] = vector
            else:
                refused[item_id] = f"the vector has {len(vector)} numbers, the others have {width}"
        return refused


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = (vectors / np.where(norms == 0, 1, norms)).astype(np.float32)
    return unit
