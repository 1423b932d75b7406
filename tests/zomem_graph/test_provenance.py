"""Where a fact came from: every way in leaves its trace, down to the turn and the quote."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.remember import store_facts
from zomem_graph.stores.errors import UnknownName
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN = Scope(persona="ann")
MESSAGE = "My sister Clara moved to Porto last spring."
EXTRACTED = (
    '[{"entity": "Clara", "key": "city", "value": "Porto", "category": "fact", "decay_class": "stable",'
    ' "confidence": 0.9, "source_quote": "Clara moved to Porto"}]'
)


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def test_a_remembered_fact_names_its_source_and_time(memory: Memory, clock: FixedClock) -> None:
    fact = memory.remember("office", "city", "Lyon", source="onboarding form")
    report = memory.provenance(fact.id)
    (said,) = report.said
    assert (said.origin.source, said.origin.capture_method) == ("onboarding form", "api")
    assert (said.origin.captured_at, said.origin.effective_from) == (clock(), clock())
    assert said.origin.effective_until is None
    assert report.chain == (fact,)


def test_the_chain_shows_what_took_the_place_of_what(memory: Memory, clock: FixedClock) -> None:
    first = memory.remember("office", "city", "Lyon")
    clock.advance(days=1)
    second = memory.remember("office", "city", "Rome")
    clock.advance(days=1)
    third = memory.remember("office", "city", "Porto")
    report = memory.provenance(first.id)
    assert [fact.id for fact in report.chain] == [first.id, second.id, third.id]
    origin = report.said[0].origin
    assert (origin.superseded_by, origin.effective_until) == (second.id, second.created_at)
    assert [one.resolution for one in report.conflicts] == ["superseded"]


def test_what_a_model_found_leads_to_the_turn_and_the_quote(home: Path, clock: FixedClock) -> None:
    chat = ScriptedChat([EXTRACTED])
    with Memory.open(home, embeddings="none", clock=clock, chat_model=chat) as memory:
        memory.capture([{"role": "user", "content": MESSAGE}], scope=ANN, session="s", inline=True)
        facts = memory.lookup("Clara", "city", scope=ANN)
        origins = [said for fact in facts for said in memory.provenance(fact.id).said]
    found = [said for said in origins if said.origin.capture_method == "model"]
    assert found
    assert found[0].origin.quote == "Clara moved to Porto"
    assert found[0].turn is not None
    assert found[0].turn.content == MESSAGE


def test_every_saying_of_a_fact_is_kept_once(memory: Memory) -> None:
    turns = memory.observe(
        [{"role": "user", "content": "the office is in Lyon"}, {"role": "user", "content": "Lyon, as I said"}]
    )
    for turn in (*turns, turns[0]):
        new = NewFact(
            entity="office", key="city", value="Lyon", source="chat", turn_id=turn.id, quote="Lyon", method="rule"
        )
        with memory.stores.write() as unit:
            (stored,) = store_facts(unit, memory, [new], now=memory.clock())
    report = memory.provenance(stored.fact.id)
    assert {said.turn.content for said in report.said if said.turn} == {
        "the office is in Lyon",
        "Lyon, as I said",
    }
    assert {said.origin.capture_method for said in report.said} == {"rule"}


def test_an_import_says_that_it_is_one(memory: Memory) -> None:
    fact = memory.remember("office", "city", "Lyon", source="import:notes")
    assert memory.provenance(fact.id).said[0].origin.capture_method == "import"


def test_a_merged_value_leads_to_its_parts(memory: Memory) -> None:
    memory.remember("team", "standup", "Monday")
    merged = memory.remember("team", "standup", "Thursday", on_conflict="merge")
    report = memory.provenance(merged.id)
    assert [said.origin.capture_method for said in report.said] == ["merge"]
    assert {fact.value for fact in report.chain} == {"Monday", "Thursday", "Monday; Thursday"}


def test_an_unknown_id_and_a_thing_that_is_no_fact_are_named(memory: Memory) -> None:
    (turn,) = memory.observe([{"role": "user", "content": "good to know"}])
    with pytest.raises(UnknownName, match="zomem search"):
        memory.provenance("nothing")
    with pytest.raises(UnknownName, match="is a turn"):
        memory.provenance(turn.id)
