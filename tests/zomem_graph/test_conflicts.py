"""Conflicts on every write: one current value a slot, everything else where it belongs, nothing lost."""

import multiprocessing
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from zomem_graph import Memory, MemoryOptions, Scope
from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.remember import store_facts
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.testing import FixedClock, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def current(memory: Memory, entity: str, key: str | None = None, **named: object) -> list[str]:
    return [fact.value for fact in memory.lookup(entity, key, **named)]  # type: ignore[arg-type]


def states(memory: Memory, entity: str, key: str | None = None) -> list[tuple[str, str]]:
    return [(fact.value, fact.state) for fact in memory.conflicts.history(entity, key)]


def test_a_new_value_supersedes_and_the_conflict_is_on_record(memory: Memory, clock: FixedClock) -> None:
    memory.remember("office", "city", "Lyon")
    clock.advance(days=1)
    memory.remember("office", "city", "Porto")
    (found,) = memory.conflicts.list(resolution="superseded")
    assert found.newer is not None
    assert found.older is not None
    assert (found.newer.value, found.older.value) == ("Porto", "Lyon")
    assert found.older.confidence == 0.5
    assert found.older.superseded_by == found.newer.id
    assert states(memory, "Office", "CITY") == [("Lyon", "superseded"), ("Porto", "current")]
    assert memory.conflicts.list() == []


def test_the_port_that_moved_is_answered_and_the_old_one_only_in_history(memory: Memory, clock: FixedClock) -> None:
    memory.remember("sshd", "port", "22", text="ssh port of the server is 22, ssh port 22")
    clock.advance(days=1)
    memory.remember("sshd", "port", "49222", text="sshd now listens on 49222")
    assert [hit.metadata["value"] for hit in memory.search("ssh port")] == ["49222"]
    both = memory.search("ssh port", include_superseded=True)
    assert {hit.metadata["state"] for hit in both} == {"current", "superseded"}


@pytest.mark.parametrize("noticed_by", ["lookup", "search", "remember", "maintain"])
def test_what_a_session_says_ends_with_it_and_what_lives_longer_stands_again(
    noticed_by: str, memory: Memory, clock: FixedClock
) -> None:
    for value, tier in (("Faro", "stable"), ("Rome", "permanent"), ("Oslo", "session"), ("Bergen", "session")):
        memory.remember("ann", "city", value, tier=tier)
        clock.advance(hours=1)
    assert current(memory, "ann", "city") == ["Bergen"]
    clock.advance(hours=30)
    if noticed_by == "search":
        assert [hit.metadata["value"] for hit in memory.search("city of ann")] == ["Rome"]
    elif noticed_by == "maintain":
        memory.maintain()
    elif noticed_by == "remember":
        memory.remember("ann", "city", "rome")
    assert current(memory, "ann", "city") == ["Rome"]
    ended = [("Faro", "superseded"), ("Rome", "current")]
    assert [one for one in states(memory, "ann", "city") if one[0] not in ("Oslo", "Bergen")] == ended
    (rome,) = memory.lookup("ann", "city")
    assert rome.confidence == 1.0


def test_a_stream_that_is_never_closed_gives_back_what_stood_before(memory: Memory, clock: FixedClock) -> None:
    memory.remember("user", "city", "Rome", persona="ann", tier="permanent")
    clock.advance(hours=1)
    said = [{"role": "user", "content": text} for text in ("I moved to Oslo.", "I'm tired.", "Weather is bad here.")]
    memory.capture_stream(scope=ANN).add(said)
    assert current(memory, "user", "city", scope=ANN) == ["Oslo"]
    clock.advance(hours=30)
    assert current(memory, "user", "city", scope=ANN) == ["Rome"]


def test_a_strategy_nobody_knows_is_refused_also_when_nothing_waits(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="strategy must be one of"):
        memory.conflicts.resolve_all("bogus")


@pytest.mark.parametrize("strategy", ["flag", "pending"])
def test_a_value_that_waits_and_is_said_again_waits_once(strategy: str, memory: Memory) -> None:
    memory.remember("mailer", "port", "25", on_conflict=strategy)
    for value in ("2525", "2,525", "2525", "587"):
        memory.remember("mailer", "port", value, on_conflict=strategy)
    assert states(memory, "mailer", "port") == [("25", "current"), ("2525", "flagged"), ("587", "flagged")]
    waiting = memory.conflicts.list()
    assert sorted(one.newer.value for one in waiting if one.newer is not None) == ["2525", "587"]


def test_values_of_one_instant_are_told_in_the_order_of_storing(memory: Memory) -> None:
    values = [str(number) for number in range(1, 9)]
    memory.remember_many([{"entity": "mailer", "key": "port", "value": value} for value in values])
    assert [value for value, _state in states(memory, "mailer", "port")] == values
    memory.retract(memory.lookup("mailer", "port")[0].id, "a typo")
    assert current(memory, "mailer", "port") == ["7"]


@pytest.mark.parametrize("naming", ["My name is Ana.", "Hi, I'm Ana."])
def test_the_user_and_the_name_he_gave_are_one_person(naming: str, memory: Memory, clock: FixedClock) -> None:
    memory.remember("ana", "city", "Porto", persona="ann")
    memory.remember("ana", "likes", "tea", persona="ann")
    for said in (naming, "I no longer live in Porto, I moved to Braga.", "I no longer like tea."):
        clock.advance(days=1)
        memory.capture([{"role": "user", "content": said}], scope=ANN)
    assert [fact.value for name in ("ana", "user") for fact in memory.lookup(name, "city", scope=ANN)] == ["Braga"]
    assert "tea" not in [fact.value for fact in memory.lookup("ana", "likes", scope=ANN)]

    clock.advance(days=1)
    memory.remember("Ana", "city", "Faro", persona="ann")
    assert [fact.value for name in ("ana", "user") for fact in memory.lookup(name, "city", scope=ANN)] == ["Faro"]


def test_who_has_not_said_his_name_is_nobody_else(memory: Memory, clock: FixedClock) -> None:
    memory.remember("ana", "city", "Porto", persona="ann")
    for said in ("My sister's name is Ana.", "I moved to Braga."):
        clock.advance(days=1)
        memory.capture([{"role": "user", "content": said}], scope=ANN)
    assert [fact.value for fact in memory.lookup("ana", "city", scope=ANN)] == ["Porto"]


def test_facts_that_share_words_are_not_taken_for_one(memory: Memory) -> None:
    memory.remember("Alpha", "port", "1")
    memory.remember("Beta", "port", "2")
    memory.remember("ann", "job", "carpenter at Kiln")
    memory.remember("ann", "administers", "the repository of Kiln")
    assert current(memory, "Alpha", "port") == ["1"]
    assert len(current(memory, "ann")) == 2
    assert memory.conflicts.stats()["total"] == 0


def test_a_denial_in_other_words_is_kept_beside_and_flagged(memory: Memory) -> None:
    first = memory.remember("deploy", None, "deploys on Friday are allowed")
    second = memory.remember("deploy", None, "deploys on Friday are not allowed")
    assert {first.state, second.state} == {"current"}
    (found,) = memory.conflicts.list()
    assert (found.conflict.resolution, found.conflict.detector) == ("flagged", "negation")
    hits = {hit.id: hit for hit in memory.search("deploys on Friday")}
    assert hits[first.id].metadata["conflicts_with"] == [second.id]
    assert hits[second.id].metadata["conflicts_with"] == [first.id]


def test_a_denial_that_says_what_changed_takes_the_place(memory: Memory, clock: FixedClock) -> None:
    memory.remember("deploy", None, "deploys on Friday are allowed")
    clock.advance(days=1)
    memory.remember("deploy", None, "deploys on Friday are no longer allowed")
    assert current(memory, "deploy") == ["deploys on Friday are no longer allowed"]


def test_loving_then_hating_keeps_the_new_and_ends_the_old(memory: Memory) -> None:
    memory.remember("ann", "loves", "tea")
    memory.remember("ann", "hates", "tea")
    assert current(memory, "ann") == ["tea"]
    assert current(memory, "ann", "hates") == ["tea"]


@pytest.mark.parametrize("strategy", ["flag", "pending"])
def test_a_newcomer_may_have_to_wait_for_a_decision(memory: Memory, strategy: str) -> None:
    memory.remember("office", "city", "Lyon")
    waiting = memory.remember("office", "city", "Porto", on_conflict=strategy)
    assert waiting.state == "flagged"
    assert current(memory, "office", "city") == ["Lyon"]
    assert [hit.text for hit in memory.search("office city Porto")] == ["office city: Lyon"]
    (found,) = memory.conflicts.list()
    memory.conflicts.resolve(found.conflict.id[:8])
    assert current(memory, "office", "city") == ["Porto"]
    assert [hit.text for hit in memory.search("office city")] == ["office city: Porto"]
    assert memory.conflicts.list() == []


def test_a_decision_may_go_to_the_older_fact(memory: Memory) -> None:
    old = memory.remember("office", "city", "Lyon")
    memory.remember("office", "city", "Porto", on_conflict="flag")
    (found,) = memory.conflicts.list()
    memory.conflicts.resolve(found.conflict.id, keep=old.id)
    assert states(memory, "office", "city") == [("Lyon", "current"), ("Porto", "superseded")]


def test_merging_joins_the_distinct_values(memory: Memory) -> None:
    memory.remember("team", "standup", "Monday")
    merged = memory.remember("team", "standup", "Thursday", on_conflict="merge")
    again = memory.remember("team", "standup", "Monday", on_conflict="merge")
    assert (merged.value, merged.state) == ("Monday; Thursday", "current")
    assert again.id == merged.id
    assert {fact.state for fact in memory.conflicts.history("team") if fact.id != merged.id} == {"merged"}
    assert [hit.text for hit in memory.search("team standup")] == ["team standup: Monday; Thursday"]


def test_a_waiting_conflict_can_be_merged_later(memory: Memory) -> None:
    memory.remember("team", "standup", "Monday")
    memory.remember("team", "standup", "Thursday", on_conflict="pending")
    (decided,) = memory.conflicts.resolve_all("merge")
    assert decided.conflict.resolution == "merged"
    assert current(memory, "team", "standup") == ["Monday; Thursday"]
    assert memory.conflicts.stats()["open"] == 0


def test_the_strategy_can_be_set_for_all_writes(home: Path, clock: FixedClock) -> None:
    options = MemoryOptions(write=WriteOptions(on_conflict="flag"))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as memory:
        memory.remember("office", "city", "Lyon")
        memory.remember("office", "city", "Porto")
        assert current(memory, "office", "city") == ["Lyon"]


def test_what_was_said_earlier_but_learned_later_goes_into_the_past(memory: Memory, clock: FixedClock) -> None:
    start = clock()
    memory.remember("office", "city", "Lyon")
    clock.advance(days=20)
    memory.remember("office", "city", "Porto")
    with memory.stores.write() as unit:
        late = NewFact(entity="office", key="city", value="Rome", at=start + timedelta(days=10))
        (stored,) = store_facts(unit, memory, [late], now=clock())
    assert (stored.outcome, stored.fact.state) == ("late", "superseded")
    assert current(memory, "office", "city") == ["Porto"]

    def then(days: int) -> list[str]:
        return [hit.metadata["value"] for hit in memory.search("office city", as_of=start + timedelta(days))]

    assert (then(5), then(15), then(21)) == (["Lyon"], ["Rome"], ["Porto"])


def test_what_used_to_be_so_never_replaces_what_is(memory: Memory) -> None:
    memory.remember("office", "city", "Porto")
    past = memory.remember("office", "city", "used to be Lyon")
    assert past.state == "superseded"
    assert current(memory, "office", "city") == ["Porto"]


def test_a_value_that_swings_is_kept_and_said(memory: Memory, clock: FixedClock) -> None:
    swings = []
    for turn in range(20):
        clock.advance(minutes=1)
        value = "open" if turn % 2 else "shut"
        if turn < 6:
            memory.remember("gate", "state", value)
        else:
            with pytest.warns(UserWarning, match="back and forth"):
                memory.remember("gate", "state", value)
        swings = [one for one in memory.conflicts.list() if one.conflict.detector == "oscillation"]
    assert current(memory, "gate", "state") == ["open"]
    assert 1 <= len(swings) <= 6


def test_changing_now_and_then_is_no_swing(memory: Memory, clock: FixedClock) -> None:
    for turn in range(20):
        clock.advance(days=2)
        memory.remember("gate", "state", "open" if turn % 2 else "shut")
    assert memory.conflicts.list() == []


def test_looking_for_conflicts_finds_what_was_not_seen_on_the_way(memory: Memory) -> None:
    memory.remember("office", "city", "Lyon")
    memory.remember("office", "city", "Porto", persona="ann")
    memory.remember("team", None, "the team has 5 people")
    memory.remember("team", None, "the team has 6 people")
    memory.remember("team", None, "the team meets on Monday")
    found = memory.conflicts.detect(scope=ANN)
    assert {(one.conflict.detector, one.conflict.resolution) for one in found} == {
        ("personas", "pending"),
        ("number", "pending"),
    }
    assert memory.conflicts.detect(scope=ANN) == []
    assert len(current(memory, "team")) == 3


def test_conflicts_of_another_persona_are_out_of_reach(memory: Memory) -> None:
    memory.remember("office", "city", "Lyon", persona="ann")
    memory.remember("office", "city", "Porto", persona="ann", on_conflict="flag")
    (found,) = memory.conflicts.list(scope=ANN)
    assert memory.conflicts.list(scope=BOB) == []
    assert memory.conflicts.history("office", "city", scope=BOB) == []
    assert memory.conflicts.stats(scope=BOB)["total"] == 0
    with pytest.raises(UnknownName, match="No conflict"):
        memory.conflicts.resolve(found.conflict.id, scope=BOB)


def test_the_history_of_one_key_leaves_out_its_namesakes(memory: Memory) -> None:
    memory.remember("ann", "port", "1")
    memory.remember("ann", "port range", "2-3")
    memory.remember("annabel", "port", "4")
    assert states(memory, "ann", "port") == [("1", "current")]
    assert len(states(memory, "ann")) == 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.conflicts.resolve("none", "supersede"), "No conflict"),
        (lambda m: m.conflicts.resolve_all("guess"), None),
        (lambda m: m.conflicts.list(resolution="odd"), "resolution must be"),
        (lambda m: m.conflicts.list(limit=0), "limit"),
        (lambda m: m.conflicts.history(" "), "entity must be"),
        (lambda m: m.remember("a", "b", "c", on_conflict="guess"), "on_conflict must be"),
    ],
)
def test_senseless_requests_say_what_is_possible(memory: Memory, call: object, said: str | None) -> None:
    if said is None:
        memory.remember("x", "y", "1")
        memory.remember("x", "y", "2", on_conflict="flag")
        said = "strategy must be"
    with pytest.raises(InvalidInput, match=said):
        call(memory)  # type: ignore[operator]


def test_two_different_keys_cannot_be_merged(memory: Memory) -> None:
    memory.remember("deploy", None, "deploys on Friday are allowed")
    memory.remember("deploy", None, "deploys on Friday are not allowed")
    (found,) = memory.conflicts.list()
    with pytest.raises(InvalidInput, match="different keys"):
        memory.conflicts.resolve(found.conflict.id, "merge")
    assert memory.conflicts.resolve_all("merge") == []


def test_a_fact_that_was_deleted_cannot_win(memory: Memory) -> None:
    memory.remember("deploy", None, "deploys on Friday are allowed")
    newer = memory.remember("deploy", None, "deploys on Friday are not allowed")
    (found,) = memory.conflicts.list()
    memory.delete(newer.id)
    with pytest.raises(InvalidInput, match="is deleted and cannot win"):
        memory.conflicts.resolve(found.conflict.id)
    memory.forget(id=newer.id)
    with pytest.raises(UnknownName, match="No conflict"):
        memory.conflicts.resolve(found.conflict.id)


def test_what_was_never_true_leaves_recall_and_the_past(memory: Memory, clock: FixedClock) -> None:
    start = clock()
    false = memory.remember("office", "city", "Rome")
    true = memory.remember("ann", "employer", "Kiln")
    clock.advance(days=2)
    memory.remember("ann", "employer", "Mill")
    retracted = memory.retract(false.id, "misheard")
    assert retracted is not None
    assert (retracted.state, retracted.metadata["retracted"]) == ("retracted", "misheard")
    then = start + timedelta(days=1)
    past = {hit.id for hit in memory.search("office city Rome, ann employer", as_of=then)}
    assert past == {true.id}
    assert false.id not in {hit.id for hit in memory.search("office city Rome", include_superseded=True)}
    assert states(memory, "office", "city") == [("Rome", "retracted")]


def test_what_a_false_value_had_replaced_stands_again(memory: Memory, clock: FixedClock) -> None:
    lyon = memory.remember("office", "city", "Lyon")
    clock.advance(days=1)
    porto = memory.remember("office", "city", "Porto")
    memory.retract(porto.id, "a joke")
    (again,) = memory.lookup("office", "city")
    assert (again.id, again.confidence) == (lyon.id, 1.0)
    assert [hit.id for hit in memory.search("office city")] == [lyon.id]
    memory.flush()
    assert memory.verify()["ok"]


def test_a_false_value_in_the_middle_of_a_history_leaves_no_gap(memory: Memory, clock: FixedClock) -> None:
    memory.remember("office", "city", "Lyon")
    clock.advance(days=1)
    false = memory.remember("office", "city", "Rome")
    then = clock.advance(hours=1)
    clock.advance(days=1)
    memory.remember("office", "city", "Porto")
    memory.retract(false.id, "never happened")
    assert [hit.metadata["value"] for hit in memory.search("office city", as_of=then)] == ["Lyon"]
    assert current(memory, "office", "city") == ["Porto"]


def test_delete_and_retract_check_who_asks(memory: Memory) -> None:
    fact = memory.remember("diary", "place", "old mill", persona="ann")
    for attempt in (
        lambda: memory.delete(fact.id, scope=BOB),
        lambda: memory.retract(fact.id, "no", scope=BOB),
        lambda: memory.provenance(fact.id, scope=BOB),
        lambda: memory.link(fact.id, fact.id, scope=BOB),
    ):
        with pytest.raises(UnknownName, match="bob"):
            attempt()
    memory.retract(fact.id, "no", scope=ANN)
    with pytest.raises(UnknownName, match="retracted already"):
        memory.retract(fact.id, "no", scope=ANN)
    with pytest.raises(InvalidInput, match="reason"):
        memory.retract(fact.id, " ")


def test_links_tie_two_things_and_check_both_ends(memory: Memory) -> None:
    one = memory.remember("a", "b", "c", persona="ann")
    two = memory.remember("d", "e", "f")
    three = memory.remember("g", "h", "i", persona="bob")
    memory.link(one.id, two.id, "depends_on", 0.5, scope=ANN)
    memory.link(one.id, two.id, "depends_on", 0.7)
    assert memory.stats()["links"] == 1
    with pytest.warns(UserWarning, match="unknown relation"):
        memory.link(one.id, two.id, "rhymes with")
    with pytest.raises(InvalidInput, match="different personas"):
        memory.link(one.id, three.id)
    with pytest.raises(InvalidInput, match="itself"):
        memory.link(one.id, one.id)
    with pytest.raises(InvalidInput, match="weight"):
        memory.link(one.id, two.id, weight=float("nan"))
    assert memory.unlink(one.id, two.id) == 2
    with pytest.raises(UnknownName, match="no link"):
        memory.unlink(one.id, two.id)


def test_threads_that_change_one_slot_leave_one_current_value(memory: Memory) -> None:
    def change(number: int) -> None:
        for turn in range(5):
            memory.remember("lamp", "colour", f"shade {number} {turn}")

    threads = [threading.Thread(target=change, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(current(memory, "lamp", "colour")) == 1
    assert len(memory.conflicts.history("lamp", "colour")) == 30


def _change_slots(home: str, number: int) -> None:
    with Memory.open(home, embeddings="none") as memory:
        for turn in range(3):
            for slot in range(5):
                memory.remember(f"slot {slot}", "value", f"{number}-{turn}")


def test_processes_that_change_the_same_slots_lose_nothing(home: Path) -> None:
    Memory.open(home, embeddings="none").close()
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_change_slots, args=(str(home), number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with Memory.open(home, embeddings="none") as memory:
        for slot in range(5):
            assert len(current(memory, f"slot {slot}", "value")) == 1
            assert len(memory.conflicts.history(f"slot {slot}", "value")) == 9
