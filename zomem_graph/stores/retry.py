"""Write again when another writer was there first, or kept the database for too long.

On SQLite writers queue, but not in order, so with many of them one may wait in vain. Elsewhere two
transactions may both find a slot empty; the database's own constraint lets one of them in, and the other
looks again and finds it taken. Either way nothing of the write has happened when it is tried again.
"""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError

from zomem_graph.stores.errors import StoreError, StoreLocked
from zomem_graph.stores.store import Stores
from zomem_graph.stores.unit import Unit

__all__ = ["written"]

R = TypeVar("R")
_TRIES = 5


def written(stores: Stores, write: Callable[[Unit], R], *, tries: int = _TRIES) -> R:
    """Run one write transaction and return what it returns; at most so many times while others are first."""
    for _ in range(tries - 1):
        try:
            with stores.write() as unit:
                return write(unit)
        except StoreError as error:
            if not isinstance(error, StoreLocked) and not isinstance(error.__cause__, IntegrityError):
                raise
    with stores.write() as unit:
        return write(unit)
