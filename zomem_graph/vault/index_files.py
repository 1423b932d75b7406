"""The semantic index as files: one row of 32-bit floats a fact, and beside it which fact each row is (spec F104).

They are written after pruning, hold active facts only, and can be thrown away: the database has the vectors too.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.rules.vault_lines import fact_id, file_id
from zomem_graph.stores.vault_files import json_line, read_lines, replace_file
from zomem_graph.stores.vault_place import Place
from zomem_graph.vault.activity import ACTIVE
from zomem_graph.vault.ground import Ground

__all__ = ["read_index", "write_index"]


def write_index(ground: Ground, on_file: Callable[[str], None]) -> int:
    """Write the vectors of the active facts, newest text; return how many. Without an embedder both are empty."""
    memory, place = ground.memory, ground.place
    with memory.stores.read() as unit:
        wanted = list(unit.vault.in_band(ACTIVE))
        space = None if memory.embedder is None else memory.embedder.identity
        items = {item.id: item for item in unit.items.find(wanted) if item.embedder == space and item.embedding}
    rows = [items[id_] for id_ in wanted if id_ in items] if space else []
    lines = [
        json_line({"vector": number, "fact": file_id(item.id), "model": space, "text_hash": item.text_hash})
        for number, item in enumerate(rows)
    ]
    on_file(place.index.name)
    replace_file(place.index, b"".join(item.embedding or b"" for item in rows))
    on_file(place.index_lines.name)
    replace_file(place.index_lines, "".join(f"{line}\n" for line in lines))
    return len(rows)


def read_index(place: Place, model: str) -> dict[str, tuple[str, NDArray[np.float32]]]:
    """Return (text hash, vector) by fact id of a model's index; nothing where the two files do not fit each other."""
    lines = [line.said for line in read_lines(place.index_lines) if line.said is not None]
    ours = [line for line in lines if line.get("model") == model and isinstance(line.get("fact"), str)]
    size = _size(place.index)
    if not ours or len(ours) != len(lines) or size % (4 * len(lines)):
        return {}
    matrix = np.frombuffer(place.index.read_bytes(), dtype=np.float32).reshape(len(lines), -1)
    try:
        return {fact_id(line["fact"]): (str(line["text_hash"]), matrix[int(line["vector"])]) for line in ours}
    except (KeyError, ValueError, IndexError, json.JSONDecodeError):
        return {}


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
