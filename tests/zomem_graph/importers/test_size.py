"""Big exports are streamed: what they take of memory does not grow with them."""

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from zomem_graph.importers.places import open_place
from zomem_graph.importers.records import Talk
from zomem_graph.importers.sources import SOURCES, read_source

from .kit import chatgpt, node

_MOST_EXTRA_MB = 200
_IMPORT = """
import resource, sys
from zomem_graph import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions

options = MemoryOptions(write=WriteOptions(background=False))
with Memory.open(sys.argv[1], embeddings="none", options=options) as memory:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = memory.import_from("chatgpt", sys.argv[2])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(report.turns, after - before)
"""


def export(path: Path, *, megabytes: int) -> int:
    """Write an export of many conversations; return how many messages are in it."""
    said = "a message of ordinary length about nothing in particular, as most of them are " * 8
    messages = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while file.tell() < megabytes * 1_000_000:
            nodes = {str(n): node(f"{messages + n} {said}", str(n - 1)) for n in range(50)}
            file.write("," if messages else "")
            file.write(json.dumps(chatgpt(nodes, id=f"c{messages}")))
            messages += 50
        file.write("]")
    return messages


def test_reading_takes_as_much_memory_as_one_conversation(tmp_path: Path) -> None:
    expected = export(tmp_path / "conversations.json", megabytes=5)
    tracemalloc.start()
    try:
        with open_place(tmp_path) as place:
            reads = read_source(SOURCES["chatgpt"], place)
            found = sum(len(each.messages) for each in reads if isinstance(each, Talk))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == expected
    assert peak < 2_000_000


@pytest.mark.slow
def test_an_export_of_50_megabytes_is_imported_within_its_bounds(tmp_path: Path) -> None:
    expected = export(tmp_path / "conversations.json", megabytes=50)
    command = [sys.executable, "-c", _IMPORT, str(tmp_path / "home"), str(tmp_path / "conversations.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1_200, check=True)
    turns, kilobytes = map(int, done.stdout.split())
    assert turns == expected
    assert kilobytes / 1_024 < _MOST_EXTRA_MB
