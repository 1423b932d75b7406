"""The quality probe: canaries are asked for through the real recall, and it is counted which come back (spec F124).

A canary with a `fact` of its own is planted for the length of the probe, in a persona nobody else reads, and taken
away again, so no user ever sees it. One without asks for what the vault knows anyway. Asking counts as no use.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from zomem_graph.nodes.rules.vault_lines import named
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.vault_files import replace_file
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.recall import recall

__all__ = ["Canary", "plant_usual_canaries", "probe", "read_canaries"]

_PERSONA: Final = "vault canaries"
_LOOKED_AT: Final = 10
_USUAL: Final = [
    {
        "query": "Which colour is the canary buoy?",
        "expected_contains": "vermilion",
        "fact": {"subject": "canary buoy", "predicate": "colour", "object": "vermilion"},
    },
    {
        "query": "On which pier does the canary lighthouse stand?",
        "expected_contains": "Pier 17",
        "fact": {"subject": "canary lighthouse", "predicate": "location", "object": "Pier 17"},
    },
    {
        "query": "Who keeps the canary logbook?",
        "expected_contains": "Wilhelmina Oakes",
        "fact": {"subject": "canary logbook", "predicate": "keeper", "object": "Wilhelmina Oakes"},
    },
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A question, what an answer must contain (case does not matter), and the fact to plant for it, if any."""

    query: str
    expected: str
    fact: Mapping[str, Any] | None = None


def plant_usual_canaries(ground: Ground) -> bool:
    """Write the canaries of a new vault; those that are there stay. Return whether they were written."""
    path = ground.place.canaries
    if path.exists():
        return False
    return replace_file(path, json.dumps(_USUAL, ensure_ascii=False, indent=2) + "\n")


def read_canaries(ground: Ground) -> list[Canary]:
    """Return the canaries of the vault; raise InvalidInput that names the wrong one."""
    path = ground.place.canaries
    with told_clearly(path):
        data = path.read_bytes() if path.is_file() else b"[]"
    try:
        said = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is no JSON: {error}. Correct it and run the probe again.") from error
    if not isinstance(said, list):
        raise InvalidInput(f'{path} must hold a list of {{"query", "expected_contains"}}.')
    return [_canary(one, f"{path} entry {number}") for number, one in enumerate(said, start=1)]


def probe(ground: Ground) -> dict[str, Any]:
    """Ask for every canary; note and return {last_run, passed, total, accuracy_percent, missed}."""
    canaries = read_canaries(ground)
    planted: list[str] = []
    try:
        planted += _plant(ground, canaries)
        missed = [canary.query for canary in canaries if not _recalled(ground, canary)]
    finally:
        _take_away(ground, planted)
    total = len(canaries)
    found = {
        "last_run": ground.now().isoformat(),
        "passed": total - len(missed),
        "total": total,
        "accuracy_percent": round(100.0 * (total - len(missed)) / total, 1) if total else None,
    }
    ground.note(quality_probe=found)
    return {**found, "missed": missed}


def _plant(ground: Ground, canaries: Sequence[Canary]) -> list[str]:
    """Store the facts of the canaries for now; what a probe that was killed left behind is taken away first."""
    with ground.memory.stores.read() as unit:
        left = [fact.id for fact in unit.facts.of_source(_PERSONA, _PERSONA)]
    _take_away(ground, left)
    facts = [
        {"entity": subject, "key": key, "value": value, "persona": _PERSONA, "source": _PERSONA}
        for subject, key, value in (named(canary.fact) for canary in canaries if canary.fact is not None)
    ]
    return [fact.id for fact in ground.memory.remember_many(facts)] if facts else []


def _take_away(ground: Ground, fact_ids: Sequence[str]) -> None:
    if not fact_ids:
        return
    with ground.memory.stores.write() as unit:
        unit.items.purge(fact_ids)
        unit.provenance.purge(fact_ids)
        unit.facts.purge(fact_ids)


def _recalled(ground: Ground, canary: Canary) -> bool:
    scope = Scope(persona=_PERSONA) if canary.fact is not None else ground.scope
    found = recall(ground, canary.query, limit=_LOOKED_AT, scope=scope, probe=True)
    return any(canary.expected.casefold() in hit.text.casefold() for hit in found.hits)


def _canary(said: Any, where: str) -> Canary:
    if not isinstance(said, Mapping):
        raise InvalidInput(f"{where} must be an object with query and expected_contains.")
    query, expected, fact = said.get("query"), said.get("expected_contains"), said.get("fact")
    for name, value in (("query", query), ("expected_contains", expected)):
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput(f"{where}: {name} must be a text.")
    if fact is not None:
        if not isinstance(fact, Mapping):
            raise InvalidInput(f"{where}: fact must be an object with subject, predicate and object.")
        named(fact)
    return Canary(query=str(query), expected=str(expected), fact=fact)
