"""Whether a message that leans on its conversation finds its answer: alone, with its history, rewritten by hand.

The set is CANARD. Each answer of five words or more is one text in memory, without the title of its page;
the history is what the dialogue has said so far, the title unknown. Answers given before are left out.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder, unit_of
from zomem_graph.bench.scoring import difference, mean, score_ranking
from zomem_graph.bench.sets import Asked, Entry, EvaluationSet, Haystack
from zomem_graph.bench.variants import with_settings
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput

__all__ = ["run"]

_NO_ANSWER = "I don't know"
_WORDS = 5  # of an answer that says something without its question
_DEPTH = 10
_MEASURES = ("recall@5", "recall@10", "mrr")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """A message of a dialogue, what was said before it, and the text that answers it."""

    dialogue: str
    message: str
    rewrite: str
    history: tuple[str, ...]
    answer: str
    before: frozenset[str]
    leans: bool


def run(
    data: Path,
    *,
    home: Path | None = None,
    embeddings: "str | Embedder | None" = None,
    settings: Sequence[str] = (),
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Return recall of the answer for each way to ask, for messages that lean on their talk and those that do not."""
    file = data / "dev.jsonl"
    if not file.is_file():
        raise InvalidInput(f"{file} is missing: follow-ups are measured on CANARD (dev.jsonl).")
    options = with_settings(MemoryOptions(), settings)
    answers, turns = _read(file)
    asked = tuple(Asked(text=turn.message, gold=(turn.answer,), category="follow-up") for turn in turns)
    entries = tuple(Entry(id=name, unit=name, text=text) for name, text in answers.items())
    haystack = Haystack(name="answers", entries=entries, questions=asked)
    evaluation = EvaluationSet(name="followup_canard", unit="passage", haystacks=(haystack,), headline=("follow-up",))
    with kept_folder(home) as folder:
        homes = Homes(folder, evaluation, embeddings, say)
        with homes.open(haystack, options) as memory:
            identity = memory.embedder.identity if memory.embedder is not None else None
            found = {way: _scored(memory, haystack.name, turns, ask, way, say) for way, ask in _WAYS.items()}
    kinds = {"leans on the talk": True, "stands alone": False}
    return {
        "suite": "followups",
        "answers": len(answers),
        "ways": {kind: _figures(found, turns, leans=leans) for kind, leans in kinds.items()},
        "conditions": conditions(embedder=identity, options=options),
    }


# How each way asks: what is searched for, and the history that goes with it.
_WAYS: Mapping[str, Callable[[_Turn], tuple[str, Sequence[str]]]] = {
    "alone": lambda turn: (turn.message, ()),
    "with history": lambda turn: (turn.message, turn.history),
    "rewritten by hand": lambda turn: (turn.rewrite, ()),
}


def _scored(
    memory: Memory,
    persona: str,
    turns: Sequence[_Turn],
    ask: Callable[[_Turn], tuple[str, Sequence[str]]],
    way: str,
    say: Say,
) -> list[dict[str, float]]:
    scores = []
    for turn in turns:
        text, said = ask(turn)
        history = [{"role": ("user", "assistant")[place % 2], "content": part} for place, part in enumerate(said)]
        limit = _DEPTH + len(turn.before)
        hits = memory.search(text, history=history, scope=Scope(persona=persona), limit=limit)
        ranked = [unit for hit in hits if (unit := unit_of(hit)) not in turn.before]
        scores.append(score_ranking(ranked[:_DEPTH], [turn.answer]))
    say(f"{way}: {len(turns)} messages")
    return scores


def _figures(
    found: Mapping[str, Sequence[Mapping[str, float]]], turns: Sequence[_Turn], *, leans: bool
) -> dict[str, Any]:
    kept = [number for number, turn in enumerate(turns) if turn.leans == leans]
    groups = [turns[number].dialogue for number in kept]
    alone = {measure: [found["alone"][number][measure] for number in kept] for measure in _MEASURES}
    table = {}
    for way, scores in found.items():
        values = {measure: [scores[number][measure] for number in kept] for measure in _MEASURES}
        table[way] = {measure: mean(values[measure], groups) for measure in _MEASURES}
        table[way]["recall@10_minus_alone"] = difference(values["recall@10"], alone["recall@10"], groups)
    return table


def _read(file: Path) -> tuple[dict[str, str], list[_Turn]]:
    """Return the answers by name, and the messages after the first of each dialogue that one of them answers."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    rows.sort(key=lambda row: (row["dialog"], row["turn"]))
    answers: dict[str, str] = {}
    turns: list[_Turn] = []
    for name, talk in groupby(rows, key=lambda row: row["dialog"]):
        turns += _turns(str(name), list(talk), answers)
    return answers, turns


def _turns(dialogue: str, talk: Sequence[Mapping[str, Any]], answers: dict[str, str]) -> Iterator[_Turn]:
    said: list[str] = []
    before: set[str] = set()
    for row, after in pairwise(talk):
        said += row["previous"] if said[-1:] != row["previous"][:1] else row["previous"][1:]
        answer = after["previous"][1] if after["turn"] == row["turn"] + 1 else _NO_ANSWER
        telling = not answer.startswith(_NO_ANSWER) and len(answer.split()) >= _WORDS
        unit = f"{dialogue}:{row['turn']}"
        if telling:
            answers[unit] = answer
        if telling and said:
            yield _Turn(
                dialogue=dialogue,
                message=row["question"],
                rewrite=row["rewrite"],
                history=tuple(said),
                answer=unit,
                before=frozenset(before),
                leans=bool(row["needs_context"]),
            )
        if telling:
            before.add(unit)
        said.append(row["question"])
