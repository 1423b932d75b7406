"""What memory holds, as Prometheus reads it."""

from collections.abc import Iterator

from zomem_graph.memory import Memory

__all__ = ["counted_lines"]


def counted_lines(memory: Memory) -> Iterator[str]:
    """Yield how much there is of everything; texts, names and ids never leave."""
    counted = memory.stats()
    yield "# HELP zomem_items What is stored, by kind and state."
    yield "# TYPE zomem_items gauge"
    for name, count in sorted(counted["items"].items()):
        kind, _, state = str(name).partition(":")
        yield f'zomem_items{{kind="{kind}",state="{state}"}} {count}'
    yield "# HELP zomem_waiting_for_index Changes that the vector index has yet to take."
    yield "# TYPE zomem_waiting_for_index gauge"
    yield f"zomem_waiting_for_index {counted['waiting_for_index']}"
    yield "# HELP zomem_extraction_queue Conversations by how far the chat model is with them."
    yield "# TYPE zomem_extraction_queue gauge"
    for status, count in sorted(counted["extraction_queue"].items()):
        yield f'zomem_extraction_queue{{status="{status}"}} {count}'
