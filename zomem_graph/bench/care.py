"""Whether time does the same however often one looks: fading, time zones, and maintenance that is killed.

Everything is made up from a seed and lived on a clock of its own, without an embedder.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from zoneinfo import ZoneInfo

from zomem_graph.bench.homes import Say
from zomem_graph.bench.made_up import COLOURS, PLACES, START
from zomem_graph.bench.marks import Mark, judged
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.stores.records import Fact
from zomem_graph.stores.store import Stores
from zomem_graph.testing.clock import FixedClock

__all__ = ["fading", "killed", "die_at_write", "time_zones"]

_TIERS = ("session", "active", "stable", "stable", "permanent")
_AGAIN = ("checkpoint", "session", "active", "active", "stable", "permanent")
_REGIMES = {"never": 0.0, "weekly": 1 / 7, "daily": 1.0, "ten times a day": 10.0}


@dataclass(frozen=True, slots=True)
class _Day:
    """What happens on one day: facts that are told, asked for and told again (as what, in which tier), and when."""

    told: tuple[int, ...]
    asked: tuple[int, ...]
    hour: float
    again: tuple[tuple[int, str, str], ...] = ()


def fading(*, days: int = 730, facts: int = 40, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Live through the same days with maintenance never, weekly, daily and ten times a day, and compare the ends."""
    began = perf_counter()
    story = _story(days, facts, seed)
    ends: dict[str, dict[str, Any]] = {}
    runs = 0
    for name, a_day in _REGIMES.items():
        ends[name], made = _lived(story, a_day)
        runs += made
        say(f"{name}: {made} runs of maintenance")
    never = ends["never"]
    apart = [end for end in ends.values() if _places(end) != _places(never)]
    drift = max(abs(end[one]["activation"] - never[one]["activation"]) for end in ends.values() for one in never)
    states = sorted({str(life[0]) for end in never.values() for life in end["lives"]})
    anew = sum(len(end["lives"]) - 1 for end in never.values())
    half, asleep = _half_life(), _left_alone()
    figures = {
        "days": days,
        "facts": len(never),
        "runs": runs,
        "regimes_apart": len(apart),
        "largest_drift": drift,
        "states_seen": states,
        "told_anew": anew,
        "half_at_day": half,
        "moves_after_sleep": asleep,
        "seconds": round(perf_counter() - began, 1),
    }
    marks: dict[str, Mark] = {
        "regimes_apart": 0,
        "told_anew": (1, None),
        "largest_drift": (0.0, 1e-9),
        "half_at_day": (29.9, 30.1),
        "moves_after_sleep": 0,
    }
    return judged("fading", n=len(never) * days, seed=seed, figures=figures, marks=marks)


def time_zones(*, days: int = 60, facts: int = 25, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Live through the same instants on clocks of several zones, a change of summer time among them."""
    began = perf_counter()
    story = _story(days, facts, seed)
    zones: dict[str, tzinfo] = {
        "UTC+14": timezone(timedelta(hours=14)),
        "UTC-11": timezone(timedelta(hours=-11)),
        "Europe/Berlin": ZoneInfo("Europe/Berlin"),
        "Pacific/Apia": ZoneInfo("Pacific/Apia"),
    }
    start = START.replace(month=3, day=1)  # the clocks change on the 27th
    plain, _runs = _lived(story, 1.0, start=start)
    apart = {}
    for name, zone in zones.items():
        found, _runs = _lived(story, 1.0, start=start, zone=zone)
        apart[name] = sum(found[one] != plain[one] for one in plain)
        say(f"{name}: {apart[name]} of {len(plain)} differ")
    figures = {"zones": sorted(zones), "facts": len(plain), "differing": sum(apart.values())}
    figures["seconds"] = round(perf_counter() - began, 1)
    return judged("time-zones", n=len(plain) * len(zones), seed=seed, figures=figures, marks={"differing": 0})


def killed(*, every: int = 1, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Kill maintenance before and after every write it makes, run it again, and compare with a run nobody killed.

    `every` takes only each so-many-th write, for a short form.
    """
    began = perf_counter()
    with TemporaryDirectory(prefix="zomem-bench-") as folder:
        whole = Path(folder) / "whole"
        _fill(whole, seed)
        kept = Path(folder) / "kept"
        shutil.copytree(whole, kept)
        moment = _maintained(kept)
        apart: list[str] = []
        kills = 0
        number = 0
        while True:
            number += 1
            if number > 1 and number % every:
                continue
            ended = 0
            for when in ("before", "after"):
                home = Path(folder) / f"{when}-{number}"
                shutil.copytree(whole, home)
                if _killed_at(home, number, when):
                    ended += 1
                    _maintained(home)
                    if _state(home) != _state(kept):
                        apart.append(f"{when} write {number}")
                shutil.rmtree(home)
            kills += ended
            if not ended:
                break
        say(f"killed {kills} times")
    figures = {
        "kills": kills,
        "changes": moment,
        "ends_apart": len(apart),
        "apart": apart[:5],
        "seconds": round(perf_counter() - began, 1),
    }
    marks: dict[str, Mark] = {"ends_apart": 0, "kills": (2, None)}
    return judged("maintenance-killed", n=kills, seed=seed, figures=figures, marks=marks)


def die_at_write(home: str, number: int, when: str) -> None:
    """Maintain a home in this process and kill it at one of its writes; called in a process of its own."""
    lend = Stores.write
    writes = 0

    @contextmanager
    def counted(self: Stores, *, hasty: bool = False) -> Iterator[Any]:
        nonlocal writes
        with lend(self, hasty=hasty) as unit:
            yield unit
            writes += 1
            if writes == number and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
        if writes == number:
            os.kill(os.getpid(), signal.SIGKILL)

    Stores.write = counted  # type: ignore[method-assign]  # the only way to stand between a write and its commit
    with _quiet(Path(home)) as (memory, _clock):
        memory.maintain()


def _story(days: int, facts: int, seed: int) -> list[_Day]:
    chance = random.Random(seed)
    told = sorted(chance.randrange(max(1, days // 2)) for _ in range(facts))
    habits = [chance.choice([0.0, 0.0, 0.02, 0.1, 0.6]) for _ in range(facts)]
    fate = random.Random(seed + 1)  # of its own, so that the rest of the story stays as it was
    repeats: dict[int, list[tuple[int, str, str]]] = {}
    for number, day in enumerate(told):
        while number % 3 == 1 and (day := day + fate.randrange(1, max(2, days // 3))) < days:
            repeats.setdefault(day, []).append((number, fate.choice(("seen", "seen", "gone")), fate.choice(_AGAIN)))
    plan: list[_Day] = []
    for day in range(days):
        silent = 200 <= day < 260  # two months in which nobody comes
        new = () if silent else tuple(n for n in range(facts) if told[n] == day)
        asked = tuple(n for n in range(facts) if told[n] < day and chance.random() < habits[n])
        away = silent or chance.random() < 0.2
        again = () if silent else tuple(repeats.get(day, ()))
        plan.append(_Day(new, () if away else asked, chance.uniform(0.5, 23.0), again))
    return plan


def _lived(
    story: Sequence[_Day], runs_a_day: float, *, start: datetime = START, zone: tzinfo | None = None
) -> tuple[dict[str, Any], int]:
    """Live through a story; return how each fact stands at its end, and how often maintenance ran."""
    midnight = start.replace(hour=0)
    runs = 0
    with TemporaryDirectory(prefix="zomem-bench-") as folder, _quiet(Path(folder) / "home") as (memory, clock):
        due = midnight

        def upkeep(until: datetime) -> None:
            nonlocal due, runs
            while runs_a_day and due <= until:
                clock.set(_in_zone(due, zone))
                memory.maintain(only=["expire", "tiers", "merge", "loops"])
                due += timedelta(days=1 / runs_a_day)
                runs += 1

        for number, day in enumerate(story):
            at = midnight + timedelta(days=number, hours=day.hour)
            if day.told or day.asked or day.again:
                upkeep(at)
                clock.set(_in_zone(at, zone))
                for fact in day.told:
                    _tell(memory, fact)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that what was told for longer stays so
                    for fact, value, tier in day.again:
                        memory.remember(_entity(fact), "state", value, tier=tier)
                for fact in day.asked:
                    memory.lookup(_entity(fact))
        end = midnight + timedelta(days=len(story))
        upkeep(end)
        clock.set(_in_zone(end, zone))
        memory.maintain()
        return _standing(memory, sum(len(day.told) for day in story)), runs + 1


def _in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment if zone is None else moment.astimezone(zone)


def _entity(number: int) -> str:
    return f"{COLOURS[number % len(COLOURS)]} {PLACES[number // len(COLOURS) % len(PLACES)]}"


def _tell(memory: Memory, number: int) -> None:
    importance = 1.8 if number % 9 == 0 else 1.0
    memory.remember(_entity(number), "state", "seen", tier=_TIERS[number % len(_TIERS)], importance=importance)


def _standing(memory: Memory, told: int) -> dict[str, Any]:
    """Return the lives of every entity's fact, oldest first, with state, tier and end, and how awake the last is."""
    found: dict[str, Any] = {}
    for number in range(told):
        entity = _entity(number)
        lives = memory.conflicts.history(entity, "state")
        standing = {fact.id for fact in lives if fact.state == "current"}
        hits = memory.search(lives[-1].text, kinds=["fact"], limit=3, probe=True)
        awake = [hit.explanation.activation for hit in hits if hit.id in standing]
        found[entity] = {
            "lives": tuple(map(_life, lives)),
            "activation": (awake[0] or 0.0) if awake else 0.0,
        }
    return found


def _life(fact: Fact) -> tuple[Any, ...]:
    """Return how one life went; to which rung a fact had come that another took the place of, nobody asks."""
    tier = fact.tier if fact.state != "superseded" else ""
    return fact.state, tier, fact.value, fact.created_at, fact.ended_at


def _places(end: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {one: fact["lives"] for one, fact in end.items()}


def _half_life() -> float:
    """Return the day on which an unused fact has half of its activation left, to a hundredth."""
    with TemporaryDirectory(prefix="zomem-bench-") as folder, _quiet(Path(folder) / "home") as (memory, clock):
        fact = memory.remember("Harbour", "state", "seen")
        low, high = 0.0, 60.0
        while high - low > 0.01:
            middle = (low + high) / 2
            clock.set(START + timedelta(days=middle))
            (hit,) = memory.search(fact.text, kinds=["fact"], probe=True)
            low, high = (middle, high) if (hit.explanation.activation or 0.0) > 0.5 else (low, middle)
        return round((low + high) / 2, 2)


def _left_alone() -> int:
    """Return how many facts were archived or demoted in a store that nobody used for 60 days."""
    with TemporaryDirectory(prefix="zomem-bench-") as folder, _quiet(Path(folder) / "home") as (memory, clock):
        for number, tier in enumerate(("active", "stable", "permanent") * 10):
            memory.remember(f"thing {number}", "state", "seen", tier=tier)
        clock.advance(days=60)
        return len(memory.maintain().changes)


@contextmanager
def _quiet(home: Path) -> Iterator[tuple[Memory, FixedClock]]:
    """Lend a memory without embedder and background on a clock of its own."""
    clock = FixedClock(START)
    options = MemoryOptions(write=WriteOptions(background=False, embed_inline=0))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as memory:
        yield memory, clock


# -- killed ------------------------------------------------------------------------------------------------------


def _fill(home: Path, seed: int) -> None:
    """Fill a home so that every step of maintenance has something to do by `START`."""
    chance = random.Random(seed)
    clock = FixedClock(START - timedelta(days=100))
    options = MemoryOptions(write=WriteOptions(background=False, embed_inline=0))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as memory:
        for number in range(130):
            memory.remember(f"thing {number}", "state", "seen", tier=("session", "active", "stable")[number % 3])
        for number in range(30):
            memory.remember(f"{chance.choice(PLACES)} {number}", "likes", "green tea", many=True)
            memory.remember(f"thing {number}", "likes", "quiet evenings at home", many=True)
            memory.remember(f"thing {number}", "likes", "the quiet evening at home", many=True)
            memory.loops.create(f"Repaint the {chance.choice(COLOURS)} door number {number}")
        for _day in range(99):
            clock.advance(days=1)
            memory.lookup("thing 2")


def _maintained(home: Path) -> int:
    with _quiet(home) as (memory, _clock):
        return len(memory.maintain().changes)


def _killed_at(home: Path, number: int, when: str) -> bool:
    """Maintain a home in a process that dies at a write; return whether it got so far."""
    call = f"from zomem_graph.bench.care import die_at_write; die_at_write({str(home)!r}, {number}, {when!r})"
    return subprocess.run([sys.executable, "-c", call], capture_output=True).returncode == -signal.SIGKILL


def _state(home: Path) -> dict[str, Any]:
    """Return everything that maintenance may change, and whether the store is sound."""
    with _quiet(home) as (memory, _clock):
        with memory.stores.read() as unit:
            facts = unit.facts.find([item.id for item in unit.items.find(_ids(memory))])
            items = {item.id: (item.state, str(item.ended_at)) for item in unit.items.find(_ids(memory))}
            loops = {loop.id: (loop.status, loop.resolution) for loop in unit.loops.find(_ids(memory))}
            ties = unit.links.touching(_ids(memory))
            links = sorted((link.source_id, link.target_id, link.relation) for link in ties)
        sound = memory.verify()["ok"]
    told = {
        fact.id: (fact.state, fact.tier, fact.superseded_by, fact.confidence, fact.importance, fact.access_count)
        for fact in facts
    }
    return {"facts": told, "items": items, "loops": loops, "links": links, "sound": sound}


def _ids(memory: Memory) -> list[str]:
    with memory.stores.read() as unit:
        numbers = list(range(1, unit.items.total() + 1))
        return sorted(unit.items.ids_of(numbers).values())
