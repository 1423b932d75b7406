"""One open Chroma, in a folder of ours or on a server, reduced to the few calls an index needs.

Chroma gets ids and vectors only: no text, no metadata, no filters. Its errors become ours, so that a
damaged index, a refused vector and a server that does not answer are three different things.
chromadb costs half a second to import, so it is imported when the first client is opened.
"""

import ctypes
import os
import re
import secrets
import sqlite3
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.errors import IndexUnavailable

__all__ = [
    "ChromaClient",
    "ChromaCollection",
    "ClientClosed",
    "IndexDamaged",
    "VectorRefused",
    "damaged_collections",
    "load_chroma",
    "orphan_folders",
    "sessions_of",
    "wipe_free_pages",
]

# ef_search 400, of 200 asked for: of the ten nearest of 2,500 chat turns (e5) .9995 are found, with 200 .996; of
# random projections, the hardest, .98 of 10,000 and .93 of 40,000, with 200 .93 and .85. It costs a search 0.2 and
# 0.8 ms there. A collection keeps what it was made with until it is rebuilt. sync_threshold 100: opening
# replays at most 100 changes; the default replays 1,000 and costs ten times as much (docs/substrate.md).
_CONFIGURATION = {"hnsw": {"space": "cosine", "ef_search": 400, "sync_threshold": 100}}
_MOST_VECTORS = 32  # a call: writing holds the interpreter's lock, and an event loop must not wait 100 ms
_MOST_NUMBERS = 32 * 384  # the same for wide vectors
_READ_SECONDS, _CONNECT_SECONDS = 5.0, 2.0
_DATABASE_FILE = "chroma.sqlite3"
_SEGMENT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What SQLite and the system say when the index itself is well: busy, locked, read-only, disk error, disk
# full, cannot open; no memory, no permission, too many files, no space, read-only file system, quota.
_PASSING_CODES = {5, 6, 8, 10, 13, 14}
_SHORT_READ = 522  # an extended disk error that is damage after all: the file ends too early
_PASSING_ERRNOS = {12, 13, 23, 24, 28, 30, 122}
_CODE = re.compile(r"\(code: (\d+)\)")
_ERRNO = re.compile(r"os error (\d+)\)")


class IndexDamaged(IndexUnavailable):
    """The index has lost or spoilt something; it must be rebuilt."""


class VectorRefused(IndexUnavailable):
    """Chroma will not take or compare this vector; the index itself is well."""


class ClientClosed(IndexUnavailable):
    """The client was closed by another thread between two calls; ask again with the new one."""


def load_chroma(*, remote: bool) -> None:
    """Import chromadb, before any lock is held; raise IndexUnavailable where it would hang."""
    if _loaded_in() != os.getpid() and not remote:
        raise IndexUnavailable(
            "This process was forked from one that had opened the index, and Chroma does not survive that. "
            "Stored vectors are compared one by one here; start workers by spawn, or open the memory in them."
        )


@cache
def _loaded_in() -> int:
    """Return the process that loaded Chroma. Its thread pool is missing in any child forked later."""
    import chromadb  # noqa: F401

    return os.getpid()


class ChromaCollection:
    """One collection of an open client."""

    def __init__(self, client: "ChromaClient", collection: Any, name: str) -> None:
        self._client = client
        self._collection = collection
        self.name = name

    def count(self) -> int:
        """Return how many ids the collection has; says nothing about its vectors."""
        with self._client.call():
            return int(self._collection.count())

    def upsert(self, ids: Sequence[str], vectors: Sequence[NDArray[np.float32]]) -> None:
        """Put vectors in, in parts small enough for an event loop in the same process."""
        for start in range(0, len(ids), size := self._client.part_size(len(vectors[0]))):
            part = slice(start, start + size)
            with self._client.call():
                self._collection.upsert(ids=list(ids[part]), embeddings=list(vectors[part]))

    def remove(self, ids: Sequence[str]) -> None:
        """Take vectors out; ids that are not there do not matter."""
        for start in range(0, len(ids), _MOST_VECTORS):
            with self._client.call():
                self._collection.delete(ids=list(ids[start : start + _MOST_VECTORS]))

    def query(self, vector: NDArray[np.float32], limit: int) -> list[tuple[str, float]]:
        """Return (id, cosine similarity) of the nearest, best first."""
        with self._client.call():
            said = self._collection.query(query_embeddings=[vector], n_results=limit, include=["distances"])
        return [(id_, 1.0 - float(far)) for id_, far in zip(said["ids"][0], said["distances"][0], strict=True)]

    def page(self, *, limit: int, offset: int) -> list[tuple[str, NDArray[np.float32]]]:
        """Return (id, vector) of a part of the collection."""
        with self._client.call():
            said = self._collection.get(limit=limit, offset=offset, include=["embeddings"])
        return list(zip(said["ids"], np.asarray(said["embeddings"], dtype=np.float32), strict=True))

    def ids(self, *, limit: int, offset: int) -> list[str]:
        """Return the ids of a part of the collection."""
        with self._client.call():
            return list(self._collection.get(limit=limit, offset=offset, include=[])["ids"])


class ChromaClient:
    """One open client; every call of an embedded one is made alone."""

    def __init__(self, client: Any, place: str, *, sessions: Sequence[Any] = ()) -> None:
        self._client = client
        self._place = place
        self._sessions = sessions
        self._turn: AbstractContextManager[Any] = nullcontext() if sessions else threading.RLock()
        self._closed = False
        self._largest = int(client.get_max_batch_size())

    @classmethod
    def in_folder(cls, folder: Path) -> "ChromaClient":
        """Open or create the index in a folder; raise IndexDamaged when it cannot be one."""
        import chromadb
        from chromadb.config import Settings

        settings = Settings(_env_file=None, anonymized_telemetry=False)  # one object a client: Chroma writes in it
        with _said_clearly(str(folder)):
            client = chromadb.PersistentClient(path=_spelling_of_its_own(folder), settings=settings)
            (folder / _DATABASE_FILE).chmod(0o600)
            return cls(client, str(folder))

    @classmethod
    def on_server(cls, url: str) -> "ChromaClient":
        """Connect to a Chroma server; raise IndexUnavailable when it does not answer in time."""
        import chromadb
        import httpx
        from chromadb.config import Settings

        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.hostname}:{parts.port or 8000}"
        secure = parts.scheme == "https"
        settings = Settings(_env_file=None, anonymized_telemetry=False)
        timeout = httpx.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)
        with _said_clearly(place):
            # Chroma's own client waits for ever, in its constructor too: ask first, then bound its session.
            httpx.get(f"{place}/api/v2/heartbeat", timeout=timeout).raise_for_status()
            client = chromadb.HttpClient(
                host=parts.hostname or "localhost", port=parts.port or 8000, ssl=secure, settings=settings
            )
            sessions = sessions_of(client)
            for session in sessions:
                session.timeout = timeout
            return cls(client, place, sessions=sessions)

    def find(self, name: str) -> ChromaCollection | None:
        """Return a collection, or None when there is none of that name."""
        from chromadb.errors import NotFoundError

        try:
            with self.call():
                return ChromaCollection(self, self._client.get_collection(name, embedding_function=None), name)
        except IndexDamaged as error:
            if isinstance(error.__cause__, NotFoundError):
                return None
            raise

    def make(self, name: str) -> ChromaCollection:
        """Return a collection, made when it is not there."""
        with self.call():
            made = self._client.get_or_create_collection(name, configuration=_CONFIGURATION, embedding_function=None)
        return ChromaCollection(self, made, name)

    def drop(self, name: str) -> bool:
        """Remove a collection; return whether it was there."""
        if self.find(name) is None:
            return False
        with self.call():
            self._client.delete_collection(name)
        return True

    def names(self, prefix: str) -> list[str]:
        """Return the names of all collections that begin so."""
        found: list[str] = []
        while True:
            with self.call():
                page = self._client.list_collections(limit=500, offset=len(found))
            if not page:
                return sorted(name for name in found if name.startswith(prefix))
            found.extend(collection.name for collection in page)

    def part_size(self, width: int) -> int:
        """Return how many vectors of this width one call may carry."""
        return max(1, min(_MOST_VECTORS, _MOST_NUMBERS // max(1, width), self._largest))

    @contextmanager
    def call(self) -> Iterator[None]:
        """Make one call of Chroma: alone when embedded, and with its errors turned into ours."""
        with self._turn:
            if self._closed:
                raise ClientClosed(f"The index in {self._place} was closed meanwhile.")
            with _said_clearly(self._place):
                yield

    def close(self) -> None:
        """Close the client; a call that runs ends first."""
        with self._turn:
            if not self._closed:
                self._closed = True
                self._client.close()
                for session in self._sessions:
                    session.close()  # Chroma leaves its connections open

    def abandon(self) -> None:
        """Leave a client that a fork inherited: closing it waits for threads the child has not got.

        It is kept for good, or its destructor would wait for them at the child's exit.
        """
        self._closed = True
        if not self._sessions:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._client))


@contextmanager
def _said_clearly(place: str) -> Iterator[None]:
    """Turn what Chroma raises into damage, refusal or absence."""
    import httpx
    from chromadb.errors import ChromaError, DuplicateIDError, InvalidArgumentError

    try:
        yield
    except (InvalidArgumentError, DuplicateIDError) as error:
        raise VectorRefused(str(error)) from error
    except ChromaError as error:
        if _is_passing(str(error)):
            raise IndexUnavailable(
                f"The index in {place} cannot be used just now: {error}. Free some room or wait for who holds it, "
                "then try again; nothing is lost."
            ) from error
        raise IndexDamaged(f"The index in {place} is damaged: {error}") from error
    except (httpx.HTTPError, OSError) as error:
        raise IndexUnavailable(f"The index at {place} does not answer ({error!r}). Start it, or wait.") from error
    except ValueError as error:  # a vector it cannot read; while connecting, a server that went away
        raise VectorRefused(f"{place}: {error}") from error


def _is_passing(said: str) -> bool:
    """Return whether an internal error of Chroma is about its surroundings, not about the index."""
    code, errno = _CODE.search(said), _ERRNO.search(said)
    if code:
        return int(code[1]) != _SHORT_READ and int(code[1]) & 0xFF in _PASSING_CODES
    return "timed out" in said or bool(errno and int(errno[1]) in _PASSING_ERRNOS)


def _spelling_of_its_own(folder: Path) -> str:
    """Return the folder's path spelt as no other client spells it.

    Chroma shares one open index between all clients of one path in a process, and a fork inherits it. A
    client that must see what other processes wrote has to be opened anew, whoever else has one.
    """
    marks = f"{secrets.randbits(40):040b}".replace("0", "/").replace("1", "/.")
    return f"{folder}{marks}"


def sessions_of(client: Any) -> list[Any]:
    """Return the HTTP sessions inside Chroma's client: not public, so their absence must be loud."""
    owners = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(owner, "_server", None), "_session", None) for owner in owners]
    if not all(hasattr(session, "timeout") for session in sessions):
        raise IndexUnavailable(
            "This version of chromadb keeps its HTTP sessions elsewhere, so no timeout can be set. "
            'Install the supported one: pip install "chromadb>=1.5,<1.6".'
        )
    return sessions


def damaged_collections(folder: Path) -> dict[str, str]:
    """Return collections whose files in the folder are torn, with what is wrong.

    Chroma crashes the process on some of them, so they must be known before it loads any. The caller
    holds the folder lock.
    """
    torn = {
        path.name: fault
        for path in (folder.iterdir() if folder.is_dir() else ())
        if _SEGMENT.fullmatch(path.name) and (fault := _torn(path))
    }
    if not torn:
        return {}
    ChromaClient.in_folder(folder).close()  # a writer that died left a journal, which is Chroma's to undo
    rows = _read(folder, "select s.id, c.name from segments s join collections c on s.collection = c.id")
    return {name: torn[segment] for segment, name in rows if segment in torn}


def orphan_folders(folder: Path) -> list[Path]:
    """Return folders of vectors that no collection owns any more. The caller holds the folder lock."""
    owned = {segment for (segment,) in _read(folder, "select id from segments")}
    return [path for path in sorted(folder.iterdir()) if _SEGMENT.fullmatch(path.name) and path.name not in owned]


def wipe_free_pages(folder: Path) -> None:
    """Rewrite Chroma's own database without what was deleted from it, which it only marks as free.

    The caller holds the folder lock and has closed its client.
    """
    file = folder / _DATABASE_FILE
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(file, isolation_level=None, timeout=10)) as connection:
            connection.execute("pragma secure_delete=on")
            connection.execute("vacuum")
    except sqlite3.OperationalError as error:
        raise IndexUnavailable(
            f"The index in {folder} was rebuilt, but deleted vectors may still be in {file.name} ({error}). "
            "Rebuild once more when nobody uses it."
        ) from error


def _read(folder: Path, statement: str) -> list[tuple[Any, ...]]:
    """Read Chroma's own database, with no client of ours open in this process."""
    file = folder.resolve() / _DATABASE_FILE
    if not file.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(statement).fetchall()
    except sqlite3.DatabaseError as error:
        raise IndexDamaged(f"The index in {folder} is damaged: {error}") from error


def _torn(segment: Path) -> str | None:
    """Return why the files of one HNSW index cannot belong together, or None.

    The header says how many elements there are and how large each is (hnswlib's layout, version 1).
    """
    header = segment / "header.bin"
    if not header.exists():
        return None
    data = header.read_bytes()
    if len(data) < 100:
        return f"header.bin has {len(data)} bytes"
    version, _offset, room, count, size = struct.unpack_from("<i4Q", data)
    if version != 1:
        return None
    elements = count or room
    for name, least in (
        ("data_level0.bin", elements * size),
        ("length.bin", elements * 4),
        ("link_lists.bin", count * 4),
    ):
        file = segment / name
        found = file.stat().st_size if file.exists() else -1
        if found < least:
            return f"{name} has {found} bytes of {least}"
    return None
