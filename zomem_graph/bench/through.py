"""Whether the evidence reaches the prompt: its share of the block that `recall` injects, gate on."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder, unit_of
from zomem_graph.bench.scoring import latency, mean
from zomem_graph.bench.sets import Asked, Haystack, read_set
from zomem_graph.bench.variants import with_settings
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Recollection

__all__ = ["run"]


@dataclass(slots=True)
class _Told:
    """What became of the questions of the headline categories."""

    groups: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ways: Counter[str] = field(default_factory=Counter)
    skipped: list[float] = field(default_factory=list)
    degraded: Counter[str] = field(default_factory=Counter)

    def add(self, haystack: Haystack, question: Asked, answer: Recollection, seconds: float) -> None:
        """Keep one answer: the share of the gold that stands in its block, and what the block costs."""
        shown = {unit_of(hit) for hit in answer.hits} if answer.decision == "inject" else set()
        self.groups.append(haystack.name)
        self.categories.append(question.category)
        self.shares.append(sum(unit in shown for unit in question.gold) / len(question.gold))
        self.tokens.append(answer.tokens)
        self.seconds.append(seconds)
        self.ways[f"{answer.decision} by {answer.method}"] += 1
        self.skipped.append(float(answer.decision == "skip"))
        self.degraded.update(answer.degraded)


def run(
    data: Path,
    *,
    home: Path | None = None,
    embeddings: "str | Embedder | None" = None,
    settings: Sequence[str] = (),
    limit: int | None = None,
    token_budget: int | None = None,
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Send every question through `Memory.recall` and return what its block holds and costs.

    Without `limit` and `token_budget` those of `recall` itself count.
    """
    evaluation = read_set(data)
    options = with_settings(MemoryOptions(), settings)
    given = {"limit": limit, "token_budget": token_budget}
    asked_for = {name: value for name, value in given.items() if value is not None}
    told = _Told()
    identity = None
    with kept_folder(home) as folder:
        homes = Homes(folder, evaluation, embeddings, say)
        for haystack in evaluation.haystacks:
            with homes.open(haystack, options) as memory:
                identity = memory.embedder.identity if memory.embedder is not None else None
                _ask(memory, haystack, evaluation.headline, asked_for, told)
            say(f"recall: {haystack.name}")
    return {
        "suite": "recall --through recall",
        "set": evaluation.name,
        "unit": evaluation.unit,
        **_figures(told),
        "conditions": conditions(embedder=identity, options=options, recall=asked_for or "defaults"),
    }


def _ask(
    memory: Memory, haystack: Haystack, categories: Sequence[str], asked_for: dict[str, int], told: _Told
) -> None:
    scope = Scope(persona=haystack.name)
    for question in haystack.questions:
        if question.category in categories:
            began = perf_counter()
            answer = memory.recall(question.text, scope=scope, **asked_for)  # type: ignore[arg-type]
            told.add(haystack, question, answer, perf_counter() - began)


def _figures(told: _Told) -> dict[str, Any]:
    by_category = {name: mean(*_only(told, name)) for name in sorted(set(told.categories))}
    tokens = np.asarray(told.tokens)
    injected = tokens[tokens > 0]
    return {
        "gold_in_block": mean(told.shares, told.groups),
        "gold_in_block_by_category": by_category,
        "gated_away": mean(told.skipped, told.groups),
        "decisions": dict(told.ways.most_common()),
        "block_tokens": {
            "n": int(injected.size),
            "mean": round(float(injected.mean()), 1) if injected.size else None,
            "p95": float(np.percentile(injected, 95)) if injected.size else None,
            "max": int(injected.max()) if injected.size else None,
        },
        "recall_ms": latency(told.seconds),
        "degraded": dict(told.degraded),
    }


def _only(told: _Told, category: str) -> tuple[list[float], list[str]]:
    kept = [number for number, name in enumerate(told.categories) if name == category]
    return [told.shares[number] for number in kept], [told.groups[number] for number in kept]
