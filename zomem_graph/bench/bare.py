"""The bare parts of a hybrid search over the same texts and vectors: one MATCH, one Chroma query, one fetch.

The MATCH is inside a scope, as a store of several people needs it. No fusion, no states, no explanation:
what any product on these parts has to pay.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings
from numpy.typing import NDArray
from sqlalchemy import (
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    insert,
    select,
    text,
)

from zomem_graph.bench.synthetic import Said
from zomem_graph.stores.words import match_scoped, scope_token, search_text, terms

__all__ = ["BareParts"]

_COLUMNS = ("scope", "me", "prev", "next", "date")
_WEIGHTS = "0.0, 1.0, 0.5, 0.3, 1.0"
_SCOPE = scope_token("bare", "bench")
_BATCH = 5_000

_rows = Table(
    "rows",
    MetaData(),
    Column("num", Integer, primary_key=True),
    Column("id", String),
    Column("speaker", String),
    Column("said", String),
    Column("at", Float),
)


class BareParts:
    """SQLite through SQLAlchemy Core and one Chroma collection, nothing between them."""

    def __init__(self, folder: Path, sessions: Sequence[Sequence[Said]], vectors: NDArray[np.float32]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(f"sqlite:///{folder / 'bare.db'}")
        with self._engine.begin() as connection:
            connection.exec_driver_sql("pragma journal_mode=wal")
            _rows.create(connection)
            _fill_words(connection, sessions)
        client = chromadb.PersistentClient(str(folder / "chroma"), Settings(anonymized_telemetry=False))
        self._collection = client.create_collection(
            "bare", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        for start in range(0, len(vectors), _BATCH):
            part = vectors[start : start + _BATCH]
            ids = [str(number) for number in range(start, start + len(part))]
            self._collection.add(ids=ids, embeddings=part)

    def search(self, question: str, vector: NDArray[np.float32], *, pool: int, limit: int) -> list[str]:
        """Run the three parts one after another and return the texts of `limit` rows."""
        with self._engine.connect() as connection:
            by_words = self.by_words(connection, question, pool)
            asked: Any = [vector]
            near = self._collection.query(query_embeddings=asked, n_results=pool, include=["distances"])
            wanted = [*by_words[: limit // 2], *map(int, near["ids"][0])][:limit]
            rows = connection.execute(select(_rows).where(_rows.c.num.in_(wanted)))
            return [row.said for row in rows.all()]

    def by_words(self, connection: Connection, question: str, pool: int) -> list[int]:
        """Return the numbers of the best rows by words."""
        match = match_scoped(terms(question), _COLUMNS[1:], [_SCOPE])
        if match is None:
            return []
        found = connection.execute(
            text(
                f"select rowid, bm25(words, {_WEIGHTS}) as score from words where words match :match"
                " order by score limit :pool"
            ),
            {"match": match, "pool": pool},
        )
        return [row[0] for row in found.all()]

    def close(self) -> None:
        """Release the database; Chroma goes with the process."""
        self._engine.dispose()


def _fill_words(connection: Connection, sessions: Sequence[Sequence[Said]]) -> None:
    names = ", ".join(_COLUMNS)
    connection.exec_driver_sql(
        f"create virtual table words using fts5({names}, tokenize='porter unicode61 remove_diacritics 2')"
    )
    number = 0
    for session in sessions:
        rows, words = [], []
        for place, said in enumerate(session):
            rows.append(
                {
                    "num": number,
                    "id": str(number),
                    "speaker": said.speaker,
                    "said": said.text,
                    "at": said.at.timestamp(),
                }
            )
            before = session[place - 1].text if place else ""
            after = session[place + 1].text if place + 1 < len(session) else ""
            parts = (f"{said.speaker}: {said.text}", before, after, f"{said.at:%d %B %Y %A}")
            words.append((number, _SCOPE, *map(search_text, parts)))
            number += 1
        connection.execute(insert(_rows), rows)
        connection.exec_driver_sql(f"insert into words(rowid, {names}) values(?, ?, ?, ?, ?, ?)", words)
