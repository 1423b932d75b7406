"""The SQL side of feeding an index: what waits, what the database says each vector is, what was done.

Every index is fed the same way. Take a batch, announce a new generation, change the index, settle. Each
change of an index is idempotent and its outbox rows stay until it is settled, so a process may die
between any two steps.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select, update
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.database import Database
from zomem_graph.stores.index_meta import Edition, IndexMeta, Refusal
from zomem_graph.stores.outbox import Outbox, OutboxEntry, collection_name

__all__ = [
    "MOST_TRIES",
    "Batch",
    "Change",
    "Feed",
    "Outcome",
    "Settled",
    "Space",
    "StoredVector",
    "VectorSource",
    "bring_back",
    "parts_of",
    "read_vector",
    "readable",
    "set_aside",
]

MOST_TRIES = 5  # of one vector the index refuses; then it is set aside

_T = TypeVar("_T")
_item = sql.items.c


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of one persona, kind and embedder: what one collection holds."""

    persona: str
    kind: str
    embedder: str


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A live item's vector as the database has it, and the outbox number of its last change."""

    num: int
    item_id: str
    collection: str
    embedding: bytes
    vec_seq: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """What one item asks of one collection: hold this vector, or nothing when `embedding` is None."""

    item_id: str
    embedding: bytes | None
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The oldest waiting changes by collection, and how those collections stand."""

    generation: int
    applied: int
    changes: Mapping[str, Sequence[Change]]
    editions: Mapping[str, Edition]
    faults: Mapping[str, str]

    def each(self) -> Iterator[tuple[str, Change]]:
        """Yield every change with its collection."""
        for name, changes in self.changes.items():
            for change in changes:
                yield name, change

    @property
    def highest(self) -> int:
        """Return the largest outbox number in the batch."""
        return max(seq for _name, change in self.each() for seq in change.seqs)


@dataclass(slots=True)
class Outcome:
    """What became of a batch: the editions it made or changed, and refused vectors with the reason."""

    editions: dict[str, Edition] = field(default_factory=dict)
    refused: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settled:
    """How many outbox rows are done with, how many refused vectors stay, and up to where all is in."""

    done: int
    refused: int
    applied: int


class VectorSource:
    """Reads vectors as the database has them, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def spaces(self) -> dict[str, Space]:
        """Return every space with a live vector, by the name of its collection."""
        columns = (_item.persona, _item.kind, _item.embedder)
        rows = self._connection.execute(
            select(*columns).where(_item.state == "current", _item.embedding.is_not(None)).distinct()
        )
        return {collection_name(*row): Space(*row) for row in rows}

    def count(self, space: Space) -> int:
        """Return how many live vectors a space has."""
        return self._connection.execute(
            select(func.count()).select_from(sql.items).where(*_within(space))
        ).scalar_one()

    def ids(self, space: Space) -> set[str]:
        """Return the ids of a space's live vectors, without those set aside."""
        where = (*_within(space), _item.vec_seq.is_not(None))
        return {row[0] for row in self._connection.execute(select(_item.id).where(*where))}

    def page(self, space: Space, *, after: int, size: int | None) -> list[StoredVector]:
        """Return the next vectors of a space by item number; all of them when `size` is None."""
        rows = self._connection.execute(
            select(_item.num, _item.id, _item.embedding, _item.vec_seq)
            .where(*_within(space), _item.num > after)
            .order_by(_item.num)
            .limit(size)
        )
        name = collection_name(space.persona, space.kind, space.embedder)
        return [StoredVector(num, id_, name, embedding, seq) for num, id_, embedding, seq in rows]

    def find(self, item_ids: Collection[str]) -> dict[str, StoredVector]:
        """Return the live vectors among these items; one that ended, has none or is gone is left out."""
        found: dict[str, StoredVector] = {}
        columns = (
            _item.num,
            _item.id,
            _item.persona,
            _item.kind,
            _item.embedder,
            _item.embedding,
            _item.vec_seq,
        )
        for part in parts_of(list(item_ids), 500):
            where = (_item.id.in_(part), _item.state == "current", _item.embedding.is_not(None))
            for row in self._connection.execute(select(*columns).where(*where)):
                name = collection_name(row.persona, row.kind, row.embedder)
                found[row.id] = StoredVector(row.num, row.id, name, row.embedding, row.vec_seq)
        return found

    def waiting(self) -> set[str]:
        """Return the ids of items with a change in the outbox."""
        return {row[0] for row in self._connection.execute(select(sql.outbox.c.item_id).distinct())}


class Feed:
    """Hands out batches of changes and records what became of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waits(self) -> bool:
        """Return whether there is anything to feed."""
        with self._database.read() as connection:
            return bool(Outbox(connection).next(1))

    def unfinished(self) -> bool:
        """Return whether somebody began to change the index and did not end: now, or when it died."""
        with self._database.read() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            return meta.generation() != meta.fed()

    def take(self, limit: int) -> Batch | None:
        """Return the oldest changes, each item once a collection and as the database has it now."""
        with self._database.read() as connection:
            entries = Outbox(connection).next(limit)
            if not entries:
                return None
            meta = IndexMeta(connection, self._database.dialect)
            vectors = VectorSource(connection).find({entry.item_id for entry in entries})
            changes = _by_collection(entries, vectors)
            return Batch(
                generation=meta.generation(),
                applied=meta.applied(),
                changes=changes,
                editions=meta.editions(changes),
                faults=meta.faults(),
            )

    def announce(self) -> tuple[int, str]:
        """Commit a new generation; return it and the store's name. Only then may the index be touched."""
        with self._database.write() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            return meta.next_generation(), meta.store_id()

    def settle(self, batch: Batch, outcome: Outcome, *, generation: int) -> Settled:
        """Record what became of a batch, in one transaction."""
        with self._database.write() as connection:
            meta = IndexMeta(connection, self._database.dialect)
            outbox = Outbox(connection)
            refusals = _refusals(outcome, known={r.item_id: r for r in meta.refusals()})
            kept = {(r.collection, r.item_id) for r in refusals if not r.aside}
            done = [seq for name, c in batch.each() if (name, c.item_id) not in kept for seq in c.seqs]
            outbox.forget(done)
            meta.clear_refusals({change.item_id for _name, change in batch.each()})
            meta.set_refusals(refusals)
            set_aside(connection, [r.item_id for r in refusals if r.aside], up_to=batch.highest)
            meta.set_editions(outcome.editions)
            meta.set_fed(generation)
            waiting = outbox.next(1)
            first = waiting[0].seq if waiting else None
            applied = meta.set_applied(fed_up_to=batch.highest, first_waiting=first)
        return Settled(done=len(done), refused=len(kept), applied=applied)


def set_aside(connection: Connection, item_ids: Iterable[str], *, up_to: int) -> None:
    """Take items out of the search by vector, unless they changed after this outbox number."""
    for item_id in item_ids:
        where = (_item.id == item_id, _item.vec_seq <= up_to)
        connection.execute(update(sql.items).where(*where).values(vec_seq=None))


def bring_back(connection: Connection, item_ids: Iterable[str]) -> None:
    """Let items that were set aside be found by vector again."""
    for item_id in item_ids:
        where = (_item.id == item_id, _item.vec_seq.is_(None))
        connection.execute(update(sql.items).where(*where).values(vec_seq=0))


def read_vector(embedding: bytes) -> NDArray[np.float32] | str:
    """Return the stored vector, or what is wrong with it."""
    if not embedding or len(embedding) % 4:
        return f"{len(embedding)} bytes are not a vector of 32-bit numbers"
    vector = np.frombuffer(embedding, dtype=np.float32)
    return vector if np.isfinite(vector).all() else "the vector holds NaN or infinity"


def readable(
    stored: Iterable[tuple[str, bytes]],
) -> tuple[list[tuple[str, NDArray[np.float32]]], dict[str, str]]:
    """Return (id, vector) of those that can be read, the commonest width first, and why others cannot.

    The first vector that goes into an empty collection decides its width.
    """
    read = {item_id: read_vector(embedding) for item_id, embedding in stored}
    refused = {item_id: vector for item_id, vector in read.items() if isinstance(vector, str)}
    vectors = [(item_id, vector) for item_id, vector in read.items() if not isinstance(vector, str)]
    widths = Counter(len(vector) for _id, vector in vectors)
    return sorted(vectors, key=lambda pair: -widths[len(pair[1])]), refused


def parts_of(values: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield a sequence in parts of at most `size`."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _within(space: Space) -> tuple[ColumnElement[bool], ...]:
    return (
        _item.persona == space.persona,
        _item.kind == space.kind,
        _item.state == "current",
        _item.embedder == space.embedder,
        _item.embedding.is_not(None),
    )


def _by_collection(entries: Iterable[OutboxEntry], vectors: Mapping[str, StoredVector]) -> dict[str, list[Change]]:
    grouped: dict[str, dict[str, list[int]]] = {}
    for entry in entries:
        grouped.setdefault(entry.collection, {}).setdefault(entry.item_id, []).append(entry.seq)
    changes: dict[str, list[Change]] = {}
    for name, items in grouped.items():
        for item_id, seqs in items.items():
            stored = vectors.get(item_id)
            embedding = stored.embedding if stored and stored.collection == name else None
            changes.setdefault(name, []).append(Change(item_id, embedding, tuple(seqs)))
    return changes


def _refusals(outcome: Outcome, *, known: Mapping[str, Refusal]) -> list[Refusal]:
    refusals = []
    for name, reasons in outcome.refused.items():
        for item_id, reason in reasons.items():
            before = known.get(item_id)
            tries = before.tries + 1 if before else 1
            refusals.append(
                Refusal(item_id=item_id, collection=name, reason=reason, tries=tries, aside=tries >= MOST_TRIES)
            )
    return refusals
