"""What ends is told in the files of a vault at once: a line more, of which a rebuild takes the last.

So nothing that was deleted or replaced during the day comes back from files that are copied before the night.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.vault_lines import fact_line
from zomem_graph.nodes.steps.vault_erasing import catch_up, fall_behind, is_behind, vault_of
from zomem_graph.stores.errors import StoreReadOnly
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import append_lines, json_line
from zomem_graph.stores.vault_place import Place
from zomem_graph.stores.vault_records import VaultFact

__all__ = ["ENDED", "lines_of", "mark_told", "tell_ended", "tell_vault"]

ENDED: Final = "ended"
"""The band of what does not hold any more and whose lines say so; what faded is archived."""

_ACTIVE: Final = "active"
_HEAD: Final = 500  # bytes of activation-metadata.json in which the id of the vault stands


def tell_vault(services: Services) -> None:
    """Tell the files of the vault, where this home has one, what ended; whoever holds them does it later."""
    with services.stores.read() as unit:
        place = vault_of(unit)
        if place is None or not unit.vault.untold() or not _is_ours(unit, place):
            return
    with FolderLock(place.lock).held_if_free() as free:
        if free:
            with suppress(StoreReadOnly):  # noted in the database, so that the next call of the vault writes it
                tell_ended(services, place)


def tell_ended(services: Services, place: Place) -> int:
    """Add the lines of what ended, and of what took its place; the caller holds the vault. Return how many."""
    with services.stores.write() as unit:
        ids = mark_told(unit, services)
        if not ids:
            return 0
        behind = is_behind(unit)
        fall_behind(unit)
        rows = unit.vault.of(ids)
        lines = lines_of(unit, [(fact, rows[fact.id]) for fact in unit.facts.find(ids)])
    append_lines(place.facts, lines)
    if not behind:
        with services.stores.write() as unit:
            catch_up(unit)
    return len(lines)


def mark_told(unit: Unit, services: Services) -> list[str]:
    """Note within a transaction that the files say what ended or stands again; return its ids.

    What took the place of a fact of the vault is in the vault from now on.
    """
    ids = unit.vault.untold()
    if not ids:
        return []
    new = [
        VaultFact(fact_id=fact.id, activation=1.0, as_of=services.clock(), band=_ACTIVE)
        for fact in unit.vault.successors()
    ]
    found = {fact.id: fact for fact in unit.facts.find(ids)}
    unit.vault.put(
        [
            *new,
            *(
                VaultFact(
                    fact_id=row.fact_id, activation=row.activation, as_of=row.as_of,
                    band=_ACTIVE if found[row.fact_id].state == "current" else ENDED,
                )
                for row in unit.vault.of(ids).values()
            ),
        ]
    )  # fmt: skip
    return [*ids, *(row.fact_id for row in new)]


def lines_of(unit: Unit, pairs: Sequence[tuple[Fact, VaultFact]]) -> list[str]:
    """Return facts of a vault as lines of its files."""
    origins: dict[str, list[Any]] = {}
    for origin in unit.provenance.of([fact.id for fact, _row in pairs]):
        origins.setdefault(origin.fact_id, []).append(origin)
    return [json_line(fact_line(fact, row.activation, origins.get(fact.id, ()))) for fact, row in pairs]


def _is_ours(unit: Unit, place: Place) -> bool:
    """Return whether the files are there and no other home has taken them over."""
    ours = unit.journal.meta("vault.id")
    with suppress(StoreReadOnly), told_clearly(place.activation):
        if ours is not None and place.facts.is_file() and place.activation.is_file():
            with place.activation.open("rb") as file:
                return json_line(ours).encode() in file.read(_HEAD)
    return False
