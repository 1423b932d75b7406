"""`zomem continuation`: the block to inject before a message that goes on with earlier work."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.recall import MessageWord, show_recollection
from zomem_graph.cli.words import AsOf, Limit, TimeZone, instant, text_given

__all__ = ["continuation"]


@command
def continuation(
    call: Call,
    message: MessageWord,
    limit: Limit = 6,
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", min=1, help="The most to inject.")] = 1_000,
    as_of: AsOf = None,
    time_zone: TimeZone = None,
) -> None:
    """Recall facts, episodes, open loops and turns of the last 14 days, whatever the gate thinks of the message.

    Example: zomem continuation "where did we leave off on the dashboard?"
    """
    with call.memory() as memory:
        found = memory.continuation(
            text_given(message),
            scope=call.scope(memory, time_zone),
            limit=limit,
            token_budget=budget,
            as_of=instant(as_of, time_zone, edge="end"),
        )
    call.answer(found, lambda screen: show_recollection(screen, found))
    call.notes(found.degraded)
