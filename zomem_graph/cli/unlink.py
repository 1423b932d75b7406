"""`zomem unlink`: untie two things."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command

__all__ = ["unlink"]


@command
def unlink(
    call: Call,
    source: Annotated[str, typer.Option("--source", metavar="ID", help="Where the arrow begins.")],
    target: Annotated[str, typer.Option("--target", metavar="ID", help="Where it ends.")],
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="R", help="Only this one; else all of them.")
    ] = None,
) -> None:
    """Untie two things, one relation or all of them.

    Example: zomem unlink --source ID --target ID --relation depends_on
    """
    with call.memory() as memory:
        gone = memory.unlink(source, target, relation, scope=call.scope(memory) if call.shared.persona else None)
    call.answer(
        {"source_id": source, "target_id": target, "relation": relation, "removed": gone},
        lambda screen: screen.line(f"removed {gone} link{'s' if gone != 1 else ''}"),
    )
