"""Forgetting takes what was named and what retells it, no more and no less; its proof looks for what was named."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from zomem_graph import Memory, MemoryStore, Scope
from zomem_graph.stores.errors import ModelError
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN = Scope(persona="ann", thread="t")
WHO = "Zebediah Kruxnell"


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def listed(memory: Memory, **named: str) -> set[str]:
    return {each["kind"] for each in memory.forget(persona="ann", dry_run=True, **named).listed}  # type: ignore[arg-type]


def attempts(memory: Memory) -> list[str | None]:
    with memory.stores.read() as unit:
        return [run.error for name in ("me", "ops") for run in unit.executors.of_executor(["ann"], name, limit=9)]


# -- no more ---------------------------------------------------------------------------------------


def test_one_word_of_a_forgotten_fact_takes_nothing_else_with_it(home: Path, clock: FixedClock) -> None:
    def down(_ask: object) -> str:
        raise ModelError("no answer, restart it")

    with Memory.open(home, embeddings="none", clock=clock, chat_model=ScriptedChat(down)) as memory:
        memory.procedures.create("deploy", [{"executor": "ops", "notes": "restart nginx"}], scope=ANN)
        memory.profiles.record("ops", success=False, error="could not restart", scope=ANN)
        memory.capture([{"role": "user", "content": "the cabin is teal"}], scope=ANN, inline=True)
        fact = memory.remember("lunch", "note", "restart after noon", persona="ann")
        queue = memory.stats()["extraction_queue"]
        assert queue
        assert listed(memory, id=fact.id) == {"fact"}
        report = memory.forget(persona="ann", id=fact.id)
        assert report.clean, (report.traces, report.notes)
        assert {each["kind"] for each in report.listed} == {"fact"}
        assert [one.name for one in memory.procedures.list(scope=ANN)] == ["deploy"]
        assert attempts(memory) == ["could not restart"]
        assert memory.stats()["extraction_queue"] == queue


def test_what_retells_a_fact_goes_with_it_and_the_dry_run_lists_it(memory: Memory) -> None:
    fact = memory.remember("boiler", "note", "drain the red boiler valve before winter", persona="ann")
    memory.procedures.create("winter", [{"executor": "me", "notes": "drain the red boiler valve"}], scope=ANN)
    memory.profiles.record("me", success=False, error="forgot to drain the red boiler valve", scope=ANN)
    assert listed(memory, id=fact.id) == {"fact", "procedure", "attempt"}
    report = memory.forget(persona="ann", id=fact.id)
    assert report.clean, (report.traces, report.notes)
    assert (report.counts["procedures"], report.counts["attempts"]) == (1, 1)
    assert memory.procedures.list(scope=ANN) == []
    assert attempts(memory) == [""]  # it was made; what it said is blanked


def test_a_summary_that_goes_is_listed_before(memory: Memory, clock: FixedClock) -> None:
    for day in range(30):
        memory.episodes.create(f"Day {day} with {WHO if day == 3 else 'nobody'} at the harbour", scope=ANN)
        clock.advance(days=1)
    clock.advance(days=30)
    memory.summaries.run(limit=100)
    assert "summary" in listed(memory, entity=WHO)


def test_a_single_plain_word_is_no_name(memory: Memory) -> None:
    memory.remember("port", "number", "8080", persona="ann")
    memory.observe([{"role": "user", "content": "the ferry leaves the port at noon"}], scope=ANN)
    report = memory.forget(persona="ann", entity="port")
    assert report.clean, (report.traces, report.named)
    assert memory.search("ferry at noon", scope=ANN, kinds=["turn"])
    assert any("'port'" in note for note in report.notes)


def test_a_single_name_in_small_letters_is_kept_and_told(memory: Memory) -> None:
    memory.remember("Mia", "job", "nurse", persona="ann")
    (turn,) = memory.observe([{"role": "user", "content": "yesterday mia rang me"}], scope=ANN)
    report = memory.forget(persona="ann", entity="Mia")
    assert not report.clean
    assert turn.id in report.named[0]
    assert memory.forget(persona="ann", matching="mia").counts["turns"] == 1
    assert memory.forget(persona="ann", entity="Mia").named == ()


# -- no less ---------------------------------------------------------------------------------------


def _turn(text: str) -> Callable[[Memory], object]:
    return lambda memory: memory.observe([{"role": "user", "content": text}], scope=ANN)


NAMING: dict[str, Callable[[Memory], object]] = {
    "small letters": _turn("zebediah kruxnell owes me money"),
    "capitals": _turn("ZEBEDIAH KRUXNELL IS HERE"),
    "two spaces, possessive": _turn("Zebediah   Kruxnell’s car"),
    "loop": lambda memory: memory.loops.create(f"Call {WHO} about results", scope=ANN),
    "episode": lambda memory: memory.episodes.create(f"Met {WHO} in the hospital", scope=ANN),
    "fact": lambda memory: memory.remember("me", "plan", "lunch with zebediah kruxnell", persona="ann"),
    "procedure": lambda memory: memory.procedures.create(
        "visit", [{"executor": "me", "notes": f"phone {WHO}"}], scope=ANN
    ),
}


@pytest.mark.parametrize("place", NAMING)
def test_whatever_names_the_entity_goes(memory: Memory, place: str) -> None:
    memory.remember(WHO, "clinic", "Vexholm", persona="ann")
    NAMING[place](memory)
    memory.observe([{"role": "user", "content": "zebediah is another and stays"}], scope=ANN, session="other")
    report = memory.forget(persona="ann", entity=WHO)
    assert report.clean, (report.traces, report.named, report.notes)
    assert len(report.listed) == 2
    with memory.stores.read() as unit:
        assert not [text for text in unit.erasure.texts() if "kruxnell" in text.casefold()]
        assert any("another and stays" in text for text in unit.erasure.texts())


def test_documents_of_an_application_are_named_and_not_erased(memory: Memory) -> None:
    store = MemoryStore(memory)
    store.put(("ann", "notes"), "k1", {"text": f"{WHO} lives at Quux street 77"})
    store.put(("bob", "notes"), "k2", {"text": f"{WHO} lives at Quux street 77"})
    memory.remember(WHO, "street", "Quux street 77", persona="ann")
    report = memory.forget(persona="ann", entity=WHO)
    assert not report.clean
    (named,) = report.named
    assert "'k1'" in named
    assert store.get(("ann", "notes"), "k1") is not None
    store.delete(("ann", "notes"), "k1")
    assert memory.forget(persona="ann", entity=WHO).named == ()


# -- the proof -------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [{"entity": WHO}, {"matching": "zqx-991"}, {"matching": "Frobnitz"}])
def test_the_proof_looks_for_what_was_named_also_the_second_time(
    memory: Memory, home: Path, named: dict[str, str]
) -> None:
    memory.remember(WHO, "code", "ZQX-991-Frobnitz", persona="ann")
    notes = home / "notes.txt"
    notes.write_text(f"{WHO.lower()}: zqx-991-frobnitz")
    for _ in range(2):
        report = memory.forget(persona="ann", **named)  # type: ignore[arg-type]
        assert [trace.place for trace in report.traces] == ["notes.txt"]
    notes.unlink()
    report = memory.forget(persona="ann", **named)  # type: ignore[arg-type]
    assert report.clean
    assert report.scanned["looked_for"] == 1


def test_what_cannot_be_looked_for_is_said_and_not_claimed(memory: Memory) -> None:
    report = memory.forget(persona="ann", matching="%")
    assert not report.clean
    assert report.scanned["looked_for"] == 0
    assert any("nothing was looked for" in note for note in report.notes)


def test_an_id_that_was_erased_before_runs_the_rest_again(memory: Memory) -> None:
    fact = memory.remember("car", "plate", "AAA-111", persona="ann")
    assert memory.forget(persona="ann", id=fact.id).clean
    again = memory.forget(persona="ann", id=fact.id)
    assert again.clean
    assert again.listed == ()
    assert any("erased before" in note for note in again.notes)


def test_a_misspelt_persona_is_told_whose_name_is_like_it(memory: Memory) -> None:
    memory.remember("car", "plate", "AAA-111", persona="annabel")
    report = memory.forget(persona="anabel", everything=True)
    assert not report.clean
    assert any("did you mean 'annabel'" in note for note in report.notes)


def test_it_is_proven_beside_threads_that_search(home: Path) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.remember_many({"entity": f"shelf {n}", "key": "holds", "value": f"box {n % 17}"} for n in range(500))
        done = Event()

        def search() -> None:
            while not done.is_set():
                memory.search("which shelf holds box 7?")

        with ThreadPoolExecutor(4) as readers:
            for _ in range(4):
                readers.submit(search)
            try:
                reports = [memory.forget(entity=f"shelf {n}") for n in range(6)]
            finally:
                done.set()
        assert [report.clean for report in reports] == [True] * 6
