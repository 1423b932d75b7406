"""What people write into the files is taken in: a changed line, a new line, with "hand" as where it came from.

A line that cannot be read is moved to a file of its own and never thrown away. A line that is gone is written again:
whoever wants a fact gone says so with `zomem delete` or `zomem forget`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from zomem_graph.nodes.rules.given import shown
from zomem_graph.nodes.rules.secrets import looks_secret, redact
from zomem_graph.nodes.rules.vault_lines import (
    DIGITS,
    activation_in,
    created_in,
    fact_id,
    file_id,
    moment_in,
    named,
    writer,
)
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.remember import Stored, store_facts
from zomem_graph.nodes.steps.settle import retire
from zomem_graph.stores.errors import InvalidInput, SecretRefused
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.records import Fact, Origin
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import Line, append_lines, json_line, read_lines
from zomem_graph.vault.activity import archive, join, rate
from zomem_graph.vault.given import worded
from zomem_graph.vault.ground import Ground, Told

__all__ = ["HAND", "TakenIn", "erased_texts", "note_files", "take_in", "touched"]

HAND: Final = "hand"
_STAMPS: Final = "vault.stamps"
_DETAILS: Final = ("category", "tier", "importance", "confidence")
_MOMENTS: Final = ("created", "ended_at", "expires_at")
_KEPT: Final = {
    "created": "created_at",
    **{name: name for name in (*_MOMENTS[1:], "source", "text", "persona", "trust", "many", "metadata", "quote")},
}
_TAKEN: Final = frozenset(
    {"id", "seal", "subject", "predicate", "object", "persona", "state", "created", "activation"}
    | {"source", "metadata", "many", *_DETAILS}
)


@dataclass(slots=True)
class TakenIn:
    """What was taken in from the files: how many lines, and what could not be."""

    changed: int = 0
    told: list[Told] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Whether the files have to be written anew."""
        return bool(self.changed or self.told)


def take_in(ground: Ground) -> TakenIn:
    """Take in what was changed by hand since the files were last written; nothing when they were not touched."""
    taken = TakenIn()
    place = ground.place
    known = _stamps(ground)
    for path in (place.facts, place.archived):
        if known.get(path.name) != _stamp(path):
            _take_in_file(ground, path, taken)
    return taken


def touched(ground: Ground) -> bool:
    """Return whether somebody else wrote into the files since we did."""
    known = _stamps(ground)
    return any(known.get(path.name) != _stamp(path) for path in (ground.place.facts, ground.place.archived))


def erased_texts(ground: Ground) -> list[str]:
    """Return what the files still say of forgotten facts: lines of ours that the database does not know any more."""
    with ground.memory.stores.read() as unit:
        if not unit.tombstones.any:
            return []
        ours = {
            fact_id(str(line.said["id"])): str(line.said.get("object", ""))
            for path in (ground.place.facts, ground.place.archived)
            for line in read_lines(path)
            if line.said is not None and line.said.get("id") and writer(line.said) == "us"
        }
        known = unit.items.numbers_of(list(ours))
    return [text for id_, text in ours.items() if id_ not in known]


def note_files(ground: Ground) -> None:
    """Remember how the files stand now, so that a change by somebody else is seen."""
    place = ground.place
    stamps = {path.name: _stamp(path) for path in (place.facts, place.archived)}
    if stamps != _stamps(ground):
        with ground.memory.stores.write() as unit:
            unit.journal.set_meta(_STAMPS, json.dumps(stamps))


def _take_in_file(ground: Ground, path: Path, taken: TakenIn) -> None:
    for line in read_lines(path):
        where = f"{path.name} line {line.number}"
        if line.said is None:
            what = "cannot be read as JSON" if line.whole else "is half-written"
            _set_aside(ground, taken, where, line, what)
            continue
        who = writer(line.said)
        if who == "us":
            continue
        try:
            said = written(ground.memory.stores, partial(_take_in_line, ground=ground, line=line.said, who=who))
            taken.changed += 1
            taken.told += [Told(where, one) for one in said]
        except SecretRefused as error:
            _set_aside(ground, taken, where, line, error.found.removesuffix("."))
        except InvalidInput as error:
            _set_aside(ground, taken, where, line, str(error))


def _set_aside(ground: Ground, taken: TakenIn, where: str, line: Line, why: str) -> None:
    """Keep a line that could not be taken in, once and without its secrets, and say so."""
    aside, text, why = ground.place.unreadable, _harmless(line), redact(why)[0]
    known = aside.read_text("utf-8", "replace").splitlines() if aside.is_file() else []
    if text not in known:
        append_lines(
            aside, [f"# {ground.now().isoformat(timespec='seconds')} {where}: {' '.join(why.split())}", text]
        )
    taken.told.append(Told(where, f"{why}; kept in {aside.name}"))


def _harmless(line: Line) -> str:
    """Return a line without its secrets: a field that holds one goes whole."""
    if line.said is None:
        return redact(line.text)[0]
    try:
        left = _without_secrets(line.said)
        object_ = _without_secrets(left.get("object"), str(left.get("predicate") or ""))
        left |= {"object": object_} if "object" in left else {}
        return line.text if left == line.said else redact(json_line(left))[0]
    except RecursionError:
        return redact(line.text)[0]


def _without_secrets(value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        kind = looks_secret(value) or (looks_secret(f"{name} = {value}") if name else None)
        return f"[secret removed: {kind}]" if kind else value
    if isinstance(value, Mapping):
        return {_without_secrets(key): _without_secrets(part, key) for key, part in value.items()}
    return [_without_secrets(part, name) for part in value] if isinstance(value, list) else value


def _take_in_line(unit: Unit, ground: Ground, line: Mapping[str, Any], who: str) -> list[str]:
    """Store one line; return what of it was not taken in, which is all of it for what was forgotten."""
    now = ground.now()
    subject, predicate, value = named(line)
    found = unit.facts.find([fact_id(str(line["id"]))]) if line.get("id") else []
    ground.fall_behind(unit)
    if found and (found[0].entity, found[0].key, found[0].value) == (subject, predicate, value):
        return _change(unit, found[0], line, now, said_again=who == "changed")
    rated = activation_in(line) if who == "hand" else _rated_anew(unit, found, line)
    new = _new(line, ground, found[0] if found else None)
    if who == "hand":
        new = replace(new, at=created_in(line, now))
    (stored,) = store_facts(unit, ground.memory, [new], now=now)
    if stored.outcome == "forgotten":
        return ["was forgotten and is not taken in; `zomem remember` says it anew"]
    if found and found[0].state == "current" and found[0].id not in (stored.fact.id, *stored.replaced):
        retire(unit, [found[0].id], by=stored.fact, now=now)
    join(unit, [stored.fact, *_ended(unit, stored, found)], {}, now)
    rate(unit, {stored.fact.id: rated}, now)
    if line.get("state") == "archived" and stored.fact.state == "current":
        archive(unit, {stored.fact.id: now})
    return [] if found else _not_taken(line)


def _not_taken(line: Mapping[str, Any]) -> list[str]:
    """Return what a new line says that is not kept."""
    names = sorted(set(line) - _TAKEN)
    if line.get("state", "current") not in ("current", "archived"):
        names.append("state")
    return [f"{shown(name)} is not taken in of a new line; the rest is" for name in names]


def _rated_anew(unit: Unit, found: Iterable[Fact], line: Mapping[str, Any]) -> float | None:
    """Return how active a line says that a known fact is, None where that is what we wrote."""
    said = activation_in(line)
    rows = unit.vault.of([fact.id for fact in found])
    return None if any(said == round(row.activation, DIGITS) for row in rows.values()) else said


def _ended(unit: Unit, stored: Stored, found: Iterable[Fact]) -> list[Fact]:
    return unit.facts.find([*stored.replaced, *(fact.id for fact in found)])


def _change(unit: Unit, fact: Fact, line: Mapping[str, Any], now: datetime, *, said_again: bool) -> list[str]:
    """Take in what else was changed of a fact whose words are the same; return what was not."""
    checked = _detailed(line, fact)
    rated = _rated_anew(unit, [fact], line)
    values = {name: getattr(checked, name) for name in _DETAILS if getattr(checked, name) != getattr(fact, name)}
    if values:
        unit.facts.change(fact.id, **values)
    if line.get("state") == "archived" and fact.state == "current":
        join(unit, [fact], {}, now)
        archive(unit, {fact.id: now})
    elif fact.state == "current":
        if values or said_again:
            join(unit, [fact], {}, now)
        rate(unit, {fact.id: rated}, now)
    if values or said_again:
        unit.provenance.add([_origin(fact, now)])
    return _left(fact, line, rated=rated)


def _left(fact: Fact, line: Mapping[str, Any], *, rated: float | None) -> list[str]:
    """Return what was changed in a line and cannot be taken in, with what to do."""
    name = file_id(fact.id)
    told = [
        f"{word} is not taken in and stays {getattr(fact, kept)!s:.60}; for another one run `zomem delete {name}`, "
        "then add a new line without id and seal"
        for word, kept in _KEPT.items()
        if word in line and not _alike(word, line, getattr(fact, kept))
    ]
    if rated is not None and fact.state != "current":
        told.append(f"activation is not taken in: the fact does not hold; `zomem vault restore {name}` first")
    return told


def _alike(word: str, line: Mapping[str, Any], ours: object) -> bool:
    return bool((moment_in(line, word) if word in _MOMENTS else line[word]) == ours)


def _new(line: Mapping[str, Any], ground: Ground, before: Fact | None) -> NewFact:
    subject, predicate, value = named(line)
    usual = before or NewFact(entity=subject, key=predicate, value=value, persona=ground.options.persona)
    return replace(
        _detailed(line, usual),
        persona=str(line.get("persona", usual.persona)),
        source=HAND if before else worded(line.get("source", HAND)),
        metadata=line.get("metadata", {}),
        many=line.get("many"),
        method=HAND,
    ).checked(ground.memory.options.write)


def _detailed(line: Mapping[str, Any], usual: "Fact | NewFact") -> NewFact:
    """Return the fact of a line with its details; raise InvalidInput for those that make no sense."""
    subject, predicate, value = named(line)
    details = {name: line.get(name, getattr(usual, name)) for name in _DETAILS}
    new = NewFact(entity=subject, key=predicate, value=value, source=HAND, method=HAND, **details)
    return replace(new, allow_secret=isinstance(usual, Fact) and usual.value == value)


def _origin(fact: Fact, now: datetime) -> Origin:
    return Origin(
        id=new_id(), fact_id=fact.id, persona=fact.persona, source=HAND, turn_id="", capture_method=HAND,
        captured_at=now, effective_from=now, effective_until=None, superseded_by=None, superseded_at=None, quote=None,
    )  # fmt: skip


def _stamps(ground: Ground) -> dict[str, Any]:
    with ground.memory.stores.read() as unit:
        said = unit.journal.meta(_STAMPS)
    return dict(json.loads(said)) if said else {}


def _stamp(path: Path) -> list[int] | None:
    """Return size and time of change of a file, None when there is none."""
    if not path.is_file():
        return None
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]
