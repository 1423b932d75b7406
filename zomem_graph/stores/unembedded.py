"""What waits for a vector, and the vectors that equal texts have already."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from zomem_graph.stores import sql

__all__ = ["Unembedded"]

_t = sql.items.c
_c = sql.collections.c
_MOST_CHARACTERS = 16_000  # of a batch, so that whoever waits for its end does not wait long
_PART = 500  # hashes a statement


class Unembedded:
    """Reads, within one transaction, which live items have no vector of an embedder."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def texts(
        self, *, embedder: str, limit: int, ids: Sequence[str] | None = None, after: int = 0
    ) -> list[tuple[int, str, str]]:
        """Return (number, text, text hash) of live items without a vector of this embedder, the newest first.

        At most some 16,000 characters, but at least one text. `ids` are all that is asked for; `after` leaves older
        items out.
        """
        where = [_t.num > after] if ids is None else [_t.id.in_(list(ids))]
        found = self._found(_t.embedding.is_(None), *where, limit=limit)
        if len(found) < limit and self._has_others(embedder):
            others = _t.embedding.is_not(None), _t.embedder != embedder
            found += self._found(*others, *where, limit=limit - len(found))
        return _shortened(found)

    def count(self, *, embedder: str) -> int:
        """Return how many live items wait for a vector of this embedder."""
        waiting = self._counted(_t.embedding.is_(None))
        if not self._has_others(embedder):
            return waiting
        return waiting + self._counted(_t.embedding.is_not(None), _t.embedder != embedder)

    def newest(self) -> int:
        """Return the highest number of an item, 0 when there is none."""
        return self._connection.execute(select(func.max(_t.num))).scalar() or 0

    def known(self, hashes: Sequence[str], *, embedder: str) -> dict[str, NDArray[np.float32]]:
        """Return the vectors that live items of these texts have, by text hash."""
        vectors: dict[str, NDArray[np.float32]] = {}
        todo = iter(dict.fromkeys(hashes))
        while part := list(islice(todo, _PART)):
            rows = self._connection.execute(
                select(_t.text_hash, _t.embedding).where(
                    _t.text_hash.in_(part), _t.embedding.is_not(None), _t.embedder == embedder
                )
            )
            vectors.update((digest, np.frombuffer(vector, np.float32)) for digest, vector in rows)
        return vectors

    def _has_others(self, embedder: str) -> bool:
        """Return whether anything has a vector of another embedder; without it nobody looks through all items."""
        asked = select(_c.embedder).where(_c.embedder != embedder, _c.live > 0).limit(1)
        return self._connection.execute(asked).first() is not None

    def _found(self, *where: object, limit: int) -> list[tuple[int, str, str]]:
        asked = select(_t.num, _t.text, _t.text_hash).where(_t.state == "current", *where)  # type: ignore[arg-type]
        rows = self._connection.execute(asked.order_by(_t.num.desc()).limit(limit))
        return [(num, said, digest) for num, said, digest in rows]

    def _counted(self, *where: object) -> int:
        asked = select(func.count()).select_from(sql.items).where(_t.state == "current", *where)  # type: ignore[arg-type]
        return self._connection.execute(asked).scalar_one()


def _shortened(found: Sequence[tuple[int, str, str]]) -> list[tuple[int, str, str]]:
    kept: list[tuple[int, str, str]] = []
    room = _MOST_CHARACTERS
    for one in found:
        room -= len(one[1])
        if kept and room < 0:
            break
        kept.append(one)
    return kept
