"""What a vector index is and answers with.

An index is derived: the database holds every vector, the outbox says what changed, an index follows.
So it may lag, and says how far: `Nearest.seen` is the outbox number up to which an answer holds. Who asks
scans the stored vectors with a larger `vec_seq` exactly, and drops ids that are no longer live. An index
that cannot answer rightly raises IndexUnavailable; it never returns less in silence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.index_meta import IndexMeta, Refusal
from zomem_graph.stores.outbox import Outbox

__all__ = [
    "CollectionReport",
    "Drained",
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
