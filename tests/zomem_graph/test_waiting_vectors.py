"""Vectors that wait: a write never waits long for a model, and what is new comes before what is old."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from zomem_graph import Memory, Scope
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.testing import SmallEmbedder

ANN = Scope(persona="ann")
ALONE = MemoryOptions(write=WriteOptions(background=False))


class Watched(SmallEmbedder):
    """Notes what it embeds; waits for `free` where there is one."""

    def __init__(self, free: Event | None = None) -> None:
        super().__init__()
        self.free = free
        self.seen: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.free is not None and not self.free.wait(60):
            raise TimeoutError("nobody let it go on")
        self.seen += texts
        return super().embed_documents(texts)


def backlog(home: Path, count: int) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.remember_many([{"entity": f"post {n}", "value": f"shade {n}", "persona": "ann"} for n in range(count)])


@pytest.mark.parametrize("background", [True, False])
def test_a_write_does_not_wait_for_a_model_that_hangs(home: Path, background: bool) -> None:
    free = Event()
    embedder = Watched(free)
    options = MemoryOptions(write=WriteOptions(background=background, embed_seconds=0.05))
    with Memory.open(home, embeddings=embedder, options=options) as memory:
        memory.remember("boat", "berth", "under the bridge", persona="ann")
        memory.observe([{"role": "user", "content": "the lock is shut"}], scope=ANN, session="s1")
        assert embedder.seen == []
        assert "bridge" in memory.search("berth of the boat", scope=ANN)[0].text
        free.set()
        memory.flush()
        assert memory.background.unembedded() == 0
    assert set(embedder.seen) == {"boat berth: under the bridge", "user: the lock is shut"}


@pytest.mark.parametrize("background", [True, False])
def test_closing_does_not_wait_for_a_model_that_hangs(home: Path, background: bool) -> None:
    free = Event()
    write = WriteOptions(background=background, embed_seconds=0.05, close_seconds=0.2)
    memory = Memory.open(home, embeddings=Watched(free), options=MemoryOptions(write=write))
    memory.remember("boat", "berth", "under the bridge", persona="ann")
    memory.close()  # Watched would wait a minute, and fail
    free.set()
    with Memory.open(home, embeddings=Watched(), options=ALONE) as memory:
        memory.flush()
        assert memory.background.unembedded() == 0
        assert memory.verify()["ok"]


class Broken(SmallEmbedder):
    """Fails with an error of its own, or gives what is no vector."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return cast("NDArray[np.float32]", self.answer)


@pytest.mark.parametrize("answer", [RuntimeError("no GPU"), None, "text", [0.1, float("nan")], [[0.1] * 64]])
def test_a_question_that_an_embedder_cannot_take_is_searched_by_words(home: Path, answer: object) -> None:
    with Memory.open(home, embeddings=Broken(answer), options=ALONE) as memory:
        memory.remember("boat", "berth", "under the bridge", persona="ann")
        assert "bridge" in memory.search("berth of the boat", scope=ANN)[0].text
        told = memory.recall("where is the berth of the boat?", scope=ANN)
        assert "bridge" in told.text
        assert told.degraded


def test_what_is_new_has_its_vector_though_much_else_waits(home: Path) -> None:
    backlog(home, 200)
    embedder = Watched()
    with Memory.open(home, embeddings=embedder, options=ALONE) as memory:
        fact = memory.remember("boat", "berth", "under the bridge", persona="ann")
        assert embedder.seen == [fact.text]
        assert memory.background.unembedded() == 200


def test_closing_goes_on_with_its_own_writes_and_leaves_what_others_left(home: Path) -> None:
    backlog(home, 200)
    embedder = Watched()
    with Memory.open(home, embeddings=embedder, options=ALONE) as memory:
        many = [{"entity": f"boat {n}", "value": f"berth {n}", "persona": "ann"} for n in range(20)]
        own = [fact.text for fact in memory.remember_many(many)]
    assert sorted(embedder.seen) == sorted(own)
    with Memory.open(home, embeddings=Watched(), options=ALONE) as memory:
        assert memory.background.unembedded() == 200
        memory.flush()
        assert memory.background.unembedded() == 0


def test_a_text_that_is_known_is_not_embedded_again(home: Path) -> None:
    embedder = Watched()
    with Memory.open(home, embeddings=embedder, options=ALONE) as memory:
        for persona in ("ann", "bob", "eve"):
            memory.remember("server", "port", "8080", persona=persona)
            memory.observe([{"role": "user", "content": "hello"}], scope=Scope(persona=persona), session="s1")
            assert memory.search("port of the server", scope=Scope(persona=persona))[0].found_by
        memory.flush()
        assert memory.background.unembedded() == 0
    assert sorted(embedder.seen) == ["server port: 8080", "user: hello"]


def test_a_long_message_is_embedded_as_a_question_by_its_ends(home: Path) -> None:
    asked: list[str] = []

    class Asked(SmallEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            asked.append(text)
            return super().embed_query(text)

    with Memory.open(home, embeddings=Asked(), options=ALONE) as memory:
        memory.search("先日 " + "人" * 50_000 + " where is the boat?", scope=ANN)
    assert all(len(text.encode()) < 2_000 for text in asked)
    assert asked[0].startswith("先日")
    assert asked[0].endswith("where is the boat?")


def test_what_waits_for_its_vector_is_weighed_by_its_words(home: Path) -> None:
    with Memory.open(home, embeddings=SmallEmbedder(), options=ALONE) as memory:
        memory.remember("server", "port", "8080", persona="ann")
        memory.remember_many({"entity": f"post {n}", "value": f"shade {n}", "persona": "ann"} for n in range(20))
        memory.flush()
        asked = "Where does my sister live now?"
        memory.capture([{"role": "user", "content": "My sister Mia moved to Lisbon, she is a nurse."}], scope=ANN)
        assert memory.background.unembedded() > 0
        assert "Lisbon" in memory.recall(asked, scope=ANN).text
        memory.flush()
        assert "Lisbon" in memory.recall(asked, scope=ANN).text
