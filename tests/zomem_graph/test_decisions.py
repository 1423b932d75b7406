"""Deciding what cannot both hold: who may, what it changes, what is left, and that the past stays as it was."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zomem_graph import Memory, Scope
from zomem_graph.nodes.values import plain
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Fact
from zomem_graph.testing import FixedClock, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN, BOB, EVE = Scope(persona="ann"), Scope(persona="bob"), Scope(persona="eve")
SECRET, KNOWN = "61000 EUR", "ask the office"


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def states(memory: Memory, entity: str, key: str, scope: Scope = ANN) -> dict[str, str]:
    return {fact.value: fact.state for fact in memory.conflicts.history(entity, key, scope=scope)}


def values(memory: Memory, entity: str, key: str, **named: object) -> list[str]:
    hits = memory.search(f"{entity} {key}", kinds=["fact"], limit=50, **named)  # type: ignore[arg-type]
    return [hit.metadata["value"] for hit in hits if (hit.metadata["entity"], hit.metadata["key"]) == (entity, key)]


# -- between two personas -----------------------------------------------------------------------------


@pytest.fixture(params=["shared said last", "own said last"])
def pair(request: pytest.FixtureRequest, memory: Memory, clock: FixedClock) -> tuple[Fact, Fact]:
    """Return Ann's own fact and the shared one that it contradicts; the conflict is on record."""
    told = [("shared", KNOWN), ("ann", SECRET)]
    facts = {}
    for persona, value in told if request.param == "own said last" else told[::-1]:
        clock.advance(hours=1)
        facts[persona] = memory.remember("ann", "salary", value, persona=persona)
    assert len(memory.conflicts.detect(scope=ANN)) == 1
    return facts["ann"], facts["shared"]


@pytest.mark.parametrize("decided", [False, True])
@pytest.mark.parametrize("scope", [BOB, None])
def test_a_conflict_of_two_personas_is_seen_only_by_who_reads_both(
    scope: Scope | None, decided: bool, memory: Memory, pair: tuple[Fact, Fact]
) -> None:
    own, shared = pair
    (hit,) = (one for one in memory.search("ann salary", scope=ANN) if one.id == shared.id)
    assert hit.metadata["conflicts_with"] == [own.id]
    (conflict,) = memory.conflicts.list(scope=ANN)
    assert conflict.conflict.persona == "ann"
    if decided:
        memory.conflicts.resolve(conflict.conflict.id, scope=ANN)
    reads: list[Callable[[], object]] = [
        lambda: [memory.conflicts.list(scope=scope, resolution=one) for one in (None, "pending", "superseded")],
        lambda: memory.provenance(shared.id, scope=scope or Scope()),
        lambda: memory.search("ann salary", scope=scope, include_superseded=True),
        lambda: memory.recall("what is the salary of ann?", scope=scope),
        lambda: memory.graph.show("ann", scope=scope),
    ]
    for read in reads:
        told = str(plain(read()))
        assert SECRET not in told
        assert own.id not in told
        assert conflict.conflict.id not in told
    assert memory.conflicts.stats(scope=scope)["total"] == 0
    assert memory.conflicts.stats(scope=ANN)["total"] == 1
    assert [one.id for one in memory.provenance(shared.id, scope=ANN).conflicts] == [conflict.conflict.id]
    with pytest.raises(UnknownName, match="No conflict"):
        memory.conflicts.show(conflict.conflict.id, scope=scope)


@pytest.mark.parametrize(
    ("strategy", "keep"), [("supersede", None), ("supersede", "own"), ("merge", None), ("flag", None)]
)
def test_nobody_else_decides_what_is_own(
    strategy: str, keep: str | None, memory: Memory, pair: tuple[Fact, Fact]
) -> None:
    own, shared = pair
    memory.personas.pools.create("crew", members=["ann", "bob"])
    memory.personas.inherit("eve", "ann")
    (conflict,) = memory.conflicts.list(scope=ANN)
    kept = own.id if keep else None
    for scope, why in ((BOB, "'ann''s to decide"), (EVE, "'ann''s to decide"), (None, "No conflict")):
        with pytest.raises(UnknownName, match=why):
            memory.conflicts.resolve(conflict.conflict.id, strategy, keep=kept, scope=scope)
        assert memory.conflicts.resolve_all(strategy, scope=scope) == []
    assert states(memory, "ann", "salary") == {SECRET: "current", KNOWN: "current"}
    assert shared.state == "current"


@pytest.mark.parametrize(
    ("strategy", "keep", "own_values"),
    [
        ("supersede", "shared", []),
        ("supersede", "own", [SECRET]),
        ("merge", None, ["both"]),
        ("flag", None, [SECRET]),
        ("pending", None, [SECRET]),
    ],
)
def test_a_decision_ends_only_ones_own_side_and_moves_nothing_private(
    strategy: str, keep: str | None, own_values: list[str], memory: Memory, pair: tuple[Fact, Fact]
) -> None:
    own, shared = pair
    (conflict,) = memory.conflicts.list(scope=ANN)
    kept = {"own": own.id, "shared": shared.id}.get(keep or "")
    memory.conflicts.resolve(conflict.conflict.id, strategy, keep=kept, scope=ANN)
    for scope in (BOB, Scope()):
        assert [fact.id for fact in memory.lookup("ann", "salary", scope=scope)] == [shared.id]
        assert values(memory, "ann", "salary", scope=scope) == [KNOWN]
        assert SECRET not in str(plain(memory.provenance(shared.id, scope=scope)))
    mine = [fact.value for fact in memory.lookup("ann", "salary", scope=ANN) if fact.persona == "ann"]
    assert ["both" if SECRET in value and KNOWN in value else value for value in mine] == own_values
    report = memory.forget(persona="ann", everything=True)
    assert report.clean, report
    assert values(memory, "ann", "salary", scope=BOB) == [KNOWN]


def test_an_own_side_that_ended_may_stand_again(memory: Memory, pair: tuple[Fact, Fact]) -> None:
    own, shared = pair
    (conflict,) = memory.conflicts.list(scope=ANN)
    memory.conflicts.resolve(conflict.conflict.id, keep=shared.id, scope=ANN)
    again = memory.conflicts.resolve(conflict.conflict.id, keep=own.id, scope=ANN)
    assert {one.state for one in (again.newer, again.older) if one is not None} == {"current"}
    assert set(values(memory, "ann", "salary", scope=ANN)) == {SECRET, KNOWN}


# -- what is no more ----------------------------------------------------------------------------------


def _two(memory: Memory, clock: FixedClock, entity: str, older: str, newer: str) -> dict[str, Fact]:
    found = {"older": memory.remember(entity, "port", older, persona="ann")}
    clock.advance(days=1)
    found["newer"] = memory.remember(entity, "port", newer, persona="ann", on_conflict="flag")
    clock.advance(days=1)
    return found


def _end(memory: Memory, how: str, fact: Fact) -> None:
    if how == "retract":
        memory.retract(fact.id, "a typo", scope=ANN)
    elif how == "delete":
        memory.delete(fact.id, scope=ANN)
    else:
        memory.forget(id=fact.id, persona="ann")


ENDS = [("retract", "newer"), ("retract", "older"), ("delete", "older"), ("forget", "newer"), ("forget", "older")]


@pytest.mark.parametrize("strategy", ["supersede", "merge", "flag", "pending"])
@pytest.mark.parametrize(("how", "side"), ENDS)
def test_what_was_taken_out_waits_for_nothing_and_comes_back_by_no_decision(
    how: str, side: str, strategy: str, memory: Memory, clock: FixedClock
) -> None:
    facts = _two(memory, clock, "alpha", "8080", "9090")
    _two(memory, clock, "beta", "1111", "2222")
    _end(memory, how, facts[side])
    (gone, stays) = ("8080", "9090") if side == "older" else ("9090", "8080")
    assert [one.newer.entity for one in memory.conflicts.list(scope=ANN) if one.newer is not None] == ["beta"]
    assert memory.conflicts.stats(scope=ANN)["open"] == 1
    assert values(memory, "alpha", "port", scope=ANN) == [stays]
    hits = [hit.metadata for hit in memory.search("alpha port", scope=ANN)]
    assert [hit["entity"] for hit in hits if "conflicts_with" in hit] == ["beta"]

    decided = memory.conflicts.resolve_all(strategy, scope=ANN)
    assert (len(decided), decided.left) == (1, 0)
    state = {"retract": "retracted", "delete": "deleted"}.get(how)
    assert states(memory, "alpha", "port") == {**({gone: state} if state else {}), stays: "current"}


def test_what_waited_against_a_value_that_was_never_true_waits_against_the_one_before(
    memory: Memory, clock: FixedClock
) -> None:
    memory.remember("alpha", "port", "7070", persona="ann")
    clock.advance(days=1)
    facts = _two(memory, clock, "alpha", "8080", "9090")
    memory.retract(facts["older"].id, "a typo", scope=ANN)
    assert values(memory, "alpha", "port", scope=ANN) == ["7070"]
    (conflict,) = memory.conflicts.list(scope=ANN)
    assert conflict.older is not None
    assert conflict.older.value == "7070"
    memory.conflicts.resolve(conflict.conflict.id, scope=ANN)
    assert states(memory, "alpha", "port") == {"7070": "superseded", "8080": "retracted", "9090": "current"}


def test_what_cannot_be_decided_so_is_left_and_counted(memory: Memory, clock: FixedClock) -> None:
    _two(memory, clock, "alpha", "8080", "9090")
    memory.remember("deploy", None, "deploys on Friday are allowed", persona="ann")
    memory.remember("deploy", None, "deploys on Friday are not allowed", persona="ann")
    decided = memory.conflicts.resolve_all("merge", scope=ANN)
    assert (len(decided), decided.left) == (1, 1)
    assert values(memory, "alpha", "port", scope=ANN) == ["8080; 9090"]
    assert (len(memory.conflicts.resolve_all(scope=ANN)), memory.conflicts.list(scope=ANN)) == (1, [])


def test_no_decision_brings_back_what_something_else_took_the_place_of(memory: Memory, clock: FixedClock) -> None:
    first = memory.remember("deploy", None, "deploys on Friday are allowed", persona="ann")
    second = memory.remember("deploy", None, "deploys on Friday are not allowed", persona="ann")
    (conflict,) = memory.conflicts.list(scope=ANN)
    clock.advance(days=1)
    memory.conflicts.resolve(conflict.conflict.id, keep=first.id, scope=ANN)
    for strategy in ("merge", "flag", "pending"):
        with pytest.raises(InvalidInput, match=r"different keys|Nothing waits between the two"):
            memory.conflicts.resolve(conflict.conflict.id, strategy, scope=ANN)
    with pytest.raises(InvalidInput, match="is superseded and cannot win"):
        memory.conflicts.resolve(conflict.conflict.id, scope=ANN)
    memory.conflicts.resolve(conflict.conflict.id, keep=second.id, scope=ANN)
    assert [fact.value for fact in memory.lookup("deploy", scope=ANN)] == [second.value]


@pytest.mark.filterwarnings("ignore:'gate state' came back")
def test_to_take_note_of_a_swing_changes_no_value(memory: Memory, clock: FixedClock) -> None:
    for turn in range(7):
        clock.advance(minutes=1)
        memory.remember("gate", "state", "shut" if turn % 2 else "open", persona="ann", confidence=0.5 + turn / 100)
    memory.remember("gate", "state", "ajar", persona="ann")
    before = memory.conflicts.history("gate", "state", scope=ANN)
    swings = memory.conflicts.list(scope=ANN)
    assert swings
    assert memory.conflicts.resolve_all("merge", scope=ANN) == []
    assert len(memory.conflicts.resolve_all(scope=ANN)) == len(swings)
    assert memory.conflicts.history("gate", "state", scope=ANN) == before


# -- the past stays as it was -------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["flag", "pending"])
def test_a_value_holds_from_when_it_was_decided_on_and_was_said_when_it_was_said(
    strategy: str, memory: Memory, clock: FixedClock
) -> None:
    start = clock()
    memory.remember("server", "port", "8080", persona="ann")
    clock.advance(days=2)
    waiting = memory.remember("server", "port", "9090", persona="ann", on_conflict=strategy)
    said = clock()
    clock.advance(days=2)
    memory.conflicts.resolve_all(scope=ANN)
    clock.advance(days=2)

    def then(days: float) -> list[str]:
        return values(memory, "server", "port", scope=ANN, as_of=start + timedelta(days))

    assert (then(1), then(3), then(5)) == (["8080"], ["8080"], ["9090"])
    assert values(memory, "server", "port", scope=ANN) == ["9090"]
    assert states(memory, "server", "port") == {"8080": "superseded", "9090": "current"}
    (origin,) = [one.origin for one in memory.provenance(waiting.id, scope=ANN).said]
    assert (origin.captured_at, origin.effective_from, origin.effective_until) == (said, said, None)


_numbers = count()
_MOVES = st.one_of(
    st.tuples(st.sampled_from(["supersede", "flag", "pending", "merge"]), st.sampled_from("abcd")),
    st.tuples(st.sampled_from(["decide", "keep newer", "keep older"]), st.integers(0, 3)),
    st.tuples(st.just("delete"), st.none()),
)


@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(moves=st.lists(_MOVES, min_size=3, max_size=10))
def test_whatever_is_said_and_decided_a_slot_had_the_value_it_was_seen_to_have(
    moves: list[tuple[str, str | int | None]], memory: Memory, clock: FixedClock
) -> None:
    entity = f"lamp{next(_numbers)}"
    seen: list[tuple[datetime, list[str]]] = []
    for move, what in moves:
        clock.advance(days=1)
        _make(memory, entity, move, what)
        facts = memory.conflicts.history(entity, "shade", scope=ANN)
        current = [fact.value for fact in facts if fact.state == "current"]
        assert len(current) <= 1
        seen.append((clock() + timedelta(hours=1), current))
    clock.advance(days=1)
    facts = memory.conflicts.history(entity, "shade", scope=ANN)
    for at, current in seen:
        lived = [
            fact.value
            for fact in facts
            if fact.state in ("current", "superseded", "merged", "deleted")
            and fact.created_at <= at
            and (fact.ended_at is None or fact.ended_at > at)
        ]
        assert lived == current, (at, [(one.value, one.state, one.created_at, one.ended_at) for one in facts])


def _make(memory: Memory, entity: str, move: str, what: str | int | None) -> None:
    if isinstance(what, str):
        memory.remember(entity, "shade", what, persona="ann", on_conflict=move)
    elif move == "delete":
        for fact in memory.lookup(entity, "shade", scope=ANN):
            memory.delete(fact.id, scope=ANN)
    else:
        every = [
            one
            for resolution in ("pending", "flagged", "superseded")
            for one in memory.conflicts.list(resolution=resolution, scope=ANN, limit=1_000)
            if one.newer is not None and one.older is not None and one.newer.entity == entity
        ]
        if not every:
            return
        one = every[int(what or 0) % len(every)]
        keep = {"keep newer": one.newer, "keep older": one.older}.get(move)
        with suppress(InvalidInput):  # what was deleted or ended since cannot win
            memory.conflicts.resolve(one.conflict.id, keep=keep.id if keep is not None else None, scope=ANN)
