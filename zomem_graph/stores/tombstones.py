"""What was erased, as keyed hashes: enough to know it again, not enough to know what it was.

The key is made for each home and stays in it, so the hashes of two homes say nothing about each other.
"""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from hashlib import blake2s

from sqlalchemy import Connection, delete, func, insert, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.records import Tombstone

__all__ = ["Tombstones"]

_KEY = "tombstone.key"
_OTHERS = "tombstone.keys"  # of homes whose tombstones were read from files
_t = sql.tombstones.c
_meta = sql.meta.c


class Tombstones:
    """Reads and writes `tombstones` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    @cached_property
    def _key(self) -> bytes | None:
        said = self._connection.execute(select(_meta.value).where(_meta.key == _KEY)).scalar()
        return None if said is None else bytes.fromhex(said)

    @property
    def keys(self) -> list[str]:
        """The keys of the hashes, that of this home first; none before anything was erased."""
        said = self._connection.execute(select(_meta.value).where(_meta.key == _OTHERS)).scalar()
        return [*([] if self._key is None else [self._key.hex()]), *json.loads(said or "[]")]

    @property
    def any(self) -> bool:
        """Whether anything was ever erased here."""
        return self._key is not None

    def digests(self, persona: str, kind: str, content: str) -> list[str]:
        """Return the hash under each key of something a persona said or knew; none before anything was erased."""
        return [_digest(key, persona, kind, content) for key in self._every_key]

    @cached_property
    def _every_key(self) -> list[bytes]:
        return [bytes.fromhex(key) for key in self.keys]

    def of(self, persona: str, marks: Iterable[tuple[str, str]]) -> Tombstone | None:
        """Return the newest tombstone of what is known by these (kind, content) marks."""
        hashes = [digest for kind, content in marks for digest in self.digests(persona, kind, content)]
        return max(self.forgotten(hashes).values(), key=lambda one: one.created_at, default=None)

    def everything(self) -> list[Tombstone]:
        """Return all of them, oldest first."""
        rows = self._connection.execute(select(sql.tombstones).order_by(_t.created_at, _t.digest)).mappings()
        return [Tombstone(**row) for row in rows]

    def adopt(self, keys: Sequence[str], stones: Sequence[Tombstone]) -> int:
        """Add tombstones of another home, whose hashes were made with these keys; return how many were new."""
        if not keys or not stones:
            return 0
        if self._key is None:
            self._connection.execute(self._dialect.insert_new(sql.meta), [{"key": _KEY, "value": keys[0]}])
            self._forget_keys()
        others = list(dict.fromkeys([*self.keys, *keys]))[1:]
        self._connection.execute(delete(sql.meta).where(_meta.key == _OTHERS))
        self._connection.execute(insert(sql.meta), [{"key": _OTHERS, "value": json.dumps(others)}])
        self._forget_keys()
        known = self.forgotten(one.digest for one in stones)
        fresh = {one.digest: one for one in stones if one.digest not in known}
        if fresh:
            rows = [
                {"digest": one.digest, "kind": one.kind, "said_at": one.said_at, "created_at": one.created_at}
                for one in fresh.values()
            ]
            self._connection.execute(insert(sql.tombstones), rows)
        return len(fresh)

    def forgotten(self, hashes: Iterable[str]) -> dict[str, Tombstone]:
        """Return the tombstones among these hashes, by hash."""
        asked = [one for one in dict.fromkeys(hashes) if one]
        found: dict[str, Tombstone] = {}
        for start in range(0, len(asked), 500):
            where = _t.digest.in_(asked[start : start + 500])
            rows = self._connection.execute(select(sql.tombstones).where(where)).mappings()
            found.update((row["digest"], Tombstone(**row)) for row in rows)
        return found

    def bury(self, persona: str, erased: Mapping[tuple[str, str], datetime | None], *, now: datetime) -> int:
        """Remember (kind, content) pairs as erased, each with when it was last said; return how many."""
        key = self._key or self._make_key()
        rows = [
            {"digest": _digest(key, persona, kind, content), "kind": kind, "said_at": at, "created_at": now}
            for (kind, content), at in erased.items()
        ]
        known = self.forgotten(row["digest"] for row in rows)  # type: ignore[misc]  # every digest is text
        for row in rows:
            before = known.get(str(row["digest"]))
            if before is not None:
                said = row["said_at"] if _later(row["said_at"], before.said_at) else before.said_at  # type: ignore[arg-type]
                self._connection.execute(
                    update(sql.tombstones).where(_t.digest == row["digest"]).values(said_at=said, created_at=now)
                )
        fresh = [row for row in rows if row["digest"] not in known]
        if fresh:
            self._connection.execute(insert(sql.tombstones), fresh)
        return len(fresh)

    def count(self) -> int:
        """Return how many there are."""
        return self._connection.execute(select(func.count()).select_from(sql.tombstones)).scalar_one()

    def _make_key(self) -> bytes:
        made = secrets.token_bytes(32)
        self._connection.execute(self._dialect.insert_new(sql.meta), [{"key": _KEY, "value": made.hex()}])
        self._forget_keys()
        key = self._key
        return made if key is None else key

    def _forget_keys(self) -> None:
        for name in ("_key", "_every_key"):
            self.__dict__.pop(name, None)


def _digest(key: bytes, persona: str, kind: str, content: str) -> str:
    digest = blake2s(key=key, digest_size=16)
    for part in (persona, kind, content):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def _later(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one > other)
