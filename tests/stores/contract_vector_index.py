"""What every vector index must do: `VectorIndexContract` runs over each implementation.

`Shelf` is a small real store to feed it from, and a search as a reader does it: the index, then the exact
scan of what it has not seen, then only what is live.
"""

import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import select, update

from zomem_graph.stores import sql
from zomem_graph.stores.database import Database
from zomem_graph.stores.errors import Closed, IndexUnavailable, InvalidInput
from zomem_graph.stores.identity import content_hash, new_id
from zomem_graph.stores.index_feed import MOST_TRIES
from zomem_graph.stores.index_meta import IndexMeta
from zomem_graph.stores.items import Items, NewItem
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.outbox import Outbox, collection_name
from zomem_graph.stores.vector_index import Drained, VectorIndex

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
MODEL = "test:a"
WIDTH = 12

Vector = NDArray[np.float32]


@cache
def _template() -> Path:
    from sqlmodel import SQLModel  # half a second, which the processes of the tests need not pay

    from zomem_graph.stores import tables

    assert tables.__all__
    path = Path(mkdtemp()) / "empty.db"
    database = Database(f"sqlite:///{path}")
    with database.write() as connection:
        SQLModel.metadata.create_all(connection)
        database.dialect.create_fulltext(connection)
    database.close()
    return path


class Shelf:
    """A database in a folder, filled with items whose vectors come from a seed."""

    def __init__(self, home: Path, *, seed: int = 0) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.file = home / "zomem.db"
        if not self.file.exists():
            shutil.copy(_template(), self.file)
        self.database = Database(f"sqlite:///{self.file}")
        self.lock = FolderLock(home / "zomem.lock")
        self.random = np.random.default_rng(seed)

    def vectors(self, count: int, width: int = WIDTH) -> Vector:
        drawn = self.random.normal(size=(count, width)).astype(np.float32)
        unit: Vector = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return unit

    def add(
        self,
        vectors: Sequence[Vector] | Vector,
        *,
        persona: str = "anna",
        kind: str = "fact",
        model: str = MODEL,
    ) -> list[str]:
        new = [NewItem(id=new_id(), kind=kind, persona=persona, text="a thing", created_at=NOW) for _ in vectors]
        with self.database.write() as connection:
            items = Items(connection, self.database.dialect)
            rows = zip(items.add(new), new, vectors, strict=True)
            items.set_vectors([(num, content_hash(item.text), v) for num, item, v in rows], embedder=model)
        return [item.id for item in new]

    def set_vector(self, item_id: str, vector: Vector, *, model: str = MODEL) -> None:
        with self.database.write() as connection:
            items = Items(connection, self.database.dialect)
            num = items.numbers_of([item_id])[item_id]
            items.set_vectors([(num, content_hash("a thing"), vector)], embedder=model)

    def end(self, ids: Sequence[str]) -> None:
        with self.database.write() as connection:
            Items(connection, self.database.dialect).end(ids, state="archived", at=NOW)

    def purge(self, ids: Sequence[str]) -> None:
        with self.database.write() as connection:
            Items(connection, self.database.dialect).purge(ids)

    def waiting(self) -> int:
        with self.database.read() as connection:
            return Outbox(connection).depth()

    def search(
        self, index: VectorIndex, vector: Vector, *, limit: int = 5, persona: str = "anna", model: str = MODEL
    ) -> list[str]:
        """Return live item ids, best first, as a reader does."""
        answer = index.nearest(collection_name(persona, "fact", model), vector, limit=limit + 200)
        found = {near.item_id: near.similarity for near in answer.neighbours}
        with self.database.read() as connection:
            items = Items(connection, self.database.dialect)
            tail = items.vectors(persona=persona, kind="fact", embedder=model, after_seq=answer.seen)
            live = items.vectors(persona=persona, kind="fact", embedder=model)
            numbers = items.numbers_of(list(found))
            scores = {numbers[i]: score for i, score in found.items() if numbers.get(i) in set(live.nums)}
            if tail.nums:
                scores.update(zip(tail.nums, (tail.matrix @ vector).tolist(), strict=True))
            best = sorted(scores, key=lambda num: -scores[num])[:limit]
            names = {item.num: item.id for item in items.find(self._ids(items, persona, model))}
        return [names[num] for num in best]

    def exact(self, vector: Vector, *, limit: int = 5, persona: str = "anna", model: str = MODEL) -> list[str]:
        """Return what the search must find, from the tables alone."""
        with self.database.read() as connection:
            items = Items(connection, self.database.dialect)
            rows = items.vectors(persona=persona, kind="fact", embedder=model)
            names = {item.num: item.id for item in items.find(self._ids(items, persona, model))}
        if not rows.nums:
            return []
        return [names[rows.nums[i]] for i in np.argsort(-(rows.matrix @ vector), kind="stable")[:limit]]

    def _ids(self, items: Items, persona: str, model: str) -> list[str]:
        where = (sql.items.c.persona == persona, sql.items.c.embedder == model)
        return [row[0] for row in items._connection.execute(select(sql.items.c.id).where(*where))]

    def close(self) -> None:
        self.database.close()


def drain_all(index: VectorIndex) -> int:
    """Feed until nothing is taken any more; return how many changes were."""
    total = 0
    while applied := index.drain(limit=200, wait_seconds=5).applied:
        total += applied
    return total


def ids_of(index: VectorIndex, vector: Vector, limit: int = 100, collection: str | None = None) -> list[str]:
    """Return what the index alone finds."""
    name = collection or collection_name("anna", "fact", MODEL)
    return [near.item_id for near in index.nearest(name, vector, limit=limit).neighbours]


class VectorIndexContract:
    """The suite. A subclass gives `open_index(shelf)`."""

    def open_index(self, shelf: Shelf) -> VectorIndex:
        raise NotImplementedError

    @pytest.fixture
    def shelf(self, tmp_path: Path) -> Iterator[Shelf]:
        made = Shelf(tmp_path / "home")
        yield made
        made.close()

    @pytest.fixture
    def index(self, shelf: Shelf) -> Iterator[VectorIndex]:
        made = self.open_index(shelf)
        yield made
        made.close()

    def test_what_was_never_fed_is_left_to_the_exact_scan(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(3)
        ids = shelf.add(vectors)
        answer = index.nearest(collection_name("anna", "fact", MODEL), vectors[0], limit=5)
        assert (answer.neighbours, answer.seen) == ([], 0)
        assert shelf.search(index, vectors[0])[0] == ids[0]

    def test_a_fed_vector_finds_itself_first(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(30)
        ids = shelf.add(vectors)
        assert index.drain().applied == 30
        answer = index.nearest(collection_name("anna", "fact", MODEL), vectors[7], limit=4)
        assert answer.neighbours[0].item_id == ids[7]
        assert answer.neighbours[0].similarity == pytest.approx(1, abs=1e-5)
        similarities = [near.similarity for near in answer.neighbours]
        assert similarities == sorted(similarities, reverse=True)
        assert similarities == pytest.approx(sorted(vectors @ vectors[7], reverse=True)[:4], abs=1e-5)

    def test_seen_is_the_last_change_followed(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(6)
        shelf.add(vectors[:4])
        drain_all(index)
        later = shelf.add(vectors[4:])
        answer = index.nearest(collection_name("anna", "fact", MODEL), vectors[5], limit=10)
        assert answer.seen == 4
        assert not {near.item_id for near in answer.neighbours} & set(later)
        assert shelf.search(index, vectors[5])[0] == later[1]

    def test_the_limit_of_a_drain_is_kept(self, shelf: Shelf, index: VectorIndex) -> None:
        shelf.add(shelf.vectors(7))
        assert [index.drain(limit=3) for _ in range(4)] == [Drained(3), Drained(3), Drained(1), Drained(0)]
        assert shelf.waiting() == 0

    def test_what_ended_or_was_purged_leaves(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(5)
        ids = shelf.add(vectors)
        drain_all(index)
        shelf.end(ids[:1])
        shelf.purge(ids[1:2])
        assert ids[0] not in shelf.search(index, vectors[0])
        drain_all(index)
        assert set(ids_of(index, vectors[0])) == set(ids[2:])

    def test_a_collection_that_lost_everything_is_empty(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(4)
        shelf.purge(shelf.add(vectors[:3]))
        ids = shelf.add(vectors[:3])
        drain_all(index)
        shelf.purge(ids)
        drain_all(index)
        assert ids_of(index, vectors[0]) == []
        last = shelf.add(vectors[3:])
        drain_all(index)
        assert ids_of(index, vectors[3]) == last

    def test_a_changed_vector_replaces_the_old_one(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(3)
        ids = shelf.add(vectors[:2])
        drain_all(index)
        shelf.set_vector(ids[0], vectors[2])
        drain_all(index)
        best = index.nearest(collection_name("anna", "fact", MODEL), vectors[2], limit=5).neighbours
        assert best[0].item_id == ids[0]
        assert best[0].similarity == pytest.approx(1, abs=1e-5)
        assert len(best) == 2

    def test_many_changes_of_one_item_in_a_batch_are_one(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(4)
        (item,) = shelf.add(vectors[:1])
        for vector in vectors[1:]:
            shelf.set_vector(item, vector)
        assert index.drain().applied == 4
        assert ids_of(index, vectors[3]) == [item]
        assert index.verify().sound

    def test_what_came_and_went_between_two_drains_leaves_no_trace(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(2)
        shelf.purge(shelf.add(vectors))
        assert drain_all(index) == 4
        assert ids_of(index, vectors[0]) == []
        assert index.verify().sound

    def test_personas_kinds_and_models_are_apart(self, shelf: Shelf, index: VectorIndex) -> None:
        vector = shelf.vectors(1)
        wide = shelf.vectors(1, 2 * WIDTH)
        here = shelf.add(vector)
        shelf.add(vector, persona="anna2")
        shelf.add(vector, persona="a%")
        shelf.add(vector, kind="turn")
        there = shelf.add(wide, model="test:b")
        drain_all(index)
        assert ids_of(index, vector[0]) == here
        assert ids_of(index, wide[0], collection=collection_name("anna", "fact", "test:b")) == there

    def test_a_changed_model_moves_the_vector(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(2)
        (item,) = shelf.add(vectors[:1])
        drain_all(index)
        wide = shelf.vectors(1, 2 * WIDTH)[0]
        shelf.set_vector(item, wide, model="test:b")
        drain_all(index)
        assert ids_of(index, vectors[0]) == []
        assert ids_of(index, wide, collection=collection_name("anna", "fact", "test:b")) == [item]

    def test_a_question_of_another_width_says_what_to_do(self, shelf: Shelf, index: VectorIndex) -> None:
        shelf.add(shelf.vectors(2))
        drain_all(index)
        with pytest.raises(IndexUnavailable, match="zomem index --rebuild"):
            ids_of(index, shelf.vectors(1, WIDTH + 1)[0])
        assert not index.state().faults

    @pytest.mark.parametrize("bad", [[np.nan] * WIDTH, [np.inf] * WIDTH, [], [[1.0] * WIDTH]])
    def test_a_question_that_is_no_vector_is_refused(self, index: VectorIndex, bad: list[float]) -> None:
        with pytest.raises(InvalidInput):
            ids_of(index, np.array(bad, dtype=np.float32))

    def test_a_limit_below_one_finds_nothing(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(2)
        shelf.add(vectors)
        drain_all(index)
        assert ids_of(index, vectors[0], limit=0) == []

    @pytest.mark.parametrize("bad", ["nan", "torn", "wide"])
    def test_a_vector_that_cannot_go_in_is_set_aside_and_stops_nobody(
        self, shelf: Shelf, index: VectorIndex, bad: str
    ) -> None:
        vectors = shelf.vectors(9)
        spoilt, *good = shelf.add(vectors)
        broken = {
            "nan": np.full(WIDTH, np.nan, np.float32).tobytes(),
            "torn": b"abc",
            "wide": shelf.vectors(1, WIDTH + 3)[0].tobytes(),
        }[bad]
        with shelf.database.write() as connection:
            where = sql.items.c.id == spoilt
            connection.execute(update(sql.items).where(where).values(embedding=broken))
        assert index.drain() == Drained(8, refused=1)
        for _ in range(MOST_TRIES - 2):
            assert index.drain() == Drained(0, refused=1)
        assert index.drain() == Drained(1)
        assert index.drain() == Drained(0)
        (refusal,) = index.state().refusals
        assert (refusal.item_id, refusal.aside) == (spoilt, True)
        assert set(ids_of(index, vectors[1])) == set(good)
        assert set(shelf.search(index, vectors[1], limit=20)) == set(good)
        assert index.verify().sound
        shelf.set_vector(spoilt, vectors[0])
        drain_all(index)
        assert not index.state().refusals
        assert ids_of(index, vectors[0])[0] == spoilt

    def test_what_waits_is_not_missing(self, shelf: Shelf, index: VectorIndex) -> None:
        ids = shelf.add(shelf.vectors(4))
        drain_all(index)
        shelf.end(ids[:1])
        shelf.add(shelf.vectors(2))
        assert index.verify().sound

    def test_a_rebuild_answers_as_before(self, shelf: Shelf, index: VectorIndex) -> None:
        vectors = shelf.vectors(40)
        ids = shelf.add(vectors)
        shelf.add(vectors[:3], persona="ben")
        drain_all(index)
        shelf.purge(ids[:10])
        shelf.add(shelf.vectors(5))
        steps: list[tuple[int, int]] = []
        rebuilt = index.rebuild(progress=lambda done, total: steps.append((done, total)))
        assert rebuilt.vectors == 38
        assert steps[-1] == (38, 38)
        drain_all(index)
        assert shelf.search(index, vectors[20]) == shelf.exact(vectors[20])
        assert index.verify().sound
        assert index.prune_orphans().vectors == 0

    def test_the_state_says_what_waits(self, shelf: Shelf, index: VectorIndex) -> None:
        shelf.add(shelf.vectors(3))
        assert index.state().waiting == 3
        drain_all(index)
        state = index.state()
        assert (state.waiting, state.applied, state.collections) == (0, 3, 1)
        assert not state.faults
        assert not state.refusals

    def test_a_closed_index_says_so(self, shelf: Shelf, index: VectorIndex) -> None:
        shelf.add(shelf.vectors(1))
        index.close()
        index.close()
        with pytest.raises(Closed):
            ids_of(index, shelf.vectors(1)[0])
        with pytest.raises(Closed):
            index.drain()

    def test_no_vector_of_a_small_collection_is_out_of_reach(self, shelf: Shelf, index: VectorIndex) -> None:
        """A graph of neighbours links some vectors from nowhere: of forty in about every fourth one."""
        for i in range(8):
            ids: list[str] = []
            for size in (20, 20):
                ids += shelf.add(shelf.vectors(size), persona=f"p{i}")
                drain_all(index)
                found = shelf.search(index, shelf.vectors(1)[0], limit=60, persona=f"p{i}")
                assert sorted(found) == sorted(ids)

    @pytest.mark.parametrize("seed", range(3))
    def test_two_handles_always_find_what_the_tables_hold(self, shelf: Shelf, seed: int) -> None:
        """Whatever is written, by whichever handle it is fed: a search equals the exact scan."""
        chance = Random(seed)
        handles = [self.open_index(shelf), self.open_index(shelf)]
        alive: list[str] = []
        for _ in range(60):
            index = chance.choice(handles)
            step = chance.choice(["add", "add", "end", "change", "drain", "drain", "ask", "ask", "rebuild"])
            if step == "add":
                alive += shelf.add(shelf.vectors(chance.randint(1, 4)))
            elif step == "end" and alive:
                shelf.end([alive.pop(chance.randrange(len(alive)))])
            elif step == "change" and alive:
                shelf.set_vector(chance.choice(alive), shelf.vectors(1)[0])
            elif step == "drain":
                index.drain(limit=chance.randint(1, 20))
            elif step == "rebuild" and chance.random() < 0.3:
                index.rebuild()
            vector = shelf.vectors(1)[0]
            assert shelf.search(index, vector) == shelf.exact(vector), step
        drain_all(handles[0])
        assert handles[1].verify().sound
        for index in handles:
            assert set(ids_of(index, shelf.vectors(1)[0])) == set(alive) or index is handles[1]
            index.close()

    def test_the_marks_of_the_index_survive_in_the_database(self, shelf: Shelf, index: VectorIndex) -> None:
        shelf.add(shelf.vectors(2))
        drain_all(index)
        with shelf.database.read() as connection:
            meta = IndexMeta(connection, shelf.database.dialect)
            assert meta.generation() == meta.fed() == 1
            assert len(meta.store_id()) == 12
