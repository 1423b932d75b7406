"""Open loops: found in what is said, listed, put to sleep, and never back once they are closed."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.stores.errors import Closed, InvalidInput, SecretRefused, UnknownName
from zomem_graph.testing import FixedClock, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")
TITLE = "Fix the login page"


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def user(text: str, **more: object) -> dict[str, object]:
    return {"role": "user", "content": text, **more}


def titles(memory: Memory, **named: object) -> list[str]:
    return [loop.title for loop in memory.loops.list(**named)]  # type: ignore[arg-type]


# -- found in what is said -------------------------------------------------------------------------


def test_what_a_user_leaves_undone_becomes_an_open_loop(memory: Memory) -> None:
    report = memory.capture([user("We still need to fix the login page.")], scope=ANN)

    (loop,) = memory.loops.list(scope=ANN)
    assert report.loops == 1
    assert "login page" in loop.title
    assert loop.source == "auto-capture:api"
    assert loop.turn_id == report.turn_ids[0]


def test_a_replayed_conversation_opens_nothing_twice(memory: Memory) -> None:
    said = [user("We still need to fix the login page.")]
    memory.capture(said, scope=ANN)

    assert memory.capture(said, scope=ANN).loops == 0
    assert len(memory.loops.list(scope=ANN)) == 1


def test_the_same_need_said_again_refreshes_its_loop(memory: Memory, clock: FixedClock) -> None:
    memory.capture([user("We still need to fix the login page.")], scope=ANN, session="monday")
    clock.advance(days=1)
    memory.capture([user("We still need to fix the login page.")], scope=ANN, session="tuesday")

    (loop,) = memory.loops.list(scope=ANN)
    assert loop.updated_at == clock()
    assert loop.created_at == clock() - timedelta(days=1)


def test_what_a_user_says_is_done_is_resolved(memory: Memory) -> None:
    memory.capture([user("We still need to fix the login page.")], scope=ANN, session="monday")
    report = memory.capture([user("I have fixed the login page.")], scope=ANN, session="tuesday")

    assert report.resolved_loops == 1
    assert memory.loops.list(scope=ANN) == []
    assert memory.loops.list(scope=ANN, status="resolved")[0].resolution == "I have fixed the login page."


def test_what_is_not_done_stays_open(memory: Memory) -> None:
    memory.capture([user("We still need to fix the login page.")], scope=ANN, session="monday")
    memory.capture([user("The login page is not fixed.")], scope=ANN, session="tuesday")

    assert len(memory.loops.list(scope=ANN)) == 1


@pytest.mark.parametrize(
    ("undone", "done"),
    [
        ("TODO: fix the parser.", "The parser is fixed."),
        ("I need to send the invoice.", "I sent the invoice, it's done."),
        ("The login bug is not fixed.", "The login bug is fixed."),
        ("Hay que pagar la factura.", "Ya pagué la factura."),
    ],
)
def test_a_loop_with_one_telling_word_is_resolved_by_evidence(memory: Memory, undone: str, done: str) -> None:
    assert memory.capture([user(undone)], scope=ANN, session="monday").loops == 1

    assert memory.capture([user(done)], scope=ANN, session="tuesday").resolved_loops == 1
    assert memory.loops.list(scope=ANN) == []


def test_saying_that_a_loop_is_open_still_opens_no_second_one(memory: Memory, clock: FixedClock) -> None:
    memory.capture([user("I urgently must fix the login bug for Ada.")], scope=ANN, session="monday")
    clock.advance(days=1)
    memory.capture([user("The login bug is not fixed.")], scope=ANN, session="tuesday")

    (loop,) = memory.loops.list(scope=ANN)
    assert (loop.updated_at, loop.priority) == (clock(), 0.9)
    assert "for Ada" in loop.title
    assert memory.capture([user("I fixed the login bug.")], scope=ANN).resolved_loops == 1


def test_evidence_that_fits_two_loops_equally_closes_neither(memory: Memory) -> None:
    for name in ("Ada", "Ben"):
        memory.capture([user(f"I need to fix the login page for {name}.")], scope=ANN, session=name)

    assert memory.capture([user("I fixed the login page.")], scope=ANN).resolved_loops == 0
    assert memory.capture([user("I fixed the login page for Ben.")], scope=ANN).resolved_loops == 1
    assert titles(memory, scope=ANN) == ["Fix the login page for Ada"]


def test_the_verbs_of_to_dos_are_no_entities(memory: Memory) -> None:
    said = ["TODO: ask Karim about the Redis password.", "We must renew the TLS certificate before June!"]
    memory.capture([user(text) for text in [*said, "I need to translate the onboarding guide."]], scope=ANN)

    assert {loop.entity for loop in memory.loops.list(scope=ANN)} == {"karim", "tls", None}
    assert memory.recall("Translate this to French: I am hungry", scope=ANN).decision == "skip"


def test_an_assistant_closes_only_what_was_opened_in_its_own_session(memory: Memory) -> None:
    memory.capture([user("We still need to fix the login page.")], scope=ANN, session="monday")
    done = {"role": "assistant", "content": "I have fixed the login page."}

    assert memory.capture([done], scope=ANN, session="tuesday").resolved_loops == 0
    assert memory.capture([done], scope=ANN, session="monday").resolved_loops == 1


def test_opened_and_closed_in_one_conversation_leaves_nothing_open(memory: Memory) -> None:
    report = memory.capture(
        [user("We still need to fix the login page."), user("I have fixed the login page.")], scope=ANN
    )

    assert (report.loops, report.resolved_loops) == (0, 0)
    assert memory.loops.list(scope=ANN) == []


def test_what_an_assistant_or_a_tool_proposes_opens_nothing(memory: Memory) -> None:
    said = [
        {"role": "assistant", "content": "You should fix the login page."},
        {"role": "tool", "content": "TODO: fix the login page."},
    ]

    assert memory.capture(said, scope=ANN).loops == 0


def test_a_need_of_long_ago_opens_nothing(memory: Memory, clock: FixedClock) -> None:
    long_ago = (clock() - timedelta(days=60)).isoformat()

    assert memory.capture([user("We need to fix the login page.", at=long_ago)], scope=ANN).loops == 0


def test_a_dry_run_shows_the_loops_and_opens_none(memory: Memory) -> None:
    report = memory.capture([user("We still need to fix the login page.")], scope=ANN, dry_run=True)

    assert report.loops == 1
    assert any("loop" in shown for shown in report.preview)
    assert memory.loops.list(scope=ANN) == []


# -- opened by hand --------------------------------------------------------------------------------


def test_kind_and_priority_are_read_from_the_title(memory: Memory) -> None:
    loop = memory.loops.create("Urgent: fix the login page")

    assert (loop.kind, loop.priority) == ("bug", 0.9)


def test_an_open_loop_is_found_by_search(memory: Memory) -> None:
    memory.loops.create(TITLE, summary="The button does nothing on small screens")

    (hit,) = memory.search("login page", kinds=["loop"])
    assert hit.text == "Fix the login page — The button does nothing on small screens"


def test_a_new_summary_of_the_same_loop_is_found_by_search(memory: Memory) -> None:
    first = memory.loops.create(TITLE)
    second = memory.loops.create("fix the LOGIN page", summary="Safari only")

    assert second.id == first.id
    assert [hit.id for hit in memory.search("Safari", kinds=["loop"])] == [first.id]


def test_two_personas_stay_apart(memory: Memory) -> None:
    hers = memory.loops.create(TITLE, scope=ANN)
    his = memory.loops.create(TITLE, scope=BOB)

    assert hers.id != his.id
    assert [loop.id for loop in memory.loops.list(scope=ANN)] == [hers.id]
    for verb in (memory.loops.show, memory.loops.resolve, memory.loops.supersede, memory.loops.reopen):
        with pytest.raises(UnknownName):
            verb(his.id, scope=ANN)
    assert memory.loops.resolve_from("I have fixed the login page", scope=ANN)[0].id == hers.id
    assert titles(memory, scope=BOB) == [TITLE]


def test_what_is_shared_is_everybodys(memory: Memory) -> None:
    memory.loops.create(TITLE)

    assert titles(memory, scope=ANN) == titles(memory, scope=BOB) == [TITLE]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"title": " "}, "needs a title"),
        ({"title": "x" * 501}, "keep to 500"),
        ({"title": "x", "kind": "wish"}, "kind must be one of"),
        ({"title": "x", "priority": 3}, "priority must be"),
        ({"title": "x", "expires_at": "whenever"}, "cannot be read as a time"),
    ],
)
def test_bad_loops_are_refused(memory: Memory, named: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        memory.loops.create(**named)  # type: ignore[arg-type]
    assert memory.loops.list() == []


def test_a_loop_with_a_secret_is_refused(memory: Memory) -> None:
    with pytest.raises(SecretRefused):
        memory.loops.create("rotate the token ghp_" + "a1B2" * 9)


# -- put to sleep, closed, opened again ------------------------------------------------------------


def test_a_snoozed_loop_waits_until_its_time(memory: Memory, clock: FixedClock) -> None:
    loop = memory.loops.create(TITLE)
    memory.loops.snooze(loop.id, "in 2 days")

    assert titles(memory) == []
    assert titles(memory, status="snoozed") == [TITLE]
    assert memory.search("login page") == []
    clock.advance(days=2)
    assert titles(memory) == [TITLE]
    assert [hit.id for hit in memory.search("login page")] == [loop.id]


def test_a_snoozed_loop_can_be_woken(memory: Memory) -> None:
    loop = memory.loops.create(TITLE, snooze_until="in 2 days")
    memory.loops.snooze(loop.id, None)

    assert titles(memory) == [TITLE]


def test_sleep_ends_in_the_future(memory: Memory) -> None:
    loop = memory.loops.create(TITLE)

    with pytest.raises(InvalidInput, match="not in the future"):
        memory.loops.snooze(loop.id, "yesterday")


def test_a_resolved_loop_leaves_search_and_stays_listed(memory: Memory) -> None:
    loop = memory.loops.create(TITLE)
    closed = memory.loops.resolve(loop.id, note="shipped in 2.1")

    assert (closed.status, closed.resolution) == ("resolved", "shipped in 2.1")
    assert memory.search("login page") == []
    assert memory.search("login page", include_superseded=True) == []
    assert titles(memory, status="resolved") == [TITLE]


def test_the_past_still_shows_a_loop_that_was_open_then(memory: Memory, clock: FixedClock) -> None:
    loop = memory.loops.create(TITLE)
    then = clock.advance(hours=1)
    clock.advance(days=1)
    memory.loops.resolve(loop.id)

    assert [hit.id for hit in memory.search("login page", as_of=then)] == [loop.id]


def test_the_same_loop_can_be_resolved_twice_in_its_life(memory: Memory) -> None:
    for _ in range(2):
        memory.loops.resolve(memory.loops.create(TITLE).id)

    assert titles(memory, status="resolved") == [TITLE, TITLE]


def test_a_wrongly_closed_loop_can_be_opened_again(memory: Memory) -> None:
    loop = memory.loops.create(TITLE)
    memory.loops.resolve(loop.id)
    memory.loops.reopen(loop.id)

    assert titles(memory) == [TITLE]
    assert [hit.id for hit in memory.search("login page")] == [loop.id]


@pytest.mark.parametrize("closed_by", ["maintenance", "its user", "nobody"])
def test_reopened_a_loop_whose_end_is_past_stays_open(memory: Memory, clock: FixedClock, closed_by: str) -> None:
    loop = memory.loops.create(TITLE, expires_at=clock() + timedelta(days=2))
    clock.advance(days=3)
    if closed_by == "maintenance":
        memory.maintain()
    elif closed_by == "its user":
        memory.loops.supersede(loop.id)
    assert memory.loops.reopen(loop.id).status == "open"
    assert titles(memory) == [TITLE]
    assert [hit.id for hit in memory.search("login page", kinds=["loop"], probe=True)] == [loop.id]
    assert memory.maintain().changes == ()
    assert titles(memory) == [TITLE]


def test_reopened_before_its_end_a_loop_keeps_the_end(memory: Memory, clock: FixedClock) -> None:
    end = clock() + timedelta(days=2)
    loop = memory.loops.create(TITLE, expires_at=end)
    memory.loops.resolve(loop.id)
    assert memory.loops.reopen(loop.id).expires_at == end


def test_a_loop_with_an_open_twin_is_not_opened_again(memory: Memory) -> None:
    old = memory.loops.create(TITLE)
    memory.loops.resolve(old.id)
    memory.loops.create(TITLE)

    with pytest.raises(InvalidInput, match="is open already"):
        memory.loops.reopen(old.id)


def test_an_expired_loop_is_over_and_may_be_opened_anew(memory: Memory, clock: FixedClock) -> None:
    old = memory.loops.create(TITLE, expires_at="in 2 days")
    clock.advance(days=3)

    assert titles(memory) == []
    assert memory.search("login page") == []
    assert memory.loops.create(TITLE).id != old.id


def test_a_deleted_loop_is_gone_from_lists_and_search(memory: Memory) -> None:
    loop = memory.loops.create(TITLE)
    memory.delete(loop.id)

    assert titles(memory) == []
    assert memory.search("login page") == []
    assert memory.loops.create(TITLE).id != loop.id


def test_a_loop_has_an_owner_or_none(memory: Memory) -> None:
    loop = memory.loops.create(TITLE, owner="Ana")

    assert memory.loops.assign(loop.id, "Ben").owner == "Ben"
    assert memory.loops.assign(loop.id, None).owner is None


def test_the_first_characters_of_an_id_are_enough(memory: Memory) -> None:
    loop = memory.loops.create(TITLE)

    assert memory.loops.show(loop.id[:8]) == loop


def test_an_unknown_id_names_the_nearest(memory: Memory) -> None:
    loop = memory.loops.create(TITLE)
    memory.loops.create("Water the plants")

    with pytest.raises(UnknownName, match=rf"{loop.id[:8]} \(Fix the login page\)"):
        memory.loops.resolve("fix login page")


def test_an_unknown_status_names_the_known_ones(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="open, resolved, stale, superseded, snoozed"):
        memory.loops.list(status="done")


def test_entity_and_kind_narrow_every_list(memory: Memory) -> None:
    memory.loops.create(TITLE, entity="Website")
    memory.loops.resolve(memory.loops.create("Fix the footer", entity="Website").id)
    memory.loops.create("Call the bank", entity="Bank")

    assert titles(memory, entity="website") == [TITLE]
    assert titles(memory, entity="website", status="resolved") == ["Fix the footer"]
    assert titles(memory, kind="bug") == [TITLE]


# -- time ------------------------------------------------------------------------------------------


def test_nobody_is_nagged_for_ever(memory: Memory, clock: FixedClock) -> None:
    loop = memory.loops.create("Tidy the receipts")
    clock.advance(days=14)
    assert memory.loops.tend().stale == (loop.id,)
    assert titles(memory) == []
    assert titles(memory, status="stale") == ["Tidy the receipts"]

    clock.advance(days=30)
    assert memory.loops.tend().over == (loop.id,)
    assert titles(memory, status="stale") == []
    assert memory.search("receipts") == []
    assert memory.loops.tend().over == memory.loops.tend().stale == ()


def test_what_is_urgent_is_waited_for_longer(memory: Memory, clock: FixedClock) -> None:
    memory.loops.create("Renew the certificate", priority=0.9)
    clock.advance(days=29)
    assert memory.loops.tend().stale == ()
    clock.advance(days=1)
    assert len(memory.loops.tend().stale) == 1


def test_a_stale_loop_whose_subject_is_alive_stays(memory: Memory, clock: FixedClock) -> None:
    memory.loops.create("Renew the certificate", entity="server")
    clock.advance(days=50)
    memory.remember("server", "port", "8080")

    assert memory.loops.tend().over == ()


def test_a_stale_loop_spoken_of_again_is_open(memory: Memory, clock: FixedClock) -> None:
    loop = memory.loops.create("Tidy the receipts")
    clock.advance(days=20)
    memory.loops.tend()

    assert memory.loops.create("Tidy the receipts").id == loop.id
    assert titles(memory) == ["Tidy the receipts"]


def test_a_dry_run_of_time_changes_nothing(memory: Memory, clock: FixedClock) -> None:
    memory.loops.create("Tidy the receipts")
    clock.advance(days=20)

    assert len(memory.loops.tend(dry_run=True).stale) == 1
    assert titles(memory) == ["Tidy the receipts"]


def test_a_closed_memory_has_no_loops(home: Path) -> None:
    memory = Memory.open(home, embeddings="none")
    memory.close()

    with pytest.raises(Closed):
        memory.loops.list()
