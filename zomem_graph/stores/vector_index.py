"""What a vector index is, and the exact one in memory that defines it.

An index is derived: the database holds every vector, the outbox says what changed, an index follows.
So it may lag, and says how far: `Nearest.seen` is the outbox number up to which an answer holds. Who asks
scans the stored vectors with a larger `vec_seq` exactly, and drops ids that are no longer live. An index
that cannot answer rightly raises IndexUnavailable; it never returns less in silence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import Closed, IndexUnavailable, InvalidInput
from zomem_graph.stores.index_feed import Batch, Feed, Outcome, VectorSource, readable
from zomem_graph.stores.index_meta import Edition, IndexMeta, Refusal
from zomem_graph.stores.outbox import Outbox

__all__ = [
    "CollectionReport",
    "Drained",
    "ExactIndex",
    "IndexReport",
    "IndexState",
    "Nearest",
    "Neighbour",
    "Progress",
    "Pruned",
    "Rebuilt",
    "VectorIndex",
    "other_width",
    "question",
    "state_of",
]

Progress = Callable[[int, int], None]  # vectors done, vectors in all


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item and the cosine similarity of its vector, -1 to 1, as the index holds it."""

    item_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest vectors, best first; every change up to outbox number `seen` is in them."""

    neighbours: list[Neighbour]
    seen: int


@dataclass(frozen=True, slots=True)
class Drained:
    """How many outbox rows were followed; `busy` when another process feeds the index just now.

    `refused` vectors were not taken and will be tried again, at most five times.
    """

    applied: int
    busy: bool = False
    refused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionReport:
    """One collection against the database: ids it lacks, holds too much, or holds with another vector."""

    collection: str
    expected: int
    missing: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    fault: str | None = None

    @property
    def sound(self) -> bool:
        """Return whether the collection and the database agree."""
        return not (self.missing or self.orphaned or self.wrong or self.fault)


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Every collection against the database, and collections nothing in the database asks for."""

    collections: tuple[CollectionReport, ...]
    strays: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Return whether the index and the database agree."""
        return not self.strays and all(report.sound for report in self.collections)

    @property
    def unsound(self) -> tuple[str, ...]:
        """Return the collections that need a rebuild or a pruning."""
        return tuple(report.collection for report in self.collections if not report.sound)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild made; `set_aside` is where a damaged or foreign index folder went."""

    collections: tuple[str, ...]
    vectors: int
    set_aside: Path | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed because nothing in the database asks for it."""

    vectors: int = 0
    collections: int = 0
    folders: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How the index stands, for health: `faults` by collection, `*` for all of it; red unless empty."""

    generation: int
    applied: int
    waiting: int
    collections: int
    faults: Mapping[str, str]
    refusals: Sequence[Refusal]


class VectorIndex(Protocol):
    """Finds near vectors; follows the database by the outbox."""

    def nearest(self, collection: str, vector: NDArray[np.float32], *, limit: int) -> Nearest:
        """Return at most `limit` neighbours; raise IndexUnavailable rather than answer wrongly."""
        ...

    def drain(self, *, limit: int = 200, wait_seconds: float = 0.0) -> Drained:
        """Follow at most `limit` outbox rows, the oldest first; wait so long for another feeder."""
        ...

    def verify(self) -> IndexReport:
        """Compare every id and every vector with the database."""
        ...

    def rebuild(self, collections: Sequence[str] | None = None, *, progress: Progress | None = None) -> Rebuilt:
        """Make collections anew from the stored vectors, all when None; the old serve until then."""
        ...

    def prune_orphans(self) -> Pruned:
        """Remove vectors, collections and files that nothing in the database asks for."""
        ...

    def state(self) -> IndexState:
        """Return how the index stands, from the database alone."""
        ...

    def close(self) -> None:
        """Release what is open; anything later raises Closed."""
        ...


def question(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a query vector ready to ask with; raise InvalidInput when it cannot be one."""
    asked = np.asarray(vector, dtype=np.float32)
    if asked.ndim != 1 or not asked.size or not np.isfinite(asked).all():
        raise InvalidInput(f"A query vector is one row of finite numbers, not an array of shape {asked.shape}.")
    return asked


def other_width(collection: str, vector: NDArray[np.float32], said: str) -> str:
    """Return what to say when the question is of another width than the collection."""
    return (
        f"The query vector has {len(vector)} numbers, but collection {collection} is of another width "
        f"({said}). The embedding model was changed under the same name: run `zomem index --rebuild` "
        "to embed again."
    )


def state_of(database: Database) -> IndexState:
    """Return what the database says of its index."""
    with database.read() as connection:
        meta = IndexMeta(connection, database.dialect)
        return IndexState(
            generation=meta.generation(),
            applied=meta.applied(),
            waiting=Outbox(connection).depth(),
            collections=len(meta.editions()),
            faults=meta.faults(),
            refusals=meta.refusals(),
        )


class ExactIndex:
    """Compares with every vector, in memory; the meaning of VectorIndex, and enough for small stores."""

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
