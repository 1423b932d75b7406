"""One small adapter a peer, all of one shape. Each imports its peer when it is made, so that none must be there."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from benchmarks.peers.vectors import ForLangChain, Recorded
from benchmarks.peers.workload import Fact

__all__ = ["ENGINES", "Engine"]

_BATCH = 500


class Engine(Protocol):
    """What is measured: facts go in once, then questions are asked in the name of a user."""

    def fill(self, facts: Sequence[Fact]) -> None:
        """Store the facts and return when each of them can be found."""
        ...

    def search(self, user: str, text: str, limit: int) -> list[str]:
        """Return the ids of the user's facts that answer best, best first."""
        ...


@contextmanager
def memory_engine(folder: Path, vectors: Recorded) -> Iterator[Engine]:
    """Lend `Memory`: turns by `observe` with speaker, session and time, found by `search`."""
    from zomem_graph.memory import Memory

    with Memory.open(folder, embeddings=vectors) as memory:
        yield _Memory(memory)


@contextmanager
def memory_store_engine(folder: Path, vectors: Recorded) -> Iterator[Engine]:
    """Lend `MemoryStore`: what the stores of LangGraph get, and nothing else."""
    from zomem_graph.memory import Memory
    from zomem_graph.store import MemoryStore

    with Memory.open(folder, embeddings=vectors) as memory:
        yield _Store(MemoryStore(memory, fields=["text"]), ready=memory.flush)


@contextmanager
def in_memory_store_engine(folder: Path, vectors: Recorded) -> Iterator[Engine]:
    """Lend LangGraph's InMemoryStore, which keeps nothing on disk."""
    from langgraph.store.memory import InMemoryStore

    yield _Store(InMemoryStore(index=_index(vectors)))


@contextmanager
def sqlite_store_engine(folder: Path, vectors: Recorded) -> Iterator[Engine]:
    """Lend LangGraph's SqliteStore; pysqlite3 stands in where Python's own module loads no extensions."""
    import sqlite3
    import sys

    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        sys.modules["sqlite3"] = __import__("pysqlite3")
    from langgraph.store.sqlite import SqliteStore

    # It reads "text_fields" where the others read "fields".
    with SqliteStore.from_conn_string(str(folder / "store.db"), index=_index(vectors, fields="text_fields")) as store:
        store.setup()
        yield _Store(store)


@contextmanager
def langmem_engine(folder: Path, vectors: Recorded) -> Iterator[Engine]:
    """Lend langmem's tools over InMemoryStore, as an agent would call them."""
    from langgraph.store.memory import InMemoryStore

    yield _LangMem(InMemoryStore(index=_index(vectors, field="content")))


@contextmanager
def chroma_engine(folder: Path, vectors: Recorded) -> Iterator[Engine]:
    """Lend one Chroma collection, asked with a filter for the user."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    yield _Chroma(
        client.create_collection("facts", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}),
        vectors,
    )


@contextmanager
def mem0_engine(folder: Path, vectors: Recorded) -> Iterator[Engine]:
    """Lend mem0 as `pip install mem0ai` makes it, texts stored as they are: local Qdrant, no model, no telemetry."""
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"))
    from mem0 import Memory

    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(folder / "qdrant"), "embedding_model_dims": vectors.width, "on_disk": True},
            },
            # Both are made but never asked: texts are stored as they are, and vectors come from the table.
            "llm": {"provider": "openai", "config": {"api_key": "not used"}},
            "embedder": {"provider": "openai", "config": {"api_key": "not used"}},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = _ForMem0(vectors)
    yield _Mem0(memory)
    memory.close()


ENGINES: Mapping[str, Callable[[Path, Recorded], AbstractContextManager[Engine]]] = {
    "zomem": memory_engine,
    "zomem-store": memory_store_engine,
    "mem0": mem0_engine,
    "langmem": langmem_engine,
    "inmemory-store": in_memory_store_engine,
    "sqlite-store": sqlite_store_engine,
    "chroma": chroma_engine,
}


class _Memory:
    def __init__(self, memory: Any) -> None:
        from zomem_graph.nodes.scope import Scope

        self._memory = memory
        self._scope = Scope

    def fill(self, facts: Sequence[Fact]) -> None:
        for (user, session), said in groupby(facts, key=lambda fact: (fact.user, fact.session)):
            self._memory.observe(map(_message, said), scope=self._scope(persona=user), session=session)
        self._memory.flush()

    def search(self, user: str, text: str, limit: int) -> list[str]:
        hits = self._memory.search(text, scope=self._scope(persona=user), limit=limit)
        return [hit.metadata["fact"] for hit in hits]


class _Store:
    """Any BaseStore: a namespace a user, the text as the one field that is searched."""

    def __init__(self, store: Any, *, ready: Callable[[], object] = lambda: None) -> None:
        self._store = store
        self._ready = ready

    def fill(self, facts: Sequence[Fact]) -> None:
        from langgraph.store.base import PutOp

        for batch in _batches(facts):
            self._store.batch([PutOp(("facts", fact.user), fact.id, {"text": fact.text}) for fact in batch])
        self._ready()

    def search(self, user: str, text: str, limit: int) -> list[str]:
        return [item.key for item in self._store.search(("facts", user), query=text, limit=limit)]


class _LangMem:
    def __init__(self, store: Any) -> None:
        from langmem import create_manage_memory_tool, create_search_memory_tool

        self._keep = create_manage_memory_tool(("facts", "{user}"), store=store)
        self._find = create_search_memory_tool(
            ("facts", "{user}"), store=store, response_format="content_and_artifact"
        )
        self._facts: dict[str, str] = {}

    def fill(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            said = self._keep.invoke({"content": fact.text, "action": "create"}, _as(fact.user))
            self._facts[said.split()[-1]] = fact.id  # "created memory ID"

    def search(self, user: str, text: str, limit: int) -> list[str]:
        call = {"type": "tool_call", "id": "1", "name": "search_memory", "args": {"query": text, "limit": limit}}
        return [self._facts[item.key] for item in self._find.invoke(call, _as(user)).artifact]


class _Chroma:
    def __init__(self, collection: Any, vectors: Recorded) -> None:
        self._collection = collection
        self._vectors = vectors

    def fill(self, facts: Sequence[Fact]) -> None:
        for batch in _batches(facts):
            texts = [fact.text for fact in batch]
            self._collection.add(
                ids=[fact.id for fact in batch],
                embeddings=self._vectors.embed_documents(texts),
                documents=texts,
                metadatas=[{"user": fact.user} for fact in batch],
            )

    def search(self, user: str, text: str, limit: int) -> list[str]:
        found = self._collection.query(
            query_embeddings=[self._vectors.embed_query(text)], n_results=limit, where={"user": user}
        )
        ids: list[str] = found["ids"][0]
        return ids


class _Mem0:
    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._facts: dict[str, str] = {}

    def fill(self, facts: Sequence[Fact]) -> None:
        for user, all_of_user in groupby(facts, key=lambda fact: fact.user):
            for batch in _batches(list(all_of_user)):
                messages = [{"role": "user", "content": fact.text} for fact in batch]
                added = self._memory.add(messages, user_id=user, infer=False)["results"]
                self._facts.update((kept["id"], fact.id) for kept, fact in zip(added, batch, strict=True))

    def search(self, user: str, text: str, limit: int) -> list[str]:
        found = self._memory.search(text, filters={"user_id": user}, top_k=limit, threshold=0.0)
        return [self._facts[each["id"]] for each in found["results"]]


class _ForMem0:
    """The table as mem0 asks for vectors."""

    def __init__(self, vectors: Recorded) -> None:
        self._vectors = ForLangChain(vectors)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._vectors.embed_query(text)

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return self._vectors.embed_documents(texts)


def _index(vectors: Recorded, *, fields: str = "fields", field: str = "text") -> Any:
    return {"dims": vectors.width, "embed": ForLangChain(vectors), fields: [field]}


def _message(fact: Fact) -> dict[str, Any]:
    return {
        "role": "user",
        "content": fact.said,
        "name": fact.speaker,
        "at": fact.at,
        "id": fact.id,
        "metadata": {"fact": fact.id},
    }


def _as(user: str) -> Any:
    return {"configurable": {"user": user}}


def _batches(facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    """Yield at most 500 facts at a time, no text twice: InMemoryStore refuses a batch with two equal texts."""
    batch: dict[str, Fact] = {}
    for fact in facts:
        if len(batch) >= _BATCH or fact.text in batch:
            yield list(batch.values())
            batch = {}
        batch[fact.text] = fact
    if batch:
        yield list(batch.values())
