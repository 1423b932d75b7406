"""How many live vectors each collection holds: a persona's items of one kind in one vector space."""

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, select, update

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect

__all__ = ["CollectionCounts"]

_c = sql.collections.c
# Every search asks it, so it is built once.
_LIVE = select(_c.persona, _c.kind, _c.live).where(
    _c.persona.in_(bindparam("personas", expanding=True)),
    _c.kind.in_(bindparam("kinds", expanding=True)),
    _c.embedder == bindparam("space"),
)


class CollectionCounts:
    """Reads and writes `collections` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def live(self, personas: Sequence[str], kinds: Sequence[str], embedder: str) -> dict[tuple[str, str], int]:
        """Return the live vectors of each (persona, kind) that ever had one in this space."""
        asked = {"personas": list(personas), "kinds": list(kinds), "space": embedder}
        return {(persona, kind): live for persona, kind, live in self._connection.execute(_LIVE, asked).all()}

    def count(self, vectors: Iterable[tuple[str, str, str]], *, sign: int) -> None:
        """Count vectors in (+1) or out (-1), each given as (persona, kind, embedder)."""
        for (persona, kind, space), number in Counter(vectors).items():
            row = {"persona": persona, "kind": kind, "embedder": space, "live": 0}
            self._connection.execute(self._dialect.insert_new(sql.collections), [row])
            self._connection.execute(
                update(sql.collections)
                .where(_c.persona == persona, _c.kind == kind, _c.embedder == space)
                .values(live=_c.live + sign * number)
            )
