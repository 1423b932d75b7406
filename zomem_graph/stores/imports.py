"""What came of each conversation and note of an import, and the names an imported text goes by."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, func, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.records import ImportRecord

__all__ = ["PLACES", "Imports"]

PLACES = " places"  # behind a source: its records are the folders and archives of it, with their names and paths

_t = sql.imports.c
_items = sql.items.c
_facts = sql.facts.c


class Imports:
    """Reads and writes `imports` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def find(self, persona: str, source: str, item: str) -> ImportRecord | None:
        """Return what came of an item the last time, or None when it is new."""
        where = (_t.persona == persona, _t.source == source, _t.item == item)
        row = self._connection.execute(select(sql.imports).where(*where)).mappings().first()
        return None if row is None else ImportRecord(**row)

    def alike(self, persona: str, source: str, digest: str, *, most: int = 20) -> list[ImportRecord]:
        """Return items of a source with this very content, whatever their names."""
        where = (_t.persona == persona, _t.source == source, _t.digest == digest)
        rows = self._connection.execute(select(sql.imports).where(*where).limit(most)).mappings()
        return [ImportRecord(**row) for row in rows]

    def all_of(self, persona: str, source: str) -> list[ImportRecord]:
        """Return every item of a source."""
        where = (_t.persona == persona, _t.source == source)
        return [ImportRecord(**row) for row in self._connection.execute(select(sql.imports).where(*where)).mappings()]

    def known(self, persona: str, source: str, items: Sequence[str]) -> set[str]:
        """Return which of these items were imported."""
        found: set[str] = set()
        for start in range(0, len(items), 500):
            where = (_t.persona == persona, _t.source == source, _t.item.in_(items[start : start + 500]))
            found.update(row[0] for row in self._connection.execute(select(_t.item).where(*where)))
        return found

    def rename(self, record: ImportRecord, item: str) -> ImportRecord:
        """Let an item go by another name from now on, and return its record."""
        where = (_t.persona == record.persona, _t.source == record.source, _t.item == record.item)
        self._connection.execute(update(sql.imports).where(*where).values(item=item))
        return replace(record, item=item)

    def save(self, record: ImportRecord) -> None:
        """Record an item; the time of its first import stays."""
        row = {name: getattr(record, name) for name in ImportRecord.__slots__}
        changed = ["digest", "parts", "last_at"]
        self._connection.execute(self._dialect.upsert(sql.imports, ["persona", "source", "item"], changed), [row])

    def holders(self, persona: str, slots: Sequence[str]) -> set[str]:
        """Return the sources of the facts that are current in any of these slots."""
        found: set[str] = set()
        for start in range(0, len(slots), 500):
            where = (
                _facts.persona == persona,
                _facts.slot.in_(slots[start : start + 500]),
                _facts.state == "current",
            )
            found.update(row[0] for row in self._connection.execute(select(_facts.source).where(*where)))
        return found

    def leave_places(self, tells: Callable[[str], bool]) -> int:
        """Take names and paths of places that tell something out of their records; return how many there were."""
        rows = self._connection.execute(select(_t.item, _t.parts).where(_t.source.endswith(PLACES))).all()
        gone = [item for item, parts in rows if any(tells(text) for part in parts for text in part)]
        if gone:
            where = (_t.source.endswith(PLACES), _t.item.in_(gone))
            self._connection.execute(update(sql.imports).where(*where).values(parts=[]))
        return len(gone)

    def mention(self, persona: str, ids: Sequence[str], entities: Iterable[str]) -> None:
        """Let items mention entities (in their normal form) beyond what their text names."""
        names = [name for name in dict.fromkeys(entities) if name]
        rows: list[Mapping[str, object]] = []
        for start in range(0, len(ids), 500):
            found = self._connection.execute(select(_items.num).where(_items.id.in_(ids[start : start + 500])))
            rows += [{"num": num, "entity": name, "persona": persona} for (num,) in found for name in names]
        if rows:
            self._connection.execute(self._dialect.insert_new(sql.mentions), rows)

    def count(self) -> dict[str, int]:
        """Return how many items were imported, by source."""
        rows = self._connection.execute(select(_t.source, func.count()).group_by(_t.source))
        return {row[0]: row[1] for row in rows}
