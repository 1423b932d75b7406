"""The token vectors of items, for late interaction: small, in a side table, with how common each token is.

A token takes 132 bytes: its word piece, a scale, and 128 numbers of one byte. What has no word of its own
(stop words, other scripts) has a row without tokens, so that it is not asked for again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, update
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect

__all__ = ["TOKEN", "TOKEN_WIDTH", "NewTokens", "TokenRows", "Tokens", "pack"]

TOKEN_WIDTH = 128
# As it is stored, without gaps; a vector is `scale` times its small numbers.
TOKEN = np.dtype([("piece", "<u2"), ("scale", "<f2"), ("vector", "i1", (TOKEN_WIDTH,))])

_EVERY_ITEM = -1  # the piece under which the items themselves are counted
_i = sql.items.c
_t = sql.item_tokens.c
_p = sql.token_pieces.c


@dataclass(frozen=True, slots=True)
class NewTokens:
    """The tokens of one item whose text has this hash: word pieces and unit vectors, shape (n, 128)."""

    num: int
    text_hash: str
    pieces: NDArray[np.uint16]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenRows:
    """The tokens of several items, one item after another: `counts[i]` of them belong to `nums[i]`."""

    nums: list[int]
    counts: NDArray[np.int64]
    tokens: NDArray[np.void]


def pack(pieces: NDArray[np.uint16], vectors: NDArray[np.float32]) -> bytes:
    """Return tokens as they are stored; a direction is kept to a cosine of 0.998 or better."""
    if len(pieces) == 0:
        return b""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    small = np.rint(vectors * (127.0 / np.where(largest > 0, largest, 1.0)))
    rows = np.empty(len(pieces), TOKEN)
    rows["piece"], rows["vector"] = pieces, small
    # What was rounded is again of length 1.
    rows["scale"] = 1.0 / np.maximum(np.linalg.norm(small, axis=1), 1.0)
    return rows.tobytes()


class Tokens:
    """Reads and writes `item_tokens` and `token_pieces` within one transaction.

    `model` names the space of the vectors; several may lie side by side while one is replaced.
    """

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def put(self, new: Sequence[NewTokens], *, model: str) -> int:
        """Store tokens of live items; skip what ended, changed or has tokens; return how many were new."""
        known = self.having([one.num for one in new], model=model)
        fresh = [one for one in new if one.num not in known and self._is_live(one)]
        rows = [
            {"num": one.num, "model": model, "count": len(one.pieces), "data": pack(one.pieces, one.vectors)}
            for one in fresh
        ]
        if rows:
            self._connection.execute(insert(sql.item_tokens), rows)
            self._count(_items_by_piece(one.pieces for one in fresh), model, sign=1)
        self._move_mark(model)
        return len(rows)

    def drop(self, nums: Sequence[int]) -> None:
        """Remove the tokens of items that leave recall, and count them out."""
        for part in _parts(nums):
            rows = self._connection.execute(select(_t.model, _t.data).where(_t.num.in_(part))).all()
            for model in {row.model for row in rows}:
                said = (np.frombuffer(row.data, TOKEN)["piece"] for row in rows if row.model == model)
                self._count(_items_by_piece(said), model, sign=-1)
            if rows:
                self._connection.execute(delete(sql.item_tokens).where(_t.num.in_(part)))
                self._connection.execute(delete(sql.token_pieces).where(_p.frequency <= 0))

    def of(self, nums: Sequence[int], *, model: str) -> TokenRows:
        """Return the tokens of these items; those without any are left out."""
        listed = ",".join(str(int(num)) for num in nums) or "null"
        rows = self._connection.execute(
            # Integers only; bound one by one they take longer than the answer.
            text(f"select num, count, data from item_tokens where model = :model and num in ({listed})"),
            {"model": model},
        ).all()
        kept = [row for row in rows if row[1] > 0]
        return TokenRows(
            [row[0] for row in kept],
            np.array([row[1] for row in kept], np.int64),
            np.frombuffer(b"".join(row[2] for row in kept), TOKEN),
        )

    def having(self, nums: Sequence[int], *, model: str) -> set[int]:
        """Return which of these items have their tokens, be it none."""
        found: set[int] = set()
        for part in _parts(nums):
            rows = self._connection.execute(select(_t.num).where(_t.model == model, _t.num.in_(part)))
            found.update(row[0] for row in rows)
        return found

    def frequencies(self, pieces: Sequence[int], *, model: str) -> dict[int, int]:
        """Return in how many items each word piece occurs; one that occurs nowhere is left out."""
        wanted = sorted({int(piece) for piece in pieces})
        rows = self._connection.execute(select(_p.piece, _p.frequency).where(_p.model == model, _p.piece.in_(wanted)))
        return {row[0]: row[1] for row in rows}

    def total(self, *, model: str) -> int:
        """Return how many items have their tokens."""
        return self.frequencies([_EVERY_ITEM], model=model).get(_EVERY_ITEM, 0)

    def pending(self, *, model: str, limit: int) -> list[tuple[int, str, str]]:
        """Return (number, text, text hash) of live items that lack their tokens, oldest first."""
        rows = self._connection.execute(
            select(_i.num, _i.text, _i.text_hash)
            .where(*self._lacking(model, after=self._mark(model)))
            .order_by(_i.num)
            .limit(limit)
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def pending_count(self, *, model: str) -> int:
        """Return how many live items lack their tokens."""
        lacking = self._lacking(model, after=self._mark(model))
        return self._connection.execute(select(func.count()).select_from(sql.items).where(*lacking)).scalar_one()

    # -- how -----------------------------------------------------------------------------------

    def _is_live(self, one: NewTokens) -> bool:
        found = select(_i.num).where(_i.num == one.num, _i.text_hash == one.text_hash, _i.state == "current")
        return self._connection.execute(found).first() is not None

    def _count(self, items: Mapping[int, int], model: str, *, sign: int) -> None:
        if not items:
            return
        rows = [{"model": model, "piece": piece, "frequency": 0} for piece in items]
        self._connection.execute(self._dialect.insert_new(sql.token_pieces), rows)
        self._connection.execute(
            update(sql.token_pieces)
            .where(_p.model == model, _p.piece == bindparam("one"))
            .values(frequency=_p.frequency + bindparam("more")),
            [{"one": piece, "more": sign * number} for piece, number in items.items()],
        )

    # Everything live up to the mark has its tokens, so that asking for what lacks them costs nothing.

    def _mark(self, model: str) -> int:
        found = self._connection.execute(select(sql.meta.c.value).where(sql.meta.c.key == _mark_key(model))).scalar()
        return int(found) if found is not None else 0

    def _move_mark(self, model: str) -> None:
        mark = self._mark(model)
        first = self._connection.execute(select(func.min(_i.num)).where(*self._lacking(model, after=mark))).scalar()
        last = self._connection.execute(select(func.max(_i.num))).scalar() or 0
        moved = first - 1 if first is not None else last
        if moved > mark:
            self._connection.execute(
                self._dialect.upsert(sql.meta, ["key"], ["value"]),
                [{"key": _mark_key(model), "value": str(moved)}],
            )

    def _lacking(self, model: str, *, after: int) -> tuple[ColumnElement[bool], ...]:
        has = select(_t.num).where(_t.num == _i.num, _t.model == model).correlate(sql.items)
        return (_i.num > after, _i.state == "current", ~has.exists())


def _items_by_piece(items: Iterable[NDArray[np.uint16]]) -> Counter[int]:
    """Count in how many items each piece occurs, and the items."""
    counted: Counter[int] = Counter()
    for pieces in items:
        counted[_EVERY_ITEM] += 1
        counted.update(set(pieces.tolist()))
    return counted


def _mark_key(model: str) -> str:
    return f"tokens.{model}"


def _parts(nums: Sequence[int], size: int = 500) -> Iterable[Sequence[int]]:
    for start in range(0, len(nums), size):
        yield nums[start : start + size]
