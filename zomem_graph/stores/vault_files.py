"""Files that survive whatever happens while they are written: atomic, durable, readable by their owner only.

A file is replaced whole or not at all. What is appended begins on a line of its own, even after a line that a
crash cut short. A line is ended by a line feed; a carriage return before it is no part of it.
"""

import errno
import gzip
import io
import json
import os
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zomem_graph.stores.errors import StoreDamaged
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.words import whole_characters

__all__ = [
    "Line",
    "append_lines",
    "archived",
    "blank_lines",
    "json_line",
    "json_object",
    "make_folder",
    "pack",
    "read_lines",
    "repack",
    "replace_file",
    "sweep_leftovers",
    "unpacked",
]

_OURS = 0o600
_MARK = ".part"
_CHUNK = 1024 * 1024
_MARK_OF_ORDER = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a file: its number from 1, its text, and what it says (None when it is no JSON object).

    `end` is how many bytes of the file it ends after; `whole` is False for a last line without its end.
    """

    number: int
    text: str
    said: dict[str, Any] | None
    end: int
    whole: bool = True


def make_folder(path: Path) -> None:
    """Make a folder that only its owner can read; raise StoreReadOnly with the cure."""
    with told_clearly(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


def replace_file(path: Path, content: bytes | str) -> bool:
    """Write a file whole, or leave it as it is; return whether anything changed.

    The new content is on the disk before the old one goes. Raises StoreReadOnly.
    """
    data = _encoded(content) if isinstance(content, str) else content
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return False
    part = path.with_name(f".{path.name}.{os.getpid()}{_MARK}")
    with told_clearly(path):
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OURS)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        _settle(path.parent)
    return True


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Add lines to a file; after an error it is as long as it was. Raises StoreReadOnly."""
    if not lines:
        return
    with told_clearly(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _OURS)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            torn = end > 0 and _last_byte(file.fileno(), end) != b"\n"
            data = _encoded(("\n" if torn else "") + "".join(f"{line}\n" for line in lines))
            try:
                written = file.write(data)
                if written != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
            except OSError:
                file.truncate(end)
                raise


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file, blank ones left out; none when there is no file. Raises StoreReadOnly."""
    with told_clearly(path):
        if not path.is_file():
            return
        data = path.read_bytes()
    parts = data.removeprefix(_MARK_OF_ORDER).split(b"\n")
    end = len(data) - sum(map(len, parts)) - len(parts) + 1
    for number, part in enumerate(parts, start=1):
        whole = number < len(parts)
        end += len(part) + whole
        if not part.strip():
            continue
        try:
            text = part.decode("utf-8").rstrip("\r")
            said = json_object(text)
        except UnicodeDecodeError:
            text, said = part.decode("utf-8", "replace").rstrip("\r"), None
        yield Line(number=number, text=text, said=said, end=end, whole=whole)


def blank_lines(path: Path, wanted: Callable[[int, bytes], bool]) -> int:
    """Write blanks over lines where they stand, for a file that somebody else may be adding to; return how many.

    `wanted` is asked with the number of a line, from 1, and the line. Size and time of change stay as they were.
    Raises StoreReadOnly.
    """
    with told_clearly(path), path.open("r+b") as file:
        before = path.stat()
        start, blanked = 0, 0
        for number, line in enumerate(file.read().split(b"\n"), start=1):
            if line.strip() and wanted(number, line):
                file.seek(start)
                file.write(b" " * len(line))
                blanked += 1
            start += len(line) + 1
        if blanked:
            file.flush()
            os.fsync(file.fileno())
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return blanked


def pack(files: Iterable[tuple[str, bytes]], moment: int) -> bytes:
    """Return an archive (.tar.gz) of files by name; the same files and time give the same bytes."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(data), _OURS, moment
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def repack(path: Path, cut: Callable[[str, bytes], bytes]) -> bool:
    """Write an archive anew with each file as `cut` (name, content) returns it; return whether anything changed.

    One that cannot be read is left as it is. Raises StoreReadOnly.
    """
    members = _readable(path)
    files = [(member.name, cut(member.name, data)) for member, data in members]
    changed = any(left != data for (_name, left), (_member, data) in zip(files, members, strict=True))
    return changed and replace_file(path, pack(files, int(members[-1][0].mtime)))


def unpacked(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file in an archive; none of one that cannot be read."""
    return ((member.name, data) for member, data in _readable(path))


def archived(path: Path | io.BytesIO) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield each file of an archive and its content; raise StoreDamaged, at its end at the latest.

    It is read to the very end, past the last file: only there stands the checksum of all of it.
    """
    try:
        with gzip.open(path) as stream:
            with tarfile.open(fileobj=stream, mode="r:") as archive:
                for member in archive:
                    if member.isfile() and (content := archive.extractfile(member)) is not None:
                        yield member, content.read()
            while stream.read(_CHUNK):
                pass
    except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError, zlib.error) as error:
        raise StoreDamaged(f"{path} is damaged or no archive: {error}.") from error


def _readable(path: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    try:
        return list(archived(path))
    except StoreDamaged:
        return []


def json_object(text: str) -> dict[str, Any] | None:
    """Return what a line says, None when it is no JSON object."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def json_line(value: Any) -> str:
    """Return a value as one line of JSON that is valid UTF-8, whatever characters it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(", ", ": "))
    return text


def sweep_leftovers(folders: Iterable[Path]) -> int:
    """Remove what writers that were killed left behind; return how many files that were."""
    gone = 0
    for folder in folders:
        with told_clearly(folder):
            for part in folder.glob(f".*{_MARK}"):
                part.unlink(missing_ok=True)
                gone += 1
    return gone


def _encoded(text: str) -> bytes:
    return whole_characters(text).encode("utf-8")


def _last_byte(descriptor: int, end: int) -> bytes:
    return os.pread(descriptor, 1, end - 1)


def _settle(folder: Path) -> None:
    """Have the change of a folder on the disk, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return  # Windows opens no folders
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
