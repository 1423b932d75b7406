"""Forgetting reaches the files of a vault too: what was erased is cut out of them and out of their archives.

What we write is cut. A session log belongs to the agent that may be writing it: there a line is blanked where it
stands. What people wrote around our blocks is left alone, and the proof names it. What was erased stays known in the
files by its keyed hash, so that a rebuild brings none of it back.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.erasing import FactForms, needles_of
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.session_lines import SESSION_PREFIX, message_in
from zomem_graph.nodes.rules.vault_lines import fact_id, without_quotes, writer
from zomem_graph.nodes.rules.vault_pages import page_line, struck
from zomem_graph.nodes.steps.needles import still_held
from zomem_graph.stores.erasure import Selection
from zomem_graph.stores.errors import StoreLocked, StoreReadOnly
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.proof import Needles
from zomem_graph.stores.records import Fact, Tombstone
from zomem_graph.stores.remains import Cleaned
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import blank_lines, json_line, json_object, read_lines, repack, replace_file
from zomem_graph.stores.vault_place import Place

__all__ = [
    "catch_up",
    "clean_again",
    "clean_vault",
    "fall_behind",
    "is_behind",
    "note_vault",
    "read_graves",
    "vault_of",
    "write_graves",
]

_PLACE: Final = "vault.place"
_PENDING: Final = "vault.pending"
_PATIENCE: Final = 30.0  # seconds for whoever writes there to end


@dataclass(frozen=True, slots=True)
class _Gone:
    """What went, in the forms in which the files of a vault hold it."""

    needles: Needles
    ids: frozenset[str]
    names: frozenset[str]
    listed: frozenset[tuple[str, str]]
    forms: tuple[FactForms, ...]
    said: frozenset[tuple[str, str]] = frozenset()

    def in_log(self, session: str, line: bytes) -> bool:
        """Return whether a line of a session log says what went, in whatever spelling of JSON."""
        if self.in_bytes(line):
            return True
        message = message_in(json_object(line.decode("utf-8", "replace")) or {})
        if message is None:
            return False
        content = message["content"]
        return (session, normal(content)) in self.said or (b"\\" in line and self.in_text(content))

    def in_bytes(self, line: bytes) -> bool:
        return bool(self.needles.found_in(line))

    def in_text(self, line: str) -> bool:
        return self.in_bytes(line.encode("utf-8", "surrogateescape"))

    def said_in(self, line: str) -> bool:
        """Return whether a line that anybody may have written says a fact that went."""
        form = normal(line)
        return self.in_text(line) or any(each.said_in(form) for each in self.forms)


def vault_of(unit: Unit) -> Place | None:
    """Return where the vault that mirrors this home is, None when there is none."""
    said = unit.journal.meta(_PLACE)
    return None if said is None else Place(Path(said))


def note_vault(unit: Unit, place: Place) -> None:
    """Record where the vault is."""
    unit.journal.set_meta(_PLACE, str(place.root.absolute()))


def fall_behind(unit: Unit) -> None:
    """Record within a transaction that the files have yet to follow the database."""
    unit.journal.set_meta(_PENDING, "1")


def catch_up(unit: Unit) -> None:
    """Record within a transaction that the files say what the database says."""
    unit.journal.set_meta(_PENDING, "0")


def is_behind(unit: Unit) -> bool:
    """Return whether the files have yet to follow the database."""
    return unit.journal.meta(_PENDING) == "1"


def clean_vault(services: Services, place: Place, needles: Needles, *, gone: Selection) -> Cleaned:
    """Take what was erased out of the files of a vault and its archives, and note there that it was."""
    done = Cleaned()
    said = frozenset((turn.session, normal(turn.content)) for turn in gone.turns.values())
    went = replace(_gone(services, needles, ids=gone.ids, facts=[*gone.facts.values()]), said=said)
    try:
        with FolderLock(place.lock).held(wait_seconds=_PATIENCE):
            with told_clearly(place.root):
                _clean(place, went, done)
            with services.stores.read() as unit:
                write_graves(unit, place)
    except (StoreLocked, StoreReadOnly) as error:
        done.notes.append(f"the vault {place.root} was not cleaned: {error} Then run it again.")
    return done


def clean_again(services: Services, place: Place, *, texts: Sequence[str], facts: Sequence[Fact]) -> Cleaned:
    """Take what was erased before and came back with old files out of them; the caller holds the vault.

    What kept memories say as well is left.
    """
    done = Cleaned()
    said = [*texts, *(text for fact in facts for text in (fact.value, fact.text, fact.quote, fact.entity) if text)]
    if not said:
        return done
    needles = Needles(needles_of(said))
    with services.stores.read() as unit:
        needles = needles.without(still_held(unit, needles))
    gone = _gone(services, needles, ids=[fact.id for fact in facts], facts=facts)
    with told_clearly(place.root):
        _clean(place, gone, done)
    return done


def _gone(services: Services, needles: Needles, *, ids: Iterable[str], facts: Sequence[Fact]) -> _Gone:
    said = {name for fact in facts for name in (fact.entity, fact.key) if name}
    with services.stores.read() as unit:
        kept = {*unit.vault.tally("entity", sorted(said)), *unit.vault.tally("key", sorted(said))}
    return _Gone(
        needles=needles,
        ids=frozenset(ids),
        names=frozenset(said - kept),
        listed=frozenset((fact.entity, page_line(fact.key, fact.value)) for fact in facts),
        forms=tuple(
            FactForms.of(entity=fact.entity, key=fact.key, value=fact.value, sentence=fact.text, quote=fact.quote)
            for fact in facts
        ),
    )


def _clean(place: Place, gone: _Gone, done: Cleaned) -> None:
    index = [line.said or {} for line in read_lines(place.index_lines)]
    if any(fact_id(str(line.get("fact"))) in gone.ids for line in index):
        for path in (place.index, place.index_lines):  # made anew by the next consolidation
            with told_clearly(path):
                path.unlink(missing_ok=True)
            done.removed.append(path.name)
    for path in place.session_files():
        if blank_lines(path, partial(_is_gone, _session(path), gone)):
            done.rewritten.append(path.name)
    texts = [place.facts, place.archived, place.entities, place.relations, place.unreadable, place.memory_md]
    for path in (*texts, *(path for _day, path in place.days())):
        if path.is_file() and replace_file(
            path, _cut(path.relative_to(place.root).as_posix(), path.read_bytes(), gone)
        ):
            done.rewritten.append(path.name)
    for _day, path in place.archives():
        if repack(path, lambda name, data: _cut(name, data, gone)):
            done.rewritten.append(path.name)


def _cut(name: str, data: bytes, gone: _Gone) -> bytes:
    """Return what stays of one file of a vault."""
    if name.endswith(".md"):
        page = struck(data.decode("utf-8", "surrogateescape"), gone.in_text, gone.listed)
        return page.encode("utf-8", "surrogateescape")
    cut = _WAYS.get(name.rpartition("/")[2])
    if name.startswith("sessions/"):
        cut = partial(_cut_said, _session(Path(name)))
    if cut is None:
        return data
    lines = data.split(b"\n")
    kept = [left for line in lines if (left := cut(line, gone)) is not None]
    return data if kept == lines else b"\n".join(kept)


def _is_gone(session: str, gone: _Gone, _number: int, line: bytes) -> bool:
    return gone.in_log(session, line)


def _session(path: Path) -> str:
    return f"{SESSION_PREFIX}{path.stem}"


def _cut_said(session: str, line: bytes, gone: _Gone) -> bytes:
    """Return a line of a session log, blanked where it says what went: the others keep their places."""
    return b" " * len(line) if gone.in_log(session, line) else line


def _cut_fact(line: bytes, gone: _Gone) -> bytes | None:
    """Return a fact's line without what it quotes of what went; None when it is the fact's own."""
    text = line.decode("utf-8", "replace")
    said = json_object(text)
    if said is None or writer(said) != "us":
        return None if line.strip() and gone.said_in(text) else line
    if fact_id(str(said.get("id"))) in gone.ids:
        return None
    if not gone.in_bytes(line):
        return line
    return json_line(without_quotes(said)).encode("utf-8")


def _cut_name(line: bytes, gone: _Gone) -> bytes | None:
    said = json_object(line.decode("utf-8", "replace")) or {}
    return None if said.get("name", said.get("relation")) in gone.names else line


def _cut_aside(line: bytes, gone: _Gone) -> bytes | None:
    return None if line.strip() and gone.said_in(line.decode("utf-8", "replace")) else line


_WAYS: Final[dict[str, Callable[[bytes, _Gone], bytes | None]]] = {
    "facts.jsonl": _cut_fact,
    "archived-facts.jsonl": _cut_fact,
    "entities.jsonl": _cut_name,
    "relations.jsonl": _cut_name,
    "unreadable-lines.txt": _cut_aside,
}


def write_graves(unit: Unit, place: Place) -> bool:
    """Write down in the files what was erased, by its hash; return whether that changed."""
    graves = unit.tombstones
    if not graves.any:
        return False
    lines = [
        json_line(
            {
                "digest": one.digest,
                "kind": one.kind,
                "said": None if one.said_at is None else one.said_at.isoformat(),
                "erased": one.created_at.isoformat(),
            }
        )
        for one in graves.everything()
    ]
    return replace_file(place.forgotten, "".join(f"{line}\n" for line in (json_line({"keys": graves.keys}), *lines)))


def read_graves(unit: Unit, place: Place) -> int:
    """Learn from the files what was erased; return how much of it was not known here."""
    keys: list[str] = []
    found: list[Tombstone] = []
    for line in read_lines(place.forgotten):
        said = line.said or {}
        if isinstance(said.get("keys"), list):
            keys += map(str, said["keys"])
        elif "digest" in said and "erased" in said:
            last = said.get("said")
            found.append(
                Tombstone(
                    digest=str(said["digest"]),
                    kind=str(said.get("kind")),
                    said_at=None if last is None else datetime.fromisoformat(last),
                    created_at=datetime.fromisoformat(said["erased"]),
                )
            )
    return unit.tombstones.adopt(keys, found)
