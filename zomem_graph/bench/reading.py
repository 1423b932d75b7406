"""What a command that only reads costs in a new process, beside the import of all the modules it loads."""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zomem_graph.bench.homes import Say
from zomem_graph.bench.processes import python, seconds_of, zomem_command
from zomem_graph.bench.synthetic import chat
from zomem_graph.memory import Memory
from zomem_graph.nodes.scope import Scope

__all__ = ["READING", "fill", "measured"]

READING: tuple[tuple[str, ...], ...] = (
    ("gate", "what did I tell you about the tall tower?"), ("recall", "what did I tell you about the tall tower?"),
    ("search", "tall tower"), ("lookup", "tower"), ("hop", "tall tower"), ("continuation", "go on"),
    ("loops", "list"), ("episodes", "list"), ("trends", "tower"), ("briefing",), ("summaries", "list"),
    ("procedures", "list"), ("route", "paint the tower"), ("graph", "show", "tower"),
    ("graph", "find-connections", "tower", "harbour"), ("graph", "knowledge-gaps"), ("conflicts", "list"),
    ("conflicts", "history", "tower"), ("personas", "list"), ("models", "list"), ("schedule", "show"),
    ("checkpoint", "list"), ("budget", "status"), ("metrics",), ("stats",), ("health",), ("verify",), ("config",),
)  # fmt: skip
_TURNS = 40
_ENDS_WELL = (0, 1, 2, 3)  # of a gate that says no, a health that warns, something that is not there
_LOADED = """
import atexit, sys
atexit.register(lambda: print("\\n" + " ".join(sys.modules), file=sys.stderr))
from zomem_graph.cli import main
main()
"""
_IMPORT = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:  # made at run time, such as a module of six
        pass
"""


def fill(home: Path) -> None:
    """Make a small memory that every reading command finds something in."""
    with Memory.open(home) as memory:
        scope = Scope(thread="bench")
        for session in chat(_TURNS, 1).sessions:
            memory.capture([{"role": "user", "content": said.text} for said in session], scope=scope)
        memory.remember_many(
            [
                {"entity": "tower", "key": "height", "value": "forty metres, beside the harbour"},
                {"entity": "harbour", "key": "depth", "value": "nine metres"},
            ]
        )
        memory.graph.link("tower", "harbour", "related")


def measured(home: Path, *, rounds: int, say: Say, commands: Sequence[tuple[str, ...]] = READING) -> dict[str, Any]:
    """Return by command its cold start to answer, that of the bare import of what it loads, and their ratio."""
    figures: dict[str, Any] = {}
    for words in commands:
        say(" ".join(("zomem", *words)))
        figures[" ".join(words)] = _beside_import(home, words, rounds)
    return figures


def _beside_import(home: Path, words: Sequence[str], rounds: int) -> dict[str, Any]:
    at_home = ["--home", str(home), *words]
    said = python(["-c", _LOADED, *at_home], allowed=_ENDS_WELL, errors=True)
    modules = [name for name in said.splitlines()[-1].split() if name != "__main__"]
    whole, bare = [], []
    for _ in range(rounds):  # in turn, so that a slow second is shared
        whole.append(seconds_of([*zomem_command(), *at_home], allowed=_ENDS_WELL))
        bare.append(seconds_of([sys.executable, "-c", _IMPORT, *modules]))
    command, imported = statistics.median(whole), statistics.median(bare)
    return {
        "median_s": round(command, 3),
        "import_s": round(imported, 3),
        "ratio": round(command / imported, 2),
        "modules": len(modules),
    }
