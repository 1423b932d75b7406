"""`zomem gate`: for scripts that ask before every message; the exit code is the answer (spec 2.6)."""

import json
from dataclasses import replace
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.words import TimeZone, text_given
from zomem_graph.stores.errors import InvalidInput, ZomemError

__all__ = ["gate"]

_PROMPTS = ("prompt", "message", "user_prompt", "text")
_EXAMPLE = 'Give such as {"prompt": "where did we leave off?"}.'
_EXITS = {"inject": 0, "skip": 2, "empty": 3}


@command
def gate(
    call: Call,
    message: Annotated[
        str | None, typer.Argument(metavar="MESSAGE", help="What the user says; - reads standard input.")
    ] = None,
    hook: Annotated[
        bool,
        typer.Option("--hook", help="For hosts: JSON on standard input, the block or nothing printed, exit 0."),
    ] = False,
    time_zone: TimeZone = None,
) -> None:
    """Decide whether a message needs memory: exit 0 inject what is printed, 2 not needed, 3 nothing found.

    Example of a hook: zomem gate --hook < message.json, with {"prompt": "where did we leave off?"}.
    """
    if hook:
        _answer_host(call, time_zone)
        return
    if message is None:
        raise typer.BadParameter("Missing argument 'MESSAGE'.")
    asked = text_given(message)
    if not asked.strip():
        raise InvalidInput("the message is empty. Give what the user said.")
    with call.memory() as memory:
        found = memory.recall(asked, scope=call.scope(memory, time_zone))
    call.answer(found, lambda screen: screen.line(found.text) if found.text else None)
    call.screen.note(f"{found.decision} ({found.method}): {found.reason}")
    call.notes(found.degraded)
    raise typer.Exit(_EXITS[found.decision])


def _answer_host(call: Call, time_zone: str | None) -> None:
    """Print the block for a host's message; a host must never be stopped, so what fails goes to standard error."""
    try:
        given = _hook_input()
        asked = next((text for name in _PROMPTS if isinstance(text := given.get(name), str) and text.strip()), None)
        if asked is None:
            raise InvalidInput(f"no text stands under {', '.join(_PROMPTS[:-1])} or {_PROMPTS[-1]}. {_EXAMPLE}")
        thread = given.get("session_id")
        with call.memory() as memory:
            scope = replace(call.scope(memory, time_zone), thread=thread if isinstance(thread, str) else None)
            found = memory.recall(asked, scope=scope)
    except ZomemError as error:
        call.screen.note(f"memory did not answer: {error}")
        return
    if found.text:
        call.screen.line(found.text)
    call.notes(found.degraded)


def _hook_input() -> dict[str, Any]:
    """Return what a host gave on standard input; {} for nothing."""
    try:
        given = json.loads(text_given("-") or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InvalidInput(f"the hook reads one JSON object. {_EXAMPLE}")
    return given
