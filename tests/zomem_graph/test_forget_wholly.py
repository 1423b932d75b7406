"""Forgetting reaches whatever form a text was kept in, also in copies, and leaves what others keep."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.ports import Ask
from zomem_graph.stores.errors import ModelError
from zomem_graph.testing import FixedClock, ScriptedChat

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")
SAID = "The results came back: I have diabetes, sadly."


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


def user(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def copied(home: Path, name: str = "before.db") -> Path:
    """Copy the database of a home into its backups."""
    copy = home / "backups" / name
    copy.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(home / "zomem.db")) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
    return copy


def rows(copy: Path, asked: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(copy)) as opened:
        return opened.execute(asked).fetchall()


# -- copies ----------------------------------------------------------------------------------------


@pytest.mark.sqlite_file
@pytest.mark.parametrize("text", [SAID, "I’ve e-mailed it (twice): 1,000 kg!", "yes!", f"{SAID} " * 80])
def test_a_copy_does_not_keep_a_forgotten_turn_with_its_neighbours(memory: Memory, home: Path, text: str) -> None:
    turns = memory.observe(user("Good morning.", text, "What shall I cook?"), scope=ANN, session="one")
    copy = copied(home)
    report = memory.forget(persona="ann", id=turns[1].id)
    assert report.clean, (report.traces, report.notes)
    assert report.counts["backups_rewritten"] == 1
    assert rows(copy, "select text, words_prev, words_next from items order by num") == [
        ("user: Good morning.", "", ""),
        ("user: What shall I cook?", "", ""),
    ]
    assert rows(copy, "select rowid from items_fts where items_fts match 'diabetes OR twice OR yes'") == []


@pytest.mark.sqlite_file
@pytest.mark.parametrize("named", ["diabetes", "I have diabetes"])
def test_what_an_earlier_erasure_left_with_the_neighbours_is_cut_out(memory: Memory, home: Path, named: str) -> None:
    turns = memory.observe(user("Good morning.", SAID, "What shall I cook?"), scope=ANN, session="one")
    copy = copied(home)
    left = rows(copy, "select words_prev from items where num = 3")[0][0]
    memory.forget(persona="ann", id=turns[1].id)
    with closing(sqlite3.connect(copy)) as opened, opened:
        opened.execute("update items set words_prev = ? where num = 2 or words_self like '%cook'", (left,))
    report = memory.forget(persona="ann", matching=named)
    assert report.clean, (report.traces, report.notes)
    assert b"diabetes" not in copy.read_bytes()
    assert len(rows(copy, "select id from items")) == 2


@pytest.mark.sqlite_file
def test_the_proof_finds_words_as_they_are_indexed(memory: Memory, home: Path) -> None:
    turns = memory.observe(user("Good morning.", SAID), scope=ANN, session="one")
    (home / "mine.txt").write_text("the results came back i have diabetes sadly")
    report = memory.forget(persona="ann", id=turns[1].id)
    assert [(trace.place, trace.form) for trace in report.traces] == [("mine.txt", "words")]


@pytest.mark.sqlite_file
def test_one_word_that_was_named_takes_nothing_of_others_out_of_a_copy(memory: Memory, home: Path) -> None:
    memory.capture(user("I live in Bergen.", "I moved to Oslo."), scope=ANN, session="one")
    (theirs,) = memory.observe(user("My aunt drove to Oslo."), scope=BOB, session="two")
    copy = copied(home)
    report = memory.forget(persona="ann", matching="Oslo")
    assert report.clean, (report.traces, report.notes)
    assert rows(copy, "select id from turns where content like '%Oslo%'") == [(theirs.id,)]
    assert rows(copy, "select entity from mentions where entity = 'oslo' and persona = 'ann'") == []


# -- what nobody said ------------------------------------------------------------------------------


@pytest.mark.sqlite_file
@pytest.mark.parametrize("source", ["api", "cli", "conversation:con_1/notes.md"])
def test_the_label_of_a_source_is_no_trace_and_nothing_to_forget(memory: Memory, home: Path, source: str) -> None:
    memory.capture(user("I live in Bergen.", "I moved to Oslo."), scope=ANN, session="one", source=source)
    memory.capture(user("I moved to Tromsø."), scope=ANN, session="two", source=source)
    memory.capture(user("My sister Mia is a nurse."), scope=BOB, session="three", source=source)
    copy = copied(home)
    label = (
        "select e.persona from episode_entities n join episodes e on e.id = n.episode_id"
        " where n.name like 'capture.%'"
    )
    before = rows(copy, label)
    report = memory.forget(persona="ann", matching="Oslo")
    assert report.clean, (report.traces, report.notes)
    assert sorted(before) == [("ann",), ("ann",), ("bob",)]
    assert sorted(rows(copy, label)) == [("ann",), ("bob",)]
    report = memory.forget(persona="ann", matching=f"capture.{source}", dry_run=True)
    assert report.listed == ()


@pytest.mark.usefixtures("either_database")
def test_a_name_that_a_kept_episode_has_as_well_is_no_trace(memory: Memory, home: Path) -> None:
    memory.episodes.create("Deployed the shop, codeword PINEAPPLE-77", entities=["web-shop"], scope=ANN)
    memory.episodes.create("Paid the bill", entities=["web-shop"], scope=ANN)
    (home / "personas").mkdir()
    (home / "personas" / "ann.md").write_text("keeps a web-shop\nPINEAPPLE-77\n")
    report = memory.forget(persona="ann", matching="PINEAPPLE-77")
    assert report.clean, (report.traces, report.notes)
    assert (home / "personas" / "ann.md").read_text() == "keeps a web-shop\n"


# -- what comes again ------------------------------------------------------------------------------


def test_a_few_words_read_out_of_another_file_stay_forgotten(memory: Memory) -> None:
    said = user("My wife left me.", "I have HIV.", "Thanks!")
    memory.capture(said, scope=ANN, session="a", read_again=True)
    assert memory.forget(persona="ann", matching="HIV").clean
    again = memory.capture(said, scope=ANN, session="b", read_again=True)
    assert (again.turns, again.skipped_because["forgotten"]) == (2, 1)
    assert memory.observe(said[1:2], scope=ANN, session="c", read_again=True) == []
    assert not [hit for hit in memory.search("HIV", scope=ANN) if "HIV" in hit.text]
    assert memory.capture(said[1:2], scope=ANN, session="today").turns == 1  # said anew


def test_what_only_acknowledges_is_buried_in_its_session_only(memory: Memory) -> None:
    said = user("ok, thanks!", "yes")
    turns = memory.observe(said, scope=ANN, session="a")
    memory.forget(persona="ann", id=[turn.id for turn in turns])
    assert memory.observe(said, scope=ANN, session="a", read_again=True) == []
    assert len(memory.observe(said, scope=ANN, session="b", read_again=True)) == 2


def test_what_was_said_before_it_was_forgotten_stays_so_wherever_it_is_found(
    memory: Memory, clock: FixedClock
) -> None:
    def at(day: int) -> list[dict[str, object]]:
        return [{"role": "user", "content": "I live in Oslo by the sea.", "at": clock() + timedelta(days=day)}]

    memory.capture(at(0), scope=ANN, session="a")
    found_later = at(5)
    clock.advance(days=10)
    memory.forget(persona="ann", matching="Oslo")
    clock.advance(days=1)
    assert memory.capture(found_later, scope=ANN, session="b").turns == 0
    assert memory.capture(at(0), scope=ANN, session="b").turns == 1


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize("by_model", [False, True])
@pytest.mark.parametrize(("said_at", "city"), [("now", "Oslo"), ("before", "Bergen"), (None, "Bergen")])
def test_a_value_that_is_said_again_after_the_forgetting_is_learned(
    home: Path, clock: FixedClock, *, by_model: bool, said_at: str | None, city: str
) -> None:
    chat = ScriptedChat(_city) if by_model else None
    with Memory.open(home, embeddings="none", clock=clock, chat_model=chat) as memory:
        before = clock() - timedelta(seconds=1)
        for place in ("Oslo", "Bergen"):
            memory.capture(user(f"I live in {place}."), scope=ANN, session=place, inline=True)
            if place == "Oslo":
                memory.forget(persona="ann", matching="Oslo")
            clock.advance(days=5)
        clock.advance(days=400)
        times = {"now": {"at": clock()}, "before": {"at": before}, None: {}}[said_at]
        clock.advance(seconds=2)
        message = {"role": "user", "content": "I moved back, I live in Oslo.", **times}
        report = memory.capture([message], scope=ANN, session="c", inline=True)
        assert [fact.value for fact in memory.lookup("user", "city", scope=ANN)] == [city]
        assert ("forgotten" in report.skipped_because) == (city == "Bergen")


def _city(ask: Ask) -> str:
    told = str(ask)
    place = "Oslo" if "Oslo" in told else "Bergen"
    quote = "I moved back, I live in Oslo" if "moved back" in told else f"I live in {place}"
    fact = {"entity": "user", "key": "city", "value": place, "confidence": 1.0, "source_quote": quote}
    return json.dumps([fact])


@pytest.mark.parametrize("named", [{"entity": "zebra server"}, {"matching": "48123"}, {"matching": "Quillfeather"}])
def test_a_stream_stores_nothing_of_what_was_forgotten_while_it_ran(
    home: Path, memory: Memory, named: dict[str, str]
) -> None:
    stream = memory.capture_stream(scope=ANN, session="s")
    stream.add(user("My dentist Quillfeather charges a lot.", "The port of the zebra server is 48123.", "So it is."))
    with Memory.open(home, embeddings="none", clock=memory.clock) as other:
        report = other.forget(persona="ann", **named)  # type: ignore[arg-type]
        assert report.clean, (report.traces, report.notes)
    stream.add(user("The weather is fine."))
    assert stream.close().turns == 3
    with memory.stores.read() as unit:
        told = "\n".join(unit.erasure.texts()).casefold()
    assert named.get("matching", "48123").casefold() not in told
    assert ("quillfeather" in told) != ("Quillfeather" in named.values())


def test_a_stream_stores_what_is_said_again_after_the_forgetting(memory: Memory, clock: FixedClock) -> None:
    memory.capture(user("The port of the zebra server is 48123."), scope=ANN, session="a")
    memory.forget(persona="ann", entity="zebra server")
    clock.advance(days=1)
    with memory.capture_stream(scope=ANN, session="s") as stream:
        stream.add(user("The port of the zebra server is 48123."))
    assert [fact.value for fact in memory.lookup("zebra server", "port", scope=ANN)] == ["48123"]


def test_a_file_of_a_workspace_has_no_time_of_its_own(memory: Memory, clock: FixedClock, tmp_path: Path) -> None:
    memory.capture(user("I live in Oslo by the sea."), scope=ANN, session="a")
    memory.forget(persona="ann", matching="Oslo")
    folder = tmp_path / "con_1"
    folder.mkdir()
    (folder / "notes.md").write_text("User: I live in Oslo by the sea.\nUser: I like tea.\n" + " " * 200)
    report = memory.conversations.capture([tmp_path], everything=True, scope=ANN)
    assert report.turns == 1
    assert memory.lookup("user", "city", scope=ANN) == []


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize("reply", ["prose", "an error"])
def test_why_a_model_failed_tells_nothing_of_what_was_forgotten_meanwhile(
    home: Path, clock: FixedClock, reply: str
) -> None:
    told = "I will not list what Hortensia Vandermeer earns (93123 EUR)."

    def script(_ask: object) -> str:
        assert other.forget(entity="Hortensia Vandermeer", persona="ann").clean
        if reply == "an error":
            raise ModelError(f"refused: {told}")
        return told

    with (
        Memory.open(home, embeddings="none", clock=clock) as other,
        Memory.open(home, embeddings="none", clock=clock, chat_model=ScriptedChat(script)) as memory,
    ):
        said = user("By the way, Hortensia Vandermeer earns 93123 EUR a year.", "We met Bob Whistledown too.")
        assert memory.capture(said, scope=ANN, inline=True).degraded
        assert "93123" not in repr(memory.capture_stats())
        assert other.forget(entity="Hortensia Vandermeer", persona="ann").clean
        with memory.stores.read() as unit:
            assert not [text for text in unit.erasure.texts() if "93123" in text]


# -- joined values ---------------------------------------------------------------------------------

HOSTS = ("alpha-secret-host.example", "beta.example.org", "gamma.example.net")


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize("by", ["id", "matching"])
@pytest.mark.parametrize(("parts", "gone"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_a_merged_fact_loses_the_part_that_is_forgotten(
    memory: Memory, clock: FixedClock, by: str, parts: int, gone: int
) -> None:
    for host in HOSTS[:parts]:
        memory.remember("site", "host", host, persona="ann", on_conflict="merge")
        clock.advance(days=1)
    (part,) = [one for one in memory.conflicts.history("site", "host", scope=ANN) if one.value == HOSTS[gone]]
    named = {"id": part.id} if by == "id" else {"matching": HOSTS[gone]}
    report = memory.forget(persona="ann", **named)  # type: ignore[arg-type]
    assert report.clean, (report.traces, report.notes)
    left = [host for host in HOSTS[:parts] if host != HOSTS[gone]]
    (standing,) = memory.lookup("site", "host", scope=ANN)
    assert (standing.value, standing.confidence) == ("; ".join(left), 1.0)
    assert [hit.text for hit in memory.search("site host", scope=ANN, kinds=["fact"])] == [standing.text]
    with memory.stores.read() as unit:
        assert not [text for text in unit.erasure.texts() if HOSTS[gone] in text]
    assert memory.verify()["ok"]


def test_a_merged_fact_that_is_forgotten_takes_its_parts_with_it(memory: Memory) -> None:
    for host in HOSTS:
        memory.remember("site", "host", host, persona="ann", on_conflict="merge")
    (joined,) = memory.lookup("site", "host", scope=ANN)
    report = memory.forget(persona="ann", id=joined.id)
    assert report.clean, (report.traces, report.notes)
    assert memory.conflicts.history("site", "host", scope=ANN) == []


# -- messages that are numbered anew in each session -------------------------------------------------


def numbered(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "id": "1"}]


@pytest.mark.parametrize("read_again", [False, True])
def test_a_forgotten_message_bars_no_other_that_has_its_number_in_another_session(
    memory: Memory, read_again: bool
) -> None:
    memory.capture(numbered("My PIN hint is walrus"), scope=ANN, session="t1")
    assert memory.forget(persona="ann", matching="walrus").clean
    memory.capture(numbered("My PIN hint is w4lrus"), scope=ANN, session="t1", read_again=read_again)
    assert memory.search("PIN hint", scope=ANN) == []  # edited, it is the same message
    memory.capture(numbered("My plumber is Ms Lindqvist"), scope=ANN, session="t2", read_again=read_again)
    assert "Lindqvist" in memory.search("plumber", scope=ANN)[0].text


def test_an_import_brings_what_another_conversation_numbered_like_a_forgotten_message(
    memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "dump.json"
    for thread, text in (("t1", "My PIN hint is walrus"), ("t2", "My dentist is Dr Okafor")):
        said = [{"id": "1", "type": "human", "content": text}]
        path.write_text(json.dumps({"thread_id": thread, "messages": said}), "utf-8")
        memory.import_from("messages", path, scope=ANN)
        memory.forget(persona="ann", matching="walrus")
    assert "Okafor" in memory.search("dentist", scope=ANN)[0].text
