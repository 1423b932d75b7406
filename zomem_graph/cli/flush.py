"""`zomem flush`: wait until the index holds everything that was committed."""

from zomem_graph.cli.call import Call, command
from zomem_graph.nodes.rules.counting import number_of

__all__ = ["flush"]


@command
def flush(call: Call) -> None:
    """Wait until the index holds everything that was committed."""
    with call.memory() as memory:
        taken = memory.flush()
    call.answer({"indexed": taken}, lambda screen: screen.line(f"{number_of(taken, 'changes')} indexed"))
