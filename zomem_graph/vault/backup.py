"""The archive made before maintenance, looked into before anything is taken away (spec F118)."""

import gzip
import io
import tarfile
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from zomem_graph.stores.errors import InvalidInput, StoreDamaged
from zomem_graph.vault.files import replace_file, told_clearly
from zomem_graph.vault.place import Place

__all__ = ["drop_old_archives", "is_whole", "make_archive", "unpack_archive"]

_MOST_BYTES = 4 * 1024**3


def make_archive(place: Place, day: date, *, resumed: bool, again: bool) -> Path:
    """Pack everything but archives, index and locks, and read it back; return the file.

    A run that was cut short goes on with the archive it made, because its files may have changed since. Another run
    of the same day makes one more, `again`, where it has something to prune. Raises StoreDamaged when what was
    written cannot be read back: then nothing may be pruned.
    """
    path = place.backup_file(day)
    made = [one for when, one in place.archives() if when == day and is_whole(one)]
    if made and (resumed or not again):
        return made[-1]
    if made:
        path = path.with_name(f"{path.name.removesuffix('.tar.gz')}-{len(made) + 1}.tar.gz")
    replace_file(path, _packed(place, day))
    if not is_whole(path):
        raise StoreDamaged(f"{path} could not be read back. Nothing was pruned. Check the disk, then run it again.")
    return path


def is_whole(path: Path) -> bool:
    """Return whether an archive can be read to its end and holds the facts."""
    if not path.is_file():
        return False
    try:
        with tarfile.open(path, "r:gz") as archive:
            names = set()
            for member in archive:
                content = archive.extractfile(member)
                while content is not None and content.read(1024 * 1024):
                    pass
                names.add(member.name)
    except (tarfile.TarError, OSError, EOFError):
        return False
    return "knowledge-graph/facts.jsonl" in names


def drop_old_archives(place: Place, today: date, *, keep_days: int) -> int:
    """Remove archives older than some days; the newest one always stays. Return how many went."""
    archives = place.archives()
    old = [path for day, path in archives[:-1] if day < today - timedelta(days=keep_days)]
    for path in old:
        with told_clearly(path):
            path.unlink(missing_ok=True)
    return len(old)


def unpack_archive(place: Place, path: Path) -> list[str]:
    """Put the files of an archive in the place of those that are there; return their names.

    Raises InvalidInput for a file that is no archive of a vault or names files outside of it.
    """
    if not is_whole(path):
        raise InvalidInput(f"{path} is no whole archive of a vault. `zomem vault restore` lists those there are.")
    restored: list[str] = []
    with told_clearly(path), tarfile.open(path, "r:gz") as archive:
        members = [member for member in archive if member.isfile()]
        for member in members:
            target = (place.root / member.name).resolve()
            if not target.is_relative_to(place.root.resolve()) or member.size > _MOST_BYTES:
                raise InvalidInput(
                    f"{path} holds {member.name!r:.80}, which is no file of a vault. Nothing was changed."
                )
        for member in members:
            content = archive.extractfile(member)
            if content is not None:
                (place.root / member.name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                replace_file(place.root / member.name, content.read())
                restored.append(member.name)
    return restored


def _packed(place: Place, day: date) -> bytes:
    """Return the archive; the same files give the same bytes."""
    packed = io.BytesIO()
    moment = int(datetime.combine(day, time.min, UTC).timestamp())
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for path in _wanted(place):
            with told_clearly(path):
                data = path.read_bytes()
                member = tarfile.TarInfo(path.relative_to(place.root).as_posix())
                member.size, member.mode, member.mtime = len(data), 0o600, moment
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _wanted(place: Place) -> list[Path]:
    """Return what goes into an archive: all that cannot be made again."""
    named = [each for each in place.files if each != place.health]
    named += [place.unreadable, *(path for _day, path in place.days()), *place.session_files()]
    return sorted(path for path in named if path.is_file())
