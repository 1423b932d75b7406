"""`zomem link`: tie two things together."""

import warnings
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command

__all__ = ["link"]


@command
def link(
    call: Call,
    source: Annotated[str, typer.Option("--source", metavar="ID", help="Where the arrow begins.")],
    target: Annotated[str, typer.Option("--target", metavar="ID", help="Where it ends.")],
    relation: Annotated[str, typer.Option("--relation", metavar="R", help="Such as depends_on.")] = "related",
    weight: Annotated[float, typer.Option("--weight", metavar="W", help="How much it counts, from 0 on.")] = 1.0,
) -> None:
    """Tie two things together; the same link is replaced.

    Example: zomem link --source ID --target ID --relation depends_on --weight 0.8
    """
    with call.memory() as memory, warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always")
        scope = call.scope(memory) if call.shared.persona else None
        tied = memory.link(source, target, relation, weight, scope=scope)
    said = f"linked {source} -> {target} ({tied.relation}, {tied.weight:g})"
    call.answer(tied, lambda screen: screen.line(said))
    call.notes([str(each.message) for each in odd if each.category is UserWarning])
