"""The files follow the database: what is new is appended during the day, everything is written anew at night.

Each file is a function of the database alone, so writing them twice, or after a crash, gives the same files.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from zomem_graph.nodes.rules.vault_lines import Uses, file_id, use_line
from zomem_graph.nodes.rules.vault_pages import PageFact, listed_in, memory_block, own_text, with_block
from zomem_graph.nodes.steps.vault_erasing import write_graves
from zomem_graph.nodes.steps.vault_following import lines_of, mark_told
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import append_lines, json_line, replace_file
from zomem_graph.stores.vault_records import VaultFact
from zomem_graph.vault.activity import ACTIVE, Standing, lasts, stand
from zomem_graph.vault.ground import Ground

__all__ = ["append_facts", "read_page", "write_activation", "write_knowledge", "write_memory_page"]

_SMALL = (
    2_000  # facts; up to here activation-metadata.json follows at once, beyond it only where a line cannot say it
)
_FORMAT = 1
_FILLED = 0.9  # of MEMORY.md: the rest is room for what people write, and a page beyond it is a warning
_LEAST_LINES = 10  # for facts, however much is written by hand

OnFile = Callable[[str], None]


def _no_one(_file: str) -> None:
    """Tell nobody."""


def append_facts(ground: Ground, fact_ids: Sequence[str], *, again: bool) -> None:
    """Add the lines of new and changed facts and of what they are about; `again`: known facts were raised.

    What ended since the files were written is told with them.
    """
    fact_ids = list(dict.fromkeys([*fact_ids, *_mark_told(ground)]))
    if not fact_ids:
        return
    place = ground.place
    with ground.memory.stores.read() as unit:
        facts = {fact.id: fact for fact in unit.facts.find(list(fact_ids))}
        rows = unit.vault.of(list(fact_ids))
        lines = lines_of(unit, [(facts[id_], rows[id_]) for id_ in fact_ids if id_ in facts and id_ in rows])
        entities = unit.vault.tally("entity", list(dict.fromkeys(fact.entity for fact in facts.values())))
        keys = list(dict.fromkeys(fact.key for fact in facts.values() if fact.key))
        relations = unit.vault.tally("key", keys)
        small = unit.vault.count() <= _SMALL
    append_lines(place.facts, lines)
    append_lines(place.entities, _entities(entities))
    append_lines(place.relations, _relations(relations))
    if small or again:
        write_activation(ground)


def write_knowledge(ground: Ground, on_file: OnFile = _no_one) -> int:
    """Write the knowledge graph anew: what holds, what is archived, entities, relations, activations."""
    place = ground.place
    _mark_told(ground)
    with ground.memory.stores.read() as unit:
        everything = unit.vault.everything()
        here = [pair for pair in everything if pair[0].state == "current"]
        gone = [pair for pair in everything if pair[0].state != "current"]
        current, archived = lines_of(unit, here), lines_of(unit, gone)
        entities, relations = unit.vault.tally("entity"), unit.vault.tally("key")
        activations = _activations(ground, unit, everything)
        write_graves(unit, place)
    written = 0
    for path, lines in (
        (place.archived, archived),  # first: a fact that moves is never in neither file
        (place.facts, current),
        (place.entities, _entities(entities)),
        (place.relations, _relations(relations)),
    ):
        on_file(path.name)
        written += replace_file(path, "".join(f"{line}\n" for line in lines))
    on_file(place.activation.name)
    written += replace_file(place.activation, activations)
    return written


def write_activation(ground: Ground) -> None:
    """Write activation-metadata.json anew."""
    with ground.memory.stores.read() as unit:
        content = _activations(ground, unit, unit.vault.everything())
    replace_file(ground.place.activation, content)


def write_memory_page(ground: Ground) -> int:
    """Bring the block of MEMORY.md up to date and return how many lines the page has; the rest of it stays."""
    place, options = ground.place, ground.options
    with ground.memory.stores.read() as unit:
        standing = _standing(ground, unit)
    page = read_page(place.memory_md)
    facts = [
        PageFact(subject=_subject(one.fact, options.persona), predicate=one.fact.key, object=one.fact.value,
                 activation=one.activation, importance=one.fact.importance, lasting=lasts(one.fact))
        for one in standing
        if one.band == ACTIVE
    ]  # fmt: skip
    own = own_text(page)
    mine = own.count("\n") + 2 if own.strip() else 0
    most = options.memory_md_max_lines
    block = memory_block(
        facts,
        lines=max(int(_FILLED * most) - mine, min(_LEAST_LINES, most - mine)),
        listed=listed_in(page),
        least=options.search_threshold,
    )
    text = with_block(page, block)
    replace_file(place.memory_md, text.encode("utf-8", "surrogateescape"))
    return len(text.splitlines())


def read_page(path: Any) -> str:
    """Return the text of a page, byte for byte even where it is no UTF-8; "" when there is none."""
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""


def _mark_told(ground: Ground) -> list[str]:
    with ground.memory.stores.write() as unit:
        ids = mark_told(unit, ground.memory)
        if ids:
            ground.fall_behind(unit)
    return ids


def _standing(ground: Ground, unit: Unit) -> list[Standing]:
    return stand(unit.vault.current(), unit.vault.uses(), ground.options, ground.now())


def _activations(ground: Ground, unit: Unit, pairs: Iterable[tuple[Fact, VaultFact]]) -> str:
    """Return activation-metadata.json: one line a fact, so that two versions can be compared by eye."""
    head = {"version": _FORMAT, "vault": unit.journal.meta("vault.id"), "updated": ground.now().isoformat()}
    entries = [f"  {json.dumps(file_id(fact.id))}: {json_line(_entry(fact, row))}" for fact, row in pairs]
    body = ",\n".join(entries)
    facts = f"{{\n{body}\n }}" if entries else "{}"
    return f'{json_line(head)[:-1]},\n "facts": {facts}}}\n'


def _entry(fact: Fact, row: VaultFact) -> Mapping[str, Any]:
    uses = Uses(
        activation=row.activation, as_of=row.as_of, last_accessed=fact.last_accessed, recalls=fact.access_count
    )
    return {**use_line(uses), "band": row.band}


def _entities(tally: Mapping[str, tuple[int, datetime, datetime]]) -> list[str]:
    return [
        json_line({"name": name, "first_seen": first.isoformat(), "last_seen": last.isoformat(), "fact_count": count})
        for name, (count, first, last) in tally.items()
    ]


def _relations(tally: Mapping[str, tuple[int, datetime, datetime]]) -> list[str]:
    return [
        json_line({"relation": name, "count": count, "last_seen": last.isoformat()})
        for name, (count, _first, last) in tally.items()
    ]


def _subject(fact: Fact, persona: str) -> str:
    return fact.entity if fact.persona == persona else f"{fact.entity} ({fact.persona})"
