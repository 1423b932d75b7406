"""How fast a vault of made-up notes is imported, what memory that takes, and when its notes are found.

By meaning, a note is looked for through the index, which is approximate and at its weakest with random projections,
as the vectors here are, and by comparing every vector, which tells whether one is missing.

`python -m zomem_graph.bench.imports HOME VAULT WORD…` is the import, in a process of its own; it prints JSON.
"""

import json
import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.footprint import resident_mib
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.bench.processes import python
from zomem_graph.bench.synthetic import ProjectionEmbedder, chat
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions

__all__ = ["main", "run"]

_SECTIONS = 3
_A_FOLDER = 100
_SECONDS_A_NOTE = 0.5  # that a slow machine may take, before it is given up


def run(n: int = 10_000, *, probes: int = 100, say: Say = lambda _line: None) -> dict[str, Any]:
    """Write n notes of three sections, import them, and look for some of them before and after `flush`."""
    with kept_folder(None) as folder:
        say(f"writing {n} notes")
        _write(folder / "vault", n)
        words = [_word(number) for number in range(0, n, max(1, n // probes))][:probes]
        say("importing")
        command = ["-m", "zomem_graph.bench.imports", str(folder / "home"), str(folder / "vault"), *words]
        told = python(command, seconds=600 + n * _SECONDS_A_NOTE)
    return {
        "suite": "import",
        "n": n,
        "probes": len(words),
        **json.loads(told),
        "conditions": conditions(embedder=ProjectionEmbedder.identity, options=MemoryOptions()),
    }


def main(arguments: Sequence[str]) -> dict[str, Any]:
    """Import a vault and return the figures."""
    home, vault, *words = arguments
    options = MemoryOptions(write=WriteOptions(background=False))
    with Memory.open(home, embeddings=ProjectionEmbedder(), options=options) as memory:
        before = resident_mib()
        began = perf_counter()
        report = memory.import_from("obsidian", vault)
        imported = perf_counter()
        by_words = _found(memory, words, "words")
        asked = perf_counter()
        memory.flush()
        flushed = perf_counter()
        by_meaning = _found(memory, words, "meaning")
        memory.options = replace(options, retrieve=RetrieveOptions(exact_below=sys.maxsize))
        by_every_vector = _found(memory, words, "meaning")
        again = memory.import_from("obsidian", vault)
    notes = report.stored
    return {
        "stored": notes,
        "failed": report.failed,
        "facts": report.facts,
        "import_s": round(imported - began, 1),
        "notes_per_second": round(notes / (imported - began), 1),
        "found_by_words_before_flush": by_words,
        "flush_s": round(flushed - asked, 1),
        "found_by_meaning_after_flush": by_meaning,
        "found_by_every_vector": by_every_vector,
        "stored_by_a_second_import": again.stored,
        "resident_mib_before": before,
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024, 1),
    }


def _found(memory: Memory, words: Sequence[str], leg: str) -> int:
    """Return for how many words the note that holds it is the first hit, and that leg has found it."""
    first = [memory.search(f"About {word} here. See note.", kinds=["fact"], limit=1) for word in words]
    return sum(
        bool(hits) and word in hits[0].text and leg in hits[0].found_by
        for word, hits in zip(words, first, strict=True)
    )


def _write(vault: Path, n: int) -> None:
    texts = [said.text for session in chat(n * _SECTIONS, 1).sessions for said in session]
    for number in range(n):
        folder = vault / f"folder {number // _A_FOLDER}"
        folder.mkdir(parents=True, exist_ok=True)
        parts = texts[number * _SECTIONS : (number + 1) * _SECTIONS]
        sections = "\n\n".join(f"## Part {place}\n\n{text}" for place, text in enumerate(parts, start=1))
        link = f"See [[note {max(0, number - 1)}]]."
        head = f"---\ntags: [bench, f{number % 20}]\n---\n# Note {number}\n\nAbout {_word(number)} here. {link}"
        (folder / f"note {number}.md").write_text(f"{head}\n\n{sections}\n", "utf-8")


def _word(number: int) -> str:
    return f"keyword{number}x"


if __name__ == "__main__":
    json.dump(main(sys.argv[1:]), sys.stdout)
