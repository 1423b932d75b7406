"""A write that was beaten by another one looks again; any other failure is told at once."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from zomem_graph.stores.errors import StoreError
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.records import Fact
from zomem_graph.stores.retry import written
from zomem_graph.stores.store import Home, Stores
from zomem_graph.stores.unit import Unit

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
FACT = Fact(
    id="one",
    persona="shared",
    entity="office",
    key="city",
    value="Lyon",
    text="office city: Lyon",
    category="fact",
    tier="stable",
    importance=1.0,
    confidence=1.0,
    source="api",
    trust="user",
    state="current",
    slot="office\x1fcity",
    many=False,
    created_at=NOW,
    ended_at=None,
    expires_at=None,
    last_accessed=None,
    access_count=0,
    superseded_by=None,
    turn_id=None,
    quote=None,
)


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores.open(Home(tmp_path, tmp_path / "zomem.db"), now=lambda: NOW)


def test_a_writer_that_was_beaten_to_a_slot_looks_again(stores: Stores) -> None:
    seen: list[Fact | None] = []

    def write(unit: Unit) -> str:
        """Look, and be beaten the first time by one that comes in between."""
        seen.append(unit.facts.current("shared", FACT.slot))
        if len(seen) == 1:
            unit.facts.add([FACT, replace(FACT, id=new_id())])
        return "done"

    assert written(stores, write) == "done"
    assert seen == [None, None]


def test_what_fails_for_good_is_told(stores: Stores) -> None:
    tries = []

    def write(unit: Unit) -> None:
        tries.append(1)
        unit.facts.add([FACT, FACT])

    with pytest.raises(StoreError):
        written(stores, write)
    assert len(tries) == 5


def test_what_is_wrong_in_itself_is_not_tried_again(stores: Stores) -> None:
    tries = []

    def write(unit: Unit) -> None:
        tries.append(1)
        raise StoreError("something else")

    with pytest.raises(StoreError, match="something else"):
        written(stores, write)
    assert len(tries) == 1
