"""Faults that users of other memories have reported, as far as no other test holds them off.

`tests/field_reports.toml` lists them all, each with its tests.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from zomem_graph import Memory, Scope
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.nodes.ports import Vector
from zomem_graph.nodes.rules.fusion import FusionOptions
from zomem_graph.stores.chroma_client import ChromaClient
from zomem_graph.stores.errors import ModelError, UnknownName
from zomem_graph.stores.vector_cache import SqlVectorCache
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

QUIET = WriteOptions(background=False)


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings=SmallEmbedder(), clock=clock) as opened:
        yield opened


class Understanding(SmallEmbedder):
    """An embedder that knows which texts mean the same: those that hold one of `same`."""

    def __init__(self, *same: str) -> None:
        super().__init__(name="understanding")
        self._same = same
        self.spread, self.usual = 0.15, 0.3  # as sure of itself as a real model

    def embed_query(self, text: str) -> Vector:
        known = any(part in text for part in self._same)
        return super().embed_query(self._same[0] if known else text)


class Unreliable(SmallEmbedder):
    """An embedder whose calls fail while there are failures left."""

    def __init__(self, *, after: int, failures: int) -> None:
        super().__init__(name="unreliable")
        self.after, self.failures = after, failures

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.after -= 1
        if self.after < 0 and self.failures > 0:
            self.failures -= 1
            raise ModelError("the provider is not there just now")
        return super().embed_documents(texts)


# -- words (12, 13, 15) -----------------------------------------------------------------------------


def test_a_leg_that_finds_nothing_vetoes_nothing(home: Path) -> None:
    """The question shares no word with the answer, but two with everything else."""
    with Memory.open(home, embeddings=Understanding("thing with the pricing", "40 euros a seat")) as memory:
        for number in range(20):
            memory.observe(
                [{"role": "user", "content": f"that was thing {number} of the garden"}], session=str(number)
            )
        memory.observe([{"role": "user", "content": "we charge 40 euros a seat"}], session="sales")
        hits = memory.search("so what was that thing with the pricing")
        (answer,) = [hit for hit in hits if "40 euros" in hit.text]
        assert answer.found_by == {"meaning"}
        assert hits.index(answer) < 3
        (trace,) = [step for step in hits.trace if step["step"] == "retrieve"]
        assert trace["words"] >= 20
        assert trace["meaning"] >= 21


def test_the_full_text_agrees_after_every_kind_of_ending(memory: Memory) -> None:
    kept = memory.remember("ferry", "port", "Dover")
    deleted = memory.remember("ferry", "captain", "Osvaldo")
    memory.delete(deleted.id)
    with pytest.raises(UnknownName):
        memory.delete(deleted.id)
    with memory.stores.write() as unit:
        unit.items.end([deleted.id, deleted.id], state="archived", at=memory.clock())
        assert unit.fulltext_fault() is None
    memory.forget(id=deleted.id)
    with memory.stores.write() as unit:
        assert unit.fulltext_fault() is None
    assert {hit.id for hit in memory.search("captain Osvaldo", include_superseded=True)} == {kept.id}


def test_a_value_that_was_replaced_is_found_by_its_new_words_only(memory: Memory) -> None:
    memory.remember("ferry", "port", "Zeebrugge")
    memory.remember("ferry", "port", "Rotterdam")
    memory.remember("ferry", "port", "Zeebrugge harbour")
    (by_the_old,) = memory.search("Rotterdam")
    assert by_the_old.found_by == {"meaning"}
    (by_the_new,) = memory.search("Zeebrugge")
    assert by_the_new.text == "ferry port: Zeebrugge harbour"
    assert "words" in by_the_new.found_by


# -- vectors (19, 21, 25, 26, 27, 31) ---------------------------------------------------------------


def test_opening_and_closing_again_and_again_leaves_nothing_open(home: Path) -> None:
    def held() -> tuple[int, int]:
        files = Path("/proc/self/fd")
        return threading.active_count(), len(os.listdir(files)) if files.is_dir() else 0

    counts = []
    for number in range(12):
        with Memory.open(home, embeddings=SmallEmbedder()) as memory:
            memory.remember(f"ferry {number}", "port", "Dover")
            memory.flush()
        counts.append(held())
    assert max(counts[6:]) <= max(counts[:6])


class _Collection:
    def __init__(self) -> None:
        self.sizes: list[int] = []

    def upsert(self, *, ids: list[str], embeddings: list[Any]) -> None:
        assert len(ids) == len(embeddings)
        self.sizes.append(len(ids))


class _Client:
    """A Chroma client that takes five vectors a call."""

    def __init__(self) -> None:
        self.collection = _Collection()

    def get_max_batch_size(self) -> int:
        return 5

    def get_or_create_collection(self, _name: str, **_: Any) -> _Collection:
        return self.collection


def test_a_batch_is_split_by_what_the_client_says_it_takes() -> None:
    client = _Client()
    made = ChromaClient(client, "a place").make("facts")
    made.upsert([str(n) for n in range(12)], [np.ones(4, np.float32)] * 12)
    assert client.collection.sizes == [5, 5, 2]


def test_a_cached_vector_belongs_to_its_model(memory: Memory) -> None:
    cache = SqlVectorCache(memory.stores.database, memory.clock)
    one, other = np.ones(4, np.float32), np.zeros(4, np.float32)
    cache.put_many("a:one", {"hash": one})
    cache.put_many("a:other", {"hash": other})
    assert np.array_equal(cache.get_many("a:one", ["hash"])["hash"], one)
    assert np.array_equal(cache.get_many("a:other", ["hash"])["hash"], other)


def test_a_changed_model_goes_on_by_words_and_loses_no_vector(home: Path) -> None:
    by_meaning = MemoryOptions(write=QUIET, retrieve=RetrieveOptions(words=False))
    with Memory.open(home, embeddings=SmallEmbedder()) as memory:
        memory.remember("ferry", "port", "Dover")
    with Memory.open(home, embeddings=SmallEmbedder(128, name="wider")) as memory:
        memory.remember("ferry", "captain", "Osvaldo")
        hits = memory.search("ferry port", graph=False)
        assert [hit.found_by for hit in hits] == [{"words"}, {"words"}]
        assert any("testing:small" in note for note in hits.degraded)
    with Memory.open(home, embeddings=SmallEmbedder(), options=by_meaning) as memory:
        memory.flush()
        assert {hit.text for hit in memory.search("ferry")} == {"ferry port: Dover", "ferry captain: Osvaldo"}
        assert memory.verify()["ok"]


def test_an_embedder_that_fails_half_way_is_gone_on_with(home: Path) -> None:
    embedder = Unreliable(after=2, failures=1)
    options = MemoryOptions(write=WriteOptions(background=False, embed_batch=20))
    with Memory.open(home, embeddings=embedder, options=options) as memory:
        for persona in ("ann", "ben"):
            memory.remember_many({"entity": f"tree {n}", "value": "apple", "persona": persona} for n in range(40))
        with pytest.raises(ModelError, match="not there"):
            memory.flush()
        assert len(memory.search("tree 1", scope=Scope(persona="ben"))) == 10
        memory.flush()
        report = memory.verify()
        assert report["ok"]
        assert [one.expected for one in report["index"].collections] == [40, 40]


def test_a_write_that_could_not_be_embedded_is_kept_and_can_be_repeated(home: Path) -> None:
    embedder = Unreliable(after=0, failures=1)
    with Memory.open(home, embeddings=embedder, options=MemoryOptions(write=QUIET)) as memory:
        first = memory.remember("ferry", "port", "Dover")
        assert [hit.id for hit in memory.search("ferry port")] == [first.id]
        assert memory.remember("ferry", "port", "Dover").id == first.id
        memory.flush()
        assert memory.search("ferry port")[0].found_by == {"words", "meaning"}
        assert memory.stats()["facts"] == 1


def test_what_was_replaced_takes_no_place_among_what_is_found(home: Path) -> None:
    options = MemoryOptions(write=QUIET, retrieve=RetrieveOptions(pool=5, words=False, exact_below=0))
    with Memory.open(home, embeddings=SmallEmbedder(), options=options) as memory:
        for persona in ("ann", "ben"):
            for value in range(8):
                memory.remember("ferry", "port", f"quay {value}", persona=persona)
                memory.flush()
        report = memory.verify()
        assert report["ok"]
        assert [(one.expected, one.orphaned) for one in report["index"].collections] == [(1, ()), (1, ())]
        hits = memory.search("ferry port quay", scope=Scope(persona="ben"))
        assert [hit.text for hit in hits] == ["ferry port: quay 7"]


# -- time (75, 76) ----------------------------------------------------------------------------------


def test_times_with_and_without_a_zone_live_together(memory: Memory, clock: FixedClock) -> None:
    tokyo = timezone(timedelta(hours=9))
    said = [
        {"role": "user", "content": "the ferry is late", "at": datetime(2026, 1, 5, 8, 0)},
        {"role": "user", "content": "the ferry is here", "at": datetime(2026, 1, 5, 18, 0, tzinfo=tokyo)},
        {"role": "user", "content": "the ferry has left", "at": "2026-01-05T10:00:00"},
    ]
    memory.observe(said, session="quay")
    hits = memory.search("ferry", since=datetime(2026, 1, 5, 8, 30, tzinfo=UTC), until=clock())
    assert sorted(hit.created_at.isoformat() for hit in hits) == [
        "2026-01-05T09:00:00+00:00",
        "2026-01-05T10:00:00+00:00",
    ]
    assert memory.continuation("go on").decision == "inject"


def test_this_morning_is_today_for_who_asks(memory: Memory, clock: FixedClock) -> None:
    clock.set(datetime(2026, 1, 5, 21, 30, tzinfo=UTC))
    memory.observe([{"role": "user", "content": "my ferry leaves from Dover"}], session="quay")
    clock.advance(hours=8)
    asked = "what did I tell you about my ferry from Dover?"
    assert "2026-01-06" in memory.recall(asked, scope=Scope(time_zone="Europe/Moscow")).text
    assert "2026-01-05" in memory.recall(asked, scope=Scope(time_zone="America/New_York")).text


# -- background (104) -------------------------------------------------------------------------------


@pytest.mark.parametrize("background", [True, False])
def test_what_waits_for_a_model_is_seen_and_done_at_the_end(home: Path, background: bool) -> None:
    fact = {"entity": "Ana", "key": "job", "value": "nurse", "source_quote": "Ana is a nurse", "confidence": 0.9}
    options = MemoryOptions(write=WriteOptions(background=background))
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model=ScriptedChat([fact]), options=options) as memory:
        memory.capture([{"role": "user", "content": "my sister Ana is a nurse"}])
        assert sum(memory.stats()["extraction_queue"].values()) == 1
    with Memory.open(home, embeddings=SmallEmbedder()) as memory:
        assert memory.stats()["extraction_queue"] == {"done": 1}
        assert [fact.value for fact in memory.lookup("Ana", "job")] == ["nurse"]


# -- ranking (119, 120, 122) ------------------------------------------------------------------------


def test_a_hit_of_both_legs_scores_well_above_a_threshold_and_exact_comes_first(memory: Memory) -> None:
    for version in ("2.4.1", "2.4.2", "2.5.1"):
        memory.observe(
            [{"role": "user", "content": f"we run Kafka {version} in {version[2:]} rooms"}], session=version
        )
    for number in range(30):
        memory.observe([{"role": "user", "content": f"note {number} about the garden"}], session=str(number))
    hits = memory.search("where do we run Kafka 2.4.2?")
    assert "2.4.2" in hits[0].text
    assert hits[0].found_by == {"words", "meaning"}
    assert hits[0].score > 0.15


def test_what_only_meaning_finds_is_not_pushed_down_by_what_shares_a_word(home: Path) -> None:
    with Memory.open(home, embeddings=Understanding("how do we get paid", "invoices go out")) as memory:
        memory.observe([{"role": "user", "content": "invoices go out on the first of May"}], session="sales")
        for number in range(30):
            said = f"we get bread number {number} and how do they do"
            memory.observe([{"role": "user", "content": said}], session=str(number))
        places = [hit.text for hit in memory.search("how do we get paid", limit=30)]
        assert next(n for n, text in enumerate(places) if "invoices" in text) < 3


@pytest.mark.parametrize("method", ["score", "rrf"])
def test_near_duplicates_are_told_by_what_they_say_not_by_their_rank(home: Path, method: Any) -> None:
    options = MemoryOptions(retrieve=RetrieveOptions(fusion=FusionOptions(method=method)))
    with Memory.open(home, embeddings=SmallEmbedder(), options=options) as memory:
        for said in ("Deploys are on Friday.", "deploys are on Friday", "Deploys are not on Friday."):
            memory.observe([{"role": "user", "content": said}], session=said)
        found = [hit.text.removeprefix("user: ").casefold().rstrip(".") for hit in memory.search("deploys on Friday")]
        assert sorted(found) == ["deploys are not on friday", "deploys are on friday"]
