"""Store facts: what belongs to one slot has one current value, and everything knows where it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.entities import entities, entity_key
from zomem_graph.nodes.rules.keys import is_many, opposite_slots, same_value, slot
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.tiers import CATEGORIES, TIERS, wall_clock_expiry
from zomem_graph.nodes.scope import SHARED
from zomem_graph.stores.errors import InvalidInput, SecretRefused
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.records import Fact, Link
from zomem_graph.stores.unit import Unit

__all__ = ["NewFact", "Stored", "store_facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A fact on its way in; the same names as `Memory.remember`."""

    entity: str
    key: str | None
    value: str
    persona: str = SHARED
    category: str = "fact"
    tier: str = "stable"
    importance: float = 1.0
    confidence: float = 1.0
    source: str = "api"
    text: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    many: bool | None = None
    allow_secret: bool = False
    trust: str = "user"
    turn_id: str | None = None
    quote: str | None = None

    def checked(self, options: WriteOptions) -> "NewFact":
        """Return the fact itself; raise InvalidInput or SecretRefused when it cannot be stored as it is."""
        for name, value, longest in (
            ("entity", self.entity, options.longest_name),
            ("value", self.value, options.longest_text),
        ):
            _check_text(name, value, longest)
        if self.key is not None:
            _check_text("key", self.key, options.longest_name)
        if self.text is not None:
            _check_text("text", self.text, options.longest_text)
        _check_number("importance", self.importance, 2.0)
        _check_number("confidence", self.confidence, 1.0)
        if not isinstance(self.metadata, Mapping):
            raise InvalidInput(f"metadata must be a dict, not {type(self.metadata).__name__}.")
        if not self.allow_secret:
            for part in (self.value, self.text or "", self.key or "", f"{self.key or ''} = {self.value}"):
                if kind := looks_secret(part):
                    raise SecretRefused(
                        f"The value of {self.entity!r:.60} looks like a secret ({kind}) and was not stored. "
                        "Keep secrets in a vault; pass allow_secret=True if this is none."
                    )
        return self

    @property
    def sentence(self) -> str:
        """The text that is embedded and shown: `text`, else "entity key: value" (spec T1)."""
        if self.text:
            return self.text
        return f"{self.entity} {self.key}: {self.value}" if self.key else f"{self.entity}: {self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What became of one new fact: `outcome` is new, unchanged or changed (it superseded `replaced`)."""

    fact: Fact
    outcome: str
    replaced: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def store_facts(unit: Unit, services: Services, new: Sequence[NewFact], *, now: datetime) -> list[Stored]:
    """Store checked facts within one transaction, in order; later ones may supersede earlier ones."""
    stored: list[Stored] = []
    for fact in new:
        stored.append(_store_one(unit, services.options.write, fact, now))
    return stored


def _store_one(unit: Unit, options: WriteOptions, new: NewFact, now: datetime) -> Stored:
    many = is_many(new.key, many=new.many, extra=options.many_keys)
    address = slot(new.entity, new.key, new.value, many=many)
    current = unit.facts.current(new.persona, address)
    if current is not None and (many or same_value(current.value, new.value)):
        return Stored(fact=_confirmed(unit, current, new), outcome="unchanged")
    fact = _fact(new, address, many, now)
    ended = [] if current is None else [current]
    for other in opposite_slots(new.entity, new.key, new.value):
        if (opposed := unit.facts.current(new.persona, other)) is not None:
            ended.append(opposed)
    ids = [old.id for old in ended]
    unit.facts.end(ids, state="superseded", at=now, superseded_by=fact.id)
    unit.items.end(ids, state="superseded", at=now)
    unit.facts.add([fact])
    unit.items.add([_item(fact)])
    unit.links.add(
        [
            Link(source_id=fact.id, target_id=old, relation="supersedes", weight=1.0, created_at=now)
            for old in ids
        ]
    )
    return Stored(fact=fact, outcome="changed" if ids else "new", replaced=tuple(ids), notes=_notes(new))


def _confirmed(unit: Unit, current: Fact, new: NewFact) -> Fact:
    """Said again: keep the row, raise what the repetition makes surer."""
    confidence, importance = max(current.confidence, new.confidence), max(current.importance, new.importance)
    if (confidence, importance) != (current.confidence, current.importance):
        unit.facts.change(current.id, confidence=confidence, importance=importance)
    found = unit.facts.find([current.id])
    return found[0] if found else current


def _fact(new: NewFact, address: str, many: bool, now: datetime) -> Fact:
    return Fact(
        id=new_id(),
        persona=new.persona,
        entity=new.entity,
        key=new.key,
        value=new.value,
        text=new.sentence,
        category=new.category,
        tier=new.tier,
        importance=new.importance,
        confidence=new.confidence,
        source=new.source,
        trust=new.trust,
        state="current",
        slot=address,
        many=many,
        created_at=now,
        ended_at=None,
        expires_at=wall_clock_expiry(new.tier, now),
        last_accessed=None,
        access_count=0,
        superseded_by=None,
        turn_id=new.turn_id,
        quote=new.quote,
        metadata=dict(new.metadata),
    )


def _item(fact: Fact) -> NewItem:
    named = dict.fromkeys([entity_key(fact.entity), *entities(fact.text), *entities(fact.value)])
    return NewItem(
        id=fact.id,
        kind="fact",
        persona=fact.persona,
        text=fact.text,
        title=f"{fact.entity} {fact.key or ''}",
        created_at=fact.created_at,
        expires_at=fact.expires_at,
        entities=[name for name in named if name],
    )


def _notes(new: NewFact) -> tuple[str, ...]:
    notes = []
    if new.tier not in TIERS:
        notes.append(f"unknown tier {new.tier!r:.40} is kept and never fades; known: {', '.join(TIERS)}")
    if new.category not in CATEGORIES:
        notes.append(f"unknown category {new.category!r:.40} is kept; known: {', '.join(CATEGORIES)}")
    return tuple(notes)


def _check_text(name: str, value: Any, longest: int) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}.")
    if not value.strip():
        raise InvalidInput(f"{name} is empty. Say what is to be remembered.")
    if len(value) > longest:
        raise InvalidInput(f"{name} has {len(value):,} characters; at most {longest:,} are stored. Split it.")


def _check_number(name: str, value: Any, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= most:
        raise InvalidInput(f"{name} must be a number from 0 to {most:g}, not {value!r:.40}.")
