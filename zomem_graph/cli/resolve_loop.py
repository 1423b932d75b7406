"""`zomem resolve-loop`: close what a text says is done."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.loops import show_loops
from zomem_graph.cli.words import text_given
from zomem_graph.stores.records import Loop

__all__ = ["resolve_loop"]


@command
def resolve_loop(
    call: Call,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="What says that it is done; - reads standard input.")
    ] = None,
    loop: Annotated[str | None, typer.Option("--id", metavar="ID", help="Close this one; TEXT is the note.")] = None,
) -> None:
    """Close the open loops that a text says are done, or one by its id.

    Example: zomem resolve-loop "The dashboard issue is fixed now"
    """
    if text is None and loop is None:
        raise typer.BadParameter("missing. Say what is done, or name a loop with --id.", param_hint="TEXT")
    said = text_given(text) if text is not None else None
    with call.memory() as memory:
        scope = call.scope(memory)
        closed: Sequence[Loop]
        if loop is not None:
            closed = [memory.loops.resolve(loop, note=said, scope=scope)]
        else:
            closed = memory.loops.resolve_from(said or "", scope=scope)
    call.answer(
        closed, lambda screen: show_loops(screen, closed, nothing="this says of no open loop that it is done")
    )
