"""Values by namespace and key, as graphs keep them; what of a value is searchable is an item beside it.

A namespace is kept as a path in which every label ends with a dot, so that "foo" never begins "foobar". No
label holds a dot; what could trouble a database is escaped, and so a path is plain ASCII.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, delete, func, insert, or_, select, update
from sqlalchemy.sql import ColumnElement

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.identity import content_hash, new_id
from zomem_graph.stores.items import Items, NewItem, VectorRows
from zomem_graph.stores.records import Document
from zomem_graph.stores.words import scope_token

__all__ = ["KIND", "OWNER", "Documents", "NewDocument", "labels_of", "path_of", "within"]

KIND = "document"
OWNER = ""  # the persona of documents' items; no persona can have this name
_d = sql.documents.c
_i = sql.items.c
_part = 400


def path_of(namespace: Iterable[str]) -> str:
    """Return the path of a namespace: ("a", "b") is "a.b."; the root is ""."""
    return "".join(f"{json.dumps(label)[1:-1]}." for label in namespace)


def labels_of(path: str) -> tuple[str, ...]:
    """Return the namespace of a path."""
    return tuple(json.loads(f'"{label}"') for label in path.split(".")[:-1])


def within(path: str) -> str | None:
    """Return the scope token of everything under a path; None for the root, under which everything is."""
    return scope_token("namespace", path) if path else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A value to keep. `text` is what search sees, None for nothing; `ttl` is in minutes."""

    namespace: str
    key: str
    value: dict[str, Any]
    text: str | None
    ttl: float | None = None


class Documents:
    """Reads and writes `documents` and their items within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect, items: Items) -> None:
        self._connection = connection
        self._dialect = dialect
        self._items = items

    def get(self, namespace: str, key: str, *, now: datetime) -> Document | None:
        """Return one document, None when there is none or its time is over."""
        where = (_d.namespace == namespace, _d.key == key, _alive(now))
        return next(self._read(select(sql.documents).where(*where)), None)

    def find(self, ids: Sequence[str], *, now: datetime) -> dict[str, Document]:
        """Return the live documents among these, by id."""
        found: dict[str, Document] = {}
        for part in _parts(ids):
            rows = self._read(select(sql.documents).where(_d.id.in_(part), _alive(now)))
            found.update((one.id, one) for one in rows)
        return found

    def under(self, path: str, *, now: datetime) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield id and value of the live documents under a path, those written last first."""
        listed = select(_d.id, _d.value).where(*_under(path), _alive(now)).order_by(_d.num.desc())
        with self._connection.execute(listed.execution_options(yield_per=_part)) as rows:
            yield from ((row[0], row[1]) for row in rows)

    def count(self, path: str) -> int:
        """Return how many documents there are under a path, those whose time is over among them."""
        return self._connection.execute(
            select(func.count()).select_from(sql.documents).where(*_under(path))
        ).scalar_one()

    def namespaces(self, *, now: datetime) -> list[tuple[str, ...]]:
        """Return every namespace with a live document, in order."""
        rows = self._connection.execute(select(_d.namespace).where(_alive(now)).distinct())
        return sorted(labels_of(row[0]) for row in rows)

    def vectors(self, path: str, *, embedder: str) -> VectorRows:
        """Return the vectors of everything under a path, by item number, for an exact scan."""
        joined = sql.documents.join(sql.items, _i.id == _d.id)
        where = (*_under(path), _i.embedder == embedder)
        rows = self._connection.execute(select(_i.num, _i.embedding).select_from(joined).where(*where)).all()
        if not rows:
            return VectorRows([], np.empty((0, 0), np.float32))
        matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float32).reshape(len(rows), -1)
        return VectorRows([row[0] for row in rows], matrix)

    def put(self, new: Sequence[NewDocument], *, now: datetime) -> list[str]:
        """Keep values, each in place of the one before; the time of the first writing stays.

        Return the ids of those whose text is new.
        """
        before = self._stored([(one.namespace, one.key) for one in new])
        digests = self._digests([one.id for one in before.values()])
        rows, items, replaced = [], [], []
        for one in new:
            old = before.get((one.namespace, one.key))
            created = now if old is None or (old.expires_at is not None and old.expires_at <= now) else old.created_at
            digest = None if one.text is None else content_hash(one.text)
            same = old is not None and digests.get(old.id) == digest
            row_id = old.id if old is not None and same else new_id()
            if old is not None and not same:
                replaced.append(old.id)
            if one.text is not None and not same:
                items.append(_item(one, row_id, now))
            rows.append(_row(one, row_id, created=created, now=now))
        self._items.purge(replaced)
        self._drop([one.id for one in before.values()])
        self._connection.execute(insert(sql.documents), rows)
        self._items.add(items)
        return [item.id for item in items]

    def remove(self, keys: Sequence[tuple[str, str]]) -> int:
        """Remove documents by (namespace, key); return how many there were."""
        return self._purge([one.id for one in self._stored(keys).values()])

    def empty(self, path: str) -> int:
        """Remove everything under a path; return how many documents went."""
        return self._purge([row[0] for row in self._connection.execute(select(_d.id).where(*_under(path)))])

    def ids(self, path: str) -> list[str]:
        """Return the ids of everything under a path."""
        return [row[0] for row in self._connection.execute(select(_d.id).where(*_under(path)))]

    def touch(self, ids: Sequence[str], *, now: datetime) -> None:
        """Let the time of these begin anew."""
        for part in _parts(ids):
            rows = self._connection.execute(select(_d.id, _d.ttl).where(_d.id.in_(part), _d.ttl.is_not(None))).all()
            for id_, ttl in rows:
                ends = now + timedelta(minutes=ttl)
                self._connection.execute(update(sql.documents).where(_d.id == id_).values(expires_at=ends))

    def sweep(self, *, now: datetime, limit: int | None = None) -> int:
        """Remove documents whose time is over; return how many."""
        over = select(_d.id).where(_d.expires_at.is_not(None), _d.expires_at <= now).limit(limit)
        return self._purge([row[0] for row in self._connection.execute(over)])

    # -- how -----------------------------------------------------------------------------------

    def _read(self, statement: Select[Any]) -> Iterator[Document]:
        return (Document(**row) for row in self._connection.execute(statement).mappings())

    def _stored(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Document]:
        """Return what stands under these keys, also when its time is over."""
        asked: dict[str, list[str]] = {}
        for namespace, key in keys:
            asked.setdefault(namespace, []).append(key)
        found: dict[tuple[str, str], Document] = {}
        for namespace, names in asked.items():
            for part in _parts(names):
                rows = self._read(select(sql.documents).where(_d.namespace == namespace, _d.key.in_(part)))
                found.update(((one.namespace, one.key), one) for one in rows)
        return found

    def _digests(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return the hash of what search has of each; None where it has nothing."""
        found: dict[str, str | None] = dict.fromkeys(ids)
        for part in _parts(ids):
            rows = self._connection.execute(select(_i.id, _i.text_hash).where(_i.id.in_(part)))
            found.update((id_, digest) for id_, digest in rows)
        return found

    def _purge(self, ids: Sequence[str]) -> int:
        self._items.purge(ids)
        return self._drop(ids)

    def _drop(self, ids: Sequence[str]) -> int:
        return sum(
            self._connection.execute(delete(sql.documents).where(_d.id.in_(part))).rowcount for part in _parts(ids)
        )


def _under(path: str) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for a path and what is below it; "/" is what comes after "." in ASCII."""
    return (_d.namespace >= path, _d.namespace < f"{path[:-1]}/") if path else ()


def _alive(now: datetime) -> ColumnElement[bool]:
    return or_(_d.expires_at.is_(None), _d.expires_at > now)


def _item(one: NewDocument, item_id: str, now: datetime) -> NewItem:
    labels = one.namespace.split(".")[:-1]
    paths = ["".join(f"{label}." for label in labels[: depth + 1]) for depth in range(len(labels))]
    return NewItem(
        id=item_id,
        kind=KIND,
        persona=OWNER,
        text=one.text or "",
        created_at=now,
        scopes=[scope_token("namespace", path) for path in paths],
    )


def _row(one: NewDocument, row_id: str, *, created: datetime, now: datetime) -> dict[str, Any]:
    return {
        "id": row_id,
        "namespace": one.namespace,
        "key": one.key,
        "value": one.value,
        "created_at": created,
        "updated_at": now,
        "expires_at": None if one.ttl is None else now + timedelta(minutes=one.ttl),
        "ttl": one.ttl,
    }


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _part):
        yield values[start : start + _part]
