"""`zomem health`: try everything memory needs and say what to do about what fails."""

import typer

from zomem_graph.cli.call import Call, command

__all__ = ["health"]


@command
def health(call: Call) -> None:
    """Try everything memory needs; exit 1 when something is broken."""
    with call.memory() as memory:
        report = memory.health()
    rows = [(check.name, check.status, check.said, check.cure) for check in report.checks]
    document = {"status": report.status, "checks": report.checks}
    call.answer(document, lambda screen: screen.table(("check", "status", "found", "cure"), rows))
    raise typer.Exit(int(report.status == "red"))
