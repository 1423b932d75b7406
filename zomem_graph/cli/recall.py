"""`zomem recall`: the block to inject before a message, or why there is none."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import AsOf, Limit, TimeZone, instant, text_given
from zomem_graph.nodes.values import Recollection

__all__ = ["recall"]

MessageWord = Annotated[str, typer.Argument(metavar="MESSAGE", help="What the user says; - reads standard input.")]


@command
def recall(
    call: Call,
    message: MessageWord,
    limit: Limit = 10,
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", min=1, help="The most to inject.")] = 1_000,
    as_of: AsOf = None,
    time_zone: TimeZone = None,
) -> None:
    """Return the block to inject before a message; standard error says why there is one or none."""
    with call.memory() as memory:
        found = memory.recall(
            text_given(message),
            scope=call.scope(memory, time_zone),
            limit=limit,
            token_budget=budget,
            as_of=instant(as_of, time_zone, edge="end"),
        )
    call.answer(found, lambda screen: show_recollection(screen, found))
    call.notes(found.degraded)


def show_recollection(screen: Screen, found: Recollection) -> None:
    """Show the block on standard output and the decision on standard error."""
    if found.text:
        screen.line(found.text)
    screen.note(f"{found.decision} ({found.method}): {found.reason}")
