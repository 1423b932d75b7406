"""What differs between databases, as one narrow contract: `sqlite.py` and `postgres.py` fulfil it.

Another database needs one more file and no change elsewhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, TableClause
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.dml import Insert

from zomem_graph.stores.errors import StoreError
from zomem_graph.stores.lock import Lock

__all__ = ["Dialect", "WordsHit", "WordsQuery"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsQuery:
    """One search by words: terms joined by OR, within personas, kinds and live or all states.

    `weights` are for the columns self, prev, next, date, title in that order. `within` is one more scope
    token that every item found must have.
    """

    terms: Sequence[str]
    personas: Sequence[str]
    kinds: Sequence[str]
    weights: tuple[float, float, float, float, float] = (1.0, 0.5, 0.3, 1.0, 2.0)
    limit: int = 200
    live_only: bool = True
    since: datetime | None = None
    until: datetime | None = None
    within: str | None = None


@dataclass(frozen=True, slots=True)
class WordsHit:
    """An item found by words; `score` is BM25, larger is better."""

    num: int
    score: float


class Dialect(Protocol):
    """A database's own ways: opening, full text, inserting only what is new."""

    name: str

    def create_engine(self, url: str) -> Engine:
        """Return an engine whose reads never block and whose writes queue."""
        ...

    def reader(self, engine: Engine) -> Engine:
        """Return the same engine for transactions that only read."""
        ...

    def check(self, connection: Connection) -> None:
        """Raise StoreError for a database that cannot hold a memory."""
        ...

    def lock(self, engine: Engine, file: Path, place: str) -> Lock:
        """Return the lock of who may change the schema or feed the index; `file` is for one on this machine."""
        ...

    def create_fulltext(self, connection: Connection) -> None:
        """Make the full-text structures over `items`; safe to repeat."""
        ...

    def drop_fulltext(self, connection: Connection) -> None:
        """Remove them again."""
        ...

    def rebuild_fulltext(self, connection: Connection) -> None:
        """Fill the full text again from `items`."""
        ...

    def scrub_fulltext(self, connection: Connection) -> None:
        """Leave nothing in the full text of words that were deleted."""
        ...

    def fulltext_fault(self, connection: Connection) -> str | None:
        """Return what is wrong with the full text, or None."""
        ...

    def search_words(self, connection: Connection, query: WordsQuery) -> list[WordsHit]:
        """Return the best items by words; an empty query gives an empty list."""
        ...

    def document_frequencies(self, connection: Connection, stems: Sequence[str]) -> dict[str, int]:
        """Return in how many items each stem occurs; stems that occur nowhere are left out."""
        ...

    def insert_new(self, table: TableClause) -> Insert:
        """Return an INSERT that leaves existing rows alone."""
        ...

    def upsert(self, table: TableClause, keys: Iterable[str], changed: Iterable[str]) -> Insert:
        """Return an INSERT that updates `changed` when `keys` already stand."""
        ...

    def database_fault(self, connection: Connection) -> str | None:
        """Return what the database's own integrity check says, or None when it is content."""
        ...

    def compact(self, engine: Engine, place: str) -> list[str]:
        """Rewrite the tables without what was deleted from them; return what could not be done."""
        ...

    def contents(self, connection: Connection) -> Iterator[tuple[str, bytes]]:
        """Yield every row that is kept, as (table, bytes), where no file of the home holds them."""
        ...

    def named(self, error: DBAPIError, place: str) -> StoreError:
        """Return what a failure means, and what to do about it."""
        ...
