"""Documents of one source, loaded again after some went, came or changed."""

import random
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from zomem_graph import Memory
from zomem_graph.importers import ImportReport
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.testing import FixedClock


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    options = MemoryOptions(write=WriteOptions(background=False))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as opened:
        yield opened


class Loader(BaseLoader):
    """Loads what it was given; an exception among it is raised in its place."""

    def __init__(self, *documents: Any) -> None:
        self.documents = documents

    def lazy_load(self) -> Iterator[Document]:
        for each in self.documents:
            if isinstance(each, Exception):
                raise each
            yield each


def load(memory: Memory, *texts: str, dry_run: bool = False, **about: Any) -> ImportReport:
    return memory.import_documents(
        Loader(*[Document(text, metadata={"source": "book.txt", **about}) for text in texts]), dry_run=dry_run
    )


def pages(*texts: str) -> Loader:
    return Loader(
        *[Document(text, metadata={"source": "b.pdf", "page": n}) for n, text in enumerate(texts) if text is not None]
    )


def said(memory: Memory) -> list[str]:
    with memory.stores.read() as unit:
        ids = [id_ for record in unit.imports.all_of("shared", "documents") for _digest, id_ in record.parts]
        facts = [fact for fact in unit.facts.find(ids) if fact.state == "current"]
    assert len(facts) == memory.stats()["facts"]
    return sorted(fact.value for fact in facts)


@pytest.mark.parametrize("gone", ["one", "two", "three"])
@pytest.mark.parametrize("about", [{}, {"page": 7}])
def test_a_document_that_a_source_no_longer_has_leaves_recall_and_the_rest_is_unchanged(
    memory: Memory, gone: str, about: dict[str, Any]
) -> None:
    texts = ["one", "two", "three"]
    assert load(memory, *texts, **about).stored == 3
    texts.remove(gone)
    for _ in range(2):
        told = load(memory, *texts, dry_run=True, **about)
        report = load(memory, *texts, **about)
        assert {**asdict(told), "dry_run": False} == asdict(report)
        assert (report.unchanged, report.changed, report.superseded, report.facts) == (2, 1, 1, 0)
        assert said(memory) == sorted(texts)
        assert memory.search(gone) == []
        assert load(memory, *texts, **about).unchanged == 2
        load(memory, "one", "two", "three", **about)
        assert said(memory) == ["one", "three", "two"]


def test_a_source_may_become_one_document_and_several_again(memory: Memory) -> None:
    load(memory, "one", "two")
    assert load(memory, "two").unchanged == 1
    assert load(memory, "zero", "two").unchanged == 1
    assert said(memory) == ["two", "zero"]
    load(memory, "other")
    assert said(memory) == ["other"]


def test_pages_are_known_by_their_numbers(memory: Memory) -> None:
    memory.import_documents(pages("one", "two", "three"))
    assert memory.import_documents(pages("one", "new", "three")).superseded == 1
    assert [fact.value for fact in memory.lookup("b", "page 1")] == ["new"]
    memory.import_documents(pages("one", "three"))
    assert said(memory) == ["one", "three"]
    assert [fact.value for fact in memory.lookup("b", "page 1")] == ["three"]


def test_documents_with_other_ids_each_time_are_the_same(memory: Memory) -> None:
    for number in range(3):
        about = {"source": "book.txt"}
        loader = Loader(*[Document(text, metadata=about, id=f"{text}-{number}") for text in ("one", "two")])
        report = memory.import_documents(loader)
        assert report.facts == (0 if number else 2)
        assert said(memory) == ["one", "two"]


def test_a_loader_that_breaks_off_takes_nothing_away(memory: Memory) -> None:
    about = {"source": "book.txt"}
    load(memory, "one", "two")
    memory.import_documents(Loader(Document("one", metadata=about), ValueError("no more")))
    assert said(memory) == ["one", "two"]


def test_a_source_that_a_loader_no_longer_has_stays_remembered(memory: Memory) -> None:
    load(memory, "one", "two")
    memory.import_documents(Loader(Document("three", metadata={"source": "other.txt"})))
    assert said(memory) == ["one", "three", "two"]


def test_what_was_forgotten_or_deleted_is_not_brought_back_by_a_shift(memory: Memory) -> None:
    load(memory, "one", "two", "three 0151 1234567", "four")
    memory.forget(matching="0151 1234567")
    memory.delete(memory.search("four")[0].id)
    load(memory, "two", "three 0151 1234567", "four")
    assert said(memory) == ["two"]


@pytest.mark.parametrize("seed", range(6))
def test_whatever_a_loader_yields_is_what_is_current(memory: Memory, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        texts = [f"text {chance.randrange(6)}" for _ in range(chance.randrange(1, 5))]
        about: dict[str, Any] = {"page": chance.randrange(2)} if chance.random() < 0.3 else {}
        load(memory, *texts, **about)
        assert said(memory) == sorted(set(texts))
        again = load(memory, *texts, **about)
        assert (again.facts, again.superseded) == (0, 0)
