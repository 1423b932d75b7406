"""Maintenance archives what time has ended, says why, and can be taken back."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.steps.maintain import STEPS
from zomem_graph.stores.errors import InvalidInput, MaintenanceBusy, UnknownName
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def live(memory: Memory, clock: FixedClock, days: int, *, maintain_every: int = 0) -> None:
    """Let days pass on which somebody uses the memory for something else."""
    for day in range(1, days + 1):
        clock.advance(days=1)
        memory.observe([{"role": "user", "content": f"day {day} {clock():%F}: nothing special"}], session="diary")
        if maintain_every and day % maintain_every == 0:
            memory.maintain(only=["expire", "tiers", "merge", "loops"])


def moves(memory: Memory, **named: object) -> list[tuple[str, str]]:
    report = memory.maintain(**named)  # type: ignore[arg-type]
    return [(change.move, change.text) for change in report.changes]


# -- counting ----------------------------------------------------------------------------------------------------


def test_what_a_search_returns_counts_once_a_turn(memory: Memory, clock: FixedClock) -> None:
    memory.remember("office", "city", "Lyon")
    memory.search("which city is the office in")
    memory.search("which city is the office in")
    clock.advance(hours=2)
    memory.search("which city is the office in")
    (fact,) = memory.lookup("office", "city")
    assert fact.access_count == 2


def test_an_async_search_counts_like_any(memory: Memory) -> None:
    memory.remember("office", "city", "Lyon")
    asyncio.run(memory.asearch("which city is the office in"))
    assert memory.lookup("office", "city")[0].access_count == 1


def test_a_probe_leaves_no_trace(memory: Memory, clock: FixedClock) -> None:
    memory.remember("office", "city", "Lyon")
    with memory.stores.read() as unit:
        before = unit.care.active_days()
    clock.advance(days=1)
    assert memory.search("which city is the office in", probe=True)
    assert memory.recall("what did I tell you about the office city?", probe=True).decision == "inject"
    with memory.stores.read() as unit:
        assert unit.care.active_days() == before
        assert unit.journal.decisions(5) == []
    assert memory.lookup("office", "city")[0].access_count == 0


def test_a_hit_says_how_awake_it_is(memory: Memory, clock: FixedClock) -> None:
    memory.remember("office", "city", "Lyon")
    clock.advance(days=30)
    (hit,) = memory.search("which city is the office in", kinds=["fact"])
    assert hit.explanation.activation == pytest.approx(0.5)
    assert hit.explanation.band == "active"


def test_said_again_a_fact_begins_a_new_life(memory: Memory, clock: FixedClock) -> None:
    first = memory.remember("mood", "today", "good", tier="active")
    live(memory, clock, 12)
    assert memory.remember("mood", "today", "good", tier="active").id == first.id
    live(memory, clock, 12)
    assert memory.lookup("mood", "today")
    assert not [move for move in moves(memory) if move[0] == "archived"]


def test_a_session_fact_said_again_after_its_end_is_known_again(memory: Memory, clock: FixedClock) -> None:
    first = memory.remember("task", "now", "sort the mail", tier="session")
    clock.advance(days=2)
    assert memory.lookup("task", "now") == []
    again = memory.remember("task", "now", "sort the mail", tier="session")
    assert again.id != first.id
    assert [fact.id for fact in memory.lookup("task", "now")] == [again.id]


# -- what time does ----------------------------------------------------------------------------------------------


def test_what_is_over_leaves_recall_and_stays_for_the_past(memory: Memory, clock: FixedClock) -> None:
    fact = memory.remember("parcel", "place", "at the neighbour", tier="active")
    then = clock()
    live(memory, clock, 20)
    assert ("archived", fact.text) in moves(memory)
    assert memory.lookup("parcel") == []
    assert not memory.search("where is the parcel", kinds=["fact"])
    assert [hit.id for hit in memory.search("where is the parcel", as_of=then + timedelta(hours=1))] == [fact.id]


@pytest.mark.parametrize("maintained", [True, False])
def test_what_has_had_its_time_is_found_and_says_so_until_maintenance_files_it_away(
    memory: Memory, clock: FixedClock, maintained: bool
) -> None:
    memory.remember("parcel", "place", "at the neighbour", tier="active")
    live(memory, clock, 20)
    if maintained:
        memory.maintain()
        assert memory.search("where is the parcel", kinds=["fact"]) == []
        assert memory.lookup("parcel") == []
        return
    (hit,) = memory.search("where is the parcel", kinds=["fact"])
    assert hit.explanation.band == "archived"
    assert [fact.value for fact in memory.lookup("parcel")] == ["at the neighbour"]


@pytest.mark.parametrize(
    ("again", "value"),
    [
        ("checkpoint", "at the neighbour"),
        ("session", "at the neighbour"),
        ("active", "at the neighbour"),
        ("stable", "at the neighbour"),
        ("permanent", "at the neighbour"),
        ("session", "in the shed"),
        ("stable", "in the shed"),
    ],
)
def test_what_is_told_after_an_end_is_new_whether_maintenance_came_by_or_not(
    tmp_path: Path, again: str, value: str
) -> None:
    def lives(name: str, every: int) -> list[tuple[object, ...]]:
        clock = FixedClock()
        with Memory.open(tmp_path / name, embeddings="none", clock=clock) as memory:
            memory.remember("parcel", "place", "at the neighbour", tier="active")
            live(memory, clock, 20, maintain_every=every)
            memory.remember("parcel", "place", value, tier=again)
            live(memory, clock, 20, maintain_every=every)
            memory.maintain()
            told = memory.conflicts.history("parcel", "place")
            return [(one.value, one.state, one.tier, one.confidence, one.created_at, one.ended_at) for one in told]

    never = lives("never", 0)
    assert lives("weekly", 6) == never
    ended = "expired" if again in ("checkpoint", "session") else "archived" if again == "active" else "current"
    assert [life[1] for life in never] == ["archived", ended]


def test_what_has_had_its_time_is_no_rival_any_more(tmp_path: Path) -> None:
    def lives(name: str, every: int) -> list[tuple[object, ...]]:
        clock = FixedClock()
        with Memory.open(tmp_path / name, embeddings="none", clock=clock) as memory:
            memory.remember("user", "likes", "tea", many=True, tier="active")
            live(memory, clock, 20, maintain_every=every)
            memory.remember("user", "dislikes", "tea", many=True)
            memory.maintain()
            told = memory.conflicts.history("user", None)
            return [(one.key, one.state, one.confidence, one.ended_at) for one in told]

    never = lives("never", 0)
    assert lives("weekly", 6) == never
    assert [life[1] for life in never] == ["archived", "current"]


def test_a_store_that_slept_for_two_months_wakes_up_whole(memory: Memory, clock: FixedClock) -> None:
    memory.remember("parcel", "place", "at the neighbour", tier="active")
    memory.remember("office", "city", "Lyon")
    clock.advance(days=60)
    assert moves(memory, only=["expire", "tiers"]) == []
    assert len(memory.search("where is the parcel or the office", kinds=["fact"])) == 2


def test_an_old_archive_is_found_at_once(memory: Memory, clock: FixedClock) -> None:
    told = clock() - timedelta(days=730)
    memory.capture([{"role": "user", "content": "My dog is called Bello.", "at": told}], scope=ANN)
    assert moves(memory, only=["expire", "tiers"]) == []
    assert memory.search("what is my dog called", scope=ANN)


def test_an_allergy_outlives_the_mood(memory: Memory, clock: FixedClock) -> None:
    memory.remember("user", "allergy", "penicillin", importance=1.9)
    memory.remember("user", "mood", "tired", tier="active")
    live(memory, clock, 120)
    assert ("archived", "user mood: tired") in moves(memory)
    assert [fact.value for fact in memory.lookup("user")] == ["penicillin"]


def test_what_is_used_often_in_a_session_stays(memory: Memory, clock: FixedClock) -> None:
    memory.remember("server", "port", "8443", tier="session")
    for _ in range(3):
        clock.advance(hours=2)
        memory.lookup("server", "port")
    clock.advance(days=3)
    (fact,) = memory.lookup("server", "port")
    assert (fact.tier, fact.expires_at) == ("active", None)


def test_daily_weekly_and_never_lead_to_the_same(tmp_path: Path, embedder: SmallEmbedder) -> None:
    def life(name: str, every: int) -> list[tuple[object, ...]]:
        clock = FixedClock()
        with Memory.open(tmp_path / name, embeddings="none", clock=clock) as memory:
            memory.remember("a", "port", "1", tier="session")
            memory.remember("b", "port", "2", tier="active")
            memory.remember("c", "port", "3")
            memory.remember("d", "port", "4", importance=1.8)
            for _ in range(4):
                live(memory, clock, 30, maintain_every=every)
                memory.lookup("c")
            memory.maintain()
            with memory.stores.read() as unit:
                facts = unit.facts.find([fact.id for e in "abcd" for fact in unit.facts.history("shared", e, None)])
            return sorted((fact.entity, fact.tier, fact.state, str(fact.ended_at)) for fact in facts)

    never = life("never", 0)
    assert life("daily", 1) == never
    assert life("weekly", 7) == never
    assert {fact[2] for fact in never} == {"current", "archived", "expired"}


def test_a_second_run_finds_nothing_to_do(memory: Memory, clock: FixedClock) -> None:
    memory.remember("parcel", "place", "at the neighbour", tier="active")
    memory.remember("task", "now", "sort the mail", tier="session")
    live(memory, clock, 40)
    assert moves(memory)
    assert moves(memory) == []


def test_a_dry_run_says_the_same_and_changes_nothing(memory: Memory, clock: FixedClock) -> None:
    memory.remember("parcel", "place", "at the neighbour", tier="active")
    memory.remember("task", "now", "sort the mail", tier="session")
    memory.remember("user", "likes", "green tea", many=True)
    memory.remember("user", "likes", "green teas", many=True)
    memory.loops.create("Fix the login page")
    live(memory, clock, 20)
    memory.flush()
    before = memory.stats()
    told = moves(memory, dry_run=True)
    assert memory.stats() == before
    assert told == moves(memory)
    assert {move for move, _text in told} == {"archived", "expired", "merged", "stale"}


def test_each_change_says_why(memory: Memory, clock: FixedClock) -> None:
    memory.remember("task", "now", "sort the mail", tier="session")
    clock.advance(days=2)
    (change,) = memory.maintain().changes
    assert change.why == "a session fact lives 24 hours"


def test_a_run_stops_at_its_cap_and_the_next_goes_on(memory: Memory, clock: FixedClock) -> None:
    for number in range(5):
        memory.remember("task", f"number {number}", "x", tier="session")
    clock.advance(days=2)
    report = memory.maintain(max_changes=3)
    assert len(report.changes) == 3
    assert "stopped at 3 changes" in report.degraded[0]
    assert len(memory.maintain().changes) == 2


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_a_senseless_cap_is_refused(memory: Memory, most: int) -> None:
    with pytest.raises(InvalidInput, match="max_changes must be"):
        memory.maintain(max_changes=most)


def test_a_step_there_is_not_is_told_the_nearest(memory: Memory) -> None:
    with pytest.raises(UnknownName, match="Did you mean merge"):
        memory.maintain(only="merg")


# -- one at a time -----------------------------------------------------------------------------------------------


def test_a_second_run_at_once_says_so(memory: Memory, home: Path, clock: FixedClock) -> None:
    lock = memory.stores.maintenance_lock()
    assert lock.try_hold(wait_seconds=0)
    with pytest.raises(MaintenanceBusy, match="runs already"):
        memory.maintain()
    assert memory.maintain(dry_run=True).dry_run
    lock.release()
    memory.maintain()


def test_the_lock_is_free_again_after_an_async_run(memory: Memory) -> None:
    asyncio.run(memory.amaintain())
    memory.maintain()


def test_what_is_written_while_a_model_thinks_is_not_lost(home: Path, clock: FixedClock) -> None:
    thinking, go_on = threading.Event(), threading.Event()

    def slowly(_ask: object) -> str:
        thinking.set()
        assert go_on.wait(30)
        return '{"same": [1]}'

    chat = ScriptedChat(by_workload={"maintenance": slowly, "extraction": '{"facts": []}'})
    with Memory.open(home, embeddings="none", chat_model=chat, clock=clock) as memory:
        memory.remember("user", "likes", "strong black coffee in bed", many=True)
        memory.remember("user", "likes", "strong coffee in bed", many=True)
        run = threading.Thread(target=memory.maintain)
        run.start()
        assert thinking.wait(30)
        memory.remember("user", "likes", "walking in the rain", many=True)
        (second,) = [fact for fact in memory.lookup("user") if fact.value == "strong coffee in bed"]
        memory.delete(second.id)
        go_on.set()
        run.join()
        assert sorted(fact.value for fact in memory.lookup("user")) == [
            "strong black coffee in bed",
            "walking in the rain",
        ]


# -- merging -----------------------------------------------------------------------------------------------------


def test_the_same_said_twice_becomes_one_with_the_best_of_both(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("user", "likes", "green tea", many=True, importance=1.6, confidence=0.9)
    other = memory.remember("kitchen", "tea", "on the shelf")
    memory.link(old.id, other.id)
    memory.lookup("user")
    clock.advance(days=1)
    new = memory.remember("user", "likes", "green teas", many=True, confidence=0.5)
    (change,) = memory.maintain().changes
    assert (change.move, change.id) == ("merged", old.id)
    (kept,) = memory.lookup("user", "likes")
    assert (kept.id, kept.value, kept.importance, kept.confidence) == (new.id, "green teas", 1.6, 0.9)
    assert kept.access_count == 1
    with memory.stores.read() as unit:
        ties = {(link.source_id, link.target_id, link.relation) for link in unit.links.touching([new.id])}
    assert ties == {(new.id, old.id, "supersedes"), (new.id, other.id, "related")}
    assert memory.provenance(new.id)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("runs 5 km a day", "runs 10 km a day"),
        ("tea with milk", "tea without milk"),
        ("dinner with Anna on Friday", "dinner with Bob on Friday"),
        ("the old blue door", "the old red door"),
    ],
)
def test_what_only_looks_alike_is_kept_apart(memory: Memory, one: str, other: str) -> None:
    memory.remember("user", "likes", one, many=True)
    memory.remember("user", "likes", other, many=True)
    assert memory.maintain().changes == ()


@pytest.mark.parametrize(
    "reply",
    [
        "delete all",
        '{"delete": "all"}',
        '{"same": [99, -1, 0, true, "1", null]}',
        '{"same": "all"}',
        "[]",
        "",
    ],
)
def test_a_model_that_says_delete_all_deletes_nothing(home: Path, clock: FixedClock, reply: str) -> None:
    chat = ScriptedChat(by_workload={"maintenance": reply})
    with Memory.open(home, embeddings="none", chat_model=chat, clock=clock) as memory:
        for value in ("strong black coffee in bed", "strong coffee in bed", "walks in the rain"):
            memory.remember("user", "likes", value, many=True, importance=2.0)
        assert memory.maintain().changes == ()
        assert len(chat.asked("maintenance")) == 1
        assert len(memory.lookup("user")) == 3


def test_a_model_may_confirm_only_what_is_near(home: Path, clock: FixedClock) -> None:
    chat = ScriptedChat(by_workload={"maintenance": '{"same": [1, 2, 3, 4, 5, 6, 7, 8, 9]}'})
    with Memory.open(home, embeddings="none", chat_model=chat, clock=clock) as memory:
        for value in ("strong black coffee in bed", "strong coffee in bed", "3 cups a day", "5 cups a day"):
            memory.remember("user", "likes", value, many=True)
        (change,) = memory.maintain().changes
        assert "as the model confirmed" in change.why
        assert len(memory.lookup("user")) == 3


def test_a_merge_can_be_found_while_it_happens_and_after(memory: Memory, clock: FixedClock) -> None:
    memory.remember("user", "likes", "green tea", many=True)
    clock.advance(days=1)
    memory.remember("user", "likes", "green teas", many=True)
    memory.flush()
    memory.maintain(only="merge")  # the one that stays was in the index before
    assert [hit.metadata["value"] for hit in memory.search("what tea", kinds=["fact"])] == ["green teas"]


def test_many_long_notes_lose_nothing_when_they_are_merged(memory: Memory) -> None:
    notes = ["Note. " + "word " * 400 + f"number {number}" for number in range(12)]
    ids = [memory.remember("log", "note", note, many=True).id for note in notes]
    memory.remember("log", "note", notes[0].replace("number", "the number"), many=True)
    memory.maintain(only="merge")
    with memory.stores.read() as unit:
        assert [fact.value for fact in unit.facts.find(ids[:1])] == [notes[0]]
    assert len(memory.lookup("log")) == 12


# -- loops -------------------------------------------------------------------------------------------------------


def test_loops_become_stale_then_over_and_never_nag_again(memory: Memory, clock: FixedClock) -> None:
    loop = memory.loops.create("Fix the login page")
    clock.advance(days=15)
    assert moves(memory) == [("stale", "Fix the login page")]
    clock.advance(days=30)
    assert moves(memory) == [("over", "Fix the login page")]
    assert memory.loops.show(loop.id).status == "resolved"
    assert memory.loops.list() == []
    assert moves(memory) == []


def test_a_loop_whose_end_has_come_is_closed(memory: Memory, clock: FixedClock) -> None:
    loop = memory.loops.create("Book the train", expires_at=clock() + timedelta(days=2))
    clock.advance(days=3)
    assert moves(memory) == [("expired", "Book the train")]
    assert memory.loops.show(loop.id).status == "superseded"


def test_a_loop_that_sleeps_does_not_become_stale(memory: Memory, clock: FixedClock) -> None:
    memory.loops.create("Renew the passport", snooze_until=clock() + timedelta(days=60))
    clock.advance(days=59)
    assert moves(memory) == []
    clock.advance(days=10)
    assert moves(memory) == []
    clock.advance(days=10)
    assert moves(memory) == [("stale", "Renew the passport")]


def test_of_a_loop_that_slept_it_is_said_how_long_it_is_awake(memory: Memory, clock: FixedClock) -> None:
    memory.loops.create("Renew the passport", snooze_until=clock() + timedelta(days=55))
    clock.advance(days=76)
    (change,) = memory.maintain().changes
    assert change.why == "nobody spoke of it for 21 days since it woke"


def test_a_loop_that_holds_the_graph_together_is_never_given_up(memory: Memory, clock: FixedClock) -> None:
    bridge = memory.remember("router", "place", "cellar")
    for name in ("kitchen", "attic"):
        memory.link(bridge.id, memory.remember(name, "light", "on").id)
    memory.loops.create("Update the router", entity="router")
    memory.loops.create("Paint the fence", entity="fence")
    clock.advance(days=60)
    assert ("over", "Paint the fence") in moves(memory)
    assert [loop.title for loop in memory.loops.list(status="stale")] == ["Update the router"]


# -- undo --------------------------------------------------------------------------------------------------------


def test_the_last_run_can_be_undone_and_is_not_done_again(memory: Memory, clock: FixedClock) -> None:
    memory.remember("parcel", "place", "at the neighbour", tier="active")
    memory.remember("office", "city", "Lyon")
    old = memory.remember("user", "likes", "green tea", many=True, importance=1.6)
    clock.advance(days=1)
    new = memory.remember("user", "likes", "green teas", many=True, importance=1.5)
    loop = memory.loops.create("Fix the login page")
    live(memory, clock, 70)
    memory.flush()
    assert {move for move, _text in moves(memory)} == {"archived", "demoted", "merged", "over"}
    report = memory.maintain_undo()
    assert (len(report.undone), report.left) == (4, ())
    assert [fact.tier for fact in memory.lookup("office")] == ["stable"]
    assert {fact.id: fact.importance for fact in memory.lookup("user")} == {old.id: 1.6, new.id: 1.5}
    assert memory.loops.show(loop.id).status == "open"
    assert memory.search("where is the parcel", kinds=["fact"])
    assert memory.verify()["fulltext"] is None
    assert moves(memory) == []


_LIVES_ANEW = {
    "expire": {
        "facts.kept_since",
        "facts.expires_at",
        "items.expires_at",
        "open_loops.updated_at",
        "open_loops.expires_at",
    },
    "tiers": {"facts.kept_since"},
    "merge": set(),
    "loops": {"open_loops.updated_at"},
}
"""What an undo does not put back, so that the next run does not do the same at once."""


@pytest.mark.parametrize("step", STEPS)
def test_an_undo_puts_back_every_column_of_every_row(home: Path, clock: FixedClock, step: str) -> None:
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        memory.remember("office", "city", "Lyon")
        memory.loops.create("Fix the login page")
        live(memory, clock, 61)
        memory.remember("parcel", "place", "at the neighbour", tier="active")
        memory.loops.create("Paint the fence")
        live(memory, clock, 15)
        memory.remember("task", "now", "sort the mail", tier="session")
        memory.loops.create("Book the train", expires_at=clock() + timedelta(days=2))
        clock.advance(days=3)
        tea = memory.remember("user", "likes", "green tea", many=True, importance=1.6, confidence=0.7)
        memory.link(tea.id, memory.remember("kitchen", "shelf", "third").id)
        memory.lookup("user", "likes")
        clock.advance(minutes=5)
        memory.remember("user", "likes", "a green  tea!", many=True, tier="session")
        before = tables(home)
        made = memory.maintain(only=step).changes
        assert bool(made) == (step in _LIVES_ANEW)
        if made:
            assert tables(home) != before
            report = memory.maintain_undo()
            assert (len(report.undone), report.left) == (len(made), ())
    after = tables(home)
    assert {name for name in before if before[name] != after[name]} == _LIVES_ANEW.get(step, set())


def tables(home: Path) -> dict[str, list[object]]:
    """Return every column of what maintenance may change, in the order of the rows' keys."""
    found: dict[str, list[object]] = {}
    with closing(sqlite3.connect(home / "zomem.db")) as database:
        for table, key in _KEYS.items():
            rows = database.execute(f"SELECT * FROM {table} ORDER BY {key}")
            names = [column[0] for column in rows.description]
            for row in rows.fetchall() or [(None,) * len(names)]:
                for name, value in zip(names, row, strict=True):
                    found.setdefault(f"{table}.{name}", []).append(value)
    return found


_KEYS = {
    "facts": "id",
    "items": "id",
    "open_loops": "id",
    "episodes": "id",
    "links": "source_id, target_id, relation",
    "fact_provenance": "id",
    "access_log": "item_id, turn_key",
    "mentions": "1, 2",
}


def test_parted_again_each_ends_when_it_would_have(memory: Memory, clock: FixedClock) -> None:
    memory.remember("user", "likes", "green tea", many=True)
    clock.advance(minutes=5)
    memory.remember("user", "likes", "a green  tea!", many=True, tier="session")
    memory.maintain(only="merge")
    memory.maintain_undo()
    clock.advance(days=2)
    assert [fact.value for fact in memory.lookup("user")] == ["green tea"]


@pytest.mark.parametrize("since", ["used", "told again"])
def test_what_happened_to_the_one_that_stayed_is_not_undone(memory: Memory, clock: FixedClock, since: str) -> None:
    memory.remember("user", "likes", "green tea", many=True)
    memory.lookup("user", "likes")
    clock.advance(hours=2)
    stays = memory.remember("user", "likes", "a green  tea!", many=True, tier="session")
    memory.maintain(only="merge")
    clock.advance(hours=1)
    if since == "used":
        memory.lookup("user", "likes")
    else:
        memory.remember("user", "likes", "a green  tea!", many=True, tier="stable")
    memory.maintain_undo()
    (fact,) = (fact for fact in memory.lookup("user", "likes") if fact.id == stays.id)
    assert (fact.access_count, fact.tier) == ((1, "session") if since == "used" else (0, "stable"))


def test_what_was_changed_since_is_left_and_told(memory: Memory, clock: FixedClock) -> None:
    memory.remember("task", "now", "sort the mail", tier="session")
    clock.advance(days=2)
    memory.maintain()
    memory.remember("task", "now", "sleep")
    report = memory.maintain_undo()
    assert report.undone == ()
    assert [change.why for change in report.left] == ["another value has taken its place since"]
    assert [fact.value for fact in memory.lookup("task")] == ["sleep"]


def test_there_may_be_nothing_to_undo(memory: Memory) -> None:
    memory.maintain()
    with pytest.raises(InvalidInput, match="no run of maintenance to undo"):
        memory.maintain_undo()


def test_what_was_erased_does_not_come_back_with_an_undo(memory: Memory, clock: FixedClock) -> None:
    memory.remember("task", "now", "sort the mail", tier="session")
    clock.advance(days=2)
    memory.maintain()
    assert memory.forget(entity="task").clean
    with pytest.raises(InvalidInput, match="no run of maintenance to undo"):
        memory.maintain_undo()


# -- odd times ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("year", [1, 9999])
def test_the_first_and_the_last_year_are_times_like_others(home: Path, year: int) -> None:
    clock = FixedClock(datetime(year, 6, 1, tzinfo=UTC))
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        memory.remember("a", "b", "c", tier="session")
        memory.loops.create("Fix the login page")
        clock.advance(days=100)
        assert {move for move, _text in moves(memory)} == {"expired", "over"}


def test_a_clock_that_jumps_back_and_forth_loses_nothing(memory: Memory, clock: FixedClock) -> None:
    start = clock()
    memory.remember("office", "city", "Lyon")
    for jump in (400, -4_000, 3, -1):
        clock.set(start + timedelta(days=jump))
        assert moves(memory) == []
    assert memory.lookup("office")


def test_a_clock_of_any_zone_means_the_same_instants(tmp_path: Path) -> None:
    told = []
    for hours in (0, 14, -11):
        clock = FixedClock(datetime(2026, 1, 5, 12, tzinfo=UTC).astimezone(timezone(timedelta(hours=hours))))
        with Memory.open(tmp_path / str(hours), embeddings="none", clock=clock) as memory:
            memory.remember("task", "now", "x", tier="session")
            memory.remember("mood", "now", "y", tier="active")
            live(memory, clock, 30)
            changes = memory.maintain().changes
            with memory.stores.read() as unit:
                ended = [fact.ended_at for fact in unit.facts.find([change.id for change in changes])]
            told.append(sorted([*(f"{change.move} {change.why}" for change in changes), *map(str, ended)]))
    assert told[0] == told[1] == told[2]
