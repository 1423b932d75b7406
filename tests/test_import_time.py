"""What a first touch may load: the heavy libraries wait until something needs them."""

import subprocess
import sys

import pytest

HEAVY = {
    "alembic", "chromadb", "langchain", "langchain_core", "langchain_openai", "langgraph", "mcp", "networkx",
    "openai", "pydantic_settings", "sqlmodel",
}  # fmt: skip


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules a fresh interpreter holds after running a statement."""
    code = f"import sys\n{statement}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("statement", ["import zomem_graph", "import zomem_graph.stores, zomem_graph.nodes"])
def test_an_import_loads_nothing_heavy(statement: str) -> None:
    assert loaded_by(statement) & HEAVY == set()


def test_a_heavy_library_would_be_noticed() -> None:
    assert "networkx" in loaded_by("import networkx") & HEAVY
