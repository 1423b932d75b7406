"""What comes in: facts given as lines, and the session logs an agent leaves in sessions/ (spec F107-F109)."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from zomem_graph.nodes.rules.session_lines import message_in
from zomem_graph.nodes.rules.vault_lines import file_id, named
from zomem_graph.nodes.steps.remember import NewFact, Stored, store_facts
from zomem_graph.stores.errors import InvalidInput, SecretRefused
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_records import VaultSession
from zomem_graph.vault.activity import join
from zomem_graph.vault.files import json_line, read_lines
from zomem_graph.vault.following import follow
from zomem_graph.vault.ground import SESSION_PREFIX, Ground, Told

__all__ = ["Ingested", "is_fact", "lines_in", "read_facts", "read_sessions", "session_line"]

_MOST_TOLD = 20


@dataclass(slots=True, kw_only=True)
class Ingested:
    """What came in. `again` counts facts that were known and were raised to activation 1."""

    facts: int = 0
    again: int = 0
    superseded: int = 0
    forgotten: int = 0
    sessions: int = 0
    turns: int = 0
    redacted: int = 0
    fact_ids: list[str] = field(default_factory=list)
    days: set[date] = field(default_factory=set)
    told: list[Told] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON would hold it."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        ids = [file_id(one) for one in self.fact_ids]
        return {**counts, "fact_ids": ids, "days": sorted(map(str, self.days)), "notes": list(map(str, self.told))}


_COUNTS = ("facts", "again", "superseded", "forgotten", "sessions", "turns", "redacted")


def is_fact(line: Mapping[str, Any]) -> bool:
    """Return whether a line is a fact and no message."""
    return "subject" in line and "object" in line


def session_line(line: Mapping[str, Any]) -> str:
    """Return a message as a line of a session log; times as ISO 8601."""
    return json_line(
        {name: value.isoformat() if isinstance(value, datetime) else value for name, value in line.items()}
    )


def lines_in(text: str, where: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a text: one a line, one list of them, or a single one.

    Everything is looked at before anything is stored: raises InvalidInput that names the bad lines.
    """
    whole = text.removeprefix("\ufeff").strip()
    try:
        said = json.loads(whole)
    except ValueError:
        said = None
    except RecursionError as error:
        raise InvalidInput(f"{where} is nested too deeply to be read.") from error
    if isinstance(said, dict):
        return [said]
    if isinstance(said, list):
        bad = [number for number, one in enumerate(said, start=1) if not isinstance(one, dict)]
        if bad:
            raise InvalidInput(f"{where}: entry {bad[0]} is no JSON object; nothing was stored.")
        return list(said)
    found, wrong = [], []
    for number, line in enumerate(whole.split("\n"), start=1):
        if line.strip():
            one = _object(line)
            if one is None:
                wrong.append(number)
            else:
                found.append(one)
    if wrong:
        listed = ", ".join(map(str, wrong[:10])) + (" …" if len(wrong) > 10 else "")
        raise InvalidInput(f"{where}: line {listed} is no JSON object; nothing was stored. Correct it and try again.")
    return found


def read_facts(ground: Ground, lines: Iterable[Mapping[str, Any]], *, source: str, where: str) -> Ingested:
    """Store facts, all or none; said again, a fact is raised and no second line is written (spec F108)."""
    new = [_new_fact(line, ground, source, f"{where}: fact {number}") for number, line in enumerate(lines, start=1)]
    for persona in {fact.persona for fact in new}:
        type(ground.scope)(persona=persona)

    def write(unit: Unit) -> tuple[list[Stored], list[str]]:
        now = ground.now()
        stored = store_facts(unit, ground.memory, new, now=now)
        kept = [one for one in stored if one.outcome != "forgotten"]
        replaced = unit.facts.find([id_ for one in kept for id_ in one.replaced])
        join(unit, replaced, {}, now)
        join(unit, [one.fact for one in kept], {}, now)
        if kept:
            ground.fall_behind(unit)
        return stored, [fact.id for fact in replaced]

    stored, replaced = written(ground.memory.stores, write)
    kept = [one for one in stored if one.outcome != "forgotten"]
    ids = list(dict.fromkeys([*(one.fact.id for one in kept), *replaced]))
    again = sum(one.outcome == "unchanged" for one in kept)
    follow(ground, ids, again=again > 0)
    return Ingested(
        facts=len(kept) - again,
        again=again,
        superseded=len(replaced),
        forgotten=len(stored) - len(kept),
        fact_ids=[one.fact.id for one in kept],
        told=[Told(where, note) for note in dict.fromkeys(note for one in stored for note in one.notes)],
    )


def read_sessions(ground: Ground, on_session: Callable[[str], None] | None = None) -> Ingested:
    """Read every session log that is new or has grown, each message once."""
    total = Ingested()
    with ground.memory.stores.read() as unit:
        known = unit.vault.sessions()
    for path in ground.place.session_files():
        found, before = path.stat(), known.get(path.name)
        if before is not None and (before.size, before.changed) == (found.st_size, found.st_mtime):
            continue
        if on_session is not None:
            on_session(path.name)
        _read_session(ground, path, before, total)
    if total.fact_ids:
        total.fact_ids = list(dict.fromkeys(total.fact_ids))
        follow(ground, total.fact_ids, again=total.again > 0)
    return total


def _read_session(ground: Ground, path: Path, before: VaultSession | None, total: Ingested) -> None:
    found = path.stat()
    size, changed = found.st_size, found.st_mtime
    messages, facts = _said_in(ground, path, changed, total)
    session = f"{SESSION_PREFIX}{path.stem}"
    if messages:
        # One transaction of its own; saying it again stores nothing twice.
        report = ground.memory.capture(messages, scope=ground.scope, session=session, source="vault")
        total.turns += report.turns
        total.redacted += report.redacted
        total.superseded += report.superseded
    for fact in facts:
        try:
            came = read_facts(ground, [fact], source="session", where=path.name)
        except InvalidInput as error:
            total.told.append(Told(path.name, str(error)))
            continue
        total.facts += came.facts
        total.again += came.again
        total.fact_ids += came.fact_ids
    times = [message["at"] for message in messages]
    now = ground.now()

    def settle(unit: Unit) -> tuple[list[str], int]:
        learned = unit.vault.said_in(ground.options.persona, session)
        # A fact is as old as its time here: an archive that is read late must not come in faded.
        at: dict[str, datetime] = {}
        for origin in learned:
            if before is None or origin.captured_at >= before.read_at:
                at[origin.fact_id] = max(origin.captured_at, at.get(origin.fact_id, origin.captured_at))
        fresh = len(at) - len(unit.vault.of(list(at)))
        changed_facts = join(unit, unit.facts.find(list(at)), at, now)
        followers = join(unit, unit.vault.successors(), {}, now)
        if changed_facts or followers:
            ground.fall_behind(unit)
        days = {ground.day_of(moment) for moment in times}
        ground.to_tell(unit, days)
        total.days |= days
        row = VaultSession(
            name=path.name, size=size, changed=changed, turns=len(messages), read_at=now,
            first_at=min(times, default=None), last_at=max(times, default=None),
        )  # fmt: skip
        unit.vault.put_session(row)
        ended = [fact.superseded_by for fact in changed_facts if fact.superseded_by]
        return [*(fact.id for fact in (*changed_facts, *followers)), *ended], fresh

    ids, fresh = written(ground.memory.stores, settle)
    total.sessions += 1
    total.facts += fresh
    total.again += max(0, len(set(ids)) - fresh)
    total.fact_ids += ids


def _said_in(
    ground: Ground, path: Path, changed: float, total: Ingested
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the messages and the facts of a session log; what cannot be read is told and left in the log."""
    messages: list[dict[str, Any]] = []
    facts: list[dict[str, Any]] = []
    begun = _begun(ground, path, changed)
    for line in read_lines(path):
        if line.said is None:
            what = "is no JSON object" if line.whole else "is half-written; it is read when it is whole"
            if len(total.told) < _MOST_TOLD:
                total.told.append(Told(f"{path.name} line {line.number}", what))
        elif is_fact(line.said):
            facts.append(line.said)
        elif (message := message_in(line.said)) is not None:
            # A message without a time was said when the log was begun, or with the one before it.
            message.setdefault("at", messages[-1]["at"] if messages else begun)
            message["at"] = min(message["at"], ground.now())
            messages.append(message)
    return messages, facts


def _begun(ground: Ground, path: Path, changed: float) -> datetime:
    """Return when a log was begun: by its name, else when it was last written."""
    digits = "".join(letter for letter in path.stem if letter.isdigit())[:14]
    for shape, length in (("%Y%m%d%H%M%S", 14), ("%Y%m%d", 8)):
        if len(digits) >= length:
            try:
                return datetime.strptime(digits[:length], shape).replace(tzinfo=ground.options.zone)
            except ValueError:
                continue
    return datetime.fromtimestamp(changed, ground.options.zone)


def _new_fact(line: Mapping[str, Any], ground: Ground, source: str, where: str) -> NewFact:
    try:
        subject, predicate, value = named(line)
        new = NewFact(
            entity=subject,
            key=predicate,
            value=value,
            persona=str(line.get("persona", ground.options.persona)),
            category=line.get("category", "fact"),
            tier=line.get("tier", "stable"),
            importance=line.get("importance", 1.0),
            confidence=line.get("confidence", 1.0),
            source=str(line.get("source", source)),
            metadata=line.get("metadata", {}),
            many=line.get("many"),
        )
        return new.checked(ground.memory.options.write)
    except SecretRefused:
        raise
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error} Nothing was stored.") from error


def _object(line: str) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None
