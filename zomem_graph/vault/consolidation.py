"""The night's work, step by step (spec F117): take in, summarise, back up, decay, prune, index, write, clean, look.

Each step reads the database and either commits one transaction or replaces whole files, so a run that is killed
anywhere leaves valid files, and the next run ends with the same ones. The archive is made before anything goes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

from zomem_graph.nodes.rules.vault_pages import own_text
from zomem_graph.nodes.steps.vault_erasing import clean_again
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.vault_files import sweep_leftovers
from zomem_graph.vault import activity
from zomem_graph.vault.backup import damaged_archives, drop_old_archives, make_archive
from zomem_graph.vault.following import rewrite
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.hand import erased_texts, note_files, take_in
from zomem_graph.vault.health import check_health
from zomem_graph.vault.index_files import write_index
from zomem_graph.vault.mirror import read_page, write_knowledge, write_memory_page
from zomem_graph.vault.sessions import blank_forgotten, read_sessions
from zomem_graph.vault.summaries import strike, write_days

__all__ = ["PATIENCE", "STEPS", "Night", "begin", "consolidate", "work"]


PATIENCE: Final = 600.0
"""Seconds that a consolidation waits for an ingest or another run."""


@dataclass(slots=True, kw_only=True)
class Night:
    """One consolidation: what it works on, whom it tells of every step and file, and what it has done."""

    ground: Ground
    tell: Callable[[str], None] = lambda _what: None
    resumed: bool = False
    done: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def consolidate(
    ground: Ground, *, tell: Callable[[str], None] | None = None, wait_seconds: float = PATIENCE
) -> dict[str, Any]:
    """Run every step under the lock and return what was done.

    Waits so long for whoever else is at work, then raises StoreLocked that says who it is.
    """
    night = Night(ground=ground, tell=tell or (lambda _what: None))
    with ground.held("consolidate", wait_seconds=wait_seconds):
        begin(night)
        for name in STEPS:
            night.tell(name)
            work(night, name)
        night.tell("done")
    return {**night.done, "notes": night.notes}


def begin(night: Night) -> None:
    """Note that a run has begun; one that was cut short before is gone on with."""
    ground = night.ground
    ground.place.make()
    day = f"{ground.today()}"
    night.resumed = ground.notes().get("running") == day
    if not night.resumed:
        ground.note(running=day, archive=None)
    sweep_leftovers(ground.place.folders)


def work(night: Night, name: str) -> None:
    """Do one step and count how long it took; what passes between two steps or two runs is no work."""
    began = night.ground.now()
    STEPS[name](night)
    night.done["seconds"] = round(_seconds(night) + max(0.0, (night.ground.now() - began).total_seconds()), 3)


def take_in_step(night: Night) -> None:
    """Strike out what was forgotten; take in what was changed by hand and what the session logs say."""
    strike(night.ground, erased_texts(night.ground))
    back = blank_forgotten(night.ground)
    clean_again(night.ground.memory, night.ground.place, texts=back.erased, facts=())
    taken = take_in(night.ground)
    came = read_sessions(night.ground, lambda name, _read: night.tell(f"session {name}"))
    if taken.anything or came.fact_ids or night.resumed or night.ground.behind():
        rewrite(night.ground)  # the archive that is made next then holds what the database holds
    night.done |= {"taken_in": taken.changed, "sessions": came.sessions, "facts": came.facts}
    night.notes += map(str, (*back.told, *taken.told, *came.told))


def summarize_step(night: Night) -> None:
    """Tell every day that has something new."""
    days = night.ground.days_to_tell()
    night.done["days"] = [f"{day}" for day in write_days(night.ground, days)]


def back_up_step(night: Night) -> None:
    """Pack the files as they are, and read the archive back."""
    ground = night.ground
    with ground.memory.stores.read() as unit:
        pairs = unit.vault.current()
        standing = activity.stand(pairs, unit.vault.uses(), ground.options, ground.now())
    held = sum(one.band != activity.ARCHIVED for one in standing)
    prunes = held < len(standing) or held > ground.options.max_facts
    for path in damaged_archives(ground.place, ground.today()):
        night.notes.append(f"backups/{path.name} is damaged and cannot be restored; it is left as it is")
    archive = make_archive(ground.place, ground.today(), made=ground.notes().get("archive"), again=prunes)
    ground.note(archive=archive.name)
    night.done["backup"] = archive.name


def decay_step(night: Night) -> None:
    """Write down how active everything is now."""
    ground = night.ground
    with ground.memory.stores.write() as unit:
        unit.vault.drop_orphans()
        activity.join(unit, unit.vault.successors(), {}, ground.now())
        standing = activity.decay(unit, ground, ground.now())
        ground.fall_behind(unit)
    night.done["fading"] = sum(one.band == activity.FADING for one in standing)


def prune_step(night: Night) -> None:
    """Archive what fell below the threshold, each from the moment it did, then what is over the cap."""
    ground = night.ground
    with ground.memory.stores.write() as unit:
        faded = unit.vault.in_band(activity.ARCHIVED)
        activity.archive(unit, faded)
        spare = activity.over_the_cap(unit, ground, ground.now())
        activity.archive(unit, spare)
        ground.fall_behind(unit)
    night.done |= {"archived": len(faded) + len(spare), "over_the_cap": len(spare)}


def index_step(night: Night) -> None:
    """Embed what waits and write the index of what is active."""
    night.ground.memory.background.embed_everything(None)
    night.done["indexed"] = write_index(night.ground, lambda name: night.tell(f"file {name}"))


def write_step(night: Night) -> None:
    """Write the knowledge graph anew."""
    ground = night.ground
    if (late := take_in(ground)).anything:  # edited while this was running
        night.done["taken_in"] = night.done.get("taken_in", 0) + late.changed
        night.notes += map(str, late.told)
    write_knowledge(ground, lambda name: night.tell(f"file {name}"))
    note_files(ground)
    ground.caught_up()


def reconcile_step(night: Night) -> None:
    """Bring MEMORY.md up to date."""
    night.done["memory_md_lines"] = write_memory_page(night.ground)


def clean_step(night: Night) -> None:
    """Remove session logs, daily pages and archives whose time is over; never what was not read or is not ours."""
    ground = night.ground
    today, options = ground.today(), ground.options
    gone = {
        "sessions_removed": _clean_sessions(ground, today),
        "daily_removed": _clean_days(ground, today),
        "backups_removed": drop_old_archives(ground.place, today, keep_days=options.backup_retention_days),
    }
    night.done |= gone


def health_step(night: Night) -> None:
    """Note how long this run took, then look at everything."""
    ground = night.ground
    now = ground.now().isoformat()
    ground.note(last_consolidation=now, consolidation_duration_seconds=_seconds(night), running=None)
    night.done["status"] = check_health(ground)["status"]


STEPS: Final[Mapping[str, Callable[[Night], None]]] = {
    "take in": take_in_step,
    "summarize": summarize_step,
    "back up": back_up_step,
    "decay": decay_step,
    "prune": prune_step,
    "index": index_step,
    "write": write_step,
    "reconcile": reconcile_step,
    "clean": clean_step,
    "health": health_step,
}
"""The steps of a night, in order."""


def _seconds(night: Night) -> float:
    """Return how long the steps of this run took so far."""
    return float(night.done.get("seconds", 0.0))


def _clean_sessions(ground: Ground, today: date) -> int:
    last = today - timedelta(days=ground.options.session_retention_days)
    with ground.memory.stores.read() as unit:
        read = unit.vault.sessions()
    gone = 0
    for path in ground.place.session_files():
        found, known = path.stat(), read.get(path.name)
        if known is None or (known.size, known.changed) != (found.st_size, found.st_mtime):
            continue  # never what was not read to its end
        said = known.last_at or known.read_at
        day = ground.place.session_day(path) or ground.day_of(said)
        if max(day, ground.day_of(said)) < last:
            with told_clearly(path):
                path.unlink(missing_ok=True)
            gone += 1
    return gone


def _clean_days(ground: Ground, today: date) -> int:
    last = today - timedelta(days=ground.options.daily_retention_days)
    gone = 0
    for day, path in ground.place.days():
        if day < last and not own_text(read_page(path)).strip():  # a page somebody wrote on stays
            with told_clearly(path):
                path.unlink(missing_ok=True)
            gone += 1
    return gone
