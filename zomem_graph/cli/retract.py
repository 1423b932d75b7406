"""`zomem retract`: say that something was never true."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command

__all__ = ["retract"]


@command
def retract(
    call: Call,
    item: Annotated[str, typer.Argument(metavar="ID", help="As `zomem search` shows it.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it was wrong.")],
) -> None:
    """Say that something was never true; it is kept for audit, and the value before it is current again.

    Example: zomem retract ID --reason "I mixed up two people"
    """
    with call.memory() as memory:
        fact = memory.retract(item, reason, scope=call.scope(memory) if call.shared.persona else None)
    call.answer({"retracted": item, "reason": reason, "fact": fact}, lambda screen: screen.line(f"retracted {item}"))
