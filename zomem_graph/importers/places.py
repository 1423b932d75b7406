"""Where an import reads from: one file, a folder or a zip archive, through one narrow door.

Nothing is ever unpacked to disk. Archives that could hurt are refused whole: names that lead out of them,
far more inside than outside, too many members. In folders only real files are read, never links.
"""

import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.paths import path_given

__all__ = ["File", "Place", "ZipLimits", "open_place"]

_IS_LINK: Final = "it is a link; only real files are read"

_DRIVE = re.compile(r"[A-Za-z]:")
# RuntimeError: the archive has a password. NotImplementedError: a compression nobody here knows.
_BROKEN_ZIP: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZipLimits:
    """From when on an archive is refused; ratios are looked at above `small` bytes."""

    most_bytes: int = 4_000_000_000
    most_members: int = 200_000
    most_ratio: float = 200.0
    small: int = 10_000_000


@dataclass(frozen=True, slots=True)
class File:
    """One file of a place: its name with forward slashes, relative to the place, and its size in bytes."""

    name: str
    size: int
    opener: Callable[[], IO[bytes]] = field(repr=False)

    @property
    def stem(self) -> str:
        """Return the last part of the name without its ending."""
        return Path(self.name).stem

    @property
    def suffix(self) -> str:
        """Return the ending in small letters, with its dot."""
        return Path(self.name).suffix.lower()


@dataclass(slots=True)
class Place:
    """A file, folder or archive while it is read.

    `ignored` counts what nobody asked for, by ending, and `left` holds the files among it; `passed` says of links
    and locked folders why not.
    """

    path: Path
    name: str
    is_single: bool
    files: list[File]
    ignored: Counter[str] = field(default_factory=Counter)
    passed: list[tuple[str, str]] = field(default_factory=list)
    left: list[File] = field(default_factory=list)
    taken: int = 0
    bytes_read: int = 0
    bytes_total: int = 0

    @property
    def root(self) -> Path:
        """Return the folder or archive itself, the folder of a single file."""
        where = self.path.resolve()
        return where.parent if self.is_single else where

    def holds(self, name: str) -> bool:
        """Return whether there is a file of this name, relative to the root, whether it is read or not."""
        root = self.root
        return (root / name).is_file() if root.is_dir() else any(file.name == name for file in self.files)

    def chosen(self, wanted: Callable[[File], bool]) -> list[File]:
        """Return the files a reader wants, in order; the others are counted as ignored."""
        kept: list[File] = []
        for file in self.files:
            if wanted(file):
                kept.append(file)
            else:
                self.ignored[file.suffix or file.name] += 1
                self.left.append(file)
        self.taken += len(kept)
        self.bytes_total += sum(file.size for file in kept)
        return kept

    def with_suffix(self, *suffixes: str) -> list[File]:
        """Return the files with one of these endings; a single file is taken whatever its ending."""
        return self.chosen(lambda file: self.is_single or file.suffix in suffixes)

    @contextmanager
    def reading(self, file: File) -> Iterator[IO[bytes]]:
        """Lend the bytes of one file. Raises OSError, or InvalidInput for an archive that breaks off."""
        with _unpacking():
            opened = file.opener()
        with opened as stream:
            yield _Counted(stream, self)  # type: ignore[misc]  # readers only read

    def content(self, file: File, *, most: int) -> bytes:
        """Return all bytes of one file. Raises InvalidInput when there are more than `most`; OSError."""
        if file.size > most:
            raise InvalidInput(f"has {file.size:,} bytes, more than {most:,}")
        with self.reading(file) as stream:
            return stream.read()

    @property
    def fraction(self) -> float:
        """Return how much of the chosen files was read, from 0 to 1."""
        return min(1.0, self.bytes_read / self.bytes_total) if self.bytes_total else 0.0


class _Counted:
    """A stream that tells its place how far it is."""

    def __init__(self, stream: IO[bytes], place: Place) -> None:
        self._stream = stream
        self._place = place

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        with _unpacking():
            return self._counted(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        """Return the next line, or `size` bytes of it."""
        with _unpacking():
            return self._counted(self._stream.readline(size))

    def _counted(self, data: bytes) -> bytes:
        self._place.bytes_read += len(data)
        return data


@contextmanager
def _unpacking() -> Iterator[None]:
    try:
        yield
    except _BROKEN_ZIP as error:
        raise InvalidInput(f"cannot be unpacked: {error}") from error


@contextmanager
def open_place(path: str | Path, *, limits: ZipLimits | None = None) -> Iterator[Place]:
    """Lend a file, folder or archive for reading. Raises InvalidInput with what is wrong and what to do."""
    where = path_given("path", path)
    if where.is_dir():
        yield _folder(where)
        return
    _check_file(where)
    if _is_zip(where):
        with _archive(where) as archive:
            yield _from_zip(where, archive, limits or ZipLimits())
        return
    file = File(where.name, where.stat().st_size, lambda: where.open("rb"))
    yield Place(where, where.resolve().parent.name, True, [file])


def _check_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
        with path.open("rb") if stat.S_ISREG(mode) else _nothing():
            pass
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InvalidInput(f"There is no file or folder {path}. Check the path.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be read: {why}. Check its permissions.") from error
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{path} is neither a file nor a folder. Give one of those.")


@contextmanager
def _nothing() -> Iterator[None]:
    yield None


def _is_zip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def _folder(root: Path) -> Place:
    place = Place(root, root.resolve().name, False, [])

    def locked(error: OSError) -> None:
        name = _relative(root, Path(error.filename))
        place.passed.append((name, f"the folder cannot be read: {error.strerror}"))

    for folder, folders, names in os.walk(root, onerror=locked, followlinks=False):
        inside = Path(folder)
        for name in [*folders]:
            if name.startswith("."):
                place.ignored[f"{name}/"] += 1
                folders.remove(name)
            elif (inside / name).is_symlink():
                place.passed.append((_relative(root, inside / name), _IS_LINK))
                folders.remove(name)
        folders.sort()
        for name in sorted(names):
            _take(place, root, inside / name)
    return place


def _take(place: Place, root: Path, path: Path) -> None:
    try:
        found = path.lstat()
    except OSError as error:
        place.passed.append((_relative(root, path), f"cannot be read: {error.strerror}"))
        return
    if stat.S_ISLNK(found.st_mode):
        place.passed.append((_relative(root, path), _IS_LINK))
    elif not stat.S_ISREG(found.st_mode) or path.name.startswith("."):
        place.ignored[path.name] += 1
    else:
        place.files.append(File(_relative(root, path), found.st_size, lambda: path.open("rb")))


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (*_BROKEN_ZIP, OSError, ValueError) as error:
        raise InvalidInput(f"{path} is a broken zip archive: {error}. Download it again.") from error


def _from_zip(path: Path, archive: zipfile.ZipFile, limits: ZipLimits) -> Place:
    members = [member for member in archive.infolist() if not member.is_dir()]
    _check_archive(path, members, limits)
    tops = {member.filename.partition("/")[0] for member in members if "/" in member.filename}
    wrapped = len(tops) == 1 and all("/" in member.filename for member in members)
    top = tops.pop() if wrapped else ""  # one folder around everything: the same names as that folder has
    place = Place(path, top or path.stem, False, [])
    for member in sorted(members, key=lambda member: member.filename):
        name = member.filename.removeprefix(f"{top}/") if top else member.filename
        parts = name.split("/")
        if stat.S_ISLNK(member.external_attr >> 16):
            place.passed.append((name, _IS_LINK))
        elif hidden := next((part for part in parts if part.startswith((".", "__MACOSX"))), None):
            place.ignored[hidden if hidden == parts[-1] else f"{hidden}/"] += 1
        else:
            place.files.append(File(name, member.file_size, _opener(archive, member)))
    return place


def _opener(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(member)


def _check_archive(path: Path, members: Collection[zipfile.ZipInfo], limits: ZipLimits) -> None:
    """Refuse what could hurt. The sizes an archive states hold: reading stops there with an error."""
    if len(members) > limits.most_members:
        raise _refused(path, f"it has {len(members):,} members, more than {limits.most_members:,}")
    if (total := sum(member.file_size for member in members)) > limits.most_bytes:
        raise _refused(path, f"it unpacks to {total:,} bytes, more than {limits.most_bytes:,}")
    for member in members:
        name = member.filename
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or _DRIVE.match(name):
            raise _refused(path, f"the name {name!r:.100} leads out of the archive")
        if member.file_size > limits.small and member.file_size > limits.most_ratio * member.compress_size:
            raise _refused(path, f"{name!r:.100} unpacks to {member.file_size:,} bytes from almost nothing")


def _refused(path: Path, why: str) -> InvalidInput:
    return InvalidInput(f"{path} was refused: {why}. Unpack what you trust and import the folder.")
