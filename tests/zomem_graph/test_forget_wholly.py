"""Forgetting reaches whatever form a text was kept in, also in copies, and leaves what others keep."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.testing import FixedClock

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
