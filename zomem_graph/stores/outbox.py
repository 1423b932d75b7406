"""What the vector index has yet to follow, written in the same transaction as the change itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select

from zomem_graph.stores import sql
from zomem_graph.stores.words import scope_token

__all__ = ["Outbox", "OutboxEntry", "collection_name"]

_t = sql.outbox.c


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One change: `op` is upsert or delete."""

    seq: int
    item_id: str
    collection: str
    op: str


def collection_name(persona: str, kind: str, embedder: str) -> str:
    """Return the index collection of one persona, kind and vector space; letters, digits and dashes."""
    return f"{kind}-{scope_token('persona', persona)}-{scope_token('embedder', embedder)}"


class Outbox:
    """Reads and writes the outbox within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, changes: Iterable[tuple[str, str, str]]) -> None:
        """Queue changes given as (item id, collection, op)."""
        rows = [{"item_id": item, "collection": where, "op": op} for item, where, op in changes]
        if rows:
            self._connection.execute(insert(sql.outbox), rows)

    def add_numbered(self, changes: Sequence[tuple[str, str, str]]) -> dict[str, int]:
        """Queue changes given as (item id, collection, op), one an item, and return their numbers by item."""
        rows = [{"item_id": item, "collection": where, "op": op} for item, where, op in changes]
        queued = insert(sql.outbox).returning(_t.item_id, _t.seq)
        return {item: int(seq) for item, seq in self._connection.execute(queued, rows)} if rows else {}

    def next(self, limit: int) -> list[OutboxEntry]:
        """Return the oldest waiting changes."""
        rows = self._connection.execute(select(sql.outbox).order_by(_t.seq).limit(limit))
        return [OutboxEntry(*row) for row in rows]

    def forget(self, seqs: Sequence[int]) -> None:
        """Drop changes the index has followed."""
        for start in range(0, len(seqs), 500):
            self._connection.execute(delete(sql.outbox).where(_t.seq.in_(seqs[start : start + 500])))

    def depth(self) -> int:
        """Return how many changes wait."""
        return self._connection.execute(select(func.count()).select_from(sql.outbox)).scalar_one()
