"""Multi-hop: it really hops, over links and over names, and stops."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.options import MemoryOptions, MultiHopOptions
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import ScriptedChat, SmallEmbedder


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none") as opened:
        for number in range(30):
            opened.remember(f"note {number}", "text", f"the weather was fine on walk number {number}")
        yield opened


def test_a_link_leads_to_what_no_word_of_the_question_finds(memory: Memory) -> None:
    shop = memory.remember("shop", "backend", "runs on machine seven")
    rack = memory.remember("rack", "place", "third cellar door left")
    memory.link(shop.id, rack.id, "depends_on")
    found = memory.hop("where is the shop backend kept safe", limit=40)
    by_id = {hit.id: hit for hit in found.hits}
    assert by_id[rack.id].explanation.path == (shop.id, "depends_on", rack.id)


CHAIN = {
    "apollo": "the rig wants a pump",
    "beryl": "quiet morning in autumn",
    "cobalt": "seven silver spoons",
    "dahlia": "lantern inside an attic",
    "ebony": "orchard behind fences",
    "flint": "letters under glass",
}


def chained(memory: Memory) -> list[str]:
    """Store facts that share nothing, each linked to the next; return their ids."""
    facts = memory.remember_many({"entity": entity, "value": value} for entity, value in CHAIN.items())
    for one, other in pairwise(facts):
        memory.link(one.id, other.id, "contains")
    return [fact.id for fact in facts]


def test_links_are_followed_as_far_as_asked_though_the_first_find_answers_the_question(memory: Memory) -> None:
    chain = chained(memory)
    for far in range(4):
        found = {hit.id for hit in memory.hop("what does the apollo rig want?", limit=40, max_hops=far).hits}
        assert [one in found for one in chain] == [number <= far + 1 for number in range(6)]


def test_a_link_whose_relation_says_what_is_asked_comes_before_what_is_not_tied(memory: Memory) -> None:
    status = memory.remember("payments", "status", "late since the ledger was moved")
    cause = memory.remember("incident 41", None, "queue stuck, restart cured it")
    memory.remember_many({"entity": f"shop {n}", "key": "status", "value": f"open until {n}"} for n in range(9))
    memory.link(status.id, cause.id, "caused_by")
    found = [hit.id for hit in memory.hop("what caused the payments status?", limit=3).hits]
    assert found[:2] == [status.id, cause.id]


NAMED = ["heron", "vm-17", "staging server", "Zephyr 17", "db01.example.org"]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("value", ["{}", "the {} since May"])
def test_a_value_that_names_what_other_facts_are_about_leads_on_however_it_is_written(
    memory: Memory, name: str, value: str
) -> None:
    first = memory.remember("web shop", "runs on", value.format(name))
    wanted = memory.remember(name, "keeper", "Ingmar Holt")
    asked = "who looks after the machine the web shop runs on?"
    assert [hit.id for hit in memory.search(asked, limit=2)] == [first.id, wanted.id]
    assert wanted.id in {hit.id for hit in memory.hop(asked, limit=3).hits}


def test_a_shared_name_leads_on(memory: Memory) -> None:
    memory.remember("order", "maker", "The lamp was designed by Ines Rocha.")
    home_town = memory.remember("people", "origin", "Ines Rocha comes from Braga.")
    found = memory.hop("who made the lamp and where from", limit=10)
    assert home_town.id in {hit.id for hit in found.hits}


def test_a_name_that_the_text_does_not_show_leads_on_when_it_is_given(memory: Memory) -> None:
    memory.remember("order", "maker", "The lamp was designed by Ines Rocha.")
    told = {"entity": "people", "key": "origin", "value": "she comes from a town in the north"}
    (home_town,) = memory.remember_many([{**told, "mentions": ["Ines Rocha"]}])
    found = memory.hop("who made the lamp and where from", limit=10)
    assert home_town.id in {hit.id for hit in found.hits}


@pytest.mark.parametrize("mentions", ["Ines Rocha", [7], [None]])
def test_mentions_that_are_no_list_of_names_are_refused(memory: Memory, mentions: object) -> None:
    with pytest.raises(InvalidInput, match="mentions must be a list of names"):
        memory.remember("people", "origin", "she comes from the north", mentions=mentions)  # type: ignore[arg-type]


def test_it_ends_when_a_hop_adds_nothing(memory: Memory) -> None:
    found = memory.hop("weather on a walk", max_hops=8)
    assert len(found.trace) < 9


def test_cycles_and_self_links_end(memory: Memory) -> None:
    a, b = memory.remember("a", "x", "alpha wheel"), memory.remember("b", "x", "beta wheel")
    memory.link(a.id, b.id)
    memory.link(b.id, a.id)
    ids = [hit.id for hit in memory.hop("alpha wheel", max_hops=8, limit=50).hits]
    assert len(ids) == len(set(ids))


def test_a_model_may_name_the_next_words_and_may_fail(home: Path) -> None:
    chat = ScriptedChat([], by_workload={"gate": ["cellar"] * 5, "hyde": ["nothing to say here"] * 5})
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat) as memory:
        memory.remember("shop", "backend", "runs on machine seven")
        cellar = memory.remember("rack", "place", "third cellar door left")
        assert cellar.id in {hit.id for hit in memory.hop("where is the shop backend kept safe").hits}


SPOKEN = [
    "I'm sorry, I can't help with that request.",
    "Sure! Let me think about what the user may mean by that first.",
    "Sorry.",
    "requests we answered today and the day before that one",
    "",
    "[]",
    "5",
    "null",
    '{"needs":"yes"',
    '{"needs":"yes"}',
    "No.",
]


@pytest.mark.parametrize("spoken", SPOKEN)
def test_a_model_that_speaks_instead_of_naming_words_leads_nowhere(home: Path, spoken: str) -> None:
    chat = ScriptedChat([], by_workload={"gate": [spoken] * 9, "hyde": ["nothing to say here"] * 9})
    asked = "who signs the orders for the city that Nora Vance's depot ships to?"
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat) as memory:
        memory.remember("depot", None, "Nora Vance runs the Lisbon depot.")
        memory.remember("ships", None, "The Lisbon depot ships to Porto Alegre.")
        memory.remember("orders", None, "Orders for Porto Alegre are signed by Kemal Aydin.")
        memory.remember_many(
            {"entity": f"reply {n}", "value": f"Sorry, we can't help with request {n} today."} for n in range(12)
        )
        memory.flush()
        with_model = memory.hop(asked, limit=3)
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model="none") as memory:
        alone = memory.hop(asked, limit=3)
    assert [hit.id for hit in with_model.hits] == [hit.id for hit in alone.hits]
    assert with_model.confidence <= alone.confidence
    assert len([note for note in with_model.degraded if note.startswith("hop: ")]) == 1
    assert len(chat.asked("gate")) == 1, "who failed once is not asked again"


def test_words_in_json_are_words(home: Path) -> None:
    chat = ScriptedChat([], by_workload={"gate": ['{"query": "cellar"}'] * 5, "hyde": ["nothing to say here"] * 5})
    with Memory.open(home, embeddings=SmallEmbedder(), chat_model=chat) as memory:
        memory.remember("shop", "backend", "runs on machine seven")
        cellar = memory.remember("rack", "place", "third cellar door left")
        assert cellar.id in {hit.id for hit in memory.hop("where is the shop backend kept safe").hits}


def test_a_search_that_takes_too_long_ends_with_what_it_has(home: Path) -> None:
    chat = ScriptedChat([], by_workload={"gate": ["cellar"] * 9, "hyde": ["nothing to say here"] * 9}, seconds=0.2)
    options = MemoryOptions(multi_hop=MultiHopOptions(deadline_seconds=0.1, max_hops=8, enough=2.0))
    with Memory.open(home, embeddings="none", chat_model=chat, options=options) as memory:
        chained(memory)
        found = memory.hop("what does the apollo rig want?", limit=10)
    assert 1 < len(found.hits) < len(CHAIN)
    assert len(chat.asked("gate")) == 1
    assert chat.asked("gate")[0].deadline_seconds <= 0.1
    assert "hop: stopped before hop 2: 0.1 s had passed" in found.degraded


def test_a_name_never_leads_into_another_persona(memory: Memory) -> None:
    memory.remember("order", "maker", "The lamp was designed by Ines Rocha.", persona="ann")
    theirs = memory.remember("people", "origin", "Ines Rocha comes from Braga.", persona="bob")
    found = memory.hop("who made the lamp and where from", scope=Scope(persona="ann"), limit=40)
    assert theirs.id not in {hit.id for hit in found.hits}


def test_a_hub_costs_no_more_than_its_cap(memory: Memory) -> None:
    hub = memory.remember("hub", "role", "central exchange")
    spokes = memory.remember_many(
        {"entity": f"spoke {n}", "key": "text", "value": f"spoke value {n}"} for n in range(300)
    )
    for spoke in spokes:
        memory.link(hub.id, spoke.id)
    found = memory.hop("who trades with the central exchange daily", max_hops=4, limit=10)
    assert len(found.hits) == 10
    assert all(step["found"] <= 10 for step in found.trace)
