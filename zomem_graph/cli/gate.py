"""`zomem gate`: for scripts that ask before every message; the exit code is the answer (spec 2.6)."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.words import TimeZone, text_given
from zomem_graph.stores.errors import InvalidInput

__all__ = ["gate"]

_EXITS = {"inject": 0, "skip": 2, "empty": 3}


@command
def gate(
    call: Call,
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="What the user says; - reads standard input.")
    ],
    time_zone: TimeZone = None,
) -> None:
    """Decide whether a message needs memory: exit 0 inject what is printed, 2 not needed, 3 nothing found."""
    asked = text_given(message)
    if not asked.strip():
        raise InvalidInput("the message is empty. Give what the user said.")
    with call.memory() as memory:
        found = memory.recall(asked, scope=call.scope(memory, time_zone))
    call.answer(found, lambda screen: screen.line(found.text) if found.text else None)
    call.screen.note(f"{found.decision} ({found.method}): {found.reason}")
    call.notes(found.degraded)
    raise typer.Exit(_EXITS[found.decision])
