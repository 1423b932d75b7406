"""The drawings in the documentation are those that LangGraph makes of our graphs today."""

import os
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, create_capture_graph, create_chat_graph, create_recall_graph
from zomem_graph.testing import SmallEmbedder

PAGE = Path(__file__).resolve().parent.parent / "docs" / "graphs.md"


def chat(state: dict[str, Any]) -> dict[str, Any]:
    return {"messages": []}


def drawings(memory: Memory) -> dict[str, str]:
    """Return what each drawn graph looks like, by the heading it stands under."""
    graphs = {
        "create_recall_graph": create_recall_graph(memory),
        "create_capture_graph": create_capture_graph(memory),
        "create_chat_graph": create_chat_graph(memory, chat),
    }
    return {name: graph.compile().get_graph(xray=True).draw_mermaid().strip() for name, graph in graphs.items()}


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory.open(tmp_path, embeddings=SmallEmbedder()) as opened:
        yield opened


def test_each_graph_is_drawn_as_it_is(memory: Memory) -> None:
    page = PAGE.read_text("utf-8")
    drawn = page
    for name, drawing in drawings(memory).items():
        before, heading, section = drawn.partition(f"## `{name}`\n")
        text, fence, rest = section.partition("```mermaid\n")
        _old, end, rest = rest.partition("\n```")
        drawn = before + heading + text + fence + drawing + end + rest
    if os.environ.get("WRITE_DOCS"):
        PAGE.write_text(drawn, "utf-8")
    assert page == drawn, "write it again: WRITE_DOCS=1 make test ARGS=tests/test_drawings.py"
