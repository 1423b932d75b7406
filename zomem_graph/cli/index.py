"""`zomem index`: give stored texts their vectors and feed the index, or make the index anew."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.nodes.rules.counting import number_of

__all__ = ["index"]


@command
def index(
    call: Call,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make full text and index anew from the tables.")
    ] = False,
    embeddings: Annotated[
        str | None,
        typer.Option(
            "--embeddings",
            metavar="P:M",
            help="Change over to another embedder: everything is embedded again.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Embed and index what waits. Nothing that has a vector of this store's embedder is embedded again."""
    with call.memory() as memory:
        with call.screen.progress("indexing"):
            indexed = memory.flush() if embeddings is None else memory.change_embedder(embeddings)
        done = {"indexed": indexed, **(memory.repair() if rebuild else {})}
        notes = memory.standing_notes()
    call.answer(
        done,
        lambda screen: screen.line(f"{number_of(indexed, 'changes')} indexed{'; all rebuilt' if rebuild else ''}"),
    )
    call.notes(notes)
