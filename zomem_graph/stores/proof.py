"""The proof of an erasure: read every byte of every file, also inside archives, for what must not be there.

Thousands of strings are looked for at once: the first eight bytes at every place of a file are hashed into
a small table, and only where the table knows them the whole string is compared.
"""

import bz2
import gzip
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.words import on_one_line, search_text

__all__ = ["Form", "Needles", "Scan", "as_indexed", "scan_files", "scan_rows", "vector_parts"]

Form = Literal["text", "JSON", "UTF-16", "words", "vector", "id"]

_KEY = 8  # bytes
_CHUNK = 4 * 1024 * 1024
_LARGEST_NESTED = 256 * 1024 * 1024  # bytes of an archive inside an archive that is opened
_LARGEST_UNPACKED = 8 * 1024**3  # bytes read out of one archive; more is a trap
_DEEPEST = 4
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00")
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_PLACES = 1 << 16
_BESIDE = rb"(?<![a-z0-9\x80-\xff])%s(?![a-z0-9\x80-\xff])"
_JOINT = re.compile(r"(?<=[^\W_])[-_.&]+(?=[^\W_])")
_PART = 32  # numbers of a vector looked for at a time
_LEAST_TELLING = 8  # numbers of a part that are not zero


@dataclass(frozen=True, slots=True)
class _Needle:
    data: bytes
    source: int
    form: Form


class Needles:
    """Strings, ids and vectors to look for, in every form in which a file may hold them.

    Letters are compared without case; a text that is one word or very short is found as a whole word only.
    `sources` are the texts, ids and vectors as they were given, in that order; what is found is told by their
    position.
    """

    def __init__(self, texts: Sequence[str] = (), *, ids: Sequence[str] = (), vectors: Sequence[bytes] = ()) -> None:
        written: dict[bytes, _Needle] = {}
        exact: dict[bytes, _Needle] = {}
        words: dict[bytes, int] = {}
        for source, text in enumerate(texts):
            if (text.isascii() and text.isalpha()) or len(text.encode("utf-8", "surrogatepass")) < _KEY:
                words.setdefault(text.casefold().encode("utf-8", "surrogatepass"), source)
                continue
            for data, form in _forms(text):
                if len(data) >= _KEY:
                    written.setdefault(data, _Needle(data, source, form))
        for source, item_id in enumerate(ids, start=len(texts)):
            data = item_id.encode().lower()
            written.setdefault(data, _Needle(data, source, "id"))
        for source, vector in enumerate(vectors, start=len(texts) + len(ids)):
            for part in vector_parts(vector):
                exact.setdefault(part, _Needle(part, source, "vector"))
        self.sources: tuple[str | bytes, ...] = (*texts, *ids, *vectors)
        self._written = _Table(list(written.values()))
        self._exact = _Table(list(exact.values()))
        self._words = {word: (re.compile(_BESIDE % (re.escape(word),)), source) for word, source in words.items()}
        # A word is told from a part of one by what stands on both sides of it.
        self.longest = max([_KEY, *map(len, (*written, *exact)), *(len(word) + 2 for word in words)])

    def __len__(self) -> int:
        return len(self.sources)

    def without(self, sources: Iterable[int]) -> "Needles":
        """Return the same needles save some of the sources."""
        gone = set(sources)
        left = [one for place, one in enumerate(self.sources) if place not in gone]
        return Needles(
            [one for one in left if isinstance(one, str)],
            vectors=[one for one in left if isinstance(one, bytes)],
        )

    def found_in(self, data: bytes) -> dict[int, Form]:
        """Return the sources found in bytes, each with the form it has there."""
        small = data.lower()
        found = self._written.found_in(small)
        for word, (alone, source) in self._words.items():
            if word in small and alone.search(small):
                found.setdefault(source, "text")
        found.update(self._exact.found_in(data))
        return found


class _Table:
    """Needles by their first eight bytes."""

    def __init__(self, needles: Sequence[_Needle]) -> None:
        self._by_key: dict[int, list[_Needle]] = {}
        self._known = np.zeros(_PLACES, np.bool_)
        for needle in needles:
            key = int.from_bytes(needle.data[:_KEY], "little")
            self._by_key.setdefault(key, []).append(needle)
        if needles:
            self._known[_hashed(np.array(list(self._by_key), np.uint64))] = True

    def found_in(self, data: bytes) -> dict[int, Form]:
        found: dict[int, Form] = {}
        if not self._by_key:
            return found
        for offset in range(min(_KEY, len(data) - _KEY + 1)):
            words = np.frombuffer(data, "<u8", (len(data) - offset) // _KEY, offset)
            for place in np.flatnonzero(self._known[_hashed(words)]):
                for needle in self._by_key.get(int(words[place]), ()):
                    if needle.source not in found and data.startswith(needle.data, offset + _KEY * int(place)):
                        found[needle.source] = needle.form
        return found


@dataclass(slots=True)
class Scan:
    """What was read and what was found: (place, form) pairs; `unread` says what could not be read and why."""

    files: int = 0
    members: int = 0
    rows: int = 0
    bytes: int = 0
    found: dict[tuple[str, Form], None] = field(default_factory=dict)
    sources: set[int] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)

    def add(self, other: "Scan") -> None:
        """Take in what another scan read and found."""
        self.files += other.files
        self.members += other.members
        self.rows += other.rows
        self.bytes += other.bytes
        self.found.update(other.found)
        self.sources |= other.sources
        self.unread += other.unread


def scan_files(paths: Iterable[tuple[Path, str]], needles: Needles) -> Scan:
    """Read files, each given with the name to report it by, and whatever is packed in them."""
    scan = Scan()
    for path, name in paths:
        try:
            with path.open("rb") as file:
                scan.files += 1
                _read(file, name, needles, scan, depth=0)
        except FileNotFoundError:
            continue  # gone since it was listed, so it holds nothing
        except OSError as error:
            scan.unread.append(f"{name}: {error}")
    return scan


def scan_rows(rows: Iterable[tuple[str, bytes]], needles: Needles, scan: Scan) -> None:
    """Read rows, each given with the name of its table, into a scan that was begun."""
    for name, together in groupby(rows, key=itemgetter(0)):
        waiting: list[bytes] = []
        size = 0
        for _name, data in together:
            waiting.append(data)
            size += len(data)
            scan.rows += 1
            if size > _CHUNK:
                _look(b"\n".join(waiting), name, needles, scan)
                waiting, size = [], 0
        _look(b"\n".join(waiting), name, needles, scan)


def _look(data: bytes, name: str, needles: Needles, scan: Scan) -> None:
    scan.bytes += len(data)
    for source, form in needles.found_in(data).items():
        scan.found[(name, form)] = None
        scan.sources.add(source)


def vector_parts(vector: bytes) -> list[bytes]:
    """Return pieces of a vector to look for, as it is and as an index for cosine normalises it."""
    numbers = np.frombuffer(vector, np.float32) if len(vector) % 4 == 0 else np.empty(0, np.float32)
    if not numbers.size:
        return []
    return [part for form in (numbers, _normalised(numbers)) for part in _telling_parts(form)]


def as_indexed(vector: bytes) -> bytes:
    """Return a vector as an index for cosine holds it: of length one, rounded at each step as there."""
    return _normalised(np.frombuffer(vector, np.float32)).tobytes() if len(vector) % 4 == 0 else vector


def _read(file: IO[bytes], name: str, needles: Needles, scan: Scan, *, depth: int) -> None:
    """Look through a stream, and through what it holds when it is packed."""
    head = file.read(_CHUNK)
    _stream(file, head, name, needles, scan)
    if not head.startswith(_PACKED):
        return
    if depth >= _DEEPEST:
        scan.unread.append(f"{name}: packed more than {_DEEPEST} times")
        return
    try:
        file.seek(0)
        for member, member_name in _unpacked(file, head, name):
            scan.members += 1
            _read(member, member_name, needles, scan, depth=depth + 1)
    except _BROKEN as error:
        scan.unread.append(f"{name}: cannot be unpacked ({error})")


def _stream(file: IO[bytes], head: bytes, name: str, needles: Needles, scan: Scan) -> None:
    kept, chunk, total = b"", head, 0
    while chunk:
        total += len(chunk)
        if total > _LARGEST_UNPACKED:
            scan.unread.append(f"{name}: more than {_LARGEST_UNPACKED:,} bytes")
            break
        data = kept + chunk
        for source, form in needles.found_in(data).items():
            scan.found[(name, form)] = None
            scan.sources.add(source)
        kept = data[-(needles.longest - 1) :]
        chunk = file.read(_CHUNK)
    scan.bytes += total


def _unpacked(file: IO[bytes], head: bytes, name: str) -> Iterator[tuple[IO[bytes], str]]:
    """Yield what is packed in a file; a tar needs no unpacking, its members lie in it as they are."""
    if head.startswith(b"PK"):
        with zipfile.ZipFile(_seekable(file)) as packed:
            for entry in packed.infolist():
                if not entry.is_dir():
                    with packed.open(entry) as member:
                        yield member, f"{name}!{entry.filename}"
        return
    opener = gzip.open if head.startswith(b"\x1f\x8b") else bz2.open if head.startswith(b"BZh") else lzma.open
    with opener(file, "rb") as stream:
        yield stream, f"{name}!"  # type: ignore[misc]  # each of them reads bytes


def _seekable(file: IO[bytes]) -> IO[bytes]:
    """Return a file that can be read from its end; one inside another archive is held in memory."""
    if not isinstance(file, zipfile.ZipExtFile | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile):
        return file
    data = file.read(_LARGEST_NESTED + 1)
    if len(data) > _LARGEST_NESTED:
        raise ValueError(f"more than {_LARGEST_NESTED:,} bytes in an archive inside an archive")
    return BytesIO(data)


def _forms(text: str) -> Iterator[tuple[bytes, Form]]:
    """Yield a text as files may hold it: UTF-8, JSON with and without escapes, UTF-16, folded, as indexed words."""
    for spelled in dict.fromkeys([text, text.casefold(), text.lower()]):
        yield spelled.encode("utf-8", "surrogatepass").lower(), "text"
        yield on_one_line(spelled).encode("utf-8").lower(), "text"  # as pages show it
        for ascii_only in (False, True):
            escaped = json.dumps(spelled, ensure_ascii=ascii_only)[1:-1]
            yield escaped.encode("utf-8", "surrogatepass").lower(), "JSON"
        yield spelled.encode("unicode_escape").lower(), "text"
        for order in ("utf-16-le", "utf-16-be"):
            yield spelled.encode(order, "surrogatepass").lower(), "UTF-16"
    for joined in (text, _JOINT.sub(" ", text)):  # the second for a part of a compound that is longer there
        indexed = search_text(joined)
        if not indexed.isalpha():  # one plain word may stand in any file
            yield indexed.encode("utf-8"), "words"


def _normalised(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    if not numbers.size:
        return numbers
    total = np.add.accumulate(numbers * numbers, dtype=np.float32)[-1]
    scale = np.float32(1) / (np.sqrt(total, dtype=np.float32) + np.float32(1e-30))
    scaled: NDArray[np.float32] = numbers * scale
    return scaled


def _telling_parts(numbers: NDArray[np.float32]) -> Iterator[bytes]:
    """Yield the first, a middle and the last part that say enough; the whole when no part does."""
    starts = range(0, max(1, numbers.size - _PART + 1), _PART)
    parts = [numbers[start : start + _PART] for start in starts]
    telling = [part for part in parts if np.count_nonzero(part) >= _LEAST_TELLING and np.any(part[:2])]
    if not telling:
        trimmed = np.trim_zeros(numbers, "f")
        if trimmed.size >= 2:
            yield trimmed.tobytes()
        return
    for place in {0, len(telling) // 2, len(telling) - 1}:
        yield telling[place].tobytes()


def _hashed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed: NDArray[np.uint64] = (words * _MULTIPLIER) >> np.uint64(48)
    return mixed
