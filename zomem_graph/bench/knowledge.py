"""How long the knowledge graph takes on made-up facts and links: ways, gaps, lineage, clusters, pictures.

The links are drawn so that a few things have very many: each end is new half of the time, else an end of an
earlier link.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.bench.processes import seconds_of, zomem_command
from zomem_graph.bench.scoring import latency
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.stores.records import Fact

__all__ = ["run"]

_RELATIONS: Final = (
    "related",
    "depends_on",
    "part_of",
    "implements",
    "blocks",
    "wikilink",
    "co-captured",
    "caused_by",
)
_FACTS_OF_ONE: Final = 2.5
_AT_ONCE: Final = 5_000
_SEED: Final = 1

_Taken = dict[str, list[tuple[float, float]]]  # what -> wall and CPU seconds of each call


def run(
    facts: int = 100_000,
    links: int = 300_000,
    *,
    paths: int = 200,
    home: Path | None = None,
    rounds: int = 3,
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Fill a store and time what `memory.graph` does on it; needs no data. A `home` that is filled is used again."""
    options = MemoryOptions(write=WriteOptions(background=False))
    chance = np.random.default_rng(_SEED)
    names = [f"thing.{number:06d}" for number in range(max(2, int(facts / _FACTS_OF_ONE)))]
    ties = _ties(facts, links, chance)
    hub = int(np.bincount([end for tie in ties for end in tie[:2]]).max())
    with kept_folder(home) as folder:
        with Memory.open(folder, embeddings="none", options=options) as memory:
            full = memory.stats()["links"] >= links
            filled = {} if full else _fill(memory, names, facts, ties, say)
        with Memory.open(folder, embeddings="none", options=options) as memory:
            say("walking")
            walked, lengths = _walk(memory, names, paths, chance)
            say("looking at the whole")
            whole = _look(memory, rounds)
            gaps = memory.graph.knowledge_gaps()
        cold = _cold(folder, names)
    return {
        "suite": "graph",
        "facts": facts,
        "links": links,
        "most_links_of_one": hub,
        "fill_s": filled,
        "one_by_one": walked,
        "path_hops": lengths,
        "whole_s": whole,
        "found": {
            "linked": gaps.linked,
            "clusters": gaps.cluster_count,
            "dead_ends": gaps.dead_end_count,
            "weak": gaps.weak_count,
        },
        "cold_process_s": cold,
        "conditions": conditions(embedder=None, options=options),
    }


def _fill(
    memory: Memory, names: Sequence[str], facts: int, ties: Sequence[tuple[int, int, int, float]], say: Say
) -> dict[str, float]:
    say(f"storing {facts:,} facts")
    began = perf_counter()
    stored: list[Fact] = []
    for start in range(0, facts, _AT_ONCE):
        stored += memory.remember_many(
            {"entity": names[number % len(names)], "key": f"key {number // len(names)}", "value": f"value {number}"}
            for number in range(start, min(facts, start + _AT_ONCE))
        )
    told = perf_counter()
    say(f"tying {len(ties):,} links")
    for start in range(0, len(ties), _AT_ONCE):
        memory.graph.link_many(
            {
                "source_id": stored[source].id,
                "target_id": stored[target].id,
                "relation": _RELATIONS[relation],
                "weight": weight,
            }
            for source, target, relation, weight in ties[start : start + _AT_ONCE]
        )
    return {"facts": round(told - began, 1), "links": round(perf_counter() - told, 1)}


def _ties(facts: int, links: int, chance: np.random.Generator) -> list[tuple[int, int, int, float]]:
    """Return so many different (source, target, relation, weight)."""
    made: dict[tuple[int, int, int], float] = {}
    ends: list[int] = [0, 1]
    while len(made) < links:
        fresh, old = chance.integers(facts, size=2), chance.integers(len(ends), size=2)
        new = chance.random(2) < 0.5
        source, target = (int(fresh[side]) if new[side] else ends[int(old[side])] for side in (0, 1))
        if source != target:
            made[source, target, int(chance.integers(len(_RELATIONS)))] = float(chance.uniform(0.1, 1.0))
            ends += [source, target]
    return [(*key, weight) for key, weight in made.items()]


def _walk(
    memory: Memory, names: Sequence[str], count: int, chance: np.random.Generator
) -> tuple[dict[str, Any], dict[str, int]]:
    pairs = [(names[int(a)], names[int(b)]) for a, b in chance.integers(len(names), size=(count, 2))]
    graph = memory.graph
    taken: _Taken = {}
    hops: dict[str, int] = {}
    for one, other in pairs:
        found = _timed(taken, "find_connections", partial(graph.find_connections, one, other))
        length = str(found.hops) if found.found else "none"
        hops[length] = hops.get(length, 0) + 1
        _timed(taken, "show", partial(graph.show, one))
        _timed(taken, "show, 2 hops", partial(graph.show, one, depth=2))
        _timed(taken, "ancestors", partial(graph.ancestors, one, max_depth=3))
        _timed(taken, "link", partial(graph.link, f"{one}.key 0", f"{other}.key 1", "related"))
    figures = {
        name: {**latency([wall for wall, _cpu in each]), "cpu": latency([cpu for _wall, cpu in each])}
        for name, each in taken.items()
    }
    return figures, dict(sorted(hops.items()))


def _timed(taken: _Taken, name: str, call: Callable[[], Any]) -> Any:
    began, before = perf_counter(), process_time()
    answer = call()
    taken.setdefault(name, []).append((perf_counter() - began, process_time() - before))
    return answer


def _look(memory: Memory, rounds: int) -> dict[str, Any]:
    graph = memory.graph
    taken: _Taken = {}
    for _round in range(rounds):
        _timed(taken, "knowledge_gaps", graph.knowledge_gaps)
        _timed(taken, "cycles", graph.cycles)
        _timed(taken, "articulation_points", graph.articulation_points)
        _timed(taken, "export, all, html", partial(graph.export, format="html"))
    _timed(taken, "communities", graph.communities)
    return {
        name: {
            "median": round(statistics.median(wall for wall, _cpu in each), 2),
            "most": round(max(wall for wall, _cpu in each), 2),
            "cpu_median": round(statistics.median(cpu for _wall, cpu in each), 2),
            "n": len(each),
        }
        for name, each in taken.items()
    }


def _cold(home: Path, names: Sequence[str]) -> dict[str, float]:
    zomem = [*zomem_command(), "--home", str(home), "graph"]
    commands = {
        "find-connections": [*zomem, "find-connections", "--from", names[1], "--to", names[-1]],
        "knowledge-gaps": [*zomem, "knowledge-gaps"],
    }
    return {name: round(seconds_of(command), 2) for name, command in commands.items()}
