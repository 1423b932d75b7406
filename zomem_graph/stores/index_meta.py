"""What the database remembers about the vector index: how far it follows, and what is wrong with it.

All of it are rows of `meta` under names that begin with `index.`, so that it commits or rolls back
together with the outbox.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, bindparam, delete, select

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect

__all__ = ["EVERYTHING", "Edition", "IndexMeta", "Refusal", "Standing"]

EVERYTHING = "*"  # the fault of the whole index, in place of a collection's name

_t = sql.meta.c
_NAMED = select(_t.key, _t.value).where(_t.key.in_(bindparam("names", expanding=True)))
_GENERATION = "index.generation"
_FED = "index.fed"
_APPLIED = "index.applied"
_HIGHEST = "index.highest"
_STORE = "index.store"
_PLACE = "index.place"
_EDITION = "index.collection."
_FAULT = "index.fault."
_REFUSED = "index.refused."


@dataclass(frozen=True, slots=True)
class Edition:
    """One making of a collection.

    `number` is the generation in which it was made, so that no two makings share one; `changes` counts
    the changes fed to it since.
    """

    number: int
    changes: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What a reader must know before it asks a collection.

    `applied` is the outbox number up to which every change is in the index. `edition` is None when the
    collection was never fed. `fault` says why nobody should trust it.
    """

    applied: int
    edition: Edition | None
    fault: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A vector the index would not take; after the last try it is set aside and found by words only."""

    item_id: str
    collection: str
    reason: str
    tries: int
    aside: bool


class IndexMeta:
    """Reads and writes the index's own rows within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def standing(self, collection: str) -> Standing:
        """Return how one collection stands, by a single SELECT."""
        names = (_APPLIED, _EDITION + collection, _FAULT + collection, _FAULT + EVERYTHING)
        found = self._values(names)
        fault = found.get(_FAULT + EVERYTHING) or found.get(_FAULT + collection)
        edition = found.get(_EDITION + collection)
        return Standing(
            int(found.get(_APPLIED, 0)), None if edition is None else Edition(*json.loads(edition)), fault
        )

    def generation(self) -> int:
        """Return how often the index was about to be changed, by any process."""
        return int(self._values([_GENERATION]).get(_GENERATION, 0))

    def next_generation(self) -> int:
        """Count one change of the index and return the new generation; the first one names the store."""
        number = self.generation() + 1
        self._connection.execute(self._dialect.insert_new(sql.meta).values(key=_STORE, value=uuid4().hex[:12]))
        self._set({_GENERATION: str(number)})
        return number

    def fed(self) -> int:
        """Return the last generation that was fed to its end; 0 before the first."""
        return int(self._values([_FED]).get(_FED, 0))

    def set_fed(self, generation: int) -> None:
        """Record that a generation was fed to its end."""
        self._set({_FED: str(generation)})

    def applied(self) -> int:
        """Return the outbox number up to which every change is in the index."""
        return int(self._values([_APPLIED]).get(_APPLIED, 0))

    def set_applied(self, *, fed_up_to: int, first_waiting: int | None) -> int:
        """Record how far the index follows; a change that waits holds the mark below it."""
        highest = max(fed_up_to, int(self._values([_HIGHEST]).get(_HIGHEST, 0)))
        applied = highest if first_waiting is None else first_waiting - 1
        self._set({_HIGHEST: str(highest), _APPLIED: str(applied)})
        return applied

    def place(self) -> str | None:
        """Return which folder on which machine the index is in, where that was said."""
        return self._values([_PLACE]).get(_PLACE)

    def claim(self, place: str, *, anew: bool = False) -> str:
        """Say where the index in a folder is, unless another place has it already; return the place that has it."""
        if anew:
            self._set({_PLACE: place})
        else:
            self._connection.execute(self._dialect.insert_new(sql.meta).values(key=_PLACE, value=place))
        return self._values([_PLACE])[_PLACE]

    def store_id(self) -> str:
        """Return the name of this database among all others; empty before the first generation."""
        return self._values([_STORE]).get(_STORE, "")

    def editions(self, names: Iterable[str] | None = None) -> dict[str, Edition]:
        """Return the collections the index holds, all or those among `names`."""
        if names is None:
            found = self._under(_EDITION)
        else:
            rows = self._values([_EDITION + name for name in names])
            found = {key.removeprefix(_EDITION): value for key, value in rows.items()}
        return {name: Edition(*json.loads(value)) for name, value in found.items()}

    def set_editions(self, editions: Mapping[str, Edition]) -> None:
        """Record collections as the index holds them now."""
        self._set({_EDITION + name: json.dumps([e.number, e.changes]) for name, e in editions.items()})

    def forget_editions(self, names: Iterable[str]) -> None:
        """Drop the record of collections that are gone."""
        self._drop(_EDITION + name for name in names)

    def faults(self) -> dict[str, str]:
        """Return what is wrong, by collection or under EVERYTHING."""
        return self._under(_FAULT)

    def set_fault(self, name: str, reason: str) -> None:
        """Mark a collection, or EVERYTHING, as not to be trusted until it is rebuilt."""
        self._set({_FAULT + name: reason})

    def clear_faults(self, names: Iterable[str]) -> None:
        """Take the marks away."""
        self._drop(_FAULT + name for name in names)

    def refusals(self) -> list[Refusal]:
        """Return the vectors the index would not take, those still tried and those set aside."""
        return [Refusal(**json.loads(value)) for value in self._under(_REFUSED).values()]

    def set_refusals(self, refusals: Iterable[Refusal]) -> None:
        """Record vectors the index would not take."""
        self._set({_REFUSED + refusal.item_id: json.dumps(asdict(refusal)) for refusal in refusals})

    def clear_refusals(self, item_ids: Iterable[str]) -> None:
        """Forget that these items were refused."""
        self._drop(_REFUSED + item_id for item_id in item_ids)

    def _values(self, names: Iterable[str]) -> dict[str, str]:
        listed = list(names)
        found: dict[str, str] = {}
        for start in range(0, len(listed), 500):
            rows = self._connection.execute(_NAMED, {"names": listed[start : start + 500]}).all()
            found.update((row[0], row[1]) for row in rows)
        return found

    def _under(self, prefix: str) -> dict[str, str]:
        where = _t.key.startswith(prefix, autoescape=True)
        rows = self._connection.execute(select(_t.key, _t.value).where(where).order_by(_t.key))
        return {key.removeprefix(prefix): value for key, value in rows}

    def _set(self, values: Mapping[str, str]) -> None:
        if values:
            rows: list[dict[str, Any]] = [{"key": key, "value": value} for key, value in values.items()]
            self._connection.execute(self._dialect.upsert(sql.meta, ["key"], ["value"]), rows)

    def _drop(self, names: Iterable[str]) -> None:
        listed = list(names)
        for start in range(0, len(listed), 500):
            self._connection.execute(delete(sql.meta).where(_t.key.in_(listed[start : start + 500])))
