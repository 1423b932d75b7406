"""Whether maintenance stays out of the way: what is written meanwhile, and a store with very many facts."""

import resource
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

from zomem_graph.bench.homes import Say
from zomem_graph.bench.made_up import START
from zomem_graph.bench.marks import Mark, judged
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.testing.chat import ScriptedChat
from zomem_graph.testing.clock import FixedClock

__all__ = ["many_facts", "writes_meanwhile"]

# Takes the write lock again and again from a process of its own and says how long the longest wait was.
_WATCH = """
import sqlite3, sys, time
base = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
longest, deadline = 0.0, time.monotonic() + 3600
print("ready", flush=True)
import select
while not select.select([sys.stdin], [], [], 0.002)[0] and time.monotonic() < deadline:
    began = time.perf_counter()
    base.execute("begin immediate"); base.execute("rollback")
    longest = max(longest, time.perf_counter() - began)
print(longest * 1000)
"""


def writes_meanwhile(
    *, seconds: float = 120.0, writes: int = 200, seed: int = 1, say: Say = lambda _line: None
) -> dict[str, Any]:
    """Write, change and delete while a model thinks about merges for two minutes; nothing of it may be lost."""
    began = perf_counter()
    thinking, written = threading.Event(), threading.Event()

    def slowly(_ask: object) -> str:
        until = perf_counter() + seconds
        thinking.set()
        written.wait(10 * seconds + 60)  # on a crowded machine the writes take longer than the thought
        sleep(max(0.0, until - perf_counter()))
        return '{"same": [1, 2, 3, 4, 5]}'

    chat = ScriptedChat(by_workload={"maintenance": slowly, "extraction": '{"facts": []}'})
    clock = FixedClock(START)
    options = MemoryOptions(write=WriteOptions(background=False, embed_inline=0))
    with (
        TemporaryDirectory(prefix="zomem-bench-") as folder,
        Memory.open(
            Path(folder) / "home", embeddings="none", chat_model=chat, clock=clock, options=options
        ) as memory,
    ):
        for number in range(5):
            memory.remember(f"thing {number}", "likes", "strong black coffee in bed", many=True)
            memory.remember(f"thing {number}", "likes", "strong coffee in bed", many=True)
        run = threading.Thread(target=memory.maintain)
        run.start()
        thinking.wait()
        said = [_said(memory, number, writes, seconds) for number in range(writes)]
        changed = memory.remember("thing 0", "likes", "strong coffee in bed", many=True, importance=1.9)
        busy = run.is_alive()
        written.set()
        run.join()
        lost = sum(not memory.lookup(entity, "note") for entity in said)
        lost += memory.stats()["turns"] != writes
        kept = {fact.importance for fact in memory.lookup("thing 0", "likes")}
    figures = {
        "writes": writes,
        "model_seconds": seconds,
        "wrote_while_it_thought": busy,
        "lost": lost,
        "change_kept": changed.importance in kept,
        "seconds": round(perf_counter() - began, 1),
    }
    say(f"{writes} facts and turns were written meanwhile, {lost} are lost")
    marks = {"lost": 0, "change_kept": True, "wrote_while_it_thought": True}
    return judged("writes-during-maintenance", n=writes, seed=seed, figures=figures, marks=marks)


def _said(memory: Memory, number: int, writes: int, seconds: float) -> str:
    entity = f"visitor {number}"
    memory.remember(entity, "note", f"came by as number {number}")
    memory.observe([{"role": "user", "content": f"visitor number {number} came by"}], session="door")
    sleep(min(0.2, seconds / writes / 2))
    return entity


def many_facts(*, facts: int = 50_000, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Maintain a store of many facts: seconds, memory, and how long a writer had to wait at most."""
    clock = FixedClock(START)
    options = MemoryOptions(write=WriteOptions(background=False, embed_inline=0))
    with TemporaryDirectory(prefix="zomem-bench-") as folder:
        home = Path(folder) / "home"
        with Memory.open(home, embeddings="none", clock=clock, options=options) as memory:
            _fill(memory, facts)
            for _day in range(20):
                clock.advance(days=1)
                memory.lookup("thing 1")
            say(f"{facts:,} facts are stored")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            watch = subprocess.Popen(
                [sys.executable, "-c", _WATCH, str(memory.stores.home.database_file)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert watch.stdout is not None
            watch.stdout.readline()
            began = perf_counter()
            report = memory.maintain(max_changes=facts)
            taken = perf_counter() - began
            longest = float(watch.communicate("stop\n")[0])
            again = perf_counter()
            idle = memory.maintain(max_changes=facts)
            idle_seconds = perf_counter() - again
    figures = {
        "facts": facts,
        "changes": len(report.changes),
        "maintenance_seconds": round(taken, 2),
        "idle_seconds": round(idle_seconds, 2),
        "changes_again": len(idle.changes),
        "longest_write_lock_ms": round(longest, 1),
        "more_memory_mib": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1),
    }
    say(f"{taken:.1f} s, longest write lock {longest:.0f} ms")
    marks: dict[str, Mark] = {"longest_write_lock_ms": (0.0, 200.0), "changes_again": 0}
    return judged("many-facts", n=facts, seed=seed, figures=figures, marks=marks)


def _fill(memory: Memory, facts: int) -> None:
    tiers = ("session", "active", *("stable",) * 8)
    for start in range(0, facts, 1_000):
        memory.remember_many(
            {
                "entity": f"thing {number // 5}",
                "key": "likes",
                "value": f"the number {number // 2 * 2}" if number % 100 < 2 else f"number {number}",
                "tier": tiers[number // 7 % len(tiers)],
                "many": True,
            }
            for number in range(start, min(facts, start + 1_000))
        )
