"""Whether what is erased is gone: from every answer, from every byte of the home, and for good."""

import random
import sqlite3
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from zomem_graph.bench.homes import Say
from zomem_graph.bench.made_up import ANN, COLOURS, KEYS, NAMES, PLACES, STREETS, a_value, made_up_memory
from zomem_graph.bench.marks import judged
from zomem_graph.memory import Memory

__all__ = ["erase"]

_ONE_BY_ONE = 3  # things of each kind that are forgotten in a call of their own


def erase(*, items: int = 5_000, erased: int = 200, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Forget some of many items, look for them in every byte of the home, then import them again."""
    chance = random.Random(seed)
    began = perf_counter()
    with TemporaryDirectory(prefix="zomem-bench-") as folder, made_up_memory(Path(folder)) as (memory, clock):
        home = memory.stores.home.root
        marked = [_marked(number, chance) for number in range(erased)]
        ids = _fill(memory, items, marked, chance)
        with closing(sqlite3.connect(memory.stores.home.database_file)) as old:
            (home / "backups").mkdir(exist_ok=True)
            with closing(sqlite3.connect(home / "backups" / "before.db")) as copy:
                old.backup(copy)
        words = [word for word, _text in marked]
        before = len(_found(home, words))
        say(f"{items} items are stored; {before} of {erased} marks are found in the files")
        seconds, clean = _forget(memory, marked, ids)
        traces = len(_found(home, words))
        returned = _returned(memory, marked)
        clock.advance(days=1)
        _bring_again(memory, marked)
        figures = {
            "items": items,
            "erased": erased,
            "found_before": before,
            "traces": traces,
            "returned": returned,
            "back_after_import": _returned(memory, marked) + len(_found(home, words)),
            "reports_clean": clean,
            "erasing_seconds": round(seconds, 1),
            "kept": memory.stats()["items"].get("fact:current", 0) + memory.stats()["items"].get("turn:current", 0),
            "seconds": round(perf_counter() - began, 1),
        }
    marks = {"found_before": erased, "traces": 0, "returned": 0, "back_after_import": 0, "reports_clean": True}
    return judged("erase", n=erased, seed=seed, figures=figures, marks=marks)


def _marked(number: int, chance: random.Random) -> tuple[str, str]:
    """Return a word that stands nowhere else, and a sentence with it."""
    word = f"qz{chance.randrange(16**6):06x}x{number}"
    return (
        word,
        f"{chance.choice(NAMES)} keeps {word} in the {chance.choice(PLACES)} under {chance.choice(STREETS)}",
    )


def _fill(memory: Memory, items: int, marked: Sequence[tuple[str, str]], chance: random.Random) -> list[str]:
    """Store facts and turns, marked ones among them; return the ids of the marked facts."""
    plain = items - len(marked)
    facts = [
        {
            "entity": f"{chance.choice(COLOURS)} {chance.choice(PLACES)} {number}",
            "key": chance.choice(KEYS)[0],
            "value": a_value(chance.choice(KEYS)[1], chance),
            "persona": "ann",
        }
        for number in range(plain // 2)
    ]
    memory.remember_many(facts)
    half = len(marked) // 2
    kept = memory.remember_many(
        {"entity": f"thing {word}", "key": "kept", "value": text, "persona": "ann", "source": "import:bench"}
        for word, text in marked[:half]
    )
    talk = [
        f"{chance.choice(NAMES)} spoke of the {chance.choice(PLACES)} {number}"
        for number in range(plain - len(facts))
    ]
    talk += [text for _word, text in marked[half:]]
    chance.shuffle(talk)
    for start in range(0, len(talk), 50):
        said = [{"role": "user", "content": text} for text in talk[start : start + 50]]
        memory.observe(said, scope=ANN, session=f"talk {start}")
    memory.flush()
    for word, _text in marked[::10]:
        memory.recall(f"do you remember where {word} is kept?", scope=ANN)
    return [fact.id for fact in kept]


def _forget(memory: Memory, marked: Sequence[tuple[str, str]], ids: Sequence[str]) -> tuple[float, bool]:
    """Forget by ids, by entity and by a piece of text; return how long it took and whether all was clean."""
    began = perf_counter()
    by_id = ids[:-_ONE_BY_ONE]
    reports = [memory.forget(persona="ann", id=by_id)]
    for word, _text in marked[len(by_id) : len(ids)]:
        reports.append(memory.forget(persona="ann", entity=f"thing {word}"))
    with memory.stores.read() as unit:
        turns = unit.erasure.everything_of("ann").turns.values()
    words = {word for word, _text in marked[len(ids) :]}
    by_text = [turn.id for turn in turns if words & set(turn.content.split())]
    reports.append(memory.forget(persona="ann", id=by_text[:-_ONE_BY_ONE]))
    for word in sorted(
        words & {word for turn in turns if turn.id in by_text[-_ONE_BY_ONE:] for word in turn.content.split()}
    ):
        reports.append(memory.forget(persona="ann", matching=word))
    return perf_counter() - began, all(report.clean for report in reports)


def _found(home: Path, words: Sequence[str]) -> set[str]:
    """Return which words stand in any file of a home, as UTF-8 or UTF-16; read with nothing of ours."""
    found: set[str] = set()
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes().lower()
            found.update(word for word in words if word.encode() in data or word.encode("utf-16-le") in data)
    return found


def _returned(memory: Memory, marked: Sequence[tuple[str, str]]) -> int:
    """Return how many marks any way of asking still brings back."""
    back = 0
    for word, text in marked:
        hits = memory.search(f"{word} {text}", scope=ANN, include_superseded=True)
        back += any(word in hit.text for hit in hits)
    return back


def _bring_again(memory: Memory, marked: Sequence[tuple[str, str]]) -> None:
    """Read the same texts again, as an import and as a conversation."""
    half = len(marked) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory.remember_many(
            {"entity": f"thing {word}", "key": "kept", "value": text, "persona": "ann", "source": "import:bench"}
            for word, text in marked[:half]
        )
    said = [{"role": "user", "content": text} for _word, text in marked]
    memory.capture(said, scope=ANN, session="again")
    memory.observe(said, scope=ANN, session="once more")
    memory.flush()
