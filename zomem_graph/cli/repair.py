"""`zomem repair`: rebuild full text and index from the tables."""

import typer

from zomem_graph.cli.call import Call, command

__all__ = ["repair"]


@command
def repair(call: Call) -> None:
    """Rebuild full text and index from the tables; nothing is embedded again."""
    with call.memory() as memory, call.screen.progress("repairing"):
        report = memory.repair()
    sound = report["verify"]["ok"]
    said = "full text and index were rebuilt" if sound else "rebuilt, yet not in step: see `zomem verify`"
    call.answer(report, lambda screen: screen.line(said))
    raise typer.Exit(int(not sound))
