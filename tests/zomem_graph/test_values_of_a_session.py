"""A value of a session and the longer-lived one it takes the place of, however the one of the session ends."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.stores.records import Fact
from zomem_graph.testing import FixedClock

ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        opened.remember("ann", "city", "Porto", persona="ann", tier="permanent")
        clock.advance(minutes=1)
        yield opened


def cities(memory: Memory) -> list[str]:
    return [fact.value for fact in memory.lookup("ann", "city", scope=ANN)]


@pytest.mark.parametrize(
    "end",
    [
        lambda memory, fact: memory.delete(fact.id, scope=ANN),
        lambda memory, fact: memory.retract(fact.id, "wrong", scope=ANN),
        lambda memory, fact: memory.forget(persona="ann", id=fact.id),
    ],
)
def test_what_it_took_the_place_of_stands_again(end: Callable[[Memory, Fact], object], memory: Memory) -> None:
    fact = memory.remember("ann", "city", "Lisbon", persona="ann", tier="session")
    end(memory, fact)
    assert cities(memory) == ["Porto"]


def test_said_again_for_longer_it_lives_on(memory: Memory, clock: FixedClock) -> None:
    memory.remember("ann", "city", "Lisbon", persona="ann", tier="session")
    again = memory.remember("ann", "city", "Lisbon", persona="ann", tier="permanent")
    clock.advance(days=3)
    assert (again.tier, again.expires_at, cities(memory)) == ("permanent", None, ["Lisbon"])
