"""What links and shared names do in an ordinary search: lift what they tie, by as much as they lend, and no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions
from zomem_graph.nodes.rules.hop import HopOptions
from zomem_graph.testing import FixedClock, SmallEmbedder

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")
ASKED = "payments status"


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


def payments(memory: Memory) -> tuple[str, str]:
    """Store a fact that the question names and one that it does not; return their ids."""
    status = memory.remember("payments", "status", "late since the ledger was moved", persona="ann")
    cause = memory.remember("incident 41", None, "queue stuck, restart cured it", persona="ann")
    memory.remember_many(
        {"entity": f"shop {n}", "key": "status", "value": f"open until {n}", "persona": "ann"} for n in range(9)
    )
    return status.id, cause.id


def test_a_link_brings_in_what_the_question_does_not_name(memory: Memory) -> None:
    status, cause = payments(memory)
    assert cause not in {hit.id for hit in memory.search(ASKED, scope=ANN, limit=20)}
    memory.link(status, cause, "caused_by")
    first, second, *_rest = memory.search(ASKED, scope=ANN)
    assert [first.id, second.id] == [status, cause]
    assert second.explanation.path == (status, "caused_by", cause)
    assert second.found_by == {"hop"}
    assert 0 < second.explanation.boosts["hop"] <= 0.5


def test_it_leads_both_ways(memory: Memory) -> None:
    status, cause = payments(memory)
    memory.link(cause, status, "causes")
    assert cause in {hit.id for hit in memory.search(ASKED, scope=ANN)}


def test_a_search_without_the_graph_leaves_links_out(memory: Memory) -> None:
    status, cause = payments(memory)
    memory.link(status, cause, "caused_by")
    assert cause not in {hit.id for hit in memory.search(ASKED, scope=ANN, limit=20, graph=False)}


def test_links_can_be_switched_off_by_their_option(home: Path) -> None:
    options = MemoryOptions(retrieve=RetrieveOptions(hop=HopOptions(links=0.0)))
    with Memory.open(home, embeddings="none", options=options) as memory:
        status, cause = payments(memory)
        memory.link(status, cause, "caused_by")
        assert cause not in {hit.id for hit in memory.search(ASKED, scope=ANN, limit=20)}


def test_a_heavier_link_lifts_more(memory: Memory) -> None:
    status, cause = payments(memory)
    other = memory.remember("incident 7", None, "somebody pulled a plug", persona="ann")
    memory.link(status, cause, "related", weight=0.2)
    memory.link(status, other.id, "related", weight=0.9)
    order = [hit.id for hit in memory.search(ASKED, scope=ANN, limit=20)]
    assert order.index(other.id) < order.index(cause)


def test_the_block_of_a_recall_tells_what_a_link_leads_to(memory: Memory) -> None:
    status, cause = payments(memory)
    memory.link(status, cause, "caused_by")
    assert "queue stuck" in memory.recall("what is the payments status?", scope=ANN).text


def test_a_link_never_leads_into_another_persona(memory: Memory) -> None:
    all_know = memory.remember("payments", "ledger", "moved in May", persona="shared")
    theirs = memory.remember("incident 9", None, "a secret of somebody else", persona="bob")
    memory.link(all_know.id, theirs.id, "caused_by")
    asked = "when was the payments ledger moved?"
    assert {hit.id for hit in memory.search(asked, scope=ANN, limit=40)} == {all_know.id}
    assert theirs.id in {hit.id for hit in memory.search(asked, scope=BOB, limit=40)}


def test_what_ties_everything_ties_nothing(memory: Memory) -> None:
    status, _cause = payments(memory)
    leaves = memory.remember_many({"entity": f"leaf {n}", "value": f"grows {n}", "persona": "ann"} for n in range(60))
    for leaf in leaves:
        memory.link(status, leaf.id, "contains")
    found = {hit.id for hit in memory.search(ASKED, scope=ANN, limit=40)}
    assert not found & {leaf.id for leaf in leaves}


def test_a_link_of_later_says_nothing_of_the_past(memory: Memory, clock: FixedClock) -> None:
    status, cause = payments(memory)
    then = clock.advance(days=1)
    clock.advance(days=1)
    memory.link(status, cause, "caused_by")
    assert cause not in {hit.id for hit in memory.search(ASKED, scope=ANN, limit=20, as_of=then)}
    assert cause in {hit.id for hit in memory.search(ASKED, scope=ANN, limit=20)}


def test_what_shares_a_common_name_is_lifted_by_no_more_than_it_was_lent(home: Path) -> None:
    with Memory.open(home, embeddings=SmallEmbedder()) as memory:
        memory.remember("payments", "status", "late since Monday", persona="ann")
        memory.remember_many(
            {"entity": f"colleague {n}", "key": "city", "value": f"Rome, district {n}", "persona": "ann"}
            for n in range(30)
        )
        memory.flush()
        plain = {hit.id: hit.score for hit in memory.search(ASKED, scope=ANN, limit=31, graph=False)}
        hits = memory.search(ASKED, scope=ANN, limit=31)
        best = max(hit.score for hit in hits)
        lifted = [(hit.score - plain[hit.id], hit.explanation.boosts.get("hop", 0.0)) for hit in hits[1:]]
    assert all(gained <= best * lent + 0.001 for gained, lent in lifted)
