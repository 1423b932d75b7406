"""What an imagined answer does to recall: a model's where there is one, and useless ones on purpose."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder, unit_of
from zomem_graph.bench.recall import Scored
from zomem_graph.bench.scoring import difference, mean
from zomem_graph.bench.sets import Asked, EvaluationSet, Haystack, read_set
from zomem_graph.bench.variants import with_settings
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.scope import Scope

__all__ = ["run"]

_DEEPEST = 20
_HITS_A_SESSION = 200
_SEED = 20_260_101
_WORDS = 40  # of a made-up answer
_WITHOUT = "without"
_MODEL = "the model's answer"

Answer = Callable[[Haystack, Asked], str | bool]


def run(
    data: Path,
    *,
    home: Path | None = None,
    embeddings: "str | Embedder | None" = None,
    settings: Sequence[str] = (),
    questions: int | None = None,
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Ask without, with useless answers, and with the chat model's where there is one.

    `questions` draws so many of the headline ones, for slow models.
    """
    evaluation = _drawn(read_set(data), questions)
    options = with_settings(MemoryOptions(), settings)
    with kept_folder(home) as folder:
        homes = Homes(folder, evaluation, embeddings, say)
        with homes.open(evaluation.haystacks[0], options) as memory:
            identity = memory.embedder.identity if memory.embedder is not None else None
            model = memory.chat("hyde")
        ways: dict[str, Answer] = {
            _WITHOUT: lambda _haystack, _question: False,
            "random words": _random_words,
            "another text of the store": _another_text,
        }
        if model is not None:
            ways[_MODEL] = lambda _haystack, _question: True
        scored = {name: _scored(homes, evaluation, options, answer, name, say) for name, answer in ways.items()}
    base, groups = scored[_WITHOUT].of("recall@10", evaluation.headline)
    return {
        "suite": "hyde",
        "set": evaluation.name,
        "chat_model": None if model is None else model.identity,
        "ways": {
            name: {
                "recall@10": mean(*one.of("recall@10", evaluation.headline)),
                "minus_without": difference(one.of("recall@10", evaluation.headline)[0], base, groups),
            }
            for name, one in scored.items()
        },
        "conditions": conditions(embedder=identity, options=options),
    }


def _drawn(evaluation: EvaluationSet, questions: int | None) -> EvaluationSet:
    """Return the set with the headline questions only, at most so many, drawn by a seed."""
    every = [
        (haystack.name, question)
        for haystack in evaluation.haystacks
        for question in haystack.questions
        if question.category in evaluation.headline
    ]
    if questions is not None and questions < len(every):
        every = random.Random(_SEED).sample(every, questions)
    asked = {
        haystack.name: tuple(q for name, q in every if name == haystack.name) for haystack in evaluation.haystacks
    }
    kept = tuple(replace(one, questions=asked[one.name]) for one in evaluation.haystacks if asked[one.name])
    return replace(evaluation, haystacks=kept)


def _scored(
    homes: Homes, evaluation: EvaluationSet, options: MemoryOptions, answer: Answer, name: str, say: Say
) -> Scored:
    found = Scored.empty()
    for haystack in evaluation.haystacks:
        with homes.open(haystack, options) as memory:
            found.add(haystack, _ranked(memory, haystack, answer, sessions=evaluation.unit == "session"))
        say(f"{name}: {haystack.name}")
    return found


def _ranked(
    memory: Memory, haystack: Haystack, answer: Answer, *, sessions: bool
) -> Callable[[Asked], Sequence[str]]:
    scope = Scope(persona=haystack.name)
    limit = _HITS_A_SESSION if sessions else _DEEPEST

    def rank(question: Asked) -> list[str]:
        hits = memory.search(question.text, scope=scope, limit=limit, hyde=answer(haystack, question))
        return list(dict.fromkeys(map(unit_of, hits)))[:_DEEPEST]

    return rank


def _random_words(haystack: Haystack, question: Asked) -> str:
    """Return words of the store in no order: what a model says that has lost its thread."""
    chance = random.Random(f"{_SEED}{question.text}")
    texts = chance.sample(haystack.entries, min(_WORDS, len(haystack.entries)))
    return " ".join(chance.choice(entry.text.split() or ["…"]) for entry in texts)


def _another_text(haystack: Haystack, question: Asked) -> str:
    """Return a text that has nothing to do with the question, however well it is written."""
    chance = random.Random(f"{_SEED}{question.text}")
    return chance.choice([entry.text for entry in haystack.entries if entry.unit not in question.gold])
