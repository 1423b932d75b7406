"""Memories filled with an evaluation set: one home a haystack, kept between runs where a folder is given.

Turns go in by `observe` with speaker, session and time; passages by `remember_many` as facts without a
key, whose entity is the title and whose text is "title. text".
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zomem_graph.bench.sets import Entry, EvaluationSet, Haystack
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.nodes.ports import Embedder
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Hit

__all__ = ["Homes", "Say", "kept_folder", "unit_of"]

Say = Callable[[str], None]
_MARK = "bench.json"


@contextmanager
def kept_folder(folder: Path | None) -> Iterator[Path]:
    """Lend the folder that is kept, or one that is gone afterwards."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with TemporaryDirectory(prefix="zomem-bench-") as temporary:
        yield Path(temporary)


def unit_of(hit: Hit) -> str:
    """Return the unit a hit counts as, as it was stored with it."""
    return str(hit.metadata["unit"])


class Homes:
    """The homes of one set under one embedder; each is filled once."""

    def __init__(self, folder: Path, data: EvaluationSet, embeddings: "str | Embedder | None", say: Say) -> None:
        entries = [entry for haystack in data.haystacks for entry in haystack.entries]
        given = "-given" if any(entry.mentions for entry in entries) else ""
        given += "-links" if any(entry.ties for entry in entries) else ""
        self._root = folder / f"{data.name}{given}" / _folder_name(embeddings)
        self._embeddings = embeddings
        self._say = say

    @contextmanager
    def open(self, haystack: Haystack, options: MemoryOptions) -> Iterator[Memory]:
        """Lend the haystack's memory with these options, filled and indexed."""
        home = self._root / haystack.name
        self._fill(home, haystack)
        with Memory.open(home, embeddings=self._embeddings, options=options) as memory:
            yield memory

    def filled(self, haystack: Haystack) -> Path:
        """Return the folder of the haystack's memory, filled and indexed; open a copy of it to change anything."""
        home = self._root / haystack.name
        self._fill(home, haystack)
        return home

    def _fill(self, home: Path, haystack: Haystack) -> None:
        mark, digest = home / _MARK, _digest(haystack)
        if mark.is_file() and json.loads(mark.read_text("utf-8")).get("digest") == digest:
            return
        self._say(f"{haystack.name}: storing and embedding {len(haystack.entries)} texts")
        # With the background thread, it and `flush` would embed side by side.
        alone = MemoryOptions(write=WriteOptions(background=False))
        with Memory.open(home, embeddings=self._embeddings, options=alone) as memory:
            store(memory, haystack)
            memory.flush()
        mark.write_text(json.dumps({"digest": digest, "entries": len(haystack.entries)}), "utf-8")


def store(memory: Memory, haystack: Haystack) -> None:
    """Put every entry of a haystack into a memory, under the persona of its name."""
    turns = [entry for entry in haystack.entries if entry.session is not None]
    for session, said in groupby(turns, key=lambda entry: entry.session):
        memory.observe([_message(entry) for entry in said], scope=Scope(persona=haystack.name), session=session)
    facts = [entry for entry in haystack.entries if entry.session is None]
    stored = memory.remember_many(_fact(entry, haystack.name) for entry in facts)
    ids = {entry.id: fact.id for entry, fact in zip(facts, stored, strict=True)}
    ties = [(entry.id, other) for entry in facts for other in entry.ties]
    memory.graph.link_many({"source_id": ids[one], "target_id": ids[other]} for one, other in ties)


def _message(entry: Entry) -> dict[str, Any]:
    return {
        "role": entry.role,
        "content": entry.text,
        "name": entry.speaker,
        "at": entry.at,
        "id": entry.id,
        "metadata": {"unit": entry.unit},
    }


def _fact(entry: Entry, persona: str) -> dict[str, Any]:
    return {
        "entity": entry.title or f"note {entry.id}",
        "key": None,
        "value": entry.text,
        "text": f"{entry.title}. {entry.text}" if entry.title else entry.text,
        "persona": persona,
        "source": "bench",
        "metadata": {"unit": entry.unit},
        "mentions": entry.mentions,
        "allow_secret": True,  # an encyclopedia holds things that look like one
    }


def _digest(haystack: Haystack) -> str:
    parts: Sequence[str] = [f"{entry!r}{entry.mentions or ''}{entry.ties or ''}" for entry in haystack.entries]
    return blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _folder_name(embeddings: "str | Embedder | None") -> str:
    name = embeddings if isinstance(embeddings, str) else getattr(embeddings, "identity", "auto")
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
