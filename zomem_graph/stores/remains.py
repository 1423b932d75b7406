"""What an erasure leaves outside the tables: free pages, the log, backups, persona files, checkpoints.

Every function is safe to repeat, so an erasure that was cut short is finished by the next one.
"""

import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zomem_graph.stores.persona_files import persona_file
from zomem_graph.stores.proof import Needles, Scan, scan_files
from zomem_graph.stores.words import search_text

__all__ = [
    "Cleaned",
    "clean_backups",
    "clean_checkpoints",
    "clean_lines",
    "clean_persona_files",
    "home_files",
    "wipe_unused_vectors",
]

_SQLITE = b"SQLite format 3\x00"
_PATIENCE = 30.0  # seconds for writers of other processes to end
_NEIGHBOURS = ("words_prev", "words_next")
_BESIDE = tuple(
    f"update items set {column} = '' where id in (select beside.id from turns gone join turns beside"
    " on beside.persona = gone.persona and beside.session = gone.session and beside.position ="
    f" (select {nearest}(one.position) from turns one where one.persona = gone.persona"
    f" and one.session = gone.session and one.position {side} gone.position) where gone.id = ?)"
    for column, nearest, side in (("words_next", "max", "<"), ("words_prev", "min", ">"))
)
_FULL_TEXT = "items_fts"
_NAMES = {"mentions", "speakers", "episode_entities", "gate_log"}  # they hold words and names, one by one
_INDEX_HEADER = "header.bin"
_OWN_IDS = {"id", "item_id", "source_id", "target_id", "fact_id", "conflicting_fact_id", "episode_id", "summary_id"}


@dataclass(slots=True)
class Cleaned:
    """Files that were rewritten and files that were removed, by name, and what could not be done."""

    rewritten: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def wipe_unused_vectors(folder: Path) -> None:
    """Overwrite the room for vectors that an index keeps in its files and has not filled.

    The index writes it as it was in memory, where vectors from before may still lie (hnswlib's layout,
    version 1). The caller holds the folder lock.
    """
    for header in sorted(folder.glob(f"*/{_INDEX_HEADER}")):
        data = header.read_bytes()
        if len(data) < 36:
            continue
        version, _offset, _room, count, size = struct.unpack_from("<i4Q", data)
        if version != 1:
            continue
        for name, used in (("data_level0.bin", count * size), ("length.bin", count * 4)):
            file = header.with_name(name)
            if file.exists() and (unused := file.stat().st_size - used) > 0:
                with file.open("r+b") as written:
                    written.seek(used)
                    written.write(bytes(unused))


def home_files(root: Path, *, besides: Iterable[Path] = ()) -> Iterator[tuple[Path, str]]:
    """Yield every file of a home, and of other places that belong to it, with the name to report it by."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path, path.relative_to(root).as_posix()
    for place in besides:
        for path in () if place.is_relative_to(root) else _files_at(place):
            if not path.is_relative_to(root):
                yield path, str(path)


def clean_backups(
    folder: Path,
    needles: Needles,
    *,
    ids: Sequence[str],
    words: frozenset[str] = frozenset(),
    persona: str = "",
    lone: Sequence[str] = (),
) -> Cleaned:
    """Take what was erased out of the copies in a folder; a copy that cannot be rewritten is removed.

    `words` are those that only what was erased had: names and single words that are one of them go too. `lone` are
    single words that were named: of the persona everything goes that holds one, as it went from the database. What
    others said in such a word is left, and so is a file that is no database.
    """
    done = Cleaned()
    named, single = Needles(ids=ids), Needles(lone)
    erased = _Erased(needles, frozenset(ids), words | {word.casefold() for word in lone}, persona, single)
    for path in _files_at(folder):
        is_ours = _is_sqlite(path)
        if not (_holds(path, needles) or _holds(path, named) or (is_ours and _holds(path, single))):
            continue
        if is_ours and _rewrite(path, erased) and not _holds(path, needles):
            done.rewritten.append(path.name)
        else:
            _remove(path, done)
    return done


def clean_checkpoints(folder: Path, needles: Needles, *, named: Sequence[str] = ()) -> Cleaned:
    """Remove saved checkpoints that hold what was erased, and those that are named."""
    done = Cleaned()
    for path in _files_at(folder):
        if path.name in named or _holds(path, needles):
            _remove(path, done)
    return done


def clean_persona_files(folder: Path, persona: str, needles: Needles, *, everything: bool) -> Cleaned:
    """Cut the lines that hold what was erased out of a persona's own files; all of it with the persona."""
    done = Cleaned()
    for path in _files_at(folder):
        if not _belongs(path, folder, persona):
            continue
        if everything:
            _remove(path, done)
        elif _holds(path, needles):
            _cut_lines(path, needles, done)
    return done


def clean_lines(paths: Iterable[Path], needles: Needles) -> Cleaned:
    """Cut the lines that hold what was erased out of files of one line an entry."""
    done = Cleaned()
    for path in paths:
        if path.is_file() and _holds(path, needles):
            _cut_lines(path, needles, done)
    return done


def _files_at(place: Path) -> list[Path]:
    if place.is_file():
        beside = [place.with_name(place.name + end) for end in ("-wal", "-shm", "-journal")]
        return [place, *(path for path in beside if path.is_file())]
    return [path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink()]


def _holds(path: Path, needles: Needles) -> bool:
    found: Scan = scan_files([(path, path.name)], needles)
    return bool(found.found or found.unread)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _rewrite(path: Path, erased: "_Erased") -> bool:
    """Delete the rows that hold any needle or id from a copy of any schema; return whether it went well."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE)) as connection:
            connection.execute("pragma secure_delete=on")
            connection.execute("pragma journal_mode=delete")
            connection.execute("begin immediate")
            tables = connection.execute(
                "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'"
            ).fetchall()
            named = {name for (name,) in tables}
            if {"items", "turns"} <= named:
                _blank_neighbours(connection, erased.ids)
            for name in sorted(named):
                if not name.startswith(("sqlite_", f"{_FULL_TEXT}_")):
                    _clean_table(connection, name, erased)
            if {"items", "mentions"} <= named:
                connection.execute("delete from mentions where num not in (select num from items)")
            if connection.execute("select 1 from sqlite_master where name = ?", (_FULL_TEXT,)).fetchone():
                connection.execute(f"insert into {_FULL_TEXT}({_FULL_TEXT}) values('rebuild')")
            connection.execute("commit")
            connection.execute("vacuum")
    except sqlite3.Error:
        return False
    return True


def _blank_neighbours(connection: sqlite3.Connection, ids: frozenset[str]) -> None:
    """Take the words of erased turns out of the turns beside them, which carry them for search."""
    for turn_id in ids:
        for beside in _BESIDE:
            connection.execute(beside, (turn_id,))


def _clean_table(connection: sqlite3.Connection, table: str, erased: "_Erased") -> None:
    columns = [row[1] for row in connection.execute(f'pragma table_info("{table}")')]
    for rowid, *cells in connection.execute(f'select rowid, * from "{table}"').fetchall():
        row = dict(zip(columns, cells, strict=True))
        beside = {name: row.pop(name) for name in _NEIGHBOURS if name in row}
        gone = any(row[name] in erased.ids for name in _OWN_IDS & row.keys())
        own = row.get("persona") == erased.persona
        if gone or any(erased.in_cell(value, names=table in _NAMES, own=own) for value in row.values()):
            connection.execute(f'delete from "{table}" where rowid = ?', (rowid,))
            continue
        changed = {name: "" for name, value in beside.items() if erased.in_cell(value, own=own)}
        if row.get("turn_id") in erased.ids:
            changed |= {"turn_id": "", "quote": ""} if "quote" in row else {"turn_id": ""}
        for name, value in changed.items():
            connection.execute(f'update "{table}" set "{name}" = ? where rowid = ?', (value, rowid))


@dataclass(frozen=True, slots=True)
class _Erased:
    """How a copy shows what was erased."""

    needles: Needles
    ids: frozenset[str]
    words: frozenset[str]
    persona: str
    lone: Needles

    def in_cell(self, value: Any, *, names: bool = False, own: bool = False) -> bool:
        """Return whether a cell holds any of it; among names, and of the persona's `own`, also by a word alone."""
        if isinstance(value, str):
            if names and not self.words.isdisjoint(search_text(value).split()):
                return True
            value = value.encode("utf-8", "surrogatepass")
        if not isinstance(value, bytes):
            return False
        return bool(self.needles.found_in(value)) or (own and bool(self.lone.found_in(value)))


def _belongs(path: Path, folder: Path, persona: str) -> bool:
    """Return whether a persona's name is that of the file, or of the folder it is in below `folder`."""
    first = path.relative_to(folder).parts[0]
    if first == path.name:
        return first == persona_file(folder, persona).name
    return _plain(first) == _plain(persona)


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.casefold()).strip("-")


def _cut_lines(path: Path, needles: Needles, done: Cleaned) -> None:
    text = path.read_bytes()
    kept = [line for line in text.splitlines(keepends=True) if not needles.found_in(line)]
    left = b"".join(kept)
    if needles.found_in(left):  # a text that runs over several lines
        _remove(path, done)
        return
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(left)
    new.chmod(path.stat().st_mode & 0o777)
    os.replace(new, path)
    done.rewritten.append(path.name)


def _remove(path: Path, done: Cleaned) -> None:
    try:
        path.unlink(missing_ok=True)
        done.removed.append(path.name)
    except OSError as error:
        done.notes.append(f"{path} could not be removed ({error})")
