"""The searchable side of every fact, turn, episode and loop: words, vector, scope, state."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, String, bindparam, delete, func, insert, select, type_coerce, update

from zomem_graph.stores import sql
from zomem_graph.stores.collection_counts import CollectionCounts
from zomem_graph.stores.columns import ESCAPED, faithful, unescaped
from zomem_graph.stores.dialect import Dialect, WordsHit, WordsQuery
from zomem_graph.stores.driver import marks, plain
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.outbox import Outbox, collection_name
from zomem_graph.stores.records import Item
from zomem_graph.stores.stems import stems_among
from zomem_graph.stores.tokens import Tokens
from zomem_graph.stores.words import scope_words, search_text

__all__ = ["Candidate", "Items", "NewItem", "VectorRows"]

_t = sql.items.c
_m = sql.mentions.c
_ANY_NUMBER = _t.num.in_(bindparam("nums", expanding=True))
# What every search asks is built once: to build a statement costs as much as to run it.
_ID = type_coerce(_t.id, String)  # made by us, nothing in it to escape
_NUMBERS = select(_ID, _t.num).where(_ID.in_(bindparam("ids", expanding=True)))
_COLLECTION = select(_t.num, _t.embedding).where(
    _t.persona == bindparam("persona"),
    _t.kind == bindparam("kind"),
    _t.embedder == bindparam("space"),
    _t.vec_seq > bindparam("after"),
)
_LIVE_COLLECTION = _COLLECTION.where(_t.state == "current")
_HIGHEST = select(func.max(_t.num))
_SPEAKERS = (
    select(sql.speakers.c.name).where(sql.speakers.c.persona.in_(bindparam("personas", expanding=True))).distinct()
)
_TO_EMBED = (
    select(_t.num, _t.id, _t.persona, _t.kind, _t.embedder, _t.text_hash)
    .where(_ANY_NUMBER, _t.state == "current")
    .order_by(_t.num)
)
_EMBED = (
    update(sql.items)
    .where(_t.num == bindparam("of"))
    .values(embedder=bindparam("space"), embedding=bindparam("vector"), vec_seq=bindparam("seq"))
)
_T = TypeVar("_T")
_PART = 500  # numbers a statement
_LEAST_TOTAL = 100  # items from which a share of them says how rare a word is
_NEIGHBOUR_CHARS = 2_000  # of a neighbour's text; enough for its words, small for the index


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """What is needed to make something searchable.

    `entities` are normal forms; `scopes` are more scope tokens, by which a search by words can be narrowed.
    """

    id: str
    kind: str
    persona: str
    text: str
    created_at: datetime
    title: str = ""
    date_words: str = ""
    prev: str = ""
    next: str = ""
    thread: str | None = None
    session: str | None = None
    speaker: str | None = None
    expires_at: datetime | None = None
    entities: Sequence[str] = ()
    scopes: Sequence[str] = ()


class Candidate(NamedTuple):
    """What ranking needs of an item."""

    num: int
    id: str
    kind: str
    persona: str
    session: str | None
    speaker: str | None
    state: str
    created_at: float
    expires_at: float | None
    ended_at: float | None
    text_hash: str
    thread: str | None

    @property
    def moment(self) -> datetime:
        """When it came to be, as an aware time."""
        return datetime.fromtimestamp(self.created_at, UTC)


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Vectors of one collection: `nums` and `matrix` (rows, width) in the same order."""

    nums: list[int]
    matrix: NDArray[np.float32]


class Items:
    """Reads and writes `items` and `mentions` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect
        self._outbox = Outbox(connection)
        self._collections = CollectionCounts(connection, dialect)
        self._tokens = Tokens(connection, dialect)
        self._total: int | None = None

    def add(self, new: Sequence[NewItem]) -> list[int]:
        """Make things searchable by words at once; return their numbers in order."""
        if not new:
            return []
        self._connection.execute(insert(sql.items), [_row(item) for item in new])
        numbers = self._numbers([item.id for item in new])
        nums = [numbers[item.id] for item in new]
        self._mention(zip(nums, new, strict=True))
        names = {(item.persona, item.speaker) for item in new if item.speaker}
        if names:
            rows = [{"persona": persona, "name": name} for persona, name in sorted(names)]
            self._connection.execute(self._dialect.insert_new(sql.speakers), rows)
        return nums

    def _mention(self, numbered: Iterable[tuple[int, NewItem]]) -> None:
        rows = [
            {"num": num, "entity": entity, "persona": item.persona}
            for num, item in numbered
            for entity in dict.fromkeys(item.entities)
        ]
        if rows:
            self._connection.execute(self._dialect.insert_new(sql.mentions), rows)

    def _numbers(self, ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for part in _parts(ids):
            found.update((row[0], row[1]) for row in self._connection.execute(_NUMBERS, {"ids": list(part)}).all())
        return found

    def set_next(self, item_id: str, following: str) -> None:
        """Give an item the words of the turn that came after it."""
        words = search_text(following[:_NEIGHBOUR_CHARS])
        self._connection.execute(update(sql.items).where(_t.id == item_id).values(words_next=words))

    def end(self, ids: Sequence[str], *, state: str, at: datetime | Mapping[str, datetime]) -> None:
        """Take items out of default recall, at one time or each at its own; they stay for history and `as_of`."""
        for part in _parts(ids):
            rows = self._connection.execute(
                select(_t.num, _t.id, _t.persona, _t.kind, _t.embedder).where(_t.id.in_(part), _t.state == "current")
            ).all()
            if not rows:
                continue
            changes = [
                {
                    "n": num,
                    "state": state,
                    "ended_at": at if isinstance(at, datetime) else at[id_],
                    "words_scope": scope_words(persona, kind, live=False),
                }
                for num, id_, persona, kind, _embedder in rows
            ]
            self._connection.execute(
                update(sql.items)
                .where(_t.num == bindparam("n"))
                .values(
                    state=bindparam("state"),
                    ended_at=bindparam("ended_at"),
                    words_scope=bindparam("words_scope"),
                ),
                changes,
            )
            self._leave_index([(id_, persona, kind, embedder) for _num, id_, persona, kind, embedder in rows])
            self._tokens.drop([row.num for row in rows])

    def set_expiry(self, item_id: str, expires_at: datetime | None) -> None:
        """Move the time after which an item leaves recall."""
        self._connection.execute(update(sql.items).where(_t.id == item_id).values(expires_at=expires_at))

    def purge(self, ids: Sequence[str]) -> int:
        """Remove items without a trace in words, mentions and (through the outbox) the index."""
        gone = 0
        for part in _parts(ids):
            rows = self._connection.execute(
                select(_t.num, _t.id, _t.persona, _t.kind, _t.embedder, _t.state).where(_t.id.in_(part))
            ).all()
            self._leave_index([(r.id, r.persona, r.kind, r.embedder) for r in rows if r.state == "current"])
            nums = [row.num for row in rows]
            self._tokens.drop(nums)
            self._connection.execute(delete(sql.mentions).where(sql.mentions.c.num.in_(nums)))
            gone += self._connection.execute(delete(sql.items).where(_t.num.in_(nums))).rowcount
        return gone

    def find(self, ids: Sequence[str]) -> list[Item]:
        """Return whole items by id, in no particular order."""
        found: list[Item] = []
        for part in _parts(ids):
            rows = self._connection.execute(select(sql.items).where(_t.id.in_(part))).mappings()
            found.extend(Item(**row) for row in rows)
        return found

    def by_words(self, query: WordsQuery) -> list[WordsHit]:
        """Return items found by words, best first."""
        return self._dialect.search_words(self._connection, query)

    def candidates(self, nums: Sequence[int]) -> list[Candidate]:
        """Return what ranking needs of these items."""
        rows = self._plain(
            "select num, id, kind, persona, session, speaker, state, created_at, expires_at, ended_at, text_hash,"
            f" thread from items where num in ({_listed(nums)})"
        )
        found = list(map(Candidate._make, rows))
        names = {name for c in found for name in (c.persona, c.session, c.speaker, c.thread) if name}
        return list(map(_faithful, found)) if any(ESCAPED in name for name in names) else found

    def vectors_of(self, nums: Sequence[int], *, embedder: str) -> VectorRows:
        """Return the vectors that these items have in a space."""
        rows = self._plain(f"select num, embedding, embedder from items where num in ({_listed(nums)})")
        return _vector_rows([row for row in rows if row[2] == embedder])

    def _plain(self, statement: str, *given: str) -> Sequence[Any]:
        """Return rows as the driver gives them: for lists of any length SQLAlchemy takes five times as long."""
        return plain(self._connection.exec_driver_sql(statement, given))

    def ids_of(self, nums: Sequence[int]) -> dict[int, str]:
        """Return the ids of these numbers."""
        found: dict[int, str] = {}
        for part in _parts(nums):
            rows = self._connection.execute(select(_t.num, _t.id).where(_t.num.in_(part)))
            found.update((num, id_) for num, id_ in rows)
        return found

    def numbers_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of the ids that exist."""
        return self._numbers(ids)

    def vectors(
        self,
        *,
        persona: str,
        kind: str,
        embedder: str,
        after_seq: int = -1,
        live_only: bool = True,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> VectorRows:
        """Return the stored vectors of one collection, for an exact scan."""
        asked = _LIVE_COLLECTION if live_only else _COLLECTION
        if since is not None:
            asked = asked.where(_t.created_at >= since)
        if until is not None:
            asked = asked.where(_t.created_at < until)
        place = {"persona": persona, "kind": kind, "space": embedder, "after": after_seq}
        return _vector_rows(self._connection.execute(asked, place).all())

    def vector_counts(
        self, *, personas: Sequence[str], kinds: Sequence[str], embedder: str, live_only: bool = True
    ) -> dict[tuple[str, str], int]:
        """Return how many live vectors each (persona, kind) has in a space.

        Collections without a live vector are left out, unless the past is asked.
        """
        counts = self._collections.live(personas, kinds, embedder)
        return {space: live for space, live in counts.items() if live > 0 or not live_only}

    def _leave_index(self, gone: Sequence[tuple[str, str, str, str | None]]) -> None:
        """Queue the removal of (id, persona, kind, embedder) from the index and count them out."""
        indexed = [(id_, persona, kind, embedder) for id_, persona, kind, embedder in gone if embedder]
        self._outbox.add(
            (id_, collection_name(persona, kind, space), "delete") for id_, persona, kind, space in indexed
        )
        self._collections.count(((persona, kind, space) for _id, persona, kind, space in indexed), sign=-1)

    def set_vectors(self, vectors: Sequence[tuple[int, str, NDArray[np.float32]]], *, embedder: str) -> int:
        """Store vectors for (number, text hash); skip items that ended or changed meanwhile."""
        given = {num: (digest, vector) for num, digest, vector in vectors}
        rows = [
            row
            for start in range(0, len(given), _PART)
            for row in self._connection.execute(_TO_EMBED, {"nums": list(given)[start : start + _PART]}).all()
            if row.text_hash == given[row.num][0]
        ]
        if not rows:
            return 0
        new = [row for row in rows if row.embedder != embedder]
        self._leave_index([(row.id, row.persona, row.kind, row.embedder) for row in new])
        self._collections.count(((row.persona, row.kind, embedder) for row in new), sign=1)
        seqs = self._outbox.add_numbered(
            [(row.id, collection_name(row.persona, row.kind, embedder), "upsert") for row in rows]
        )
        self._connection.execute(
            _EMBED,
            [
                {
                    "of": row.num,
                    "space": embedder,
                    "vector": given[row.num][1].astype(np.float32).tobytes(),
                    "seq": seqs[row.id],
                }
                for row in rows
            ],
        )
        return len(rows)

    def speakers(self, personas: Sequence[str]) -> list[str]:
        """Return everybody who has spoken in these personas' turns."""
        return [row[0] for row in self._connection.execute(_SPEAKERS, {"personas": list(personas)}).all()]

    def mentioned(self, entities: Sequence[str], personas: Sequence[str]) -> list[str]:
        """Return which of the entities any item of these personas mentions, in the order given."""
        if not entities:
            return []
        asked = [faithful(entity) for entity in entities]
        rows = self._plain(
            f"select distinct entity from mentions where persona in ({marks(self._connection, len(personas))})"
            f" and entity in ({marks(self._connection, len(asked))})",
            *map(faithful, personas),
            *asked,
        )
        found = {row[0] for row in rows}
        return [entity for entity, written in zip(entities, asked, strict=True) if written in found]

    def entities_of(self, nums: Sequence[int]) -> dict[int, list[str]]:
        """Return what each of these items mentions."""
        found: dict[int, list[str]] = {}
        for num, entity in self._plain(f"select num, entity from mentions where num in ({_listed(nums)})"):
            found.setdefault(num, []).append(unescaped(entity) or "")
        return found

    def sharing(
        self, entities: Sequence[str], personas: Sequence[str], *, most: int, least: int = 2
    ) -> dict[str, list[int]]:
        """Return who mentions each entity; one in fewer than `least` or more than `most` items is no link."""
        if not entities:
            return {}
        of = f"from mentions where persona in ({marks(self._connection, len(personas))})"
        whose, named = [faithful(one) for one in personas], [faithful(one) for one in entities]
        counted = self._plain(
            f"select entity, count(*) {of} and entity in ({marks(self._connection, len(named))}) group by entity",
            *whose,
            *named,
        )
        links = [entity for entity, count in counted if least <= count <= most]
        found: dict[str, list[int]] = {entity: [] for entity in links}
        if links:
            linked = f"select entity, num {of} and entity in ({marks(self._connection, len(links))})"
            for entity, num in self._plain(linked, *whose, *links):
                found[entity].append(num)
        return {unescaped(entity) or "": nums for entity, nums in found.items()}

    def stems_of(self, nums: Sequence[int], among: Collection[str]) -> dict[int, frozenset[str]]:
        """Return which of the given stems each item's own words and title have."""
        rows = self._plain(f"select num, words_self, words_title from items where num in ({_listed(nums)})")
        return {num: stems_among(f"{own} {title}", among) for num, own, title in rows}

    def total(self) -> int:
        """Return about how many items there are, at no cost: the highest number given."""
        if self._total is None:
            self._total = self._connection.execute(_HIGHEST).scalar() or 1
        return self._total

    @property
    def few(self) -> bool:
        """Whether there are too few items for a share of them to say how rare a word is."""
        return self.total() < _LEAST_TOTAL

    def rarity(self, stems: Sequence[str]) -> dict[str, float]:
        """Return ln(1 + N / df) of each stem; what occurs nowhere counts as occurring in half an item.

        N is at least a hundred: where three items speak of Ana, her name is rare in the language all the same.
        """
        if not stems:
            return {}
        known = self._dialect.document_frequencies(self._connection, stems)
        total = max(self.total(), _LEAST_TOTAL)
        return {one: log(1 + total / known.get(one, 0.5)) for one in stems}

    def counts(self, personas: Sequence[str] | None = None) -> dict[str, Any]:
        """Return how many items there are by kind and state, of everybody or of some personas."""
        asked = select(_t.kind, _t.state, func.count()).group_by(_t.kind, _t.state)
        rows = self._connection.execute(asked if personas is None else asked.where(_t.persona.in_(list(personas))))
        return {f"{kind}:{state}": count for kind, state, count in rows}


def _listed(nums: Iterable[int]) -> str:
    """Return numbers as the list of a statement, and nothing but numbers; no database has an empty list alike."""
    return ",".join(str(int(num)) for num in nums) or "null"


def _faithful(raw: Candidate) -> Candidate:
    """Undo the escape of the names, where there is one; almost never."""
    persona, session, speaker, thread = map(unescaped, (raw.persona, raw.session, raw.speaker, raw.thread))
    return raw._replace(persona=persona or "", session=session, speaker=speaker, thread=thread)


def _vector_rows(rows: Sequence[Any]) -> VectorRows:
    data = b"".join(row[1] for row in rows)
    matrix = np.frombuffer(data, dtype=np.float32).reshape(len(rows), -1) if rows else np.empty((0, 0), np.float32)
    return VectorRows([row[0] for row in rows], matrix)


def _row(item: NewItem) -> dict[str, Any]:
    said = f"{item.speaker}: {item.text}" if item.speaker else item.text
    return {
        "id": item.id,
        "kind": item.kind,
        "persona": item.persona,
        "thread": item.thread,
        "session": item.session,
        "speaker": item.speaker,
        "state": "current",
        "created_at": item.created_at,
        "ended_at": None,
        "expires_at": item.expires_at,
        "text": said,
        "words_scope": " ".join([scope_words(item.persona, item.kind, live=True), *item.scopes]),
        "words_self": search_text(said),
        "words_prev": search_text(item.prev[:_NEIGHBOUR_CHARS]),
        "words_next": search_text(item.next[:_NEIGHBOUR_CHARS]),
        "words_date": search_text(item.date_words),
        "words_title": search_text(item.title),
        "text_hash": content_hash(said),
        "embedder": None,
        "embedding": None,
        "vec_seq": None,
    }


def _parts(ids: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (ids[start : start + _PART] for start in range(0, len(ids), _PART))
