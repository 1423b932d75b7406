"""Typed links between items."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, or_, select

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.driver import marks, plain
from zomem_graph.stores.records import Link

__all__ = ["Fan", "Links"]

_t = sql.links.c


@dataclass(frozen=True, slots=True)
class Fan:
    """Some links of one item, and how many it has in all."""

    links: list[Link]
    degree: int


class Links:
    """Reads and writes `links` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def add(self, new: Sequence[Link]) -> None:
        """Save links; the same source, target and relation is replaced (spec F26)."""
        rows = [{name: getattr(link, name) for name in Link.__slots__} for link in new]
        if rows:
            keys = ["source_id", "target_id", "relation"]
            self._connection.execute(self._dialect.upsert(sql.links, keys, ["weight", "created_at"]), rows)

    def remove(self, source_id: str, target_id: str, relation: str | None = None) -> int:
        """Remove one relation between two items, or all of them; return how many."""
        where = [_t.source_id == source_id, _t.target_id == target_id]
        if relation is not None:
            where.append(_t.relation == relation)
        return self._connection.execute(delete(sql.links).where(*where)).rowcount

    def touching(self, ids: Sequence[str]) -> list[Link]:
        """Return every link with an end among the ids, heaviest first."""
        if not ids:
            return []
        part = list(ids)
        rows = self._connection.execute(
            select(sql.links)
            .where(or_(_t.source_id.in_(part), _t.target_id.in_(part)))
            .order_by(_t.weight.desc(), _t.created_at)
        )
        return [Link(**row) for row in rows.mappings()]

    def heaviest(self, item_id: str, *, limit: int) -> "Fan":
        """Return an item's heaviest links, at most `limit`, and how many it has; a hub costs no more than others."""
        ends = or_(_t.source_id == item_id, _t.target_id == item_id)
        rows = self._connection.execute(select(sql.links).where(ends).order_by(_t.weight.desc()).limit(limit))
        links = [Link(**row) for row in rows.mappings()]
        if len(links) < limit:
            return Fan(links, len(links))
        degree = self._connection.execute(select(func.count()).select_from(sql.links).where(ends)).scalar_one()
        return Fan(links, degree)

    def of_each(self, ids: Sequence[str], *, most: int) -> dict[str, list[Link]]:
        """Return the links of each item that has some, but of none that has more than `most`: a hub ties nothing."""
        part, listed = list(ids), marks(self._connection, len(ids))
        if not part:
            return {}
        counted = self._connection.exec_driver_sql(  # every search asks it, and mostly there are none
            "select id, sum(n) from ("
            f"select source_id as id, count(*) as n from links where source_id in ({listed}) group by source_id"
            f" union all select target_id, count(*) from links where target_id in ({listed}) group by target_id"
            ") as ends group by id",
            (*part, *part),
        )
        found: dict[str, list[Link]] = {id_: [] for id_, number in plain(counted) if number <= most}
        for link in self.touching(list(found)):
            for end in {link.source_id, link.target_id} & found.keys():
                found[end].append(link)
        return found

    def purge(self, ids: Sequence[str]) -> int:
        """Remove every link with an end among the ids."""
        part = list(ids)
        return self._connection.execute(
            delete(sql.links).where(or_(_t.source_id.in_(part), _t.target_id.in_(part)))
        ).rowcount

    def count(self) -> int:
        """Return how many links there are."""
        return self._connection.execute(select(func.count()).select_from(sql.links)).scalar_one()
