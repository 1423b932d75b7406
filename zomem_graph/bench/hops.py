"""What hops buy where an answer stands in two or more texts: with, without, and as far as `Memory.hop` goes.

The names that hops follow are found by rule; where a set gives triples, their ends are tried beside them, and links
between the passages that they name.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder, unit_of
from zomem_graph.bench.recall import Rank, Scored, scored_search
from zomem_graph.bench.scoring import difference, mean
from zomem_graph.bench.sets import Asked, EvaluationSet, Haystack, read_set
from zomem_graph.bench.variants import with_settings
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput

__all__ = ["run"]

_WITHOUT = "without hops"
_MEASURES = ("recall@5", "recall@10", "all@5", "all@10")
_DEEPEST = 20


def run(
    data: Path,
    *,
    home: Path | None = None,
    embeddings: "str | Embedder | None" = None,
    settings: Sequence[str] = (),
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Ask the questions of a set of passages by search without and with its hop, and by `Memory.hop`."""
    evaluation = read_set(data)
    if evaluation.unit != "passage":
        raise InvalidInput(f"{data} holds no passages; hops are measured on HotpotQA and MuSiQue.")
    options = with_settings(MemoryOptions(), settings)
    sets = {"own names": evaluation}
    given = read_set(data, triples="mentions")
    if any(entry.mentions for haystack in given.haystacks for entry in haystack.entries):
        sets["given triples"] = given
    tied = read_set(data, triples="links")
    if any(entry.ties for haystack in tied.haystacks for entry in haystack.entries):
        sets["given links"] = tied
    with kept_folder(home) as folder:
        results = {name: _ways(Homes(folder, one, embeddings, say), one, options, say) for name, one in sets.items()}
    base = results["own names"][0][_WITHOUT]
    return {
        "suite": "hops",
        "set": evaluation.name,
        "n": evaluation.questions,
        "ways": {
            name: {way: _figures(scored, base, evaluation) for way, scored in ways.items()}
            for name, (ways, _identity) in results.items()
        },
        "conditions": conditions(embedder=results["own names"][1], options=options),
    }


def _ways(
    homes: Homes, evaluation: EvaluationSet, options: MemoryOptions, say: Say
) -> tuple[dict[str, Scored], str | None]:
    off = with_settings(options, ["hop.seeds=0"])
    without, identity = scored_search(homes, evaluation, off, say=say, name=_WITHOUT)
    within, _identity = scored_search(homes, evaluation, options, say=say, name="search")
    far = Scored.empty()
    for haystack in evaluation.haystacks:
        with homes.open(haystack, options) as memory:
            far.add(haystack, _hopping(memory, haystack))
        say(f"Memory.hop: {haystack.name}")
    return {_WITHOUT: without, "search": within, "Memory.hop": far}, identity


def _hopping(memory: Memory, haystack: Haystack) -> Rank:
    scope = Scope(persona=haystack.name)

    def rank(question: Asked) -> list[str]:
        hits = memory.hop(question.text, scope=scope, limit=_DEEPEST).hits
        return list(dict.fromkeys(map(unit_of, hits)))

    return rank


def _figures(scored: Scored, base: Scored, evaluation: EvaluationSet) -> dict[str, Any]:
    found = {measure: scored.of(measure, evaluation.headline) for measure in _MEASURES}
    lacking = {measure: base.of(measure, evaluation.headline)[0] for measure in _MEASURES}
    return {
        **{measure: mean(*values) for measure, values in found.items()},
        "minus_without_hops": {
            measure: difference(values, lacking[measure], groups) for measure, (values, groups) in found.items()
        },
        "by_hops": {
            category: mean(*scored.of("recall@10", [category])) for category in sorted(set(scored.categories))
        },
    }
