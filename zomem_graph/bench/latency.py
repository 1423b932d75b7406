"""How long things take on a store of n made-up turns, beside the bare parts on the same texts and vectors."""

import gc
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from zomem_graph.bench.bare import BareParts
from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.bench.processes import python
from zomem_graph.bench.scoring import latency
from zomem_graph.bench.synthetic import Chat, ProjectionEmbedder, Said, chat
from zomem_graph.bench.variants import with_settings
from zomem_graph.memory import Memory
from zomem_graph.models import resolve_embedder
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.scope import Scope
from zomem_graph.settings import Settings

__all__ = ["run"]

_SCOPE = Scope(persona="bench")
_LIMIT = 10
_REMEMBERED = 100
_UNSURE = 100
_NEEDS_NONE = (
    "hello", "hi there", "thanks a lot!", "ok", "good morning", "thank you so much", "great, thanks", "bye",
    "hallo", "danke", "gracias", "你好",
)  # fmt: skip


def run(
    n: int = 10_000,
    *,
    questions: int = 200,
    embeddings: str | None = None,
    settings: Sequence[str] = (),
    say: Say = lambda _line: None,
) -> dict[str, Any]:
    """Fill a store with n turns and time search, recall, remember and bulk writes; needs no data.

    `embeddings` names the embedder whose time an unseen message costs; its vectors are not used.
    """
    options = with_settings(MemoryOptions(), settings)
    made = chat(n, questions)
    with kept_folder(None) as folder:
        pace, _notes = resolve_embedder(embeddings, Settings.load(folder / "pace"))
        filled = _fill(folder / "turns", made, options, say)
        say("searching, in turn with the bare parts")
        searched = _search(folder, made, options)
        say("recall and remember")
        recalled = _recall(folder / "turns", made, options, pace)
        written = _write(folder, options, pace, say, facts=n)
        cold = _cold(folder / "turns", made.questions[0])
        disk = _disk(folder / "turns", n)
    return {
        "suite": "latency",
        "n": n,
        "search": searched,
        "recall": recalled,
        "write": {**filled, **written},
        "cold_process": cold,
        "disk": disk,
        "conditions": conditions(
            embedder=f"{ProjectionEmbedder.identity}, paced by {pace.identity if pace else 'none'}",
            options=options,
        ),
    }


def _fill(home: Path, made: Chat, options: MemoryOptions, say: Say) -> dict[str, Any]:
    turns = sum(map(len, made.sessions))
    say(f"storing {turns} turns")
    with Memory.open(home, embeddings=ProjectionEmbedder(), options=options) as memory:
        began = perf_counter()
        for number, session in enumerate(made.sessions):
            memory.observe([_message(said) for said in session], scope=_SCOPE, session=f"session {number}")
        stored = perf_counter()
        memory.flush()
        ready = perf_counter()
    return {
        "turns_a_second_stored": round(turns / (stored - began)),
        "turns_a_second_embedded_and_indexed": round(turns / (ready - began)),
    }


def _search(folder: Path, made: Chat, options: MemoryOptions) -> dict[str, Any]:
    """Time search with and without the hop and the bare parts, in turn, after one untimed round of each."""
    embedder = ProjectionEmbedder()
    texts = [f"{said.speaker}: {said.text}" for session in made.sessions for said in session]
    vectors = {question: embedder.embed_query(question) for question in made.questions}
    bare = BareParts(folder / "bare", made.sessions, embedder.embed_documents(texts))
    pool = options.retrieve.pool
    with Memory.open(folder / "turns", embeddings=embedder, options=options) as memory:
        sides: list[Callable[[str], Any]] = [
            lambda question: memory.search(question, scope=_SCOPE, limit=_LIMIT),
            lambda question: memory.search(question, scope=_SCOPE, limit=_LIMIT, graph=False),
            lambda question: bare.search(question, vectors[question], pool=pool, limit=_LIMIT),
        ]
        whole, without, theirs = _in_turn(sides, made.questions)
    bare.close()
    return {
        "whole": _beside(whole, theirs),
        "graph_off": _beside(without, theirs),
        "bare_parts": {**latency(theirs.wall), "cpu": latency(theirs.cpu)},
        "limit": _LIMIT,
        "pool": pool,
        "query_vectors": "ready",
    }


def _beside(ours: "_Times", theirs: "_Times") -> dict[str, Any]:
    return {
        **latency(ours.wall),
        "cpu": latency(ours.cpu),
        "ratio_p50": _ratio(ours.wall, theirs.wall, 50),
        "ratio_p95": _ratio(ours.wall, theirs.wall, 95),
        "cpu_ratio_p50": _ratio(ours.cpu, theirs.cpu, 50),
        "cpu_ratio_p95": _ratio(ours.cpu, theirs.cpu, 95),
    }


@dataclass(slots=True)
class _Times:
    """Seconds of each call: on the clock, and of the processor (which other processes do not stretch)."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, call: Callable[[], Any]) -> None:
        """Make one call and keep what it took."""
        cpu, wall = process_time(), perf_counter()
        call()
        self.wall.append(perf_counter() - wall)
        self.cpu.append(process_time() - cpu)


def _ratio(ours: Sequence[float], theirs: Sequence[float], percentile: int) -> float:
    return round(float(np.percentile(ours, percentile) / np.percentile(theirs, percentile)), 3)


def _in_turn(sides: Sequence[Callable[[str], Any]], questions: Sequence[str]) -> list[_Times]:
    times = [_Times() for _ in sides]
    for question in questions:
        for side in sides:
            side(question)
    gc.collect()
    for number, question in enumerate(questions):
        for place in range(len(sides)):  # each side is the first one equally often
            turn = (place + number) % len(sides)
            times[turn].add(partial(sides[turn], question))
    return times


def _recall(home: Path, made: Chat, options: MemoryOptions, pace: Embedder | None) -> dict[str, Any]:
    """Time recall of messages that words turn away, and of unseen ones about which words say nothing."""
    unsure = [" ".join(question.split()[5:]).rstrip("?") for question in chat(_UNSURE, _UNSURE, seed=2).questions]
    with Memory.open(home, embeddings=ProjectionEmbedder(pace=pace), options=options) as memory:
        memory.recall("What did we say about the garden?", scope=_SCOPE)
        skipped, methods = _recalled(memory, list(_NEEDS_NONE) * 10)
        looked, ways = _recalled(memory, unsure)
        sure, others = _recalled(memory, made.questions[:_UNSURE])
    return {
        "words_say_skip": {**latency(skipped), "decisions": methods},
        "uncertain_unseen_message": {**latency(looked), "decisions": ways},
        "question_seen_before": {**latency(sure), "decisions": others},
    }


def _recalled(memory: Memory, messages: Sequence[str]) -> tuple[list[float], dict[str, int]]:
    seconds: list[float] = []
    ways: Counter[str] = Counter()
    for message in messages:
        began = perf_counter()
        answer = memory.recall(message, scope=_SCOPE)
        seconds.append(perf_counter() - began)
        ways[f"{answer.decision} by {answer.method}"] += 1
    return seconds, dict(ways)


def _write(folder: Path, options: MemoryOptions, pace: Embedder | None, say: Say, *, facts: int) -> dict[str, Any]:
    """Time single facts, with a vector that costs nothing and with the real embedder, and many at once."""
    with Memory.open(folder / "turns", embeddings=ProjectionEmbedder(), options=options) as memory:
        single = _remember(memory)
    result: dict[str, Any] = {"remember_vector_ready": latency(single)}
    if pace is not None:
        with Memory.open(folder / "single", embeddings=pace, options=options) as memory:
            memory.remember("warm", "up", "now")
            result[f"remember_with_{pace.identity}"] = latency(_remember(memory))
    say(f"storing {facts} facts at once")
    with Memory.open(folder / "facts", embeddings=ProjectionEmbedder(), options=options) as memory:
        began = perf_counter()
        memory.remember_many(_fact(said, number) for number, said in enumerate(_all(chat(facts, 1, seed=3))))
        stored = perf_counter()
        memory.flush()
        ready = perf_counter()
    result["bulk_facts"] = facts
    result["bulk_facts_a_second_stored"] = round(facts / (stored - began))
    result["bulk_facts_a_second_embedded_and_indexed"] = round(facts / (ready - began))
    return result


def _remember(memory: Memory) -> list[float]:
    return [
        _timed(partial(memory.remember, f"thing {number}", "said", said.text))
        for number, said in enumerate(_all(chat(_REMEMBERED, 1, seed=4)))
    ]


def _cold(home: Path, question: str) -> dict[str, Any]:
    """Open the store and ask in a new process; return milliseconds and resident memory."""
    said: dict[str, Any] = json.loads(python(["-m", "zomem_graph.bench.footprint", str(home), question]))
    return said


def _disk(home: Path, n: int) -> dict[str, Any]:
    sizes: Counter[str] = Counter()
    for path in home.rglob("*"):
        if path.is_file():
            part = path.relative_to(home).parts[0]
            sizes["chroma" if part == "chroma" else "database"] += path.stat().st_size
    total = sum(sizes.values())
    return {
        "mib": round(total / 2**20, 1),
        "bytes_an_item": round(total / n),
        **{f"{name}_mib": round(size / 2**20, 1) for name, size in sorted(sizes.items())},
    }


def _message(said: Said) -> dict[str, Any]:
    return {"role": "user", "content": said.text, "name": said.speaker, "at": said.at}


def _fact(said: Said, number: int) -> dict[str, Any]:
    return {"entity": f"{said.speaker} {number}", "key": "said", "value": said.text, "persona": "bench"}


def _all(made: Chat) -> list[Said]:
    return [said for session in made.sessions for said in session]


def _timed(call: Callable[[], Any]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began
