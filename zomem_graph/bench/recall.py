"""Whether search finds the evidence, beside plain words and meaning alone and without each ingredient."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder, unit_of
from zomem_graph.bench.plain import PlainWords
from zomem_graph.bench.scoring import MEASURES, difference, latency, mean, score_ranking
from zomem_graph.bench.sets import Asked, EvaluationSet, Haystack, read_set
from zomem_graph.bench.variants import INGREDIENTS, MEANING_ONLY, with_settings
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.scope import Scope

__all__ = ["Scored", "ranking", "run", "scored_search"]

_DEEPEST = 20
_HITS_A_SESSION = 200  # a session holds many turns; so many hits name at least 20 sessions in practice

Rank = Callable[[Asked], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One system's measures of every question, in one order for all systems."""

    groups: list[str]
    categories: list[str]
    measures: dict[str, list[float]]
    seconds: list[float]

    @classmethod
    def empty(cls) -> "Scored":
        """Return a record to be filled."""
        return cls(groups=[], categories=[], measures={name: [] for name in MEASURES}, seconds=[])

    def add(self, haystack: Haystack, rank: Rank) -> None:
        """Ask every question of a haystack and keep what the rankings are worth."""
        for question in haystack.questions:
            began = perf_counter()
            ranked = rank(question)
            self.seconds.append(perf_counter() - began)
            self.groups.append(haystack.name)
            self.categories.append(question.category)
            for name, value in score_ranking(ranked, question.gold).items():
                self.measures[name].append(value)

    def of(self, measure: str, categories: Iterable[str]) -> tuple[list[float], list[str]]:
        """Return one measure's values of some categories, and the haystack of each."""
        wanted = set(categories)
        kept = [number for number, name in enumerate(self.categories) if name in wanted]
        return [self.measures[measure][number] for number in kept], [self.groups[number] for number in kept]


def run(
    data: Path,
    *,
    home: Path | None = None,
    embeddings: "str | Embedder | None" = None,
    settings: Sequence[str] = (),
    ablate: bool = False,
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Measure search on one evaluation set and return every figure with n, interval and conditions."""
    evaluation = read_set(data)
    options = with_settings(MemoryOptions(), settings)
    with kept_folder(home) as folder:
        homes = Homes(folder, evaluation, embeddings, say)
        ours, identity = scored_search(homes, evaluation, options, say=say)
        systems = {"zomem": ours, "plain words": _scored_plain(evaluation)}
        if identity is not None:
            by_meaning = with_settings(options, MEANING_ONLY)
            systems["meaning alone"] = scored_search(homes, evaluation, by_meaning, say=say, name="meaning alone")[0]
        table = _ablation(homes, evaluation, options, ours, say) if ablate else None
    result = {
        "suite": "recall",
        "set": evaluation.name,
        "unit": evaluation.unit,
        "haystacks": len(evaluation.haystacks),
        "texts": sum(len(each.entries) for each in evaluation.haystacks),
        "questions": evaluation.questions,
        "headline_categories": list(evaluation.headline),
        "systems": {name: _figures(each, evaluation) for name, each in systems.items()},
        "zomem_minus": _differences(systems, evaluation),
        "search_ms": latency(ours.seconds),
        "conditions": conditions(embedder=identity, options=options, mrr=f"over the first {_DEEPEST}"),
    }
    return result if table is None else {**result, "ablation": table}


def scored_search(
    homes: Homes, evaluation: EvaluationSet, options: MemoryOptions, *, say: Say, name: str = "search"
) -> tuple[Scored, str | None]:
    """Ask every question through `Memory.search`; return the scores and the embedder's identity."""
    scored, identity = Scored.empty(), None
    for haystack in evaluation.haystacks:
        with homes.open(haystack, options) as memory:
            identity = memory.embedder.identity if memory.embedder is not None else None
            scored.add(haystack, ranking(memory, haystack, sessions=evaluation.unit == "session"))
        say(f"{name}: {haystack.name}, {len(haystack.questions)} questions")
    return scored, identity


def ranking(memory: Memory, haystack: Haystack, *, sessions: bool) -> Rank:
    """Return the function that ranks units for a question: by their first hit, best first."""
    scope = Scope(persona=haystack.name)

    def rank(question: Asked) -> list[str]:
        hits = memory.search(question.text, scope=scope, limit=_HITS_A_SESSION if sessions else _DEEPEST)
        return list(dict.fromkeys(map(unit_of, hits)))[:_DEEPEST]

    return rank


def _scored_plain(evaluation: EvaluationSet) -> Scored:
    scored = Scored.empty()
    for haystack in evaluation.haystacks:
        plain = PlainWords(haystack.entries)
        scored.add(haystack, lambda question, plain=plain: plain.best(question.text, limit=_DEEPEST))  # type: ignore[misc]
    return scored


def _figures(scored: Scored, evaluation: EvaluationSet) -> dict[str, Any]:
    categories = {"headline": evaluation.headline} | {name: (name,) for name in sorted(set(scored.categories))}
    return {
        label: {measure: mean(*scored.of(measure, names)) for measure in MEASURES}
        for label, names in categories.items()
    }


def _differences(systems: Mapping[str, Scored], evaluation: EvaluationSet) -> dict[str, Any]:
    ours = systems["zomem"]
    return {
        name: {measure: _paired(ours, other, measure, evaluation) for measure in ("recall@5", "recall@10", "all@10")}
        for name, other in systems.items()
        if other is not ours
    }


def _paired(one: Scored, other: Scored, measure: str, evaluation: EvaluationSet) -> dict[str, Any]:
    values, groups = one.of(measure, evaluation.headline)
    return difference(values, other.of(measure, evaluation.headline)[0], groups)


def _ablation(
    homes: Homes, evaluation: EvaluationSet, options: MemoryOptions, ours: Scored, say: Say
) -> dict[str, Any]:
    """Take one ingredient away at a time: what is left, and how much it lost (paired)."""
    table: dict[str, Any] = {}
    for name, settings in INGREDIENTS.items():
        varied, _identity = scored_search(homes, evaluation, with_settings(options, settings), say=say, name=name)
        table[name] = {
            "settings": list(settings),
            **{
                measure: mean(*varied.of(measure, evaluation.headline))
                for measure in ("recall@5", "recall@10", "all@5", "mrr")
            },
            "recall@10_minus_whole": _paired(varied, ours, "recall@10", evaluation),
            "all@5_minus_whole": _paired(varied, ours, "all@5", evaluation),
        }
    return table
