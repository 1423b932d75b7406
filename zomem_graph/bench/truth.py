"""Whether memory stays true: facts that change, facts that only look alike, erasing, many writers at once.

Everything is made up from a seed, by templates that were written before the rules they measure.
"""

import multiprocessing
import random
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.nodes.scope import Scope
from zomem_graph.testing.clock import FixedClock
from zomem_graph.testing.embedder import SmallEmbedder

__all__ = ["SUITES", "concurrency", "erase", "look_alikes", "updates"]

Say = Callable[[str], None]
_ONE_BY_ONE = 3  # things of each kind that are forgotten in a call of their own
_START = datetime(2016, 3, 7, 9, tzinfo=UTC)
_DAYS = 3_650
_ANN = Scope(persona="ann")

_PLACES = "Harbour Mill Quarry Orchard Lighthouse Depot Foundry Chapel Granary Ferry Tannery Brewery".split()
_COLOURS = "Amber Basalt Cedar Dune Ember Flint Garnet Heather Indigo Juniper Kelp Larch Moss Nettle".split()
_NAMES = "Ines Tomas Wilma Radek Yusuf Petra Bram Odile Sunniva Marek Livia Anselm Greta Ruben".split()
_STREETS = "Rope Walk|Tanner Row|Elm Rise|Canal Side|Bell Lane|Stone Quay|Long Acre|Glass Yard".split("|")
# Key, how its values are made, and how people say it. The first way to say it repeats the words of the question.
_KEYS: Sequence[tuple[str, str, Sequence[str]]] = (
    ("port", "port", ("the port of {e} is {v}", "{e} now listens on {v}", "moved {e} over to {v}")),
    ("address", "address", ("the address of {e} is {v}", "{e} can be found at {v} these days")),
    ("owner", "name", ("the owner of {e} is {v}", "{v} has taken {e} over", "ask {v} about {e} from now on")),
    ("status", "status", ("the status of {e} is {v}", "{e} went {v}")),
    ("capacity", "number", ("the capacity of {e} is {v} people", "{e} holds {v} people since the rebuild")),
    ("opening hours", "hours", ("the opening hours of {e} are {v}", "{e} opens {v}")),
    ("next inspection", "date", ("the next inspection of {e} is on {v}", "they inspect {e} on {v}")),
    ("phone", "phone", ("the phone of {e} is {v}", "call {e} under {v}")),
    ("monthly rent", "money", ("the monthly rent of {e} is {v}", "{e} costs {v} a month as of this spring")),
    ("deploys on Friday", "switch", ("deploys on Friday at {e} are {v}", "{e} says deploys on Friday: {v}")),
)
_COUNTED = ("stale", "missing", "stale_lookups", "incomplete_histories", "wrong_as_of", "missing_as_of")
_ASKED = ("What is the {k} of {e}?", "{e} {k}", "do you remember the {k} of {e}?")


def updates(*, slots: int = 500, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Change slots one to ten times over ten simulated years, then ask for the current value.

    `stale` counts answers that show an old value, `missing` those that show none among five hits.
    """
    chance = random.Random(seed)
    began = perf_counter()
    plans = list(_plans(slots, chance))
    with _memory() as (memory, clock):
        for at, plan, value in sorted(_changes(plans, chance), key=lambda change: change[0]):
            clock.set(at)
            said = chance.choice(plan.sayings).format(e=plan.entity, v=value)
            memory.remember(plan.entity, plan.key, value, text=said, persona="ann")
            plan.past.append((at, value))
        clock.set(_START + timedelta(days=_DAYS + 30))
        memory.flush()
        say(f"{sum(len(plan.past) for plan in plans)} changes of {slots} slots are stored")
        counts = dict.fromkeys(_COUNTED, 0)
        for plan in plans:
            _ask(memory, plan, chance, counts)
        stats = memory.conflicts.stats(scope=_ANN)
    return {
        "suite": "updates",
        "slots": slots,
        "changes": sum(len(plan.past) for plan in plans),
        "seed": seed,
        **counts,
        "open_conflicts": stats["open"],
        "seconds": round(perf_counter() - began, 1),
    }


def look_alikes(*, groups: int = 60, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Store distinct facts that share words, keys or negations; none may be retired by another."""
    chance = random.Random(seed)
    began = perf_counter()
    facts = [fact for number in range(groups) for fact in _alike(number, chance)]
    chance.shuffle(facts)
    with _memory() as (memory, clock):
        stored = []
        for entity, key, value in facts:
            clock.advance(hours=7)
            stored.append(memory.remember(entity, key, value, persona="ann"))
        with memory.stores.read() as unit:
            kept = {fact.id: fact for fact in unit.facts.find([one.id for one in stored])}
        lost = [fact for fact in kept.values() if fact.state != "current"]
        stats = memory.conflicts.stats(scope=_ANN)
    for fact in lost[:10]:
        say(f"retired: {fact.text}")
    return {
        "suite": "look-alikes",
        "facts": len(facts),
        "seed": seed,
        "wrongly_retired": len(lost),
        "taken_as_one": len(facts) - len(kept),
        "wrongly_flagged": stats["open"],
        "seconds": round(perf_counter() - began, 1),
    }


def erase(*, items: int = 5_000, erased: int = 200, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Forget some of many items, look for them in every byte of the home, then import them again."""
    chance = random.Random(seed)
    began = perf_counter()
    with TemporaryDirectory(prefix="zomem-bench-") as folder, _memory(Path(folder)) as (memory, clock):
        home = memory.stores.home.root
        marked = [_marked(number, chance) for number in range(erased)]
        ids = _fill(memory, items, marked, chance)
        with closing(sqlite3.connect(memory.stores.home.database_file)) as old:
            (home / "backups").mkdir(exist_ok=True)
            with closing(sqlite3.connect(home / "backups" / "before.db")) as copy:
                old.backup(copy)
        words = [word for word, _text in marked]
        before = len(_found(home, words))
        say(f"{items} items are stored; {before} of {erased} marks are found in the files")
        seconds, clean = _forget(memory, marked, ids)
        traces = len(_found(home, words))
        returned = _returned(memory, marked)
        clock.advance(days=1)
        _bring_again(memory, marked)
        return {
            "suite": "erase",
            "items": items,
            "erased": erased,
            "seed": seed,
            "found_before": before,
            "traces": traces,
            "returned": returned,
            "back_after_import": _returned(memory, marked) + len(_found(home, words)),
            "reports_clean": clean,
            "erasing_seconds": round(seconds, 1),
            "kept": memory.stats()["items"].get("fact:current", 0) + memory.stats()["items"].get("turn:current", 0),
            "seconds": round(perf_counter() - began, 1),
        }


def concurrency(
    *, processes: int = 8, slots: int = 50, rounds: int = 3, seed: int = 1, say: Say = lambda _line: None
) -> dict[str, Any]:
    """Let several processes change the same slots at once; each keeps one current value and all of its past."""
    began = perf_counter()
    with TemporaryDirectory(prefix="zomem-bench-") as folder:
        home = Path(folder) / "home"
        Memory.open(home, embeddings="none").close()
        spawn = multiprocessing.get_context("spawn")
        workers = [
            spawn.Process(target=_change, args=(str(home), number, slots, rounds, seed))
            for number in range(processes)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        say(f"{processes} processes have ended")
        with Memory.open(home, embeddings="none") as memory:
            wrong = lost = 0
            for slot in range(slots):
                history = memory.conflicts.history(f"slot {slot}", "value")
                wrong += sum(fact.state == "current" for fact in history) != 1
                lost += processes * rounds - len({fact.value for fact in history})
            with memory.stores.read() as unit:
                fault = unit.database_fault()
    return {
        "suite": "concurrency",
        "processes": processes,
        "slots": slots,
        "rounds": rounds,
        "failed_processes": sum(worker.exitcode != 0 for worker in workers),
        "slots_without_one_current_value": wrong,
        "lost": lost,
        "database_fault": fault,
        "seconds": round(perf_counter() - began, 1),
    }


SUITES: Mapping[str, Callable[..., dict[str, Any]]] = {
    "updates": updates,
    "look-alikes": look_alikes,
    "erase": erase,
    "concurrency": concurrency,
}


# -- updates -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Plan:
    """One slot: how its values are made and said, and what it was at which time."""

    entity: str
    key: str
    kind: str
    sayings: Sequence[str]
    past: list[tuple[datetime, str]]


def _plans(slots: int, chance: random.Random) -> Iterator[_Plan]:
    entities = [f"{colour} {place}" for colour in _COLOURS for place in _PLACES]
    chance.shuffle(entities)
    pairs = [(entity, key) for entity in entities for key in _KEYS]
    chance.shuffle(pairs)
    for entity, (key, kind, sayings) in pairs[:slots]:
        yield _Plan(entity, key, kind, sayings, [])


def _changes(plans: Sequence[_Plan], chance: random.Random) -> Iterator[tuple[datetime, _Plan, str]]:
    for plan in plans:
        days = sorted(chance.sample(range(_DAYS), chance.randint(2, 11)))
        before: list[str] = []
        for day in days:
            value = _value(plan.kind, chance)
            while before and value == before[-1]:
                value = _value(plan.kind, chance)
            before.append(value)
            yield _START + timedelta(days=day, minutes=chance.randint(0, 500)), plan, value


def _value(kind: str, chance: random.Random) -> str:
    match kind:
        case "port":
            return str(chance.randint(1024, 65535))
        case "address":
            return f"{chance.randint(1, 99)} {chance.choice(_STREETS)}"
        case "name":
            return f"{chance.choice(_NAMES)} {chance.choice(_COLOURS)}"
        case "status":
            return chance.choice(["open", "closed", "under repair", "for sale", "let"])
        case "number":
            return str(chance.randint(10, 4_000))
        case "hours":
            return f"{chance.randint(6, 11)}:00 to {chance.randint(15, 22)}:{chance.choice(['00', '30'])}"
        case "date":
            return (
                f"{chance.randint(1, 28)} {chance.choice(['March', 'June', 'October'])} {chance.randint(2026, 2030)}"
            )
        case "phone":
            return f"0{chance.randint(200, 999)} {chance.randint(100000, 999999)}"
        case "money":
            return f"{chance.randint(300, 5_000)} euros"
        case _:
            return chance.choice(["allowed", "not allowed", "allowed before noon"])


def _ask(memory: Memory, plan: _Plan, chance: random.Random, counts: dict[str, int]) -> None:
    question = chance.choice(_ASKED).format(e=plan.entity, k=plan.key)
    hits = memory.search(question, scope=_ANN, limit=5)
    now = plan.past[-1][1]
    own = [hit.metadata["value"] for hit in hits if _is_of(hit.metadata, plan)]
    counts["stale"] += any(value != now for value in own)
    counts["missing"] += now not in own
    looked = [fact.value for fact in memory.lookup(plan.entity, plan.key, scope=_ANN)]
    counts["stale_lookups"] += looked != [now]
    history = [fact.value for fact in memory.conflicts.history(plan.entity, plan.key, scope=_ANN)]
    counts["incomplete_histories"] += history != [value for _at, value in plan.past]
    place = chance.randrange(len(plan.past))
    until = plan.past[place + 1][0] if place + 1 < len(plan.past) else plan.past[place][0] + timedelta(days=2)
    then = plan.past[place][0] + (until - plan.past[place][0]) / 2
    past = memory.search(question, scope=_ANN, limit=5, as_of=then)
    said = {hit.metadata["value"] for hit in past if _is_of(hit.metadata, plan)}
    counts["wrong_as_of"] += bool(said - {plan.past[place][1]})
    counts["missing_as_of"] += not said


def _is_of(metadata: Mapping[str, Any], plan: _Plan) -> bool:
    return metadata.get("entity") == plan.entity and metadata.get("key") == plan.key


# -- look-alikes -------------------------------------------------------------------------------


def _alike(number: int, chance: random.Random) -> Iterator[tuple[str, str | None, str]]:
    """Yield facts of which all are true at once."""
    one, other = chance.sample(_COLOURS, 2)
    place, there = chance.sample(_PLACES, 2)
    who, friend = chance.sample(_NAMES, 2)
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


# -- erase -------------------------------------------------------------------------------------


def _marked(number: int, chance: random.Random) -> tuple[str, str]:
    """Return a word that stands nowhere else, and a sentence with it."""
    word = f"qz{chance.randrange(16**6):06x}x{number}"
    return (
        word,
        f"{chance.choice(_NAMES)} keeps {word} in the {chance.choice(_PLACES)} under {chance.choice(_STREETS)}",
    )


def _fill(memory: Memory, items: int, marked: Sequence[tuple[str, str]], chance: random.Random) -> list[str]:
    """Store facts and turns, marked ones among them; return the ids of the marked facts."""
    plain = items - len(marked)
    facts = [
        {
            "entity": f"{chance.choice(_COLOURS)} {chance.choice(_PLACES)} {number}",
            "key": chance.choice(_KEYS)[0],
            "value": _value(chance.choice(_KEYS)[1], chance),
            "persona": "ann",
        }
        for number in range(plain // 2)
    ]
    memory.remember_many(facts)
    half = len(marked) // 2
    kept = memory.remember_many(
        {"entity": f"thing {word}", "key": "kept", "value": text, "persona": "ann", "source": "import:bench"}
        for word, text in marked[:half]
    )
    talk = [
        f"{chance.choice(_NAMES)} spoke of the {chance.choice(_PLACES)} {number}"
        for number in range(plain - len(facts))
    ]
    talk += [text for _word, text in marked[half:]]
    chance.shuffle(talk)
    for start in range(0, len(talk), 50):
        said = [{"role": "user", "content": text} for text in talk[start : start + 50]]
        memory.observe(said, scope=_ANN, session=f"talk {start}")
    memory.flush()
    for word, _text in marked[::10]:
        memory.recall(f"do you remember where {word} is kept?", scope=_ANN)
    return [fact.id for fact in kept]


def _forget(memory: Memory, marked: Sequence[tuple[str, str]], ids: Sequence[str]) -> tuple[float, bool]:
    """Forget by ids, by entity and by a piece of text; return how long it took and whether all was clean."""
    began = perf_counter()
    by_id = ids[:-_ONE_BY_ONE]
    reports = [memory.forget(persona="ann", id=by_id)]
    for word, _text in marked[len(by_id) : len(ids)]:
        reports.append(memory.forget(persona="ann", entity=f"thing {word}"))
    with memory.stores.read() as unit:
        turns = unit.erasure.everything_of("ann").turns.values()
    words = {word for word, _text in marked[len(ids) :]}
    by_text = [turn.id for turn in turns if words & set(turn.content.split())]
    reports.append(memory.forget(persona="ann", id=by_text[:-_ONE_BY_ONE]))
    for word in sorted(
        words & {word for turn in turns if turn.id in by_text[-_ONE_BY_ONE:] for word in turn.content.split()}
    ):
        reports.append(memory.forget(persona="ann", matching=word))
    return perf_counter() - began, all(report.clean for report in reports)


def _found(home: Path, words: Sequence[str]) -> set[str]:
    """Return which words stand in any file of a home, as UTF-8 or UTF-16; read with nothing of ours."""
    found: set[str] = set()
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes().lower()
            found.update(word for word in words if word.encode() in data or word.encode("utf-16-le") in data)
    return found


def _returned(memory: Memory, marked: Sequence[tuple[str, str]]) -> int:
    """Return how many marks any way of asking still brings back."""
    back = 0
    for word, text in marked:
        hits = memory.search(f"{word} {text}", scope=_ANN, include_superseded=True)
        back += any(word in hit.text for hit in hits)
    return back


def _bring_again(memory: Memory, marked: Sequence[tuple[str, str]]) -> None:
    """Read the same texts again, as an import and as a conversation."""
    half = len(marked) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory.remember_many(
            {"entity": f"thing {word}", "key": "kept", "value": text, "persona": "ann", "source": "import:bench"}
            for word, text in marked[:half]
        )
    said = [{"role": "user", "content": text} for _word, text in marked]
    memory.capture(said, scope=_ANN, session="again")
    memory.observe(said, scope=_ANN, session="once more")
    memory.flush()


# -- concurrency -------------------------------------------------------------------------------


def _change(home: str, number: int, slots: int, rounds: int, seed: int) -> None:
    chance = random.Random(seed * 1_000 + number)
    with Memory.open(home, embeddings="none") as memory:
        for turn in range(rounds):
            for slot in chance.sample(range(slots), slots):
                memory.remember(f"slot {slot}", "value", f"value {turn} of process {number}")


# -- the memory they run on --------------------------------------------------------------------


@contextmanager
def _memory(folder: Path | None = None) -> Iterator[tuple[Memory, FixedClock]]:
    """Lend a memory on a clock of its own that embeds and feeds only when it is told to."""
    clock = FixedClock(_START)
    options = MemoryOptions(write=WriteOptions(background=False, embed_inline=0))
    with TemporaryDirectory(prefix="zomem-bench-") as temporary:
        home = (folder or Path(temporary)) / "home"
        with Memory.open(home, embeddings=SmallEmbedder(), clock=clock, options=options) as memory:
            yield memory, clock
        shutil.rmtree(home, ignore_errors=True)
