"""The archive made before maintenance, looked into before anything is taken away (spec F118)."""

import io
import json
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.nodes.rules.vault_pages import own_text
from zomem_graph.stores.errors import InvalidInput, StoreDamaged
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.vault_files import archived, json_line, pack, replace_file
from zomem_graph.stores.vault_place import Place

__all__ = ["damaged_archives", "drop_old_archives", "is_whole", "make_archive", "require_whole", "unpack_archive"]

_FACTS = ("knowledge-graph/facts.jsonl", "knowledge-graph/archived-facts.jsonl")
_MADE_FROM_FACTS = (
    "knowledge-graph/entities.jsonl", "knowledge-graph/relations.jsonl", "activation-metadata.json",
    "knowledge-graph/forgotten.jsonl",
)  # fmt: skip


def make_archive(place: Place, day: date, *, made: str | None, again: bool) -> Path:
    """Pack everything but archives, index and locks, and read it back; return the file.

    `made` is the archive that this run made before it was cut short; it goes on with that one, because its files may
    have changed since. Another run of the same day makes one more where something was said since the last archive,
    or, with `again`, where it has something to prune. Secrets in session logs are cut out of the archive. Raises
    StoreDamaged when what was written cannot be read back: then nothing may be pruned.
    """
    if made is not None and is_whole(place.backups / made):
        return place.backups / made
    packed = _packed(place, day)
    there = [path for when, path in place.archives() if when == day]
    before = [path for path in there if is_whole(path)]
    if before and (_same_file(before[-1], packed) or not (again or _says_more(packed, before[-1]))):
        return before[-1]
    path = place.new_backup_file(day)
    replace_file(path, packed)
    if not is_whole(path):
        raise StoreDamaged(f"{path} could not be read back. Nothing was pruned. Check the disk, then run it again.")
    return path


def is_whole(path: Path) -> bool:
    """Return whether an archive can be read to its end and holds the facts."""
    if not path.is_file():
        return False
    try:
        return "knowledge-graph/facts.jsonl" in {member.name for member, _data in archived(path)}
    except StoreDamaged:
        return False


def damaged_archives(place: Place, day: date) -> list[Path]:
    """Return the archives of a day that cannot be read."""
    return [path for when, path in place.archives() if when == day and not is_whole(path)]


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
    require_whole(path)
    names = [member.name for member, _data in archived(path)]
    for name in names:
        target = place.root / name
        if not place.may_be_restored(target) or not target.resolve().is_relative_to(place.root.resolve()):
            raise InvalidInput(f"{path} holds {name!r:.80}, which is no file of a vault. Nothing was changed.")
        if target.is_dir():
            raise InvalidInput(f"{target} is a folder and {path} holds a file of that name. Move the folder away.")
    place.make()
    for member, data in archived(path):
        replace_file(place.root / member.name, data)
    return names


def require_whole(path: Path) -> None:
    """Raise InvalidInput unless a file is an archive of a vault that can be read to its end."""
    if not is_whole(path):
        what = "damaged, or no archive of a vault" if path.is_file() else "no file"
        raise InvalidInput(
            f"{path} is {what}. Nothing was changed. `zomem vault restore` lists the archives there are."
        )


def _packed(place: Place, day: date) -> bytes:
    """Return the archive; the same files give the same bytes."""
    moment = int(datetime.combine(day, time.min, UTC).timestamp())
    return pack(((path.relative_to(place.root).as_posix(), _content(place, path)) for path in _wanted(place)), moment)


def _content(place: Place, path: Path) -> bytes:
    with told_clearly(path):
        data = path.read_bytes()
    return _without_secrets(data) if path.parent == place.sessions else data


def _wanted(place: Place) -> list[Path]:
    """Return what goes into an archive: all that cannot be made again."""
    named = [each for each in place.files if each != place.health]
    named += [place.unreadable, place.forgotten, *(path for _day, path in place.days()), *place.session_files()]
    return sorted(path for path in named if path.is_file())


def _without_secrets(log: bytes) -> bytes:
    """Return a session log with every secret cut out; a line without one is kept to the byte."""
    return b"\n".join(map(_clean_line, log.split(b"\n")))


def _clean_line(line: bytes) -> bytes:
    text = line.decode("utf-8", "replace")
    if not redact(text)[1]:
        return line
    try:
        return json_line(_cleaned(json.loads(text))).encode("utf-8")
    except (ValueError, RecursionError):
        return redact(text)[0].encode("utf-8")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return {name: _cleaned(each) for name, each in value.items()} if isinstance(value, dict) else value


def _same_file(path: Path, packed: bytes) -> bool:
    return path.stat().st_size == len(packed) and path.read_bytes() == packed


def _says_more(packed: bytes, path: Path) -> bool:
    """Return whether something stands in an archive that stands in no form in an older one."""
    return not _words_in(io.BytesIO(packed)) <= _words_in(path)


def _words_in(packed: Path | io.BytesIO) -> set[tuple[str, ...]]:
    """Return what was said of all that is in an archive: each fact wherever it lies, and every other line.

    How active a fact was, and what is made from the facts, is left out.
    """
    found: set[tuple[str, ...]] = set()
    for member, data in archived(packed):
        if member.name in _MADE_FROM_FACTS:
            continue
        text = data.decode("utf-8", "surrogateescape")
        for line in (own_text(text) if member.name == "MEMORY.md" else text).splitlines():
            found.add(_fact_in(line) if member.name in _FACTS else (member.name, line))
    return found


def _fact_in(line: str) -> tuple[str, ...]:
    try:
        said = json.loads(line)
    except ValueError:
        return ("", line)
    return tuple(str(said.get(name)) for name in ("id", "subject", "predicate", "object"))
