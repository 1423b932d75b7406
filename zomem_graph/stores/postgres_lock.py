"""An exclusive lock that all machines on one PostgreSQL database share: a session's advisory lock.

Each thread that holds it has a connection of its own for as long, so it ends with the process or the network.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from zomem_graph.stores.errors import StoreError, StoreLocked

__all__ = ["DatabaseLock"]

_KEY = "hashtextextended('zomem lock ' || current_schema(), 0)"
_PAUSE = 0.05  # seconds between two tries


class DatabaseLock:
    """An advisory lock of the schema; re-entrant within a thread."""

    def __init__(self, engine: Engine, place: str) -> None:
        self._engine = engine
        self._place = place
        self._mine = threading.local()

    @contextmanager
    def held(self, *, wait_seconds: float = 30.0) -> Iterator[None]:
        """Hold the lock; raise StoreLocked when another process keeps it longer than we wait."""
        if not self._try(wait_seconds):
            raise StoreLocked(f"{self._place} is being changed by another process. Wait for it to end, or stop it.")
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock if nobody else does; yield whether we hold it."""
        mine = self._try(0.0)
        try:
            yield mine
        finally:
            if mine:
                self._release()

    def fresh(self) -> "DatabaseLock":
        """Return the same lock for a forked child, which does not hold what its parent holds."""
        return DatabaseLock(self._engine, self._place)

    def _try(self, wait_seconds: float) -> bool:
        depth: int = getattr(self._mine, "depth", 0)
        if not depth and not self._take(wait_seconds):
            return False
        self._mine.depth = depth + 1
        return True

    def _take(self, wait_seconds: float) -> bool:
        until = time.monotonic() + wait_seconds
        taken = False
        try:
            connection = self._engine.execution_options(isolation_level="AUTOCOMMIT", read=True).connect()
            connection.detach()  # closing it closes the session, and with it whatever the session holds
            try:
                while not (taken := self._taken(connection)) and time.monotonic() < until:
                    time.sleep(_PAUSE)
            finally:
                if not taken:
                    connection.close()
        except DBAPIError as error:
            raise StoreError(f"{self._place} cannot be locked: {error.orig}") from error
        if taken:
            self._mine.connection = connection
        return taken

    @staticmethod
    def _taken(connection: Connection) -> bool:
        return bool(connection.exec_driver_sql(f"select pg_try_advisory_lock({_KEY})").scalar_one())

    def _release(self) -> None:
        self._mine.depth -= 1
        if self._mine.depth:
            return
        connection: Connection = self._mine.connection
        del self._mine.connection
        with suppress(DBAPIError):  # a connection that was lost holds nothing
            connection.exec_driver_sql(f"select pg_advisory_unlock({_KEY})")
        connection.close()
