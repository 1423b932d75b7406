"""The vector index on Chroma: fed from the outbox, safe for several processes on one folder.

Figures and reasons: docs/substrate.md. In short: an embedded Chroma never sees what another process
wrote after it loaded a collection, and an unlocked second writer loses vectors. So writing and loading
run under the folder lock, a writer whose generation is old reopens first, and a reader takes no lock
but says how far its answer holds.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.chroma_client import (
    ClientClosed,
    IndexDamaged,
    VectorRefused,
)
from zomem_graph.stores.chroma_handle import CURE, ChromaHandle, Loaded, put
from zomem_graph.stores.chroma_upkeep import ChromaUpkeep
from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import Closed, IndexUnavailable, StoreLocked, StoreReadOnly
from zomem_graph.stores.index_feed import Batch, Change, Feed, Outcome, Settled
from zomem_graph.stores.index_meta import EVERYTHING, Edition, IndexMeta, Standing
from zomem_graph.stores.lock import Lock
from zomem_graph.stores.vector_index import (
    Drained,
    IndexReport,
    IndexState,
    Nearest,
    Neighbour,
    Progress,
    Pruned,
    Rebuilt,
    other_width,
    question,
    state_of,
)

__all__ = ["ChromaIndex"]

_MOST_STALE = 500  # changes a reader may lag behind before it loads again; it scans that many in about 1 ms
_NOTHING = -1  # a change before all others
_LOAD_SECONDS = 1.0  # a reader waits for a feeder to end; after that the exact scan answers


class ChromaIndex:
    """Nearest vectors by Chroma, in a folder or on a server; see `VectorIndex` for the contract."""

    def __init__(self, folder: Path | None, url: str | None, database: Database, lock: Lock) -> None:
        self._database = database
        self._feed = Feed(database)
        self._handle = ChromaHandle(folder, url, database, lock)
        self._upkeep = ChromaUpkeep(self._handle, database)
        self._patient = True
        self._closed = False
        self.numbers: dict[str, int] = {}  # of items found before, kept by `nearest.py`

    def nearest(
        self, collection: str, vector: NDArray[np.float32], *, limit: int, standing: Standing | None = None
    ) -> Nearest:
        """Return at most `limit` neighbours, best first, and up to which change they hold.

        `standing` is how the collection stands, where the caller has read it in the snapshot he goes on with.
        Raises IndexUnavailable, with the cure, when the collection cannot be trusted or loaded now.
        """
        self._not_closed()
        asked = question(vector)
        for _ in range(3):
            stands = self._sound(standing) if standing else self._standing(collection)
            if stands.edition is None or limit < 1:
                return Nearest([], stands.applied)  # never fed: the scan of what waits finds everything
            try:
                return self._ask(collection, stands, asked, limit)
            except ClientClosed:
                standing = None
                self._not_closed()  # another thread opened it anew between two calls
        raise IndexUnavailable(f"Collection {collection} is being opened by others all the time. Try again.")

    def drain(self, *, limit: int = 200, wait_seconds: float = 0.0) -> Drained:
        """Follow at most `limit` outbox rows, the oldest first, unless another process does.

        Raises IndexUnavailable when the index cannot be opened or reached; the rows stay.
        """
        self._not_closed()
        if not self._feed.waits() and not self._feed.unfinished():
            return Drained(0)
        self._handle.prepare()
        with ExitStack() as stack:
            try:
                stack.enter_context(self._handle.lock.held(wait_seconds=wait_seconds))
            except StoreLocked:
                return Drained(0, busy=True)
            # With the lock held nobody in this folder is at it any more; about other machines it says nothing.
            died = not self._handle.remote and self._feed.unfinished()
            batch = self._feed.take(limit)
            settled = Settled(0, 0, 0) if batch is None else self._follow(batch)
            if died and not self.state().faults:
                self._upkeep.prune_orphans()
        return Drained(settled.done, refused=settled.refused)

    def heal(self) -> Rebuilt | None:
        """Rebuild what is marked as damaged; None when nothing is. Raises IndexUnavailable."""
        self._not_closed()
        faults = self.state().faults
        if not faults:
            return None
        self._handle.check_place()
        return self._upkeep.rebuild(None if EVERYTHING in faults else list(faults), progress=None)

    def probe(self, *, most: int = 16) -> None:
        """Open the index anew and look into its collections, at most so many.

        Raises IndexUnavailable, with the cure, for the first that is not sound.
        """
        self._not_closed()
        with self._database.read() as connection:
            names = sorted(IndexMeta(connection, self._database.dialect).editions())
        if not names:
            return
        self._handle.prepare()
        try:
            with self._loading():
                self._handle.reopen()
                for name in names[:most]:
                    self._handle.retried(name, partial(self._load_now, name))
        except StoreLocked as error:
            raise IndexUnavailable("Another process feeds or rebuilds the index just now. Ask again.") from error

    def verify(self) -> IndexReport:
        """Compare every id and vector with the database; collections that lack or misstate any are marked."""
        self._not_closed()
        return self._upkeep.verify()

    def rebuild(self, collections: Sequence[str] | None = None, *, progress: Progress | None = None) -> Rebuilt:
        """Make collections anew from the stored vectors, all when None; no vector is computed again.

        Each serves as it is until its new edition is complete. A folder that cannot be used is moved
        beside itself with a note.
        """
        self._not_closed()
        if collections is None:
            self._handle.take_over()
        return self._upkeep.rebuild(collections, progress=progress)

    def prune_orphans(self) -> Pruned:
        """Remove vectors, collections and files that nothing in the database asks for."""
        self._not_closed()
        return self._upkeep.prune_orphans()

    def state(self) -> IndexState:
        """Return how the index stands, from the database alone."""
        return state_of(self._database)

    def close(self) -> None:
        """Close the client; safe to repeat."""
        self._closed = True
        self._handle.close()

    def _not_closed(self) -> None:
        if self._closed:
            raise Closed("This index was closed. Open the memory again.")

    def _standing(self, collection: str) -> Standing:
        with self._database.read() as connection:
            return self._sound(IndexMeta(connection, self._database.dialect).standing(collection))

    @staticmethod
    def _sound(standing: Standing) -> Standing:
        if standing.fault:
            raise IndexUnavailable(f"{standing.fault} {CURE}")
        return standing

    def _ask(self, name: str, standing: Standing, asked: NDArray[np.float32], limit: int) -> Nearest:
        loaded = self._fresh(name, standing) or self._load(name)
        try:
            return _answer(loaded, asked, limit)
        except IndexDamaged:  # or the collection was rebuilt elsewhere just now
            with self._loading():
                self._handle.reopen()
                return self._handle.retried(name, lambda: _answer(self._load_now(name), asked, limit))

    def _fresh(self, name: str, standing: Standing) -> Loaded | None:
        """Return the collection as loaded when it lags little enough, with `seen` brought up to date."""
        opened = self._handle.opened()
        loaded = opened.loaded.get(name) if opened else None
        edition = standing.edition
        if loaded is None or edition is None or loaded.edition.number != edition.number:
            return None
        if loaded.edition == edition or self._handle.remote:
            loaded.seen = max(loaded.seen, standing.applied)
        elif edition.changes - loaded.edition.changes > _MOST_STALE:
            return None
        return loaded

    def _load(self, name: str) -> Loaded:
        """Load a collection anew; one that lags will do while another process keeps the lock."""
        self._handle.prepare()
        opened = self._handle.opened()
        lagging = opened.loaded.get(name) if opened else None
        try:
            with self._loading():
                return self._handle.retried(name, lambda: self._load_now(name))
        except StoreLocked as error:
            standing = self._standing(name)
            if lagging and standing.edition and lagging.edition.number == standing.edition.number:
                return lagging
            raise IndexUnavailable(
                f"Collection {name} cannot be loaded while another process feeds or rebuilds the index. Ask again."
            ) from error

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """Hold the folder lock, but do not wait for it again and again while one process keeps it."""
        if self._handle.remote:
            yield
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(self._handle.lock.held(wait_seconds=_LOAD_SECONDS if self._patient else 0.0))
            except StoreLocked:
                self._patient = False
                raise
            except StoreReadOnly as error:
                raise IndexUnavailable(f"The index cannot be opened without its lock: {error}") from error
            self._patient = True
            yield

    def _load_now(self, name: str) -> Loaded:
        standing = self._standing(name)
        if standing.edition is None:
            raise ClientClosed(f"Collection {name} was removed meanwhile.")
        loaded = self._handle.current().loaded.get(name)
        if loaded is not None and loaded.edition != standing.edition and not self._handle.remote:
            self._handle.reopen()
        return self._handle.touch(name, standing.edition, applied=standing.applied)

    def _follow(self, batch: Batch) -> Settled:
        """Bring one batch into the index; the lock is held."""
        if EVERYTHING in batch.faults:  # its rebuild reads the database, so nothing is lost here
            return self._feed.settle(batch, Outcome(), generation=batch.generation)
        if self._handle.current().generation != batch.generation:
            self._handle.reopen()
        generation, store = self._feed.announce()
        complete = None
        try:
            self._handle.begin(store, generation)
            outcome = self._apply(batch, generation)
            settled = self._feed.settle(batch, outcome, generation=generation)
            self._handle.settled(outcome.editions, applied=settled.applied)
            complete = generation
        finally:
            self._handle.end(complete)
        return settled

    def _apply(self, batch: Batch, generation: int) -> Outcome:
        outcome = Outcome()
        for name, changes in batch.changes.items():
            if name in batch.faults:
                continue
            edition = batch.editions.get(name)
            if edition is None and all(change.embedding is None for change in changes):
                continue  # it never came into the index
            try:
                refused = self._handle.retried(
                    name, partial(self._apply_to, name, changes, edition or Edition(generation), batch)
                )
            except IndexDamaged:
                continue  # marked; its rebuild reads the database
            before = edition or Edition(generation)
            outcome.editions[name] = Edition(before.number, before.changes + len(changes))
            if refused:
                outcome.refused[name] = refused
        return outcome

    def _apply_to(self, name: str, changes: Sequence[Change], edition: Edition, batch: Batch) -> dict[str, str]:
        """Bring changes into one collection; return the refused vectors with the reason."""
        if name in batch.editions:
            loaded = self._handle.touch(name, edition, applied=batch.applied)
        else:
            loaded = self._handle.make(name, edition, applied=batch.applied)
            self._handle.switch(name, loaded)
        refused = put(loaded, [(c.item_id, c.embedding) for c in changes if c.embedding is not None])
        gone = [change.item_id for change in changes if change.embedding is None or change.item_id in refused]
        if not loaded.empty:
            loaded.collection.remove(gone)
        return refused


def _answer(loaded: Loaded, asked: NDArray[np.float32], limit: int) -> Nearest:
    seen = loaded.seen  # before the question: what is loaded only grows
    if loaded.empty:
        return Nearest([], seen)
    try:
        found = loaded.collection.query(asked, limit)
    except VectorRefused as error:
        raise IndexUnavailable(other_width(loaded.collection.name, asked, str(error))) from error
    if len(found) < limit and len(found) < loaded.collection.count():
        seen = _NOTHING  # HNSW can leave a vector that no path leads to; so few are scanned in no time
    return Nearest([Neighbour(id_, similarity) for id_, similarity in found], seen)
