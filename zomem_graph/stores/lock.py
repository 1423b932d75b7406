"""One exclusive lock a memory, for what may not run twice: migrations, feeding the index, maintenance.

On one machine it is the system's own file lock, for several machines a lock of the database they share. Both
die with the process that holds them and are never stale.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zomem_graph.stores.errors import StoreLocked
from zomem_graph.stores.paths import told_clearly

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["FolderLock", "Lock"]


class Lock(Protocol):
    """An exclusive lock; re-entrant within a thread."""

    @contextmanager
    def held(self, *, wait_seconds: float = 30.0) -> Iterator[None]:
        """Hold the lock; raise StoreLocked when another process keeps it longer than we wait."""
        ...

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock if nobody else does; yield whether we hold it."""
        ...

    def fresh(self) -> "Lock":
        """Return the same lock for a forked child, which does not hold what its parent holds."""
        ...


class FolderLock:
    """An exclusive lock on a file in the home folder; re-entrant within a thread.

    With `across_threads` it belongs to whoever has this object, so that another thread may release it.
    """

    def __init__(self, path: Path, *, across_threads: bool = False) -> None:
        self.path = path
        self._thread_local = not across_threads

    @cached_property
    def _lock(self) -> "FileLock":
        from filelock import FileLock  # 60 ms; not needed by a process that only reads

        return FileLock(self.path, mode=0o600, thread_local=self._thread_local)

    @contextmanager
    def held(self, *, wait_seconds: float = 30.0) -> Iterator[None]:
        """Hold the lock; raise StoreLocked when another process keeps it longer than we wait."""
        if not self.try_hold(wait_seconds=wait_seconds):
            raise StoreLocked(f"{self.path} is held by another process. Wait for it to end, or stop it.")
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock if nobody else does; yield whether we hold it."""
        mine = self.try_hold(wait_seconds=0)
        try:
            yield mine
        finally:
            if mine:
                self._lock.release()

    def release(self) -> None:
        """Let go of the lock."""
        self._lock.release()

    def try_hold(self, *, wait_seconds: float) -> bool:
        """Try to take the lock within the given seconds."""
        from filelock import Timeout

        with told_clearly(self.path):
            try:
                self._lock.acquire(timeout=wait_seconds)
            except Timeout:  # a kind of OSError
                return False
        return True

    def fresh(self) -> "FolderLock":
        """Return the same lock for a forked child, which does not hold what its parent holds."""
        return FolderLock(self.path)
