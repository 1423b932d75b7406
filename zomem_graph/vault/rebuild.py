"""A store from the files alone: what a redeployed machine does first.

Facts come back with their ids, times, activations and origins, and with the vectors of the index where its model is
the same. What people wrote into the files is taken in. Session logs are kept as what was said, with the loops and
episodes in them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from zomem_graph.nodes.rules.erasing import fact_marks, source_marks
from zomem_graph.nodes.rules.vault_lines import Uses, fact_of, origins_of, writer
from zomem_graph.nodes.steps.settle import SUPERSEDES, item_of, link_between
from zomem_graph.nodes.steps.vault_erasing import clean_again, read_graves
from zomem_graph.nodes.steps.vault_following import ENDED
from zomem_graph.stores.errors import InvalidInput, StoreError
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.records import Fact, Origin
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import read_lines, replace_file
from zomem_graph.stores.vault_records import VaultFact
from zomem_graph.vault.activity import ACTIVE, ARCHIVED
from zomem_graph.vault.following import rewrite
from zomem_graph.vault.forgotten import quotes_nothing_of
from zomem_graph.vault.ground import Ground, Told
from zomem_graph.vault.hand import take_in
from zomem_graph.vault.index_files import read_index
from zomem_graph.vault.sessions import blank_forgotten, keep_turns
from zomem_graph.vault.summaries import strike

__all__ = ["files_id", "rebuild"]


def files_id(ground: Ground) -> str | None:
    """Return the id of the vault in the files; None when they say none."""
    return _head(ground).get("vault")


def rebuild(ground: Ground, *, instead: bool = False) -> dict[str, Any]:
    """Fill the home from the files; raise StoreError when it holds a vault already, unless `instead` of that one."""
    told: list[Told] = []
    with ground.memory.stores.read() as unit:
        held = unit.vault.count()
    if held and not instead:
        raise StoreError(
            f"The home {ground.memory.settings.home} holds {held:,} facts of a vault already, and the database is "
            "the truth. To make it equal to the files, pass --replace; to write the files anew, run "
            "`zomem vault init`."
        )
    lines = _lines(ground, told)
    entries = _head(ground).get("facts") or {}
    facts = _facts(lines, entries, told)
    with ground.memory.stores.write() as unit:
        read_graves(unit, ground.place)
    kept_out = blank_forgotten(ground)
    told += kept_out.told
    with ground.memory.stores.write() as unit:
        if held:
            _empty(unit)
        gone = {row[0].id: row[0] for row in facts if _was_erased(unit, row[0])}
        facts = [_unquoted(row, kept_out.erased) for row in facts if row[0].id not in gone]
        _fill(unit, facts)
        unit.journal.set_meta("vault.id", new_id())  # by this the home before it sees that it is not the one any more
        ground.fall_behind(unit)
    strike(ground, [fact.value for fact in gone.values()])
    if gone:
        told.append(Told("facts", f"{len(gone)} were forgotten and do not come back"))
    reused = _vectors(ground, [fact for fact, *_ in facts])
    sessions = keep_turns(ground)
    ground.keep_pages(day for day, _path in ground.place.days())
    _notes(ground)
    taken = take_in(ground)
    ground.memory.background.embed_everything(None)
    rewrite(ground)
    clean_again(ground.memory, ground.place, texts=kept_out.erased, facts=[*gone.values()])
    return {
        "facts": sum(fact.state == "current" for fact, *_ in facts),
        "archived": sum(fact.state != "current" for fact, *_ in facts),
        "taken_in": taken.changed,
        "vectors_reused": reused,
        "sessions": sessions,
        "notes": [*map(str, told), *map(str, taken.told)],
    }


_MOST_ORIGINS = 50
_Row = tuple[Fact, Uses, list[Origin], str]


def _lines(ground: Ground, told: list[Told]) -> dict[str, Mapping[str, Any]]:
    """Return the lines of both files by id: the later line wins, and facts.jsonl over what was archived before."""
    found: dict[str, Mapping[str, Any]] = {}
    twice = 0
    for path in (ground.place.archived, ground.place.facts):
        here: set[str] = set()
        for line in read_lines(path):
            if line.said is None:
                continue  # taken in afterwards, where it is kept and told
            if writer(line.said) == "hand" and not (line.said.get("id") and line.said.get("created")):
                continue  # the same
            name = str(line.said.get("id", ""))
            twice += name in here
            here.add(name)
            found[name] = line.said
    if twice:
        told.append(Told("facts.jsonl", f"{twice} ids stand there more than once; the last line of each counts"))
    return found


def _facts(lines: Mapping[str, Mapping[str, Any]], entries: Mapping[str, Any], told: list[Told]) -> list[_Row]:
    found: list[_Row] = []
    for name, line in lines.items():
        entry = entries.get(name)
        said = entry if isinstance(entry, Mapping) else {}
        try:
            fact, uses = fact_of(line, said)
        except (InvalidInput, TypeError, ValueError) as error:
            told.append(Told(f"fact {name}", f"{error}; left out"))
            continue
        origins = origins_of(line, fact, [new_id() for _ in range(_MOST_ORIGINS)])
        found.append((fact, uses, origins, _band(fact, said.get("band"))))
    return _one_of_each(found, told)


def _band(fact: Fact, said: object) -> str:
    """Return the band of a fact: what its line says of its state counts more than an older entry."""
    if fact.state == "current":
        return ACTIVE if said in (None, ENDED) else str(said)
    return ARCHIVED if said == ARCHIVED or fact.state == ARCHIVED else ENDED


def _one_of_each(rows: Sequence[_Row], told: list[Told]) -> list[_Row]:
    """Return the rows with one current fact under each address: where two claim it, the newer one holds."""
    newest: dict[tuple[str, str], Fact] = {}
    for fact, *_ in rows:
        place = (fact.persona, fact.slot)
        if fact.state == "current" and (place not in newest or newest[place].created_at <= fact.created_at):
            newest[place] = fact
    kept: list[_Row] = []
    for fact, uses, origins, band in rows:
        holder = newest.get((fact.persona, fact.slot))
        if fact.state == "current" and holder is not None and holder.id != fact.id:
            told.append(Told(f"fact {fact.id}", f"another one holds under {fact.entity} {fact.key or ''}".strip()))
            ended = replace(fact, state="superseded", ended_at=holder.created_at, superseded_by=holder.id)
            kept.append((ended, uses, origins, ENDED))
        else:
            kept.append((fact, uses, origins, band))
    return kept


def _was_erased(unit: Unit, fact: Fact) -> bool:
    """Return whether a fact was said before it was erased; one that was said again since holds."""
    marks = [mark for mark in fact_marks(fact.slot, fact.value, fact.text) if mark[0] != "value"]
    grave = unit.tombstones.of(fact.persona, [*marks, *source_marks(fact.metadata.get("source_id"))])
    return grave is not None and fact.created_at <= grave.created_at


def _unquoted(row: _Row, erased: Sequence[str]) -> _Row:
    """Return a row that quotes nothing of what was erased."""
    fact, uses, origins, band = row
    fact, origins = quotes_nothing_of(erased, fact, origins) if erased else (fact, origins)
    return fact, uses, origins, band


def _fill(unit: Unit, rows: Sequence[_Row]) -> None:
    """Store facts as they were; what else the home knew under the same id or address makes room."""
    facts = [fact for fact, *_ in rows]
    ids = [fact.id for fact in facts]
    unit.items.purge(ids)
    unit.provenance.purge(ids)
    unit.facts.purge(ids)
    for fact in facts:
        if fact.state == "current" and (other := unit.facts.current(fact.persona, fact.slot)) is not None:
            unit.facts.end([other.id], state="superseded", at=fact.created_at, superseded_by=fact.id)
            unit.items.end([other.id], state="superseded", at=fact.created_at)
    unit.facts.add(facts)
    unit.items.add([item_of(fact) for fact in facts])
    unit.provenance.add([origin for _fact, _uses, origins, _band in rows for origin in origins])
    by_id = {fact.id: fact for fact in facts}
    unit.links.add(
        [
            link_between(fact.superseded_by, fact.id, SUPERSEDES, fact.ended_at or fact.created_at)
            for fact in facts
            if fact.superseded_by in by_id and fact.superseded_by is not None
        ]
    )
    ended: dict[str, dict[str, datetime]] = {}
    for fact, uses, _origins, band in rows:
        if fact.state != "current":
            ended.setdefault(fact.state, {})[fact.id] = fact.ended_at or fact.created_at
        elif band != ACTIVE:
            ended.setdefault(ARCHIVED, {})[fact.id] = uses.as_of
    for state, times in ended.items():
        unit.items.end([*times], state=state, at=times)
    unit.vault.put(
        [
            VaultFact(fact_id=fact.id, activation=uses.activation, as_of=uses.as_of, band=band)
            for fact, uses, _origins, band in rows
        ]
    )


def _empty(unit: Unit) -> None:
    ids = [fact.id for fact, _row in unit.vault.everything()]
    unit.items.purge(ids)
    unit.provenance.purge(ids)
    unit.facts.purge(ids)
    unit.vault.drop_orphans()


def _vectors(ground: Ground, facts: Sequence[Fact]) -> int:
    """Give facts the vectors of the index files, where text and model are the same; return how many."""
    embedder = ground.memory.embedder
    if embedder is None:
        return 0
    found = read_index(ground.place, embedder.identity)
    wanted = [fact.id for fact in facts if fact.id in found]
    with ground.memory.stores.write() as unit:
        items = [item for item in unit.items.find(wanted) if item.text_hash == found[item.id][0]]
        vectors = [
            (item.num, item.text_hash, found[item.id][1])
            for item in items
            if len(found[item.id][1]) == embedder.width
        ]
        return unit.items.set_vectors(vectors, embedder=embedder.identity) if vectors else 0


def _notes(ground: Ground) -> None:
    """Take what was noted of earlier runs out of health.json."""
    said = _json(ground.place.health)
    names = ("last_consolidation", "consolidation_duration_seconds", "quality_probe")
    ground.note(**{name: said[name] for name in names if said.get(name) is not None})


def _head(ground: Ground) -> dict[str, Any]:
    return _json(ground.place.activation)


def _json(path: Any) -> dict[str, Any]:
    """Return the object of a file; {} where there is none. One that cannot be read is put aside, not lost."""
    with told_clearly(path):
        data = path.read_bytes() if path.is_file() else b""
    try:
        said = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError):
        replace_file(path.with_name(f"{path.name}.damaged"), data)
        return {}
    return said if isinstance(said, dict) else {}
