"""What each installed embedder is worth by meaning alone, and what a text costs (spec F89)."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder
from zomem_graph.bench.recall import scored_search
from zomem_graph.bench.scoring import latency, mean
from zomem_graph.bench.sets import EvaluationSet, read_set
from zomem_graph.bench.variants import MEANING_ONLY, with_settings
from zomem_graph.models import resolve_embedder
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import ModelError, ZomemError

__all__ = ["KNOWN", "run"]

KNOWN = ("local:e5-small", "local:minilm", "chroma:minilm", "local:use-m3")
_MEASURES = ("recall@5", "recall@10", "mrr", "ndcg@10")
_TIMED = 64


def run(
    data: Path,
    *,
    names: Sequence[str] = KNOWN,
    home: Path | None = None,
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Measure every embedder that can be had on one evaluation set; the others are named with the reason."""
    evaluation = read_set(data)
    options = with_settings(MemoryOptions(), MEANING_ONLY)
    measured: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    with kept_folder(home) as folder:
        for name in names:
            say(f"embedder {name}")
            try:
                embedder, _notes = resolve_embedder(name, Settings.load(folder / "models"))
                if embedder is None:
                    raise ModelError(f"{name} is no embedder.")
                measured[name] = _measured(embedder, name, folder, evaluation, options, say)
            except ZomemError as error:
                skipped[name] = str(error)
    return {
        "suite": "embedders",
        "set": evaluation.name,
        "unit": evaluation.unit,
        "questions": evaluation.questions,
        "embedders": measured,
        "skipped": skipped,
        "conditions": conditions(embedder="each in its turn", options=options),
    }


def _measured(
    embedder: Embedder,
    name: str,
    folder: Path,
    evaluation: EvaluationSet,
    options: MemoryOptions,
    say: Say,
) -> dict[str, Any]:
    times = _times(embedder, evaluation)
    homes = Homes(folder, evaluation, name, say)
    scored, _identity = scored_search(homes, evaluation, options, say=say, name=name)
    figures = {measure: mean(*scored.of(measure, evaluation.headline)) for measure in _MEASURES}
    return {"width": embedder.width, **times, **figures}


def _times(embedder: Embedder, evaluation: EvaluationSet) -> dict[str, Any]:
    """Return milliseconds a stored text (in one batch) and a question (one by one), neither seen before."""
    texts = [entry.text for haystack in evaluation.haystacks for entry in haystack.entries][:_TIMED]
    asked = [question.text for haystack in evaluation.haystacks for question in haystack.questions][:_TIMED]
    embedder.embed_query("a first text loads the model")
    began = perf_counter()
    embedder.embed_documents(texts)
    stored = (perf_counter() - began) / len(texts)
    seconds = []
    for question in asked:
        began = perf_counter()
        embedder.embed_query(question)
        seconds.append(perf_counter() - began)
    return {"ms_a_text": round(1_000 * stored, 2), "question": latency(seconds)}
