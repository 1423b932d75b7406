"""What comes back: archived facts by id, or everything from an archive."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from zomem_graph.nodes.rules.vault_lines import fact_id, file_id
from zomem_graph.nodes.steps.vault_erasing import read_graves
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.vault import activity
from zomem_graph.vault.backup import make_archive, require_whole, unpack_archive
from zomem_graph.vault.following import catch_up, follow
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.rebuild import rebuild
from zomem_graph.vault.sessions import blank_forgotten

__all__ = ["restore_facts", "restore_files"]


def restore_facts(ground: Ground, ids: Iterable[str]) -> dict[str, Any]:
    """Bring archived facts back, all or none; the caller holds the vault. Raises UnknownName, InvalidInput."""
    wanted = [fact_id(one) for one in ids]
    taken = catch_up(ground)
    with ground.memory.stores.write() as unit:
        rows = unit.vault.of(wanted)
        facts = {fact.id: fact for fact in unit.facts.find(list(rows))}
        for one in wanted:
            fact = facts.get(one)
            if fact is None or fact.state != "archived":
                raise UnknownName(f"No archived fact has the id {one!r:.80}. `zomem vault restore` lists them.")
            if (other := unit.facts.current(fact.persona, fact.slot)) is not None:
                raise InvalidInput(f"{fact.text!r:.80} cannot come back: {other.text!r:.80} holds now.")
            unit.facts.change(fact.id, state="current", ended_at=None)
            unit.provenance.ended([fact.id], at=None, superseded_by=None, now=ground.now())
        back = unit.facts.find(wanted)
        unit.vault.put([activity.fresh(fact.id, ground.now()) for fact in back])
        activity.revive(unit, back)
        ground.fall_behind(unit)
    follow(ground, wanted, again=True)
    return {
        "restored": [{"id": file_id(fact.id), "text": fact.text} for fact in back],
        "notes": [str(one) for one in taken.told],
    }


def restore_files(ground: Ground, named: Path) -> dict[str, Any]:
    """Put an archive in the place of the files, which are packed first; the caller holds the vault.

    `named` is a file, the name of one in backups/, or "latest".
    """
    place = ground.place
    path = place.archives()[-1][1] if str(named) == "latest" and place.archives() else named
    if not path.is_file() and (place.backups / named.name).is_file():
        path = place.backups / named.name
    require_whole(path)
    kept = None
    blank_forgotten(ground)
    if place.facts.is_file():
        kept = make_archive(place, ground.today(), made=None, again=True).name
    with ground.memory.stores.write() as unit:
        read_graves(unit, place)  # those of the archive are older
    names = unpack_archive(place, path)
    found = rebuild(ground, instead=True)
    return {"archive": path.name, "files": len(names), "kept": kept, **found}
