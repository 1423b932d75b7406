"""`zomem route`: who should get a task, and why."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import listed, text_given
from zomem_graph.nodes.rules.routing import SIGNALS, Choice

__all__ = ["route"]


@command
def route(
    call: Call,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done; - reads standard input.")],
    executors: Annotated[
        str | None, typer.Option("--executors", metavar="A,B", help="Who may get it; else all that memory knows.")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option("--strategy", help="fast, reliable, balanced or explore; else the settings'.")
    ] = None,
    category: Annotated[str | None, typer.Option("--category", help="Its class; else its words tell.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every signal of every executor.")] = False,
) -> None:
    """Say who should get a task. Example: zomem route "fix the login" --executors codex,claude-code --explain."""
    names = None if executors is None else list(listed(executors))
    with call.memory() as memory:
        choice = memory.route(
            text_given(task), executors=names, strategy=strategy, category=category, scope=call.scope(memory)
        )
    call.answer(choice, lambda screen: _show(screen, choice, explain=explain))


def _show(screen: Screen, choice: Choice, *, explain: bool) -> None:
    screen.line(f"{choice.executor}: {choice.reason}")
    if not explain:
        return
    screen.line(f"strategy {choice.strategy}, a {choice.tier} task of category {choice.category}")
    rows = [
        (
            score.executor,
            f"{score.total:.3f}",
            *(f"{score.signals[name]:.2f}" for name in SIGNALS),
            score.state,
            score.reason,
        )
        for score in choice.scores
    ]
    columns = ("executor", "score", *(name.replace("_", " ") for name in SIGNALS), "breaker", "why")
    screen.table(columns, rows)
