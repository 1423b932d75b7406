"""How good the gate is: follow-ups, going on with past work, needing memory at all, and abstention.

Needing memory is judged through `Memory.recall` on the conversations of LoCoMo: their own questions must bring
something, questions of *other* conversations with the names swapped in, chit-chat, commands and general
knowledge must not. First-person questions of LongMemEval must at least be looked for.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Homes, Say, kept_folder
from zomem_graph.bench.sets import EvaluationSet, Haystack, read_set, unanswerable
from zomem_graph.bench.variants import with_settings
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.rules.followup import is_followup
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.gate import decide_by_words

__all__ = ["run"]

_SWAPPED_PER_PAIR = 25
_SEED = 20_260_101


@dataclass(slots=True)
class _Group:
    """What became of one kind of message: decisions, and the best hit's score where one was looked at."""

    decisions: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        n = self.decisions.total()
        shares = {name: round(count / n, 4) for name, count in self.decisions.most_common()}
        return {"n": n, **shares}


def run(
    data: Path,
    *,
    continuations: Path | None = None,
    home: Path | None = None,
    embeddings: str | None = None,
    settings: Sequence[str] = (),
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Return all figures of the gate. `data` holds locomo, gate_proxy, followup_cast and followup_canard."""
    options = with_settings(MemoryOptions(), settings)
    result: dict[str, Any] = {"suite": "gate"}
    result["follow_up"] = {
        "followup_cast": _followups(_cast(data / "followup_cast" / "turns.jsonl")),
        "followup_canard": _followups(_canard(data / "followup_canard" / "dev.jsonl")),
    }
    if continuations is not None:
        result["continuation"] = _continuations(continuations)
    say("needing memory")
    identity, groups = _needs(data, home, embeddings, options, say)
    result["needs_memory"] = _needs_figures(groups)
    result["abstention"] = {
        "auc_of_best_score": _auc(groups["own"].scores, groups["swapped"].scores),
        "n": [len(groups["own"].scores), len(groups["swapped"].scores)],
    }
    if (data / "longmemeval_mini").is_dir():
        say("abstention in user histories")
        result["abstention_of_histories"] = _histories(data / "longmemeval_mini", home, embeddings, options, say)
    return {**result, "conditions": conditions(embedder=identity, options=options)}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _cast(path: Path) -> Iterator[tuple[str, Sequence[str], bool]]:
    for _topic, turns in groupby(_rows(path), key=lambda row: (row["year"], row["topic"])):
        said: list[str] = []
        for row in turns:
            yield row["utterance"], tuple(said), bool(row["needs_context"])
            said.append(row["utterance"])


def _canard(path: Path) -> Iterator[tuple[str, Sequence[str], bool]]:
    for row in _rows(path):
        yield row["question"], tuple(row["previous"]), bool(row["needs_context"])


def _followups(labelled: Iterator[tuple[str, Sequence[str], bool]]) -> dict[str, Any]:
    """Return balanced accuracy, recall and specificity of `is_followup`."""
    return _binary([(bool(is_followup(message, history)), label) for message, history, label in labelled])


def _continuations(path: Path) -> dict[str, Any]:
    rows = _rows(path)
    judged = [(decide_by_words(row["text"]).continuation, bool(row["label"])) for row in rows]
    return {**_binary(judged), "languages": len({row["language"] for row in rows})}


def _binary(judged: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    true = [said for said, label in judged if label]
    false = [said for said, label in judged if not label]
    recall, specificity = sum(true) / len(true), 1 - sum(false) / len(false)
    return {
        "n": len(judged),
        "accuracy": round(sum(said == label for said, label in judged) / len(judged), 4),
        "balanced_accuracy": round((recall + specificity) / 2, 4),
        "recall": round(recall, 4),
        "specificity": round(specificity, 4),
    }


def _needs(
    data: Path, home: Path | None, embeddings: str | None, options: MemoryOptions, say: Say
) -> tuple[str | None, Mapping[str, _Group]]:
    evaluation = read_set(data / "locomo")
    proxies = _rows(data / "gate_proxy" / "messages.jsonl")
    groups: dict[str, _Group] = {name: _Group() for name in ("own", "swapped")}
    identity = None
    with kept_folder(home) as folder:
        homes = Homes(folder, evaluation, embeddings, say)
        for number, haystack in enumerate(evaluation.haystacks):
            with homes.open(haystack, options) as memory:
                identity = memory.embedder.identity if memory.embedder is not None else None
                _ask(memory, haystack, _own(haystack, evaluation), groups["own"], scored=True)
                _ask(memory, haystack, _swapped(haystack, evaluation), groups["swapped"], scored=True)
                for row in proxies[number :: len(evaluation.haystacks)]:
                    group = groups.setdefault(row["label"], _Group())
                    _ask(memory, haystack, [row["text"]], group, scored=False)
            say(f"gate: {haystack.name}")
    return identity, groups


def _histories(
    folder: Path, home: Path | None, embeddings: str | None, options: MemoryOptions, say: Say
) -> dict[str, Any]:
    """Return how well the best score tells a user's answerable questions from those without an answer."""
    answerable = read_set(folder)
    scores: dict[bool, list[float]] = {True: [], False: []}
    told: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    with kept_folder(home) as kept:
        homes = Homes(kept, answerable, embeddings, say)
        for haystack in (*answerable.haystacks, *unanswerable(folder)):
            scope = Scope(persona=haystack.name)
            with homes.open(haystack, options) as memory:
                for question in haystack.questions:
                    known = bool(question.gold)
                    hits = memory.search(question.text, scope=scope, limit=1)
                    scores[known].append(hits[0].score if hits else 0.0)
                    told[known][memory.recall(question.text, scope=scope).decision] += 1
    return {
        "auc_of_best_score": _auc(scores[True], scores[False]),
        "n": [len(scores[True]), len(scores[False])],
        "decisions": {"answerable": dict(told[True]), "without an answer": dict(told[False])},
    }


def _ask(memory: Memory, haystack: Haystack, messages: Sequence[str], group: _Group, *, scored: bool) -> None:
    scope = Scope(persona=haystack.name)
    for message in messages:
        group.decisions[memory.recall(message, scope=scope).decision] += 1
        if scored:
            hits = memory.search(message, scope=scope, limit=1)
            group.scores.append(hits[0].score if hits else 0.0)


def _own(haystack: Haystack, evaluation: EvaluationSet) -> list[str]:
    return [question.text for question in haystack.questions if question.category in evaluation.headline]


def _swapped(haystack: Haystack, evaluation: EvaluationSet) -> list[str]:
    """Return questions of the other conversations, with this one's names in place of theirs."""
    chance = random.Random(f"{_SEED}{haystack.name}")
    here = _names(haystack)
    found: list[str] = []
    for other in evaluation.haystacks:
        if other.name != haystack.name:
            questions = _own(other, evaluation)
            for question in chance.sample(questions, min(_SWAPPED_PER_PAIR, len(questions))):
                found.append(_renamed(question, dict(zip(_names(other), here, strict=False))))
    return found


def _names(haystack: Haystack) -> list[str]:
    return sorted({entry.speaker for entry in haystack.entries if entry.speaker})


def _renamed(text: str, names: Mapping[str, str]) -> str:
    pattern = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    return pattern.sub(lambda found: names[found[0]], text) if names else text


def _needs_figures(groups: Mapping[str, _Group]) -> dict[str, Any]:
    """Return misses of what needs memory and the share of the rest that nothing was injected for."""
    own, memory = groups["own"].decisions, groups.get("memory", _Group()).decisions
    missed = own.total() - own["inject"] + memory["skip"]
    rest = [groups[name].decisions for name in ("swapped", "small_talk", "no_memory") if name in groups]
    quiet = sum(one.total() - one["inject"] for one in rest)
    return {
        "misses": round(missed / max(1, own.total() + memory.total()), 4),
        "filtered": round(quiet / max(1, sum(one.total() for one in rest)), 4),
        "by_group": {name: group.figures() for name, group in groups.items()},
    }


def _auc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Return how often a positive scores above a negative; ties count half."""
    if not positive or not negative:
        return None
    high, low = np.asarray(positive)[:, None], np.asarray(negative)[None, :]
    return round(float((high > low).mean() + 0.5 * (high == low).mean()), 4)
