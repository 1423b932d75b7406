"""Is everything in place? Folders, files and their form, mount, disk, the right to write, the cron table (F130)."""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zomem_graph.stores.errors import StoreReadOnly
from zomem_graph.stores.vault_files import read_lines, replace_file
from zomem_graph.vault.ground import Ground

__all__ = ["Finding", "smoke_test"]

_CRON_FILES = (Path("/etc/cron.d/openclaw-vm-memory-oracle"), Path("/etc/cron.d/zomem-vault"))
_CALL = "vault consolidate"
_FULL = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at; `must` says whether the test fails with it."""

    name: str
    ok: bool
    said: str
    must: bool = True


def smoke_test(ground: Ground, *, cron: Path | None = None, strict: bool = False) -> list[Finding]:
    """Look at everything and return what was found; mount and cron only fail a strict test or a named cron file."""
    return [
        *_folders(ground),
        *_files(ground),
        _lines(ground),
        _mirror(ground),
        _writable(ground),
        _disk(ground),
        _modes(ground),
        _mount(ground, strict=strict),
        _cron(cron, strict=strict),
        *_strangers(ground),
    ]


def _folders(ground: Ground) -> Iterator[Finding]:
    for folder in ground.place.folders:
        there = folder.is_dir()
        yield Finding(name=f"folder {folder.name}", ok=there, said="is there" if there else f"{folder} is missing")


def _files(ground: Ground) -> Iterator[Finding]:
    for file in ground.place.files:
        there = file.is_file()
        said = "is there" if there else f"{file} is missing: run `zomem vault init`"
        if there and file.suffix == ".json":
            try:
                json.loads(file.read_text("utf-8"))
            except (ValueError, RecursionError) as error:
                there, said = False, f"{file} is no JSON: {error}"
        yield Finding(name=f"file {file.name}", ok=there, said=said)


def _lines(ground: Ground) -> Finding:
    place = ground.place
    bad = [
        f"{path.name} line {line.number}"
        for path in (place.facts, place.archived, place.entities, place.relations, place.index_lines)
        for line in read_lines(path)
        if line.said is None
    ]
    said = "every line is a JSON object" if not bad else f"not readable: {', '.join(bad[:5])}"
    return Finding(name="lines", ok=not bad, said=said)


def _mirror(ground: Ground) -> Finding:
    behind = ground.behind()
    said = "the files say what the database says"
    if behind:
        said = "the database holds what the files do not say yet: run `zomem vault consolidate`"
    return Finding(name="mirror", ok=not behind, said=said)


def _writable(ground: Ground) -> Finding:
    trial = ground.place.root / f".trial.{os.getpid()}.part"
    try:
        replace_file(trial, b"trial")
        trial.unlink()
    except (StoreReadOnly, OSError) as error:
        return Finding(name="writable", ok=False, said=str(error))
    return Finding(name="writable", ok=True, said="a file can be written and removed")


def _disk(ground: Ground) -> Finding:
    disk = shutil.disk_usage(ground.place.root)
    used = 100.0 * disk.used / max(1, disk.total)
    return Finding(name="disk", ok=used < _FULL, said=f"{used:.0f} % used")


def _modes(ground: Ground) -> Finding:
    """Look whether others may read what is here."""
    place = ground.place
    looked = [path for path in (*place.folders, *place.files) if path.exists()]
    open_ = [path.name for path in looked if stat.S_IMODE(path.stat().st_mode) & 0o077]
    said = "only the owner can read" if not open_ else f"others can read {', '.join(open_[:5])}: chmod go-rwx them"
    return Finding(name="modes", ok=not open_, said=said, must=False)


def _mount(ground: Ground, *, strict: bool) -> Finding:
    root = ground.place.root.resolve()
    apart = root.stat().st_dev != Path(root.anchor).stat().st_dev
    said = "on a disk of its own" if apart else "on the disk of the system, which a redeployment replaces"
    return Finding(name="mount", ok=apart, said=said, must=strict)


def _cron(given: Path | None, *, strict: bool) -> Finding:
    looked = [given] if given is not None else list(_CRON_FILES)
    found = [str(path) for path in looked if path.is_file() and _CALL in path.read_text("utf-8", "replace")]
    names = [str(path) for path in looked]
    if given is None:
        names.append("your crontab")
        found += ["your crontab"] if _CALL in _crontab() else []
    said = f"entries in {found[0]}" if found else f"no entries in {' or '.join(names)}: `zomem vault install-cron`"
    return Finding(name="cron", ok=bool(found), said=said, must=strict or given is not None)


def _crontab() -> str:
    """Return the table of the user who asks, "" where there is none."""
    program = shutil.which("crontab")
    if program is None:
        return ""
    try:
        return subprocess.run([program, "-l"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _strangers(ground: Ground) -> Iterator[Finding]:
    for path in ground.place.strangers():
        said = f"{path.relative_to(ground.place.root)} is not ours and is left alone"
        yield Finding(name="other files", ok=False, said=said, must=False)
