"""What the care of a vault costs and survives: 10,000 facts consolidated and read back, and runs that were killed."""

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

from zomem_graph.bench.footprint import resident_mib
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.vault import Vault

__all__ = ["Same", "consolidation", "kills", "prepare", "rebuild", "snapshot"]

_BEGIN: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
_NIGHT: Final = datetime(2026, 4, 20, 0, 30, tzinfo=UTC)
_BATCH: Final = 1_000
# What depends on chance (ids), on the disk or on the size of other files.
_BY_CHANCE: Final = frozenset({"id", "seal", "turn_id", "superseded_by", "fact", "vector", "vault", "origins"})
_OF_THE_DISK: Final = ("disk_usage_bytes", "disk_usage_percent", "vault_bytes")


def consolidation(count: int, *, say: Say) -> dict[str, Any]:
    """Consolidate `count` facts a month old; seconds and memory, the first night and the one after."""
    clock = FixedClock(_BEGIN)
    with kept_folder(None) as folder, _opened(folder, clock) as vault:
        _fill(vault, count)
        say(f"{count:,} facts ingested")
        before = resident_mib()
        clock.advance(days=30)
        first, report = _timed(vault)
        clock.advance(days=1)
        second, _again = _timed(vault)
        after = resident_mib()
    return {
        "facts": count,
        "first_night": first,
        "next_night": second,
        "resident_mib_before": before,
        "resident_mib_after": after,
        "indexed": report["indexed"],
    }


def rebuild(count: int, *, say: Say) -> dict[str, Any]:
    """Read `count` facts back from the files into a new home and compare the two field by field."""
    clock = FixedClock(_BEGIN)
    with kept_folder(None) as folder:
        with _opened(folder, clock) as vault:
            _fill(vault, count)
            clock.advance(days=20)
            vault.ingest([_fact(number, again=True) for number in range(0, count, 10)])
            vault.recall("host 17 port", limit=5)
            clock.advance(days=80)
            vault.consolidate()
            before = _rows(vault)
        say(f"{len(before):,} facts of the vault written")
        began, worked = perf_counter(), process_time()
        with Vault.open(
            folder / "data", home=folder / "other", embeddings=SmallEmbedder(), clock=clock, take_over=True
        ) as vault:
            report = vault.rebuild()
            seconds, cpu_seconds = perf_counter() - began, process_time() - worked
            after = _rows(vault)
    unlike = sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())
    return {
        "facts": len(before),
        "unlike": unlike,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "vectors_reused": report["vectors_reused"],
    }


def kills(wanted: int, *, say: Say) -> dict[str, Any]:
    """Kill a consolidation at `wanted` of its points, run it again, and compare with one that was not."""
    with kept_folder(None) as folder:
        template = folder / "template"
        prepare(template)
        whole = folder / "whole"
        shutil.copytree(template, whole)
        points = _child(whole, 0)
        expected = snapshot(whole / "data")
        chosen = sorted({1 + round(place * (points - 1) / max(1, wanted - 1)) for place in range(wanted)})
        killed, unlike = 0, []
        for point in chosen:
            root = folder / f"killed-{point}"
            shutil.copytree(template, root)
            killed += _child(root, point) < 0
            with _opened(root, FixedClock(_NIGHT), max_facts=40) as vault:
                vault.consolidate()
            same = Same.of(expected, snapshot(root / "data"))
            if not same:
                unlike.append({"point": point, "files": same.unlike})
            shutil.rmtree(root)
            say(f"killed at point {point} of {points}: {'same files' if same else same.unlike}")
    return {"points": points, "kills": killed, "unlike_after": len(unlike), "cases": unlike[:10]}


class Same:
    """Whether two snapshots are alike; false, with the names of the files, where they are not."""

    def __init__(self, unlike: list[str]) -> None:
        self.unlike = unlike

    @classmethod
    def of(cls, one: Mapping[str, Any], other: Mapping[str, Any]) -> "Same":
        """Compare two snapshots."""
        return cls(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name)))

    def __bool__(self) -> bool:
        return not self.unlike


def prepare(root: Path) -> None:
    """Make a vault with work for every step: logs to read, pages to write, facts to fade, cut and take from hand."""
    clock = FixedClock(_BEGIN)
    with _opened(root, clock, max_facts=40) as vault:
        vault.ingest([_fact(number) for number in range(30)])
        old = root / "data/sessions/2026-01-05-090000.jsonl"
        old.write_text(_log(["We decided to move the export.", "My name is Dana."], _BEGIN), "utf-8")
        vault.consolidate()
        clock.set(_NIGHT - timedelta(days=20))
        vault.ingest([_fact(number) for number in range(100, 145)])
        clock.set(_NIGHT - timedelta(days=1))
        vault.consolidate()
        clock.set(_NIGHT - timedelta(hours=3))
        vault.ingest([_fact(number) for number in range(200, 203)])
    new = root / "data/sessions/2026-04-19-100000.jsonl"
    new.write_text(_log(["The port of the mailer is 2525.", "I need to renew the licence."], _NIGHT), "utf-8")
    facts = root / "data/knowledge-graph/facts.jsonl"
    text = facts.read_text("utf-8")
    facts.write_text(text.replace('"8200"', '"8999"') + '{"subject": "buoy", "predicate": "depth"', "utf-8")
    page = root / "data/MEMORY.md"
    page.write_text(page.read_text("utf-8") + "\nwritten by hand\n", "utf-8")


def snapshot(data: Path) -> dict[str, Any]:
    """Return what the files of a vault say, without ids and without what the disk says."""
    found: dict[str, Any] = {}
    for path in sorted(data.rglob("*")):
        name = path.relative_to(data).as_posix()
        if path.is_dir() or path.name in (".vault.lock", ".holder.json", ".lease.json", "health.prom"):
            continue
        found[name] = _content(name, path.read_bytes(), path)
    return found


def _content(name: str, content: bytes, path: Path | None = None) -> Any:
    if name.endswith(".tar.gz") and path is not None:
        with tarfile.open(path) as archive:
            members = [(one.name, archive.extractfile(one)) for one in archive]
            return {inner: _content(inner, file.read()) for inner, file in members if file is not None}
    if name.endswith(".bin"):
        return len(content)
    if name.endswith(".jsonl"):
        return sorted(_told(line) for line in content.decode("utf-8").split("\n") if line)
    if name == "activation-metadata.json":
        said = json.loads(content)
        return [said["updated"], sorted(json.dumps(entry) for entry in said["facts"].values())]
    if name == "health.json":
        return {key: value for key, value in json.loads(content).items() if key not in _OF_THE_DISK}
    return content


def _told(line: str) -> str:
    try:
        said = json.loads(line)
    except ValueError:
        return line
    return json.dumps({key: value for key, value in said.items() if key not in _BY_CHANCE}, sort_keys=True)


def _child(root: Path, point: int) -> int:
    """Consolidate in a process of its own; return its number of points, or less than 0 when it was killed."""
    words = [sys.executable, "-m", "zomem_graph.bench.vault_killed", str(root), _NIGHT.isoformat(), str(point)]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode < 0:
        return done.returncode
    if done.returncode > 0:
        raise RuntimeError(done.stderr.decode("utf-8", "replace"))
    return int(json.loads(done.stdout)["points"])


def _opened(root: Path, clock: FixedClock, **options: Any) -> Vault:
    return Vault.open(root / "data", home=root / "home", embeddings=SmallEmbedder(), clock=clock, **options)


def _fill(vault: Vault, count: int) -> None:
    for start in range(0, count, _BATCH):
        vault.ingest([_fact(number) for number in range(start, min(count, start + _BATCH))])


def _fact(number: int, *, again: bool = False) -> dict[str, Any]:
    predicate = ("port", "owner", "region", "rack")[number % 4]
    value = f"{8000 + number}" if number % 4 == 0 else f"{predicate} {number % 97}"
    kinds: dict[int, dict[str, Any]] = {3: {"tier": "permanent"}, 5: {"importance": 1.6}}
    more = kinds.get(number % 50, {})
    return {"subject": f"host {number}", "predicate": predicate, "object": f"{value} b" if again else value, **more}


def _log(said: list[str], at: datetime) -> str:
    moment = at - timedelta(hours=14)
    return "".join(json.dumps({"role": "user", "content": text, "at": moment.isoformat()}) + "\n" for text in said)


def _timed(vault: Vault) -> tuple[dict[str, float], dict[str, Any]]:
    """Consolidate; return seconds by the clock and of this process's own work, and the report."""
    began, worked = perf_counter(), process_time()
    report = vault.consolidate()
    return {"seconds": round(perf_counter() - began, 2), "cpu_seconds": round(process_time() - worked, 2)}, report


def _rows(vault: Vault) -> dict[str, Any]:
    """Return every field of every fact of the vault, with its activation and origins, by id."""
    with vault.memory.stores.read() as unit:
        pairs = unit.vault.everything()
        origins: dict[str, list[Any]] = {}
        for origin in unit.provenance.of([fact.id for fact, _row in pairs]):
            kept = {name: getattr(origin, name) for name in type(origin).__slots__ if name != "id"}
            origins.setdefault(origin.fact_id, []).append(kept)
        return {fact.id: (fact, row, origins.get(fact.id)) for fact, row in pairs}
