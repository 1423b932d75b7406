"""`zomem unlink`: untie two things."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.tying import Source, Target, unlink_words

__all__ = ["unlink"]


@command
def unlink(
    call: Call,
    source: Source,
    target: Target,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="R", help="Only this one; else all of them.")
    ] = None,
) -> None:
    """Untie two things, one relation or all of them.

    Example: zomem unlink --source ID --target ID --relation depends_on
    """
    unlink_words(call, source, target, relation)
