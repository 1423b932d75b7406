"""Forgetting for good: gone from every leg and every byte of the home, and not back by the next import."""

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect
from sqlalchemy import text as statement

from zomem_graph import Memory, Scope
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.remember import store_facts
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")
NUMBER = "XK4471902"
TALK = [
    {"role": "user", "content": f"my passport number is {NUMBER}, please keep it"},
    {"role": "assistant", "content": f"Noted: {NUMBER}."},
    {"role": "user", "content": "what about lunch at the harbour then?"},
]


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        opened.remember("ann", "tea", "green", persona="ann")
        opened.remember("garden", "pond", "has two herons", persona="ann")
        yield opened


def kept(memory: Memory) -> tuple[object, ...]:
    """Return how much of everything there is, beside what the background is at."""
    stats = memory.stats()
    return stats["items"], stats["links"], stats["extraction_queue"]


def bytes_with(home: Path, word: str) -> list[str]:
    """Return the files of a home that hold a word in UTF-8 or UTF-16, in any letter case."""
    low = word.lower()
    forms = (low.encode(), low.encode("utf-16-le"))
    return [
        path.relative_to(home).as_posix()
        for path in sorted(home.rglob("*"))
        if path.is_file() and any(form in path.read_bytes().lower() for form in forms)
    ]


@pytest.mark.sqlite_file
def test_a_forgotten_fact_is_gone_from_every_byte_of_the_home(memory: Memory, home: Path) -> None:
    memory.observe(TALK, scope=ANN, session="s")
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    memory.recall(f"what did I tell you about my passport {NUMBER}?", scope=ANN)
    memory.flush()
    assert bytes_with(home, NUMBER)
    report = memory.forget(persona="ann", id=fact.id)
    assert report.clean, (report.traces, report.notes)
    assert (report.counts["facts"], report.counts["turns"]) == (1, 2)
    assert report.scanned["files"] > 5
    assert bytes_with(home, NUMBER) == []
    assert all(NUMBER not in hit.text for hit in memory.search(f"passport {NUMBER}", scope=ANN))
    assert memory.search("lunch at the harbour", scope=ANN)[0].text.endswith("then?")
    assert memory.verify()["ok"]


@pytest.mark.sqlite_file
def test_the_vectors_are_gone_from_the_index_too(memory: Memory, home: Path) -> None:
    for number in range(120):
        memory.remember(f"shelf {number}", "holds", f"box of kind {number}", persona="ann")
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    memory.flush()
    with memory.stores.read() as unit:
        (vector,) = unit.erasure.vanishing([fact.id]).vectors
    held = [path for path in home.rglob("*") if path.is_file() and vector in path.read_bytes()]
    assert len(held) >= 2
    assert memory.forget(persona="ann", id=fact.id).clean
    assert [path for path in home.rglob("*") if path.is_file() and vector in path.read_bytes()] == []
    assert memory.stats()["facts"] == 122


def _as_archive(home: Path, name: str, write: Callable[[Path], object]) -> None:
    (home / "backups").mkdir(exist_ok=True)
    write(home / "backups" / name)


def _tar(path: Path) -> None:
    data = json.dumps({"said": f"ann passport: {NUMBER}"}).encode()
    with tarfile.open(path, "w:gz") as packed:
        entry = tarfile.TarInfo("said.json")
        entry.size = len(data)
        packed.addfile(entry, io.BytesIO(data))


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("notes/said.txt", f"Ann Passport: {NUMBER}")


def _zip_in_gzip(path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("said.txt", f"ann passport: {NUMBER}".encode("utf-16"))
    path.write_bytes(gzip.compress(inner.getvalue()))


@pytest.mark.parametrize(("name", "write"), [("a.tar.gz", _tar), ("b.zip", _zip), ("c.zip.gz", _zip_in_gzip)])
def test_backups_in_archives_are_opened(
    memory: Memory, home: Path, name: str, write: Callable[[Path], object]
) -> None:
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    _as_archive(home, name, write)
    _as_archive(home, f"harmless-{name}", lambda path: path.write_bytes(gzip.compress(b"nothing of it")))
    report = memory.forget(persona="ann", id=fact.id)
    assert report.clean, (report.traces, report.notes)
    assert report.counts["backups_removed"] == 1
    assert [path.name for path in (home / "backups").iterdir()] == [f"harmless-{name}"]


@pytest.mark.sqlite_file
def test_a_copy_of_the_database_is_rewritten_and_keeps_the_rest(memory: Memory, home: Path) -> None:
    memory.observe(TALK, scope=ANN, session="s")
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    copy = home / "backups" / "before.db"
    copy.parent.mkdir()
    with closing(sqlite3.connect(home / "zomem.db")) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
    report = memory.forget(persona="ann", id=fact.id)
    assert report.clean, (report.traces, report.notes)
    assert report.counts["backups_rewritten"] == 1
    with closing(sqlite3.connect(copy)) as kept:
        assert {row[0] for row in kept.execute("select value from facts")} == {"green", "has two herons"}
        assert kept.execute("select content from turns").fetchall() == [(TALK[2]["content"],)]
        assert kept.execute("pragma integrity_check").fetchone() == ("ok",)


def test_persona_files_and_checkpoints_are_cleaned(memory: Memory, home: Path) -> None:
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    for folder, name, text in (
        ("personas", "ann.md", f"# Ann\n- likes tea\n- passport: {NUMBER}, valid\n"),
        ("checkpoints", "ckpt-1.json", json.dumps({"summary": f"ann passport: {NUMBER}"})),
        ("checkpoints", "ckpt-2.json", json.dumps({"summary": "lunch"})),
    ):
        (home / folder).mkdir(exist_ok=True)
        (home / folder / name).write_text(text)
    (home / "zomem.yaml").write_text("persona: ann\n")
    report = memory.forget(persona="ann", id=fact.id)
    assert report.clean, (report.traces, report.notes)
    assert (home / "personas" / "ann.md").read_text() == "# Ann\n- likes tea\n"
    assert [path.name for path in (home / "checkpoints").iterdir()] == ["ckpt-2.json"]
    assert (home / "zomem.yaml").read_text() == "persona: ann\n"


def test_what_stands_in_a_file_of_ours_that_is_not_ours_to_change_is_told(memory: Memory, home: Path) -> None:
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    (home / "my-own-notes.txt").write_text(f"do not lose {NUMBER}")
    report = memory.forget(persona="ann", id=fact.id)
    assert not report.clean
    assert [trace.place for trace in report.traces] == ["my-own-notes.txt"]


def test_a_dry_run_lists_and_changes_nothing(memory: Memory) -> None:
    memory.observe(TALK, scope=ANN, session="s")
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    before = kept(memory)
    report = memory.forget(persona="ann", id=fact.id, dry_run=True)
    assert report.dry_run
    assert {entry["kind"] for entry in report.listed} == {"fact", "turn"}
    assert all(NUMBER in entry["text"] for entry in report.listed)
    assert kept(memory) == before
    assert memory.lookup("ann", "passport", scope=ANN)


def test_a_report_of_a_real_erasure_does_not_repeat_what_was_erased(memory: Memory) -> None:
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    assert NUMBER not in repr(memory.forget(persona="ann", id=fact.id))


@pytest.mark.parametrize(
    ("named", "error", "said"),
    [
        ({}, InvalidInput, "Nothing was named"),
        ({"entity": " "}, InvalidInput, "entity must be"),
        ({"matching": ""}, InvalidInput, "matching must be"),
        ({"id": []}, InvalidInput, "id must be"),
        ({"id": 7}, InvalidInput, "id must be"),
        ({"everything": "yes"}, InvalidInput, "True or False"),
        ({"everything": True, "entity": "ann"}, InvalidInput, "not two of these"),
        ({"id": "nothing"}, UnknownName, "Nothing has the id"),
        ({"persona": "", "everything": True}, InvalidInput, "persona"),
    ],
)
def test_a_wish_that_is_not_clear_changes_nothing(
    memory: Memory, named: dict[str, Any], error: type[Exception], said: str
) -> None:
    before = kept(memory)
    with pytest.raises(error, match=said):
        memory.forget(**named)
    assert kept(memory) == before


def test_what_another_persona_owns_is_never_touched(memory: Memory) -> None:
    anns = memory.remember("ann", "passport", NUMBER, persona="ann")
    bobs = memory.remember("ann", "passport", NUMBER, persona="bob")
    shared = memory.remember("ann", "passport", "none")
    with pytest.raises(UnknownName, match="does not belong to the persona 'bob'"):
        memory.forget(persona="bob", id=[bobs.id, anns.id])
    for named in ({"entity": "ann"}, {"matching": NUMBER}, {"everything": True}):
        report = memory.forget(persona="ann", **named)
        assert report.clean, (named, report.traces, report.notes)
    assert [fact.id for fact in memory.lookup("ann", "passport", scope=BOB)] in (
        [bobs.id, shared.id],
        [shared.id, bobs.id],
    )
    assert report.shared == 0


@pytest.mark.parametrize("piece", ["100% sure_", "%", "a.c", "(", "TWO HERONS"])
def test_matching_is_a_literal_piece_of_text(memory: Memory, piece: str) -> None:
    memory.remember("odd", "note", f"says {piece} here", persona="ann")
    memory.remember("plain", "note", "says 100 abc sure here", persona="ann")
    memory.forget(persona="ann", matching=piece)
    left = {hit.metadata["entity"] for hit in memory.search("odd plain note garden pond says", scope=ANN)}
    assert "odd" not in left
    assert "plain" in left
    assert ("garden" in left) == (piece != "TWO HERONS")


def test_an_entity_goes_with_everything_that_names_it(memory: Memory, home: Path) -> None:
    memory.remember("Marco Bellini", "phone", "0171 5550199", persona="ann")
    memory.remember("ann", "plays chess with", "Marco Bellini", persona="ann")
    memory.observe(
        [
            {"role": "user", "content": "I met Marco Bellini at the station."},
            {"role": "user", "content": "The train to the coast was late."},
        ],
        scope=ANN,
        session="s",
    )
    memory.episodes.create(
        "Chess evening with Marco Bellini", outcome="success", entities=["Marco Bellini"], scope=ANN
    )
    memory.flush()
    report = memory.forget(persona="ann", entity="marco bellini")
    assert report.clean, (report.traces, report.notes)
    assert report.counts["facts"] == 2
    assert (report.counts["turns"], report.counts["episodes"]) == (1, 1)
    assert bytes_with(home, "bellini") == []
    assert memory.search("the train to the coast", scope=ANN)


def test_a_persona_can_be_emptied(memory: Memory, home: Path) -> None:
    memory.capture(TALK, scope=ANN, session="s")
    memory.recall("what did I tell you about the harbour?", scope=ANN)
    memory.remember("kept", "by", "the common memory")
    (home / "personas").mkdir()
    (home / "personas" / "ann.md").write_text("# Ann\nCritical: allergic to nuts\n")
    report = memory.forget(persona="ann", everything=True)
    assert report.clean, (report.traces, report.notes)
    assert not (home / "personas" / "ann.md").exists()
    assert memory.search("passport harbour tea herons", scope=ANN, probe=True)[0].metadata["entity"] == "kept"
    with memory.stores.database.read() as connection:
        found = inspect(connection)
        for table in found.get_table_names():
            if "persona" in {column["name"] for column in found.get_columns(table)}:
                left = connection.execute(
                    statement(f"select count(*) from {table} where persona = 'ann'")
                ).scalar_one()
                assert left == 0, table


def test_the_words_of_a_forgotten_turn_do_not_stay_with_its_neighbours(memory: Memory) -> None:
    turns = memory.observe(
        [
            {"role": "user", "content": "Good morning from the boat."},
            {"role": "user", "content": "The zephyrine colour is my favourite of all."},
            {"role": "user", "content": "Now for the weather report."},
        ],
        scope=ANN,
        session="s",
    )
    assert memory.forget(persona="ann", id=turns[1].id).clean
    with memory.stores.read() as unit:
        items = unit.items.find([turns[0].id, turns[2].id])
    assert all("zephyrin" not in item.words_prev + item.words_next for item in items)


def test_facts_learned_from_a_forgotten_turn_go_with_it(memory: Memory) -> None:
    turns = memory.observe(TALK, scope=ANN, session="s")
    new = [
        NewFact(entity="ann", key="passport", value=NUMBER, persona="ann", turn_id=turns[0].id, method="rule"),
        NewFact(entity="ann", key="tea", value="green", persona="ann", turn_id=turns[0].id, method="rule"),
    ]
    with memory.stores.write() as unit:
        store_facts(unit, memory, new, now=memory.clock())
    memory.forget(persona="ann", id=turns[0].id)
    assert memory.lookup("ann", "passport", scope=ANN) == []
    (tea,) = memory.lookup("ann", "tea", scope=ANN)  # remembered before, too
    assert (tea.value, tea.turn_id) == ("green", None)


def test_a_fact_beside_a_forgotten_one_loses_its_quote_only(memory: Memory) -> None:
    (turn,) = memory.observe([{"role": "user", "content": f"passport {NUMBER}, and I live in Lyon"}], scope=ANN)
    new = [
        NewFact(entity="ann", key="passport", value=NUMBER, persona="ann", turn_id=turn.id, quote=turn.content),
        NewFact(entity="ann", key="city", value="Lyon", persona="ann", turn_id=turn.id, quote=turn.content),
    ]
    with memory.stores.write() as unit:
        passport, _city = store_facts(unit, memory, new, now=memory.clock())
    assert memory.forget(persona="ann", id=passport.fact.id).clean
    (city,) = memory.lookup("ann", "city", scope=ANN)
    assert (city.value, city.quote, city.turn_id) == ("Lyon", None, None)
    assert memory.provenance(city.id).said[0].origin.quote is None


def test_the_same_text_read_again_does_not_come_back(memory: Memory, clock: FixedClock) -> None:
    memory.observe(TALK, scope=ANN, session="s")
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    memory.forget(persona="ann", id=fact.id)
    clock.advance(days=1)
    assert memory.observe(TALK, scope=ANN, session="s") == []
    report = memory.capture(TALK, scope=ANN, session="another")
    assert (report.turns, report.skipped_because["forgotten"]) == (1, 2)
    with pytest.warns(UserWarning, match="not stored again"):
        memory.remember("Ann", "Passport", f" {NUMBER} ", persona="ann", source="import:notes")
    assert all(NUMBER not in hit.text for hit in memory.search(f"passport {NUMBER}", scope=ANN))
    assert memory.remember("ann", "passport", NUMBER, persona="bob", source="import:notes").state == "current"


def test_a_history_with_a_hole_still_stores_each_turn_once(memory: Memory) -> None:
    turns = memory.observe(TALK, scope=ANN, session="s")
    memory.forget(persona="ann", id=turns[1].id)
    before = memory.stats()["turns"]
    grown = [*TALK, {"role": "user", "content": "one more thing about the harbour"}]
    assert len(memory.observe(grown, scope=ANN, session="s")) == 1
    assert memory.stats()["turns"] == before + 1


def test_asking_for_it_again_by_hand_is_allowed_and_said(memory: Memory) -> None:
    fact = memory.remember("ann", "passport", NUMBER, persona="ann")
    memory.forget(persona="ann", id=fact.id)
    with pytest.warns(UserWarning, match="because it was asked for"):
        again = memory.remember("ann", "passport", NUMBER, persona="ann")
    assert again.state == "current"


def test_the_same_words_said_later_with_a_time_of_their_own_are_new(memory: Memory, clock: FixedClock) -> None:
    said = {"role": "user", "content": f"my passport is {NUMBER}", "at": clock().isoformat()}
    (turn,) = memory.observe([said], scope=ANN, session="s")
    memory.forget(persona="ann", id=turn.id)
    assert memory.observe([said], scope=ANN, session="t") == []
    later = {**said, "at": (clock() + timedelta(days=400)).isoformat()}
    assert len(memory.observe([later], scope=ANN, session="t")) == 1


def test_a_source_id_is_known_again_under_other_words(memory: Memory) -> None:
    kept = {"persona": "ann", "source": "import:notes", "metadata": {"source_id": "note-17"}}
    fact = memory.remember("ann", "visa", "valid until spring", **kept)  # type: ignore[arg-type]
    memory.forget(persona="ann", id=fact.id)
    with pytest.warns(UserWarning, match="not stored again"):
        memory.remember("ann", "visa", "valid until summer", **kept)  # type: ignore[arg-type]
    assert memory.lookup("ann", "visa", scope=ANN) == []


def test_a_turn_that_waits_for_a_model_is_not_read_any_more(home: Path, clock: FixedClock) -> None:
    chat = ScriptedChat("[]")
    with Memory.open(home, embeddings="none", clock=clock, chat_model=chat) as memory:
        memory.capture(TALK, scope=ANN, session="s")
        report = memory.forget(persona="ann", everything=True)
        assert report.clean, (report.traces, report.notes)
        assert memory.stats()["extraction_queue"] == {}


def test_what_was_deleted_or_superseded_before_can_be_forgotten(memory: Memory, home: Path) -> None:
    deleted = memory.remember("ann", "locker", f"{NUMBER}-A", persona="ann")
    memory.flush()
    memory.delete(deleted.id)
    memory.remember("ann", "code", f"{NUMBER}-B", persona="ann")
    memory.remember("ann", "code", "none any more", persona="ann")
    memory.flush()
    assert memory.forget(persona="ann", matching=NUMBER).clean
    assert bytes_with(home, NUMBER) == []
    assert memory.lookup("ann", "code", scope=ANN)


def test_forgetting_nothing_that_is_there_is_clean_and_empty(memory: Memory) -> None:
    report = memory.forget(persona="nobody", everything=True)
    assert report.clean
    assert not report.counts
    assert memory.stats()["facts"] == 2


def test_odd_texts_are_forgotten_too(memory: Memory, home: Path) -> None:
    for text in ("a\x00b zqx-9071 c", 'quote " and \\ zqx-9072', "Ünïcödé ZQX-9073 straße", "线 zqx-9074 部署方案"):
        memory.remember("odd", None, text, persona="ann")
    report = memory.forget(persona="ann", entity="odd")
    assert report.clean, (report.traces, report.notes)
    assert report.counts["facts"] == 4
    assert bytes_with(home, "zqx-907") == []


def test_two_things_of_one_name_stay_two_also_when_one_is_forgotten(memory: Memory) -> None:
    memory.remember("Apple (firm)", "home", "Cupertino", persona="ann")
    memory.remember("Apple (cat)", "home", "the basket in the hall", persona="ann")
    memory.remember("Apple (cat)", "home", "the barn", persona="ann")
    memory.observe([{"role": "user", "content": "Apple (cat) sleeps a lot."}], scope=ANN)
    assert [fact.value for fact in memory.lookup("Apple (firm)", "home", scope=ANN)] == ["Cupertino"]
    assert memory.conflicts.list(scope=ANN) == []
    report = memory.forget(persona="ann", entity="Apple (cat)")
    assert report.clean
    texts = {hit.text for hit in memory.search("Apple home", scope=ANN, include_superseded=True)}
    assert not {text for text in texts if "cat" in text}
    assert [fact.value for fact in memory.lookup("Apple (firm)", "home", scope=ANN)] == ["Cupertino"]


def test_a_loop_that_an_episode_tells_of_stays_when_the_episode_goes(home: Path) -> None:
    """Of one conversation about two things, only what is about the one that is named."""
    with Memory.open(home, embeddings="none") as memory:
        said = ["My sister Mia lives in Lisbon.", "I need to renew the passport by Friday."]
        memory.capture([{"role": "user", "content": each} for each in said], scope=Scope(persona="ann"))
        (loop,) = memory.loops.list(scope=Scope(persona="ann"))
        report = memory.forget(persona="ann", entity="Mia")
        assert report.counts["turns"] == 1
        assert [one.id for one in memory.loops.list(scope=Scope(persona="ann"))] == [loop.id]
