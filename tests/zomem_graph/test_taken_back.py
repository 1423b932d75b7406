"""What somebody takes back: in the same breath, later as over, or as never so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.testing import FixedClock

ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


def learned(memory: Memory, *said: str) -> dict[str, set[str]]:
    """Capture what is said, a minute apart, and return the current values by key."""
    for number, content in enumerate(said):
        at = f"2026-01-05T11:{number:02}:00+00:00"
        memory.capture([{"role": "user", "content": content, "at": at}], scope=ANN, session="talk")
    facts = [hit.metadata for hit in memory.search(" ".join(said), scope=ANN, kinds=["fact"], limit=50)]
    return {fact["key"]: {one["value"] for one in facts if one["key"] == fact["key"]} for fact in facts}


@pytest.mark.parametrize(
    "said",
    [
        "The ledger port is 8080, no wait, 9090.",
        "The ledger port is 8080, no, 9090",
        "The ledger port is 8080, sorry, 9090.",
        "The ledger port is 8080, sorry, I meant 9090.",
        "The ledger port is 8080 — I mean 9090.",
        "The ledger port is 8080 - no, 9090.",
        "The ledger port is 8080, or rather 9090.",
        "The ledger port is 8080, correction: 9090.",
        "The ledger port is 8080, actually 9090.",
        "The ledger port is 8080, actually it's 9090.",
        "The ledger port is 8080, scratch that, 9090.",
        "The ledger port is 8080. Scratch that, it's 9090.",
        "The ledger port is 8080. No wait, 9090.",
        "The ledger port is 8080... no, 9090.",
        "The ledger port is 8080 (sorry, 9090).",
        "The ledger port is 8080, oops, 9090.",
        "The ledger port is 8080, er, 9090.",
        "The ledger port is 7070, no, 8080, no wait, 9090.",
        "The ledger port is 8080, no sorry, the ledger port is 9090.",
        "Der Port vom Ledger ist 8080, nein, 9090.",
        "El puerto del ledger es 8080, perdón, 9090.",
        "Le port du ledger est 8080, pardon, 9090.",
    ],
)
def test_of_a_value_and_its_correction_the_correction_is_learned(said: str, memory: Memory) -> None:
    assert learned(memory, said) == {"port": {"9090"}}


@pytest.mark.parametrize(
    ("said", "city"),
    [
        ("I live in Rome, no, Naples.", "Naples"),
        ("Ich wohne in Berlin, nein, in Hamburg.", "Hamburg"),
        ("Ich wohne in Berlin, besser gesagt in Potsdam.", "Potsdam"),
        ("Vivo en Sevilla, no, en Cádiz.", "Cádiz"),
        ("J'habite à Lyon, ou plutôt à Paris.", "Paris"),
        ("我住在北京，不对，上海。", "上海"),
    ],
)
def test_so_it_is_in_every_language_of_the_rules(said: str, city: str, memory: Memory) -> None:
    assert learned(memory, said) == {"city": {city}}


@pytest.mark.parametrize(
    "said",
    [
        "The ledger port is 8080, scratch that.",
        "The ledger port is 8080, no, that one is taken.",
        "The ledger port is 8080. Strike that, I have to look it up.",
    ],
)
def test_what_is_taken_back_without_another_value_is_not_learned(said: str, memory: Memory) -> None:
    assert learned(memory, said) == {}


@pytest.mark.parametrize(
    "said",
    [
        "I live in Rome, no kidding.",
        "I live in Rome, no, really!",
        "I live in Rome. No, thanks.",
        "I live in Rome. No, I don't have a car.",
        "I live in Rome, sorry for the late reply.",
        "I live in Rome, actually in the centre.",
        "I live in Rome, wait for it, in the best street.",
    ],
)
def test_a_word_of_correction_that_corrects_nothing_takes_nothing_back(said: str, memory: Memory) -> None:
    assert learned(memory, said) == {"city": {"Rome"}}


@pytest.mark.parametrize(
    ("first", "over", "key", "value"),
    [
        ("I live in Bergen.", "I no longer live in Bergen.", "city", "Bergen"),
        ("I live in Bergen.", "I don't live in Bergen any more.", "city", "Bergen"),
        ("Ich wohne in Bergen.", "Ich wohne nicht mehr in Bergen.", "city", "Bergen"),
        ("Vivo en Bergen.", "Ya no vivo en Bergen.", "city", "Bergen"),
        ("J'habite à Bergen.", "Je n'habite plus à Bergen.", "city", "Bergen"),
        ("我住在北京。", "我不再住在北京。", "city", "北京"),
        ("I work at Acme.", "I don't work at Acme any more.", "employer", "Acme"),
        ("Ich arbeite bei Siemens.", "Ich arbeite nicht mehr bei Siemens.", "employer", "Siemens"),
        ("I'm allergic to peanuts.", "I'm no longer allergic to peanuts.", "allergies", "peanuts"),
    ],
)
def test_what_is_said_to_be_over_ends_and_stands_again_when_it_is_said_again(
    first: str, over: str, key: str, value: str, memory: Memory
) -> None:
    assert learned(memory, first) == {key: {value}}
    assert learned(memory, first, over) == {key: {f"no longer {value}"}}
    (old,) = (one for one in memory.search(first, scope=ANN, kinds=["fact"], include_superseded=True)
              if one.metadata["value"] == value)  # fmt: skip
    report = memory.provenance(old.id, scope=ANN)
    assert (report.fact.state, report.said[0].origin.quote) == ("superseded", first)
    assert learned(memory, first, over, f"{first} Yes.") == {key: {value}}


def test_that_another_value_is_over_ends_nothing(memory: Memory) -> None:
    said = ["I work at Beta.", "I no longer work at Acme.", "I live in Oslo.", "I don't live in Bergen any more."]
    assert learned(memory, *said) == {"employer": {"Beta"}, "city": {"Oslo"}}


@pytest.mark.parametrize(
    ("first", "denied"),
    [
        ("I'm allergic to peanuts.", "I'm not allergic to peanuts."),
        ("Ich bin gegen Erdnüsse allergisch.", "Ich bin nicht gegen Erdnüsse allergisch."),
        ("我对花生过敏。", "我对花生不过敏。"),
    ],
)
def test_a_denied_allergy_is_flagged_and_nobody_loses_it(first: str, denied: str, memory: Memory) -> None:
    known = learned(memory, first, denied)["allergies"]
    assert len(known) == 2
    (conflict,) = memory.conflicts.list(scope=ANN)
    assert (conflict.conflict.detector, conflict.conflict.resolution) == ("negation", "flagged")


def test_to_be_allergic_to_nothing_is_no_allergy(memory: Memory) -> None:
    assert learned(memory, "I'm not allergic to anything.", "I'm not allergic to it.") == {}
