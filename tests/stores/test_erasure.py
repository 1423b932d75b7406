"""Erasing below the front door: rows, tombstones, copies, and the scan that proves it."""

import bz2
import gzip
import json
import lzma
import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from zomem_graph.stores.database import Database
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.persona_files import persona_file
from zomem_graph.stores.proof import Needles, as_indexed, scan_files, vector_parts
from zomem_graph.stores.remains import (
    clean_backups,
    clean_checkpoints,
    clean_persona_files,
    home_files,
    wipe_unused_vectors,
)
from zomem_graph.stores.schema import prepare
from zomem_graph.stores.store import Home, Stores

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SAID = "the heron nests behind the mill 4711"


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    home = tmp_path / "home"
    return Stores.open(Home(home, home / "zomem.db"), now=lambda: NOW)


def vector(seed: int, width: int = 384) -> NDArray[np.float32]:
    numbers = np.random.default_rng(seed).standard_normal(width).astype(np.float32)
    return numbers / np.float32(np.linalg.norm(numbers))


# -- tombstones --------------------------------------------------------------------------------


def test_a_tombstone_knows_what_was_erased_and_nothing_else(stores: Stores) -> None:
    with stores.write() as unit:
        assert not unit.tombstones.any
        assert unit.tombstones.digests("ann", "text", SAID) == []
        assert unit.tombstones.bury("ann", {("text", SAID): NOW}, now=NOW) == 1
    with stores.read() as unit:
        graves = unit.tombstones
        own, other = graves.digests("ann", "text", SAID)[0], graves.digests("bob", "text", SAID)[0]
        assert set(graves.forgotten([own, other, graves.digests("ann", "short", SAID)[0]])) == {own}
        assert SAID not in str(graves.forgotten([own]))


def test_burying_again_only_moves_the_time_it_was_last_said(stores: Stores) -> None:
    later = NOW + timedelta(days=3)
    for at in (NOW, later, None, NOW):
        with stores.write() as unit:
            unit.tombstones.bury("ann", {("text", SAID): at}, now=NOW)
    with stores.read() as unit:
        (grave,) = unit.tombstones.forgotten([unit.tombstones.digests("ann", "text", SAID)[0]]).values()
        assert unit.tombstones.count() == 1
        assert grave.said_at == later


def test_the_hashes_of_two_homes_have_nothing_in_common(tmp_path: Path) -> None:
    found = set()
    for name in ("one", "two"):
        stores = Stores.open(Home(tmp_path / name, tmp_path / name / "zomem.db"), now=lambda: NOW)
        with stores.write() as unit:
            unit.tombstones.bury("ann", {("text", SAID): None}, now=NOW)
        with stores.read() as unit:
            found.add(unit.tombstones.digests("ann", "text", SAID)[0])
        stores.close()
    assert len(found) == 2


# -- the scan ----------------------------------------------------------------------------------

WRITERS: dict[str, Callable[[str], bytes]] = {
    "UTF-8": lambda text: text.encode(),
    "capitals": lambda text: text.upper().encode(),
    "JSON": lambda text: json.dumps({"a": text}).encode(),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)).encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16-BE": lambda text: text.encode("utf-16-be"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "bz2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "gzip in gzip": lambda text: gzip.compress(gzip.compress(text.encode())),
}


@pytest.mark.parametrize("form", WRITERS)
def test_a_text_is_found_however_a_file_holds_it(tmp_path: Path, form: str) -> None:
    file = tmp_path / "file.bin"
    file.write_bytes(os.urandom(1000) * 0 + b"x" * 77 + b"\n")
    assert not scan_files([(file, "file")], Needles([SAID])).found
    data = WRITERS[form](SAID)
    file.write_bytes(data if "zip" in form or "z2" in form or form == "xz" else b"y" * 13 + data + b"z" * 9)
    scan = scan_files([(file, "file")], Needles([SAID]))
    assert scan.found
    assert not scan.unread


@pytest.mark.parametrize(
    "text", ['quote " and \\ slash here', "Ünïcödé straße 12", "新的部署方案 4711 已经通过", "tab\there\nand line"]
)
@pytest.mark.parametrize("form", ["UTF-8", "JSON", "UTF-16"])
def test_odd_signs_are_found_in_every_form(text: str, form: str) -> None:
    assert Needles([text]).found_in(WRITERS[form](text))


def test_a_text_across_two_chunks_is_found(tmp_path: Path) -> None:
    file = tmp_path / "large.bin"
    chunk = 4 * 1024 * 1024
    file.write_bytes(b"." * (chunk - 10) + SAID.encode() + b"." * 100)
    assert scan_files([(file, "large")], Needles([SAID])).found


def test_members_of_archives_are_named(tmp_path: Path) -> None:
    inner = BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("deep.txt", SAID)
    with zipfile.ZipFile(tmp_path / "outer.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inner.zip", inner.getvalue())
    scan = scan_files(home_files(tmp_path), Needles([SAID]))
    assert [place for place, _form in scan.found] == ["outer.zip!inner.zip!deep.txt"]
    assert scan.members == 2


@pytest.mark.parametrize("data", [b"\x1f\x8b broken", b"PK\x03\x04 broken", gzip.compress(b"x" * 5000, mtime=0)[:-9]])
def test_what_cannot_be_unpacked_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "broken").write_bytes(data)
    scan = scan_files(home_files(tmp_path), Needles([SAID]))
    assert scan.unread
    assert not scan.found


@given(st.binary(min_size=8, max_size=60), st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_are_found_exactly_where_they_are(needle: bytes, before: bytes, after: bytes) -> None:
    text = needle.hex()
    needles = Needles([text])
    assert needles.found_in(before + text.encode() + after) == {0: "text"}
    alone = before.replace(text.encode(), b"") + b"|" + after.replace(text.encode(), b"")
    assert bool(needles.found_in(alone)) == (text.encode() in alone.lower())


def test_many_strings_are_told_apart() -> None:
    texts = [f"sentence number {number} of many" for number in range(3000)]
    data = " ".join(texts[::7]).encode()
    assert set(Needles(texts).found_in(data)) == set(range(0, 3000, 7))


def test_a_vector_is_found_as_it_is_and_as_an_index_holds_it() -> None:
    own, other = vector(1), vector(2)
    scaled = (own * np.float32(3.7)).astype(np.float32)
    for stored in (own, own[100:300]):
        assert Needles(vectors=[own.tobytes()]).found_in(b"abc" + stored.tobytes() + b"d")
    assert Needles(vectors=[scaled.tobytes()]).found_in(as_indexed(scaled.tobytes()))
    assert not Needles(vectors=[own.tobytes()]).found_in(other.tobytes())


@pytest.mark.parametrize("data", [b"", b"123", bytes(256), np.zeros(64, np.float32).tobytes()])
def test_a_vector_that_says_nothing_is_not_looked_for(data: bytes) -> None:
    assert vector_parts(data) == []


def test_sources_can_be_left_out() -> None:
    needles = Needles([SAID, "another sentence to find"], vectors=[vector(1).tobytes()])
    left = needles.without({0})
    assert len(left) == 2
    assert not left.found_in(SAID.encode())
    assert left.found_in(b"another sentence to find")
    assert left.found_in(vector(1).tobytes())


# -- what is left outside the tables -----------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path) -> Database:
    fresh = Database(f"sqlite:///{tmp_path / 'zomem.db'}")
    prepare(fresh, lock=FolderLock(tmp_path / "zomem.lock"), backups=tmp_path / "backups", now=NOW)
    return fresh


def test_compacting_empties_the_log_and_the_free_pages(database: Database, tmp_path: Path) -> None:
    with database.write() as connection:
        connection.exec_driver_sql("create table note (said text)")
        connection.exec_driver_sql("insert into note values (?)", (SAID * 50,))
    with database.write() as connection:
        connection.exec_driver_sql("delete from note")
    assert database.compact() == []
    assert not scan_files(home_files(tmp_path), Needles([SAID])).found
    assert (tmp_path / "zomem.db-wal").stat().st_size == 0


def test_a_reader_that_stays_is_named_as_the_reason(database: Database, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "zomem.db", isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select * from meta").fetchall()
        (note,) = database.compact()
    assert "held by a reader" in note
    assert database.compact() == []


def test_a_copy_that_is_no_database_is_removed_only_when_it_holds_it(tmp_path: Path) -> None:
    (tmp_path / "with.json").write_text(json.dumps({"a": SAID}))
    (tmp_path / "without.json").write_text("{}")
    (tmp_path / "id.json").write_text('{"id": "0123456789abcdef0123456789abcdef"}')
    done = clean_backups(tmp_path, Needles([SAID]), ids=["0123456789abcdef0123456789abcdef"])
    assert sorted(done.removed) == ["id.json", "with.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["without.json"]


def test_a_copy_that_is_a_damaged_database_is_removed(tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_bytes(b"SQLite format 3\x00" + SAID.encode() * 10)
    assert clean_backups(tmp_path, Needles([SAID]), ids=[]).removed == ["copy.db"]


def test_a_copy_of_an_unknown_schema_loses_the_row_and_keeps_the_rest(tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(copy)) as old:
        old.execute("create table diary (day integer primary key, entry text, turn_id text, quote text)")
        old.executemany(
            "insert into diary values (?, ?, ?, ?)",
            [(1, SAID, None, None), (2, "rain", "gone", "a quote"), (3, "sun", "kept", "another")],
        )
        old.commit()
    done = clean_backups(tmp_path, Needles([SAID, "a quote of it"], ids=[]), ids=["gone"])
    assert done.rewritten == ["copy.db"]
    with closing(sqlite3.connect(copy)) as kept:
        assert kept.execute("select * from diary").fetchall() == [(2, "rain", "", ""), (3, "sun", "kept", "another")]


def test_only_the_personas_own_files_are_cut(tmp_path: Path) -> None:
    own, other = persona_file(tmp_path, "ann b"), persona_file(tmp_path, "bob")
    for file in (own, other):
        file.write_text(f"one\n{SAID.upper()}\ntwo\n")
    done = clean_persona_files(tmp_path, "ann b", Needles([SAID]), everything=False)
    assert done.rewritten == [own.name]
    assert own.read_text() == "one\ntwo\n"
    assert SAID.upper() in other.read_text()


def test_a_text_over_several_lines_takes_its_file_with_it(tmp_path: Path) -> None:
    (tmp_path / "ann.md").write_text("first line\nsecond line")
    done = clean_persona_files(tmp_path, "ann", Needles(["first line\nsecond line"]), everything=False)
    assert done.removed == ["ann.md"]


def test_folders_that_are_not_there_are_clean(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert not clean_backups(nowhere, Needles([SAID]), ids=[]).removed
    assert not clean_checkpoints(nowhere, Needles([SAID])).removed
    assert list(home_files(nowhere)) == []
    wipe_unused_vectors(nowhere)
