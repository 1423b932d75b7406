"""`zomem budget`: how full the prompt of a thread is."""

from dataclasses import replace
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.memory import Memory
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.context import BudgetStatus

__all__ = ["budget"]

budget = group("How full the prompt is. Example: zomem budget init --max-tokens 8000")

Thread = Annotated[
    str | None, typer.Option("--thread", metavar="THREAD", help="Of which conversation; else of all that name none.")
]


@sub_command(budget, "status")
def _status(call: Call, thread: Thread = None) -> None:
    """Show how full the prompt is."""
    with call.memory() as memory:
        found = memory.budget.status(scope=_scope(call, memory, thread))
    call.answer(found, lambda screen: _show(screen, found))
    if found is None:
        call.notes(["no budget is set; zomem budget init sets one"])


@sub_command(budget, "init")
def _init(
    call: Call,
    max_tokens: Annotated[int, typer.Option("--max-tokens", metavar="N", help="What the prompt may hold.")] = 8_000,
    warn_at: Annotated[float, typer.Option("--warn-at", metavar="SHARE", help="First alarm.")] = 0.7,
    critical_at: Annotated[float, typer.Option("--critical-at", metavar="SHARE", help="Second alarm.")] = 0.9,
    thread: Thread = None,
) -> None:
    """Set a budget; recall keeps to it from now on."""
    with call.memory() as memory:
        scope = _scope(call, memory, thread)
        found = memory.budget.init(max_tokens, warn_at=warn_at, critical_at=critical_at, scope=scope)
    call.answer(found, lambda screen: _show(screen, found))


@sub_command(budget, "track")
def _track(
    call: Call,
    tokens_in: Annotated[int, typer.Argument(metavar="IN", help="Tokens that went into the prompt.")],
    tokens_out: Annotated[int, typer.Argument(metavar="[OUT]", help="Tokens that were answered.")] = 0,
    thread: Thread = None,
) -> None:
    """Count what another tool put into the prompt."""
    with call.memory() as memory:
        found = memory.budget.track(tokens_in, tokens_out, scope=_scope(call, memory, thread))
    call.answer(found, lambda screen: _show(screen, found))


@sub_command(budget, "reset")
def _reset(call: Call, thread: Thread = None) -> None:
    """Count from zero again, with the alarms armed."""
    with call.memory() as memory:
        found = memory.budget.reset(scope=_scope(call, memory, thread))
    call.answer(found, lambda screen: _show(screen, found))


def _scope(call: Call, memory: Memory, thread: str | None) -> Scope:
    return replace(call.scope(memory), thread=thread)


def _show(screen: Screen, status: BudgetStatus | None) -> None:
    if status is None:
        return
    named = {
        "level": f"{status.level}{', alarm' if status.alarm else ''}",
        "used": f"{status.used:,} of {status.max_tokens:,} tokens ({status.share:.0%})",
        "memory may take": f"{status.available:,} tokens",
        "alarms at": f"{status.warn_at:.0%}, {status.critical_at:.0%}",
        "thread": status.thread or None,
    }
    screen.pairs({name: value for name, value in named.items() if value is not None})
