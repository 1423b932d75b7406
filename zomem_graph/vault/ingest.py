"""Facts that come in as lines (spec F107-F109)."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Final

from zomem_graph.nodes.rules.documents import plain_json
from zomem_graph.nodes.rules.vault_lines import activation_in, created_in, file_id, named
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.remember import Stored, store_facts
from zomem_graph.stores.errors import InvalidInput, ModelError, SecretRefused
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import json_line
from zomem_graph.vault.activity import join, rate
from zomem_graph.vault.following import follow
from zomem_graph.vault.given import GivenLine, listed_numbers, worded
from zomem_graph.vault.ground import Ground, Told

__all__ = [
    "Given",
    "Ingested",
    "Written",
    "embed_new",
    "given_in",
    "read_facts",
    "session_line",
    "write_facts",
]

_MOST_TOLD = 20


@dataclass(slots=True, kw_only=True)
class Ingested:
    """What came in. `again` counts facts that were known and were raised to activation 1.

    `erased` is what the logs said that was forgotten before.
    """

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
    erased: list[str] = field(default_factory=list)

    def keep_out(self, where: str, gone: Mapping[int, str]) -> None:
        """Count lines of a log that were forgotten before and stay so."""
        self.forgotten += len(gone)
        self.erased += gone.values()
        said = f"line {listed_numbers(gone)}: forgotten before, so left blank; `zomem remember` says it anew"
        self.tell(where, said)

    def tell(self, where: str, said: str) -> None:
        """Tell a person something; of very much only the beginning."""
        if len(self.told) < _MOST_TOLD:
            self.told.append(Told(where, said))

    def plain(self) -> dict[str, Any]:
        """Return it as JSON would hold it."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        ids = [file_id(one) for one in self.fact_ids]
        return {**counts, "fact_ids": ids, "days": sorted(map(str, self.days)), "notes": list(map(str, self.told))}


_NO_SECRETS: Final = "Nothing else was. A vault keeps no secrets: take it out, or use other words if it is none."
_COUNTS = ("facts", "again", "superseded", "forgotten", "sessions", "turns", "redacted")


def session_line(line: Mapping[str, Any]) -> str:
    """Return a message as a line of a session log, times as ISO 8601; raise InvalidInput for what is no JSON."""
    timed = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in line.items()}
    return json_line(plain_json(timed, "message"))


def read_facts(ground: Ground, lines: Iterable[GivenLine], *, source: str, where: str) -> Ingested:
    """Store facts, all or none; said again, a fact is raised and no second line is written (spec F108)."""
    new: list[Given] = []
    for line in lines:
        try:
            new.append(given_in(line.said, ground, source))
        except SecretRefused as error:
            raise SecretRefused(f"{where}: {line.name}: {error.found}", _NO_SECRETS) from error
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {line.name}: {error} Nothing was stored.") from error
    came = written(ground.memory.stores, lambda unit: write_facts(unit, ground, new, ground.now()))
    total = Ingested()
    came.count_into(total, where)
    follow(ground, total.fact_ids, again=total.again > 0)
    embed_new(ground)
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of facts that were given as such, and the ids of those that they took the place of."""

    stored: Sequence[Stored]
    replaced: Sequence[str]

    def count_into(self, total: Ingested, where: str) -> None:
        """Add this to what came in."""
        kept = [one for one in self.stored if one.outcome != "forgotten"]
        again = sum(one.outcome == "unchanged" for one in kept)
        total.facts += len(kept) - again
        total.again += again
        total.superseded += len(self.replaced)
        total.forgotten += len(self.stored) - len(kept)
        total.fact_ids += dict.fromkeys([*(one.fact.id for one in kept), *self.replaced])
        for note in dict.fromkeys(note for one in self.stored for note in one.notes):
            total.tell(where, note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A fact on its way in, and how active its line says that it is."""

    fact: NewFact
    activation: float | None


def write_facts(unit: Unit, ground: Ground, new: Sequence[Given], now: datetime) -> Written:
    """Store checked facts within a transaction, and take them into the vault."""
    stored = store_facts(unit, ground.memory, [each.fact for each in new], now=now)
    kept = [one for one in stored if one.outcome != "forgotten"]
    replaced = unit.facts.find([id_ for one in kept for id_ in one.replaced])
    join(unit, replaced, {}, now)
    join(unit, [one.fact for one in kept], {}, now)
    said = zip(new, stored, strict=True)
    rate(unit, {one.fact.id: each.activation for each, one in said if one.outcome in ("new", "changed")}, now)
    if kept:
        ground.fall_behind(unit)
    return Written(stored=stored, replaced=[fact.id for fact in replaced])


def embed_new(ground: Ground) -> None:
    """Embed what was just stored; what cannot be embedded now waits in the database."""
    with suppress(ModelError):
        ground.memory.background.embed_everything()


def given_in(line: Mapping[str, Any], ground: Ground, source: str) -> Given:
    """Return the fact of a line; raise InvalidInput that says what makes no sense."""
    subject, predicate, value = named(line)
    new = NewFact(
        entity=subject,
        key=predicate,
        value=value,
        persona=replace(ground.scope, persona=worded(line.get("persona", ground.options.persona))).persona,
        category=line.get("category", "fact"),
        tier=line.get("tier", "stable"),
        importance=line.get("importance"),
        confidence=line.get("confidence"),
        source=worded(line.get("source", source)),
        metadata=line.get("metadata", {}),
        many=line.get("many"),
        at=created_in(line, ground.now()),
        said_at=created_in(line, ground.now()),
        read_again=True,
    )
    return Given(fact=new.checked(ground.memory.options.write), activation=activation_in(line))
