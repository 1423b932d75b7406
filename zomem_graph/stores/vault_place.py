"""Where everything of a vault lies (spec F105), and which of it is ours."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from zomem_graph.stores.vault_files import make_folder

__all__ = ["Place"]

_DAILY = re.compile(r"(\d{4}-\d{2}-\d{2})\.md")
_LOG = re.compile(r".+\.jsonl")
_SESSION = re.compile(r"(\d{4}-\d{2}-\d{2})\b.*\.jsonl")
_BACKUP = re.compile(r"pre-maintenance-(\d{4})(\d{2})(\d{2})(?:-(\d+))?\.tar\.gz")


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one vault and the places inside it."""

    root: Path

    @property
    def knowledge(self) -> Path:
        """The folder of the knowledge graph."""
        return self.root / "knowledge-graph"

    @property
    def facts(self) -> Path:
        """What holds now; grows by appending, compacted at night."""
        return self.knowledge / "facts.jsonl"

    @property
    def archived(self) -> Path:
        """What faded away or was replaced."""
        return self.knowledge / "archived-facts.jsonl"

    @property
    def entities(self) -> Path:
        """What the facts are about."""
        return self.knowledge / "entities.jsonl"

    @property
    def relations(self) -> Path:
        """Which predicates there are."""
        return self.knowledge / "relations.jsonl"

    @property
    def canaries(self) -> Path:
        """The questions of the quality probe."""
        return self.knowledge / "canary-facts.json"

    @property
    def unreadable(self) -> Path:
        """Lines that were found and could not be read; kept for a person to look at."""
        return self.knowledge / "unreadable-lines.txt"

    @property
    def forgotten(self) -> Path:
        """What was erased, as keyed hashes: no words, only enough to know it when it comes again."""
        return self.knowledge / "forgotten.jsonl"

    @property
    def embeddings(self) -> Path:
        """The folder of the index, which can be made again."""
        return self.root / "embeddings"

    @property
    def index(self) -> Path:
        """The vectors: rows of 32-bit floats, one after another."""
        return self.embeddings / "index.bin"

    @property
    def index_lines(self) -> Path:
        """Which fact each row of the index belongs to."""
        return self.embeddings / "metadata.jsonl"

    @property
    def daily(self) -> Path:
        """The folder of daily summaries."""
        return self.root / "daily"

    @property
    def sessions(self) -> Path:
        """The folder of session logs, written by the agent."""
        return self.root / "sessions"

    @property
    def backups(self) -> Path:
        """The folder of archives made before maintenance."""
        return self.root / "backups"

    @property
    def activation(self) -> Path:
        """Activations, last uses, and who writes here."""
        return self.root / "activation-metadata.json"

    @property
    def memory_md(self) -> Path:
        """What matters most, on a page."""
        return self.root / "MEMORY.md"

    @property
    def health(self) -> Path:
        """The last health report."""
        return self.root / "health.json"

    @property
    def prometheus(self) -> Path:
        """The last health report as Prometheus text, for node_exporter's textfile collector."""
        return self.root / "health.prom"

    @property
    def lock(self) -> Path:
        """The file whose system lock lets one process at a time write here."""
        return self.root / ".vault.lock"

    @property
    def holder(self) -> Path:
        """Which process took the lock last, and what for."""
        return self.root / ".holder.json"

    @property
    def lease(self) -> Path:
        """Which machine writes here."""
        return self.root / ".lease.json"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder of a vault."""
        return self.root, self.knowledge, self.embeddings, self.daily, self.sessions, self.backups

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that is always there."""
        return (
            self.facts, self.archived, self.entities, self.relations, self.canaries, self.activation,
            self.memory_md, self.health,
        )  # fmt: skip

    @property
    def holds_facts(self) -> bool:
        """Whether a vault's files are here."""
        return self.activation.is_file() or (self.facts.is_file() and self.facts.stat().st_size > 0)

    def make(self) -> None:
        """Make the folders that are missing, readable by their owner only."""
        for folder in self.folders:
            make_folder(folder)

    def day_file(self, day: date) -> Path:
        """Return the summary of a day."""
        return self.daily / f"{day:%Y-%m-%d}.md"

    def new_backup_file(self, day: date) -> Path:
        """Return where the next archive of a day goes: never in the place of one that is there."""
        last = max((_count(path) for when, path in self.archives() if when == day), default=0)
        number = f"-{last + 1}" if last else ""
        return self.backups / f"pre-maintenance-{day:%Y%m%d}{number}.tar.gz"

    def may_be_restored(self, path: Path) -> bool:
        """Return whether a path is that of a file an archive may hold."""
        if path in (*self.files, self.unreadable, self.forgotten):
            return True
        shape = {self.daily: _DAILY, self.sessions: _LOG}.get(path.parent)
        return shape is not None and shape.fullmatch(path.name) is not None

    def days(self) -> list[tuple[date, Path]]:
        """Return the daily summaries there are, oldest first."""
        return sorted(_dated(self.daily, _DAILY))

    def session_files(self) -> list[Path]:
        """Return the session logs there are, by name; links are none, they may lead anywhere."""
        return sorted(path for path in self.sessions.glob("*.jsonl") if path.is_file() and not path.is_symlink())

    def linked_sessions(self) -> list[Path]:
        """Return the links among the session logs, which are not followed."""
        return sorted(path for path in self.sessions.glob("*.jsonl") if path.is_symlink())

    def session_day(self, path: Path) -> date | None:
        """Return the day in the name of a session log, None when it has none."""
        found = _SESSION.fullmatch(path.name)
        return None if found is None else _date(found[1])

    def archives(self) -> list[tuple[date, Path]]:
        """Return the archives there are, oldest first; those of one day in the order in which they were made."""
        return sorted(_dated(self.backups, _BACKUP), key=lambda each: (each[0], _count(each[1])))

    def strangers(self) -> list[Path]:
        """Return what lies at the top or in a folder of ours and is not ours; it is left alone."""
        known = {
            *self.folders,
            *self.files,
            self.unreadable,
            self.forgotten,
            self.prometheus,
            self.index,
            self.index_lines,
        }
        known |= {self.lock, self.holder, self.lease, *(path for _, path in (*self.days(), *self.archives()))}
        looked = [self.root, self.knowledge, self.embeddings, self.daily, self.backups]
        found = [path for folder in looked if folder.is_dir() for path in folder.iterdir()]
        found += [path for path in self.sessions.glob("*") if path.suffix != ".jsonl" or path.is_symlink()]
        return sorted(path for path in found if path not in known and not _passing(path))


def _passing(path: Path) -> bool:
    return path.name in ("lost+found", "store") or (path.name.startswith(".") and path.name.endswith(".part"))


def _dated(folder: Path, shape: re.Pattern[str]) -> Iterator[tuple[date, Path]]:
    for path in folder.glob("*"):
        found = shape.fullmatch(path.name)
        day = None if found is None else _date("-".join(found.groups()[:3]))
        if day is not None and path.is_file():
            yield day, path


def _count(archive: Path) -> int:
    """Return which archive of its day this is."""
    found = _BACKUP.fullmatch(archive.name)
    return int(found[4] or 1) if found is not None else 1


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
