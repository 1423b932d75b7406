"""A fact as one line of the vault's files, and back again without loss (spec F107, F133).

A line holds what a person wants to read: subject, predicate, object, source, when, how active. Everything else is
written only where it is not what one would expect. The seal is a checksum of the line: a line whose seal does not
fit was changed by hand, a line without one was written by hand.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import blake2s
from typing import Any, Final, Literal

from zomem_graph.nodes.rules.calendar_days import keepable, to_utc
from zomem_graph.nodes.rules.given import shown, text
from zomem_graph.nodes.rules.keys import is_many, slot
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Fact, Origin

__all__ = [
    "DIGITS",
    "Uses",
    "activation_in",
    "created_in",
    "fact_id",
    "fact_line",
    "fact_of",
    "file_id",
    "moment_in",
    "named",
    "origins_of",
    "sealed",
    "use_line",
    "without_quotes",
    "writer",
]

DIGITS: Final = 4
"""How exactly a line says how active its fact is."""

_PREFIX: Final = "fact-"
_PLAIN: Final[Mapping[str, Any]] = {
    "persona": "shared",
    "category": "fact",
    "tier": "stable",
    "importance": 1.0,
    "confidence": 1.0,
    "trust": "user",
    "state": "current",
}
_TIMES: Final = ("ended_at", "expires_at")
_WRITTEN: Final = frozenset(
    {
        *("id", "entity", "key", "value", "text", "source", "slot", "many", "created_at"),
        *("last_accessed", "access_count", "superseded_by", "turn_id", "quote", "metadata"),
        *_PLAIN,
        *_TIMES,
    }
)
# What a fact has beside that, each in a field of its own name: nothing a later schema adds is lost on the way.
_FURTHER: Final = tuple(one for one in fields(Fact) if one.name not in _WRITTEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """What activation-metadata.json says of a fact (spec F110)."""

    activation: float
    as_of: datetime
    last_accessed: datetime | None
    recalls: int


def file_id(id_: str) -> str:
    """Return the id of a fact as the files have it: "fact-" and a UUID."""
    if len(id_) == 32 and all(letter in "0123456789abcdef" for letter in id_):
        return f"{_PREFIX}{id_[:8]}-{id_[8:12]}-{id_[12:16]}-{id_[16:20]}-{id_[20:]}"
    return f"{_PREFIX}{id_}"


def fact_id(name: str) -> str:
    """Return the id of a fact from the one in the files; any other text is taken as it is."""
    bare = name.removeprefix(_PREFIX)
    digits = bare.replace("-", "")
    return digits if len(digits) == 32 and file_id(digits) == f"{_PREFIX}{bare}" else bare


def fact_line(fact: Fact, activation: float, origins: Sequence[Origin] = ()) -> dict[str, Any]:
    """Return a fact as a line, sealed."""
    line: dict[str, Any] = {
        "id": file_id(fact.id),
        "subject": fact.entity,
        "predicate": fact.key,
        "object": fact.value,
        "source": fact.source,
        "created": fact.created_at.isoformat(),
        "activation": round(activation, DIGITS),
    }
    line |= {name: getattr(fact, name) for name, usual in _PLAIN.items() if getattr(fact, name) != usual}
    if fact.text != _sentence(fact.entity, fact.key, fact.value):
        line["text"] = fact.text
    if fact.many != is_many(fact.key):
        line["many"] = fact.many
    if fact.slot != slot(fact.entity, fact.key, fact.value, many=fact.many):
        line["slot"] = fact.slot
    line |= {name: value.isoformat() for name in _TIMES if (value := getattr(fact, name)) is not None}
    if fact.superseded_by is not None:
        line["superseded_by"] = file_id(fact.superseded_by)
    line |= {name: value for name in ("turn_id", "quote") if (value := getattr(fact, name)) is not None}
    if fact.metadata:
        line["metadata"] = dict(fact.metadata)
    for further in _FURTHER:
        value = getattr(fact, further.name)
        if value != further.default:
            line[further.name] = value.isoformat() if isinstance(value, datetime) else value
    said = [_origin_line(origin, fact) for origin in origins]
    if said not in ([], [{}]):
        line["origins"] = said
    return {**line, "seal": _seal(line)}


def use_line(uses: Uses) -> dict[str, Any]:
    """Return an entry of activation-metadata.json."""
    return {
        "activation": uses.activation,
        "as_of": uses.as_of.isoformat(),
        "last_accessed": uses.last_accessed.isoformat() if uses.last_accessed else None,
        "recalls": uses.recalls,
    }


def writer(line: Mapping[str, Any]) -> Literal["us", "changed", "hand"]:
    """Return who wrote a line: we, we and then somebody else, or somebody else altogether."""
    if "seal" not in line:
        return "hand"
    return (
        "us" if line["seal"] == _seal({name: value for name, value in line.items() if name != "seal"}) else "changed"
    )


def without_quotes(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of ours without the words it was learned from, sealed anew."""
    left = {name: value for name, value in line.items() if name not in ("seal", "turn_id", "quote")}
    if isinstance(said := left.get("origins"), list):
        left["origins"] = [
            {name: value for name, value in one.items() if name not in ("turn_id", "quote")}
            for one in said
            if isinstance(one, Mapping)
        ]
    return {**left, "seal": _seal(left)}


def sealed(line: Mapping[str, Any]) -> bool:
    """Return whether a line is as we wrote it."""
    return writer(line) == "us"


def fact_of(line: Mapping[str, Any], entry: Mapping[str, Any] | None = None) -> tuple[Fact, Uses]:
    """Return the fact of a line and its activation; `entry` is what activation-metadata.json says of it.

    Raises InvalidInput that says what is wrong with the line.
    """
    subject, predicate, value = named(line)
    created = _time(line, "created")
    many = line.get("many", is_many(predicate))
    said = entry or {}
    fact = Fact(
        id=fact_id(_text(line, "id")),
        entity=subject,
        key=predicate,
        value=value,
        text=line.get("text") or _sentence(subject, predicate, value),
        source=str(line.get("source", "hand")),
        slot=line.get("slot") or slot(subject, predicate, value, many=bool(many)),
        many=bool(many),
        created_at=created,
        ended_at=moment_in(line, "ended_at"),
        expires_at=moment_in(line, "expires_at"),
        last_accessed=moment_in(said, "last_accessed"),
        access_count=int(said.get("recalls", 0)),
        superseded_by=fact_id(line["superseded_by"]) if line.get("superseded_by") else None,
        turn_id=line.get("turn_id"),
        quote=line.get("quote"),
        metadata=line.get("metadata") or {},
        **{name: line.get(name, usual) for name, usual in _PLAIN.items()},
        **_further(line),
    )
    uses = Uses(
        activation=float(said.get("activation", line.get("activation", 1.0))),
        as_of=moment_in(said, "as_of") or created,
        last_accessed=fact.last_accessed,
        recalls=fact.access_count,
    )
    return fact, uses


def origins_of(line: Mapping[str, Any], fact: Fact, ids: Sequence[str]) -> list[Origin]:
    """Return where the fact of a line came from; `ids` are unused ones, one an origin and one to spare."""
    said = line.get("origins") or [{}]
    return [_origin(one, fact, id_) for one, id_ in zip(said, ids, strict=False)]


def named(line: Mapping[str, Any]) -> tuple[str, str | None, str]:
    """Return subject, predicate and object of a line; raise InvalidInput when one is missing or no text."""
    predicate = line.get("predicate")
    if predicate is not None and not isinstance(predicate, str):
        raise InvalidInput(f"predicate must be a text, not {shown(predicate)}")
    return _text(line, "subject"), predicate or None, _text(line, "object")


def created_in(line: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return when a line says its fact was said, None when it says nothing; raise InvalidInput for the future."""
    created = moment_in(line, "created")
    if created is not None and created > now:
        raise InvalidInput(f"created {created.isoformat()} lies in the future. Correct it, or leave it out.")
    return created


def moment_in(line: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time that a line says, None when it says none; raise InvalidInput for what is no time."""
    value = line.get(name)
    return None if value is None else _moment(value, name)


def activation_in(line: Mapping[str, Any]) -> float | None:
    """Return how active a line says its fact is, None when it says nothing; raise InvalidInput for no share of 1."""
    value = line.get("activation")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(
            f"activation must be a number from 0 to 1, not {shown(value)}. Correct it, or leave it out."
        )
    return float(value)


def _further(line: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for further in _FURTHER:
        if (value := line.get(further.name)) is not None:
            values[further.name] = _moment(value, further.name) if "datetime" in str(further.type) else value
    return values


def _origin_line(origin: Origin, fact: Fact) -> dict[str, Any]:
    line: dict[str, Any] = {}
    usual = _usual_origin(fact)
    for name, expected in usual.items():
        value = getattr(origin, name)
        if value != expected:
            line[name] = value.isoformat() if isinstance(value, datetime) else value
    if origin.metadata:
        line["metadata"] = dict(origin.metadata)
    return line


def _origin(line: Mapping[str, Any], fact: Fact, id_: str) -> Origin:
    values: dict[str, Any] = {}
    for name, expected in _usual_origin(fact).items():
        value = line.get(name, expected)
        is_time = name in ("captured_at", "effective_from", "effective_until", "superseded_at")
        values[name] = _moment(value, name) if is_time and isinstance(value, str) else value
    return Origin(id=id_, fact_id=fact.id, persona=fact.persona, metadata=line.get("metadata") or {}, **values)


def _usual_origin(fact: Fact) -> dict[str, Any]:
    return {
        "source": fact.source,
        "turn_id": fact.turn_id or "",
        "capture_method": "api" if fact.turn_id is None else "rule",
        "captured_at": fact.created_at,
        "effective_from": fact.created_at,
        "effective_until": None,
        "superseded_by": None,
        "superseded_at": None,
        "quote": fact.quote,
    }


def _sentence(subject: str, predicate: str | None, value: str) -> str:
    return f"{subject} {predicate}: {value}" if predicate else f"{subject}: {value}"


def _seal(line: Mapping[str, Any]) -> str:
    form = json.dumps(line, sort_keys=True, separators=(",", ":"))
    return blake2s(form.encode("ascii"), digest_size=4).hexdigest()


def _text(line: Mapping[str, Any], name: str) -> str:
    value = line.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be a text" + ("" if value is None else f", not {shown(value)}"))
    return value


def _time(line: Mapping[str, Any], name: str) -> datetime:
    found = moment_in(line, name)
    if found is None:
        raise InvalidInput(f"{name} must be a time such as 2027-03-01T12:00:00+00:00")
    return found


def _moment(value: object, name: str) -> datetime:
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(text(name, value))
    except ValueError as error:
        raise InvalidInput(f"{name} is no time: {shown(value)}") from error
    return keepable(name, to_utc(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment))
