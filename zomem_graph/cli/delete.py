"""`zomem delete`: take one thing out of memory by its id."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command

__all__ = ["delete"]


@command
def delete(
    call: Call, item: Annotated[str, typer.Argument(metavar="ID", help="As `zomem search` shows it.")]
) -> None:
    """Take one thing out of memory; it stays in the archive."""
    with call.memory() as memory:
        memory.delete(item, scope=call.scope(memory) if call.shared.persona else None)
    call.answer({"deleted": item}, lambda screen: screen.line(f"deleted {item}"))
