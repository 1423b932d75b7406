"""What every part of a vault stands on: its memory, its folder, its options, and who we are.

SQL is the truth and is written first. A note in the same transaction says that the files have yet to follow; it is
taken back when they have, so that a crash in between only leaves work for the next call.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from zomem_graph.memory import Memory
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.vault_erasing import catch_up, fall_behind, is_behind, note_vault, vault_of
from zomem_graph.stores.errors import StoreLocked
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import json_line, make_folder
from zomem_graph.stores.vault_place import Place
from zomem_graph.vault.lease import Lease
from zomem_graph.vault.options import VaultOptions

__all__ = ["Ground", "Told"]

_ID, _NOTES, _DAYS = "vault.id", "vault.notes", "vault.days"
_PAGES = "vault.pages"


@dataclass(frozen=True, slots=True)
class Told:
    """One thing a person should know about what was done, such as a line that could not be read."""

    where: str
    said: str

    def __str__(self) -> str:
        return f"{self.where}: {self.said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """One vault: the memory whose facts it mirrors, and the folder that mirrors them."""

    memory: Memory
    place: Place
    options: VaultOptions
    lock: FolderLock
    lease: Lease

    def now(self) -> datetime:
        """Return the time it is."""
        return self.memory.clock()

    def today(self) -> date:
        """Return the day it is in the vault's time zone."""
        return self.day_of(self.now())

    def day_of(self, moment: datetime) -> date:
        """Return the day of a moment in the vault's time zone."""
        return moment.astimezone(self.options.zone).date()

    @property
    def scope(self) -> Scope:
        """Who the vault's facts belong to."""
        return Scope(persona=self.options.persona, time_zone=self.options.time_zone)

    @contextmanager
    def held(self, doing: str, *, wait_seconds: float = 30.0) -> Iterator[None]:
        """Hold the vault alone, on this machine and among machines; `doing` is told to whoever waits.

        Raises StoreLocked that says who holds it.
        """
        make_folder(self.place.root)
        if not self.lock.try_hold(wait_seconds=wait_seconds):
            raise StoreLocked(
                f"{self.place.root} is held by {self._holder()}; waited {wait_seconds:.0f} s for it. Let it end and "
                "run this again, or stop that process: the lock ends with it, and nothing has to be cleaned up."
            )
        try:
            self.lease.take(self.now())
            with told_clearly(self.place.holder):
                self.place.holder.write_text(
                    json_line({"doing": doing, "pid": os.getpid(), "since": f"{self.now():%H:%M:%S %Z}"})
                )
                self.place.holder.chmod(0o600)
            yield
        finally:
            self.lock.release()

    def _holder(self) -> str:
        """Return who holds the vault, as far as that is known."""
        try:
            said = json.loads(self.place.holder.read_text("utf-8"))
        except (OSError, ValueError):
            return "another process"
        return (
            f"another process: `zomem vault {said.get('doing')}`, process {said.get('pid')} since {said.get('since')}"
        )

    def id(self) -> str | None:
        """Return the id of the vault that this home mirrors, None when it has none."""
        with self.memory.stores.read() as unit:
            return unit.journal.meta(_ID)

    def note_place(self) -> None:
        """Record where the vault is, so that what is forgotten in this home is taken out of its files too."""
        with self.memory.stores.read() as unit:
            known = vault_of(unit)
        if known is None or known.root != self.place.root.absolute():
            with self.memory.stores.write() as unit:
                note_vault(unit, self.place)

    def set_id(self, vault_id: str) -> None:
        """Record which vault this home mirrors."""
        with self.memory.stores.write() as unit:
            unit.journal.set_meta(_ID, vault_id)

    def behind(self) -> bool:
        """Return whether the files have yet to follow the database."""
        with self.memory.stores.read() as unit:
            return is_behind(unit)

    def untold(self) -> bool:
        """Return whether something ended that the files do not say yet."""
        with self.memory.stores.read() as unit:
            return bool(unit.vault.untold())

    def caught_up(self) -> None:
        """Record that the files say what the database says."""
        if self.behind():
            with self.memory.stores.write() as unit:
                catch_up(unit)

    def notes(self) -> dict[str, Any]:
        """Return what was noted of earlier runs: last consolidation, its duration, the last probe."""
        with self.memory.stores.read() as unit:
            return _object(unit.journal.meta(_NOTES))

    def note(self, **values: Any) -> None:
        """Note values beside those noted before."""
        with self.memory.stores.write() as unit:
            said = _object(unit.journal.meta(_NOTES)) | values
            unit.journal.set_meta(_NOTES, json.dumps(said))

    def days_to_tell(self) -> list[date]:
        """Return the days of which something was said that no summary holds yet, oldest first."""
        with self.memory.stores.read() as unit:
            return sorted(date.fromisoformat(day) for day in _object(unit.journal.meta(_DAYS)))

    def told(self, days: Iterable[date]) -> None:
        """Record that these days have their summary."""
        gone = {f"{day}" for day in days}
        with self.memory.stores.write() as unit:
            left = {day: 1 for day in _object(unit.journal.meta(_DAYS)) if day not in gone}
            unit.journal.set_meta(_DAYS, json.dumps(left))

    def to_tell(self, unit: Unit, days: Iterable[date]) -> None:
        """Record within a transaction that these days need a new summary."""
        known = _object(unit.journal.meta(_DAYS)) | {f"{day}": 1 for day in days}
        unit.journal.set_meta(_DAYS, json.dumps(known))

    def kept_pages(self) -> frozenset[date]:
        """Return the days whose pages say more than this database knows, because they are older than it."""
        with self.memory.stores.read() as unit:
            return frozenset(date.fromisoformat(day) for day in _object(unit.journal.meta(_PAGES)))

    def keep_pages(self, days: Iterable[date]) -> None:
        """Record that what the pages of these days say has to stay there."""
        with self.memory.stores.write() as unit:
            known = _object(unit.journal.meta(_PAGES)) | {f"{day}": 1 for day in days}
            unit.journal.set_meta(_PAGES, json.dumps(known))

    @staticmethod
    def fall_behind(unit: Unit) -> None:
        """Record within a transaction that the files have yet to follow."""
        fall_behind(unit)


def _object(text: str | None) -> dict[str, Any]:
    said = json.loads(text) if text else {}
    return dict(said) if isinstance(said, Mapping) else {}
