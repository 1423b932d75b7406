"""What a swarm gains by remembering: regret of routing on made-up work, and tokens of memory per task.

The simulation: four executors, whose hidden shares of success in each class of tasks are drawn anew half way;
the words of a task give no hint. Regret is what the best executor for a task would have succeeded more often.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder, unit_of
from zomem_graph.bench.scoring import mean
from zomem_graph.bench.sets import Asked, EvaluationSet, Haystack, read_set
from zomem_graph.bench.swarm_tasks import SELF_CONTAINED
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, SwarmOptions, WriteOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.rules.routing import STRATEGIES
from zomem_graph.nodes.scope import Scope
from zomem_graph.swarm import create_swarm_graph
from zomem_graph.testing import FixedClock, SmallEmbedder

__all__ = ["run"]

_SEED = 20_260_101
_EXECUTORS = ("amber", "basil", "cedar", "dahlia")
_CLASSES = ("class-a", "class-b", "class-c", "class-d")
_RATES = (0.1, 0.95)
_SECONDS_APART = 60.0
_WINDOW = 25
_BEFORE_DRIFT = 100
_TOLERANCE = 0.02
_RUN = (4, 7)  # tasks of a run that need memory, and that carry all they need
_MAPPED = 40


def run(
    data: Path | None = None,
    *,
    tasks: int = 500,
    seeds: int = 20,
    runs: int = 10,
    home: Path | None = None,
    embeddings: "str | Embedder | None" = None,
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Return the figures of routing and, with a LoCoMo folder, of memory tokens."""
    options = MemoryOptions(write=WriteOptions(background=False))
    result: dict[str, Any] = {"suite": "swarm", "routing": _routing(tasks, seeds, options, say)}
    identity = None
    if data is not None:
        evaluation = read_set(data)
        with kept_folder(home) as folder:
            homes = Homes(folder, evaluation, embeddings, say)
            identity, result["tokens"] = _tokens(evaluation, homes, embeddings, options, runs, say)
    return {**result, "conditions": conditions(embedder=identity, options=options)}


# -- routing ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _World:
    """One seed's hidden truth: shares of success by (half, class, executor), the classes of tasks, the luck."""

    shares: np.ndarray[Any, np.dtype[np.float64]]
    classes: Sequence[int]
    luck: np.ndarray[Any, np.dtype[np.float64]]

    @classmethod
    def drawn(cls, seed: int, tasks: int) -> "_World":
        chance = np.random.default_rng(_SEED + seed)
        return cls(
            shares=chance.uniform(*_RATES, (2, len(_CLASSES), len(_EXECUTORS))),
            classes=[int(one) for one in chance.integers(0, len(_CLASSES), tasks)],
            luck=chance.random((tasks, len(_EXECUTORS))),
        )

    def of(self, task: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """Return the executors' shares for a task."""
        half = int(task >= len(self.classes) // 2)
        shares: np.ndarray[Any, np.dtype[np.float64]] = self.shares[half, self.classes[task]]
        return shares


def _routing(tasks: int, seeds: int, options: MemoryOptions, say: Say) -> dict[str, Any]:
    regrets: dict[str, list[list[float]]] = {name: [] for name in ("random", *STRATEGIES)}
    for seed in range(seeds):
        world = _World.drawn(seed, tasks)
        regrets["random"].append(list(_at_random(world, seed)))
        with TemporaryDirectory(prefix="zomem-bench-") as folder:
            clock = FixedClock()
            with Memory.open(folder, embeddings=SmallEmbedder(), clock=clock, options=options) as memory:
                for strategy in STRATEGIES:
                    regrets[strategy].append(list(_routed(memory, clock, world, strategy)))
        say(f"routing: seed {seed + 1} of {seeds}")
    base = [sum(one) for one in regrets["random"]]
    return {
        "tasks": tasks,
        "seeds": seeds,
        "executors": len(_EXECUTORS),
        "classes": len(_CLASSES),
        "shares": list(_RATES),
        "by_strategy": {name: _figures(found, base) for name, found in regrets.items()},
    }


def _at_random(world: _World, seed: int) -> Iterator[float]:
    chance = random.Random(_SEED + seed)
    for task in range(len(world.classes)):
        shares = world.of(task)
        yield float(shares.max() - shares[chance.randrange(len(_EXECUTORS))])


def _routed(memory: Memory, clock: FixedClock, world: _World, strategy: str) -> Iterator[float]:
    """Yield the regret of each task; each strategy has a persona, and so a memory, of its own."""
    scope = Scope(persona=strategy)
    for task, kind in enumerate(world.classes):
        clock.advance(seconds=_SECONDS_APART)
        choice = memory.route(
            f"Task {task}", executors=_EXECUTORS, strategy=strategy, category=_CLASSES[kind], scope=scope
        )
        chosen = _EXECUTORS.index(choice.executor)
        shares = world.of(task)
        memory.profiles.record(
            choice.executor,
            success=bool(world.luck[task, chosen] < shares[chosen]),
            category=_CLASSES[kind],
            error="the result was of no use",
            duration_ms=1_000.0,
            scope=scope,
        )
        yield float(shares.max() - shares[chosen])


def _figures(regrets: Sequence[Sequence[float]], base: Sequence[float]) -> dict[str, Any]:
    groups = [""] * len(regrets)
    half = len(regrets[0]) // 2
    recoveries = [_recovery(one) for one in regrets]
    return {
        "regret": mean([sum(one) for one in regrets], groups),
        "of_random": mean([sum(one) / all_ for one, all_ in zip(regrets, base, strict=True)], groups),
        "before_drift": mean([sum(one[:half]) for one in regrets], groups),
        "after_drift": mean([sum(one[half:]) for one in regrets], groups),
        "recovery_tasks": mean([float(one) for one in recoveries], groups),
        "recovered": mean([float(one < half) for one in recoveries], groups),
    }


def _recovery(regrets: Sequence[float]) -> int:
    """Return after how many tasks the next 25 cost no more than the 100 before the drift, +.02 a task.

    All that were left when it never came to that.
    """
    half = len(regrets) // 2
    usual = float(np.mean(regrets[max(0, half - _BEFORE_DRIFT) : half])) + _TOLERANCE
    after = regrets[half:]
    for start in range(len(after) - _WINDOW + 1):
        if float(np.mean(after[start : start + _WINDOW])) <= usual:
            return start
    return len(after)


# -- tokens ----------------------------------------------------------------------------------------


def _tokens(
    evaluation: EvaluationSet,
    homes: Homes,
    embeddings: "str | Embedder | None",
    options: MemoryOptions,
    runs: int,
    say: Say,
) -> tuple[str | None, dict[str, Any]]:
    found: dict[str, list[dict[str, float]]] = {"gated": [], "always": []}
    groups: list[str] = []
    identity = None
    for haystack in evaluation.haystacks:
        filled = homes.filled(haystack)
        for name, always in (("gated", False), ("always", True)):
            # A copy: a swarm writes, and the kept home is for other suites too.
            with TemporaryDirectory(prefix="zomem-bench-") as folder:
                copy = copytree(filled, Path(folder) / "home")
                with Memory.open(copy, embeddings=embeddings, options=options) as memory:
                    identity = memory.embedder.identity if memory.embedder is not None else None
                    found[name] += _runs_of(memory, haystack, evaluation, runs, always=always)
        groups += [haystack.name] * runs
        say(f"tokens: {haystack.name}")
    return identity, _token_figures(found, groups)


def _token_figures(found: Mapping[str, Sequence[Mapping[str, float]]], groups: Sequence[str]) -> dict[str, Any]:
    by_way = {
        name: {key: mean([one[key] for one in ones], groups) for key in ones[0]} for name, ones in found.items()
    }
    saved = [
        1 - gated["tokens"] / always["tokens"] for gated, always in zip(found["gated"], found["always"], strict=True)
    ]
    recall = [
        gated["recall@6"] - always["recall@6"] for gated, always in zip(found["gated"], found["always"], strict=True)
    ]
    return {
        "runs": len(groups),
        "tasks_a_run": sum(_RUN),
        **by_way,
        "saved": mean(saved, groups),
        "recall@6_difference": mean(recall, groups),
    }


def _runs_of(
    memory: Memory, haystack: Haystack, evaluation: EvaluationSet, runs: int, *, always: bool
) -> list[dict[str, float]]:
    swarm = create_swarm_graph(
        memory, {"worker": lambda _given: "Done."}, options=SwarmOptions(always=always, run_budget=100_000)
    ).compile()
    config: Any = {"configurable": {"persona": haystack.name}}
    scope = Scope(persona=haystack.name)
    return [
        _one_run(memory, swarm.invoke({"tasks": [text for text, _asked in tasks]}, config), tasks, scope)
        for tasks in _drawn(haystack, evaluation, runs)
    ]


def _drawn(haystack: Haystack, evaluation: EvaluationSet, runs: int) -> Iterator[list[tuple[str, Asked | None]]]:
    """Yield runs of eleven tasks: questions about the conversation among tasks that carry all they need."""
    chance = random.Random(f"{_SEED}{haystack.name}")
    asked = [one for one in haystack.questions if one.category in evaluation.headline]
    for _ in range(runs):
        needing: list[tuple[str, Asked | None]] = [(one.text, one) for one in chance.sample(asked, _RUN[0])]
        other: list[tuple[str, Asked | None]] = [(text, None) for text in chance.sample(SELF_CONTAINED, _RUN[1])]
        tasks = needing + other
        chance.shuffle(tasks)
        yield tasks


def _one_run(
    memory: Memory, out: Mapping[str, Any], tasks: Sequence[tuple[str, Asked | None]], scope: Scope
) -> dict[str, float]:
    shares, needed_tokens, told = [], 0, 0
    for (text, asked), result in zip(tasks, out["results"], strict=True):
        told += result["memory"]["tokens"] > 0
        if asked is None:
            continue
        needed_tokens += result["memory"]["tokens"]
        units = {
            hit.id: unit_of(hit) for hit in memory.search(text, scope=scope, limit=_MAPPED) if hit.kind == "turn"
        }
        given = {units.get(item) for item in result["memory"].get("items", ())}
        shares.append(len(given & set(asked.gold)) / len(asked.gold))
    return {
        "tokens": float(out["summary"]["memory_tokens"]),
        "tokens_a_task": out["summary"]["memory_tokens"] / len(tasks),
        "tokens_where_needed": float(needed_tokens),
        "tasks_told": float(told),
        "recall@6": sum(shares) / len(shares),
    }
