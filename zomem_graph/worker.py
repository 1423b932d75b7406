"""One quiet background thread a memory: embeds, feeds the index, drains the extraction queue.

Started by the first write that leaves something waiting; it sleeps until woken. What it does not get
to is in the database and waits for the next process.
"""

import threading
from collections.abc import Callable

from zomem_graph.stores.errors import ZomemError

__all__ = ["Worker"]

_PAUSE_AFTER_ERROR = 5.0  # seconds


class Worker:
    """Runs `work_once` until it says there is no more; never more than one thread."""

    def __init__(self, work_once: Callable[[], bool]) -> None:
        self._work_once = work_once
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.last_error: ZomemError | None = None

    def wake(self) -> None:
        """Say that something waits; start the thread if there is none."""
        with self._starting:
            if self._stop.is_set():
                return
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._loop, name="zomem-worker", daemon=True)
                self._thread.start()
        self._wake.set()

    def stop(self) -> None:
        """Let the current round end and stop for good."""
        self._stop.set()
        self._wake.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _loop(self) -> None:
        while not self._stop.is_set():
            self._wake.wait()
            self._wake.clear()
            more = True
            while more and not self._stop.is_set():
                try:
                    more = self._work_once()
                    self.last_error = None
                except ZomemError as error:
                    self.last_error = error  # health shows it
                    more = not self._stop.wait(_PAUSE_AFTER_ERROR) and False
