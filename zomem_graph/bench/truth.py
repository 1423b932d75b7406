"""Whether memory stays true: facts that change, and facts that only look alike.

Everything is made up from a seed, by templates that were written before the rules they measure.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

from zomem_graph.bench.homes import Say
from zomem_graph.bench.made_up import ANN, COLOURS, KEYS, NAMES, PLACES, START, a_value, made_up_memory
from zomem_graph.bench.marks import judged
from zomem_graph.memory import Memory

__all__ = ["look_alikes", "updates"]

_DAYS = 3_650
_COUNTED = ("stale", "missing", "stale_lookups", "incomplete_histories", "wrong_as_of", "missing_as_of")
_ASKED = ("What is the {k} of {e}?", "{e} {k}", "do you remember the {k} of {e}?")


def updates(*, slots: int = 500, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Change slots one to ten times over ten simulated years, then ask for the current value.

    `stale` counts answers that show an old value, `missing` those that show none among five hits.
    """
    chance = random.Random(seed)
    began = perf_counter()
    plans = list(_plans(slots, chance))
    with made_up_memory() as (memory, clock):
        for at, plan, value in sorted(_changes(plans, chance), key=lambda change: change[0]):
            clock.set(at)
            said = chance.choice(plan.sayings).format(e=plan.entity, v=value)
            memory.remember(plan.entity, plan.key, value, text=said, persona="ann")
            plan.past.append((at, value))
        clock.set(START + timedelta(days=_DAYS + 30))
        memory.flush()
        say(f"{sum(len(plan.past) for plan in plans)} changes of {slots} slots are stored")
        counts = dict.fromkeys(_COUNTED, 0)
        for plan in plans:
            _ask(memory, plan, chance, counts)
        stats = memory.conflicts.stats(scope=ANN)
    figures = {
        "slots": slots,
        "changes": sum(len(plan.past) for plan in plans),
        **counts,
        "open_conflicts": stats["open"],
        "seconds": round(perf_counter() - began, 1),
    }
    marks = {"stale": 0, "stale_lookups": 0, "incomplete_histories": 0, "wrong_as_of": 0}
    return judged("updates", n=slots, seed=seed, figures=figures, marks=marks)


def look_alikes(*, groups: int = 60, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Store distinct facts that share words, keys or negations; none may be retired by another."""
    chance = random.Random(seed)
    began = perf_counter()
    facts = [fact for number in range(groups) for fact in _alike(number, chance)]
    chance.shuffle(facts)
    with made_up_memory() as (memory, clock):
        stored = []
        for entity, key, value in facts:
            clock.advance(hours=7)
            stored.append(memory.remember(entity, key, value, persona="ann"))
        with memory.stores.read() as unit:
            kept = {fact.id: fact for fact in unit.facts.find([one.id for one in stored])}
        lost = [fact for fact in kept.values() if fact.state != "current"]
        stats = memory.conflicts.stats(scope=ANN)
    for fact in lost[:10]:
        say(f"retired: {fact.text}")
    figures = {
        "facts": len(facts),
        "wrongly_retired": len(lost),
        "taken_as_one": len(facts) - len(kept),
        "wrongly_flagged": stats["open"],
        "seconds": round(perf_counter() - began, 1),
    }
    return judged("look-alikes", n=len(facts), seed=seed, figures=figures, marks={"wrongly_retired": 0})


@dataclass(slots=True)
class _Plan:
    """One slot: how its values are made and said, and what it was at which time."""

    entity: str
    key: str
    kind: str
    sayings: Sequence[str]
    past: list[tuple[datetime, str]]


def _plans(slots: int, chance: random.Random) -> Iterator[_Plan]:
    entities = [f"{colour} {place}" for colour in COLOURS for place in PLACES]
    chance.shuffle(entities)
    pairs = [(entity, key) for entity in entities for key in KEYS]
    chance.shuffle(pairs)
    for entity, (key, kind, sayings) in pairs[:slots]:
        yield _Plan(entity, key, kind, sayings, [])


def _changes(plans: Sequence[_Plan], chance: random.Random) -> Iterator[tuple[datetime, _Plan, str]]:
    for plan in plans:
        days = sorted(chance.sample(range(_DAYS), chance.randint(2, 11)))
        before: list[str] = []
        for day in days:
            value = a_value(plan.kind, chance)
            while before and value == before[-1]:
                value = a_value(plan.kind, chance)
            before.append(value)
            yield START + timedelta(days=day, minutes=chance.randint(0, 500)), plan, value


def _ask(memory: Memory, plan: _Plan, chance: random.Random, counts: dict[str, int]) -> None:
    question = chance.choice(_ASKED).format(e=plan.entity, k=plan.key)
    hits = memory.search(question, scope=ANN, limit=5)
    now = plan.past[-1][1]
    own = [hit.metadata["value"] for hit in hits if _is_of(hit.metadata, plan)]
    counts["stale"] += any(value != now for value in own)
    counts["missing"] += now not in own
    looked = [fact.value for fact in memory.lookup(plan.entity, plan.key, scope=ANN)]
    counts["stale_lookups"] += looked != [now]
    history = [fact.value for fact in memory.conflicts.history(plan.entity, plan.key, scope=ANN)]
    counts["incomplete_histories"] += history != [value for _at, value in plan.past]
    place = chance.randrange(len(plan.past))
    until = plan.past[place + 1][0] if place + 1 < len(plan.past) else plan.past[place][0] + timedelta(days=2)
    then = plan.past[place][0] + (until - plan.past[place][0]) / 2
    past = memory.search(question, scope=ANN, limit=5, as_of=then)
    said = {hit.metadata["value"] for hit in past if _is_of(hit.metadata, plan)}
    counts["wrong_as_of"] += bool(said - {plan.past[place][1]})
    counts["missing_as_of"] += not said


def _is_of(metadata: Mapping[str, Any], plan: _Plan) -> bool:
    return metadata.get("entity") == plan.entity and metadata.get("key") == plan.key


def _alike(number: int, chance: random.Random) -> Iterator[tuple[str, str | None, str]]:
    """Yield facts of which all are true at once."""
    one, other = chance.sample(COLOURS, 2)
    place, there = chance.sample(PLACES, 2)
    who, friend = chance.sample(NAMES, 2)
    near = f"{one} {place} {number}"
    far = f"{other} {place} {number}"
    yield near, "port", "8080"
    yield far, "port", "8081"
    yield near, "backup port", "8082"
    yield near, "port range", "8000-8100"
    yield f"{near} annex", "port", "8083"
    yield near, None, f"deploys to the {there} on Friday are allowed"
    yield near, None, f"deploys to the {there} on Monday are not allowed"
    yield near, None, f"the {place} has no kitchen"
    yield near, None, f"the {place} has a kitchen garden"
    yield near, None, f"the {one} door of the {there} is open"
    yield near, None, f"the {other} door of the {there} is closed"
    yield near, None, f"never paint the {there} {one.lower()}"
    yield near, None, f"always paint the {place} {one.lower()}"
    yield near, None, f"3 boats may enter the {there} with a pilot"
    yield near, None, f"4 boats may enter the {there} without a pilot"
    yield f"{who} {number}", "likes", one
    yield f"{who} {number}", "likes", other
    yield f"{who} {number}", "dislikes", f"{one} {there}"
    yield f"{who} {number}", "contacts", f"{friend}, 0{chance.randint(200, 999)} {chance.randint(10000, 99999)}"
    yield f"{who} {number}", "contacts", f"{friend} {other}, 0{chance.randint(200, 999)} 40{number:04}"
    yield f"{who} {number}", "uses", f"the {place} of {one}"
    yield f"{who} {number}", "uses", f"the {there} of {one}"
    yield f"{who} {number}", "job", f"carpenter at {near}"
    yield f"{who} {number}", "administers", f"the archive of {near}"
    yield f"{friend} {number}", "job", f"carpenter at {near}"
    yield f"{who} {number}", None, f"met {friend} on 3 May {2000 + number % 20}"
    yield f"{who} {number}", None, f"met {friend} on 4 May {2000 + number % 20}"
    yield f"{who} {number}", None, f"was not at the {there} on 3 May"
    yield f"{who} {number}", None, f"was at the {there} on 5 May"
