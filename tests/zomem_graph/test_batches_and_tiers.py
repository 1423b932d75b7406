"""What a batch returns, and what becomes of a tier that nobody knows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from zomem_graph import Memory, Scope
from zomem_graph.cli import app
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock

ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


def test_a_batch_returns_each_fact_as_the_whole_batch_left_it(memory: Memory) -> None:
    stored = memory.remember_many(
        [
            {"entity": "server", "key": "port", "value": value, "persona": "ann", "metadata": {"n": n}}
            for n, value in enumerate(["1", "2", "1", "3", "3"])
        ]
    )
    assert [(fact.value, fact.state) for fact in stored] == [
        ("1", "superseded"),
        ("2", "superseded"),
        ("1", "superseded"),
        ("3", "current"),
        ("3", "current"),
    ]
    history = {fact.id: fact for fact in memory.conflicts.history("server", "port", scope=ANN)}
    assert stored == [history[fact.id] for fact in stored]


@pytest.mark.parametrize(("tier", "meant"), [("permenant", "permanent"), ("Session ", "session"), ("eternal", "")])
def test_an_unknown_tier_is_stored_with_a_warning_and_fades_as_the_usual_one(
    tier: str, meant: str, memory: Memory, clock: FixedClock
) -> None:
    with pytest.warns(UserWarning, match=rf"unknown tier '{tier}'.* kept as stable. Did you mean {meant}"):
        fact = memory.remember("ann", "mood", "fine", tier=tier)
    assert (fact.tier, memory.lookup("ann", "mood")) == ("stable", [fact])
    usual = memory.remember("bob", "mood", "fine")
    for _day in range(100):
        clock.advance(days=1)
        memory.observe([{"role": "user", "content": f"nothing much on day {_day}"}], session=f"{_day}")
    memory.maintain(only="expire")
    with memory.stores.read() as unit:
        assert [one.state for one in unit.facts.find([fact.id, usual.id])] == ["archived", "archived"]


def test_an_unknown_tier_moves_no_known_fact(memory: Memory) -> None:
    memory.remember("ann", "allergy", "nuts", tier="permanent")
    with pytest.warns(UserWarning, match="unknown tier"):
        again = memory.remember("ann", "allergy", "nuts", tier="permenant")
    assert again.tier == "permanent"


@pytest.mark.parametrize("tier", ["", 7, None])
def test_a_tier_that_is_no_name_is_refused(tier: object, memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="tier must be"):
        memory.remember("ann", "mood", "fine", tier=tier)  # type: ignore[arg-type]


def test_the_command_line_says_on_standard_error_that_a_tier_is_unknown_and_stores(home: Path) -> None:
    done = CliRunner().invoke(app, ["remember", "ann", "mood", "fine", "--tier", "eternal", "--home", str(home)])
    assert done.exit_code == 0
    assert "note: unknown tier 'eternal'" in done.stderr
    assert "unknown tier" not in done.stdout
    found = CliRunner().invoke(app, ["lookup", "ann", "--json", "--home", str(home)])
    assert '"tier": "stable"' in found.stdout
