"""One quiet background thread a memory: embeds, feeds the index, drains the extraction queue.

Started by the first write that leaves something waiting; it sleeps until woken. What it does not get
to is in the database and waits for the next process.
"""

import threading
import time
from collections.abc import Callable

from zomem_graph.stores.errors import ZomemError

__all__ = ["Soon", "Worker"]

_PAUSE_AFTER_ERROR = 5.0  # seconds
_MOST_AT_ONCE = 8  # writers whose texts are embedded while they wait


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

    def stop(self, *, seconds: float) -> None:
        """Stop for good; let the current round end, but wait for it no longer than this."""
        self._stop.set()
        self._wake.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(0.0, seconds))

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


class Soon:
    """Work that a caller waits for, but only so long; what is not done by then goes on in its own thread."""

    def __init__(self) -> None:
        self._going: list[threading.Thread] = []

    def done(self, work: Callable[[], None], *, seconds: float) -> bool:
        """Return whether the work was done in time and without one of our errors.

        While too many earlier ones still go on, nothing is begun: the worker does it later.
        """
        self._going = [thread for thread in self._going if thread.is_alive()]
        if len(self._going) >= _MOST_AT_ONCE:
            return False
        failed: list[ZomemError] = []

        def begin() -> None:
            try:
                work()
            except ZomemError as error:
                failed.append(error)  # it is committed; the worker tries again and health tells

        thread = threading.Thread(target=begin, name="zomem-soon", daemon=True)
        self._going.append(thread)
        thread.start()
        thread.join(seconds)
        return not thread.is_alive() and not failed

    def end(self, *, seconds: float) -> None:
        """Wait for what still goes on, in all so long."""
        until = time.monotonic() + seconds
        for thread in self._going:
            thread.join(max(0.0, until - time.monotonic()))
