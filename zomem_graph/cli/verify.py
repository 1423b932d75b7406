"""`zomem verify`: compare full text and index with the tables."""

from typing import Any

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen

__all__ = ["verify"]


@command
def verify(call: Call) -> None:
    """Compare full text and index with the tables; change nothing. Exit 1 when they differ."""
    with call.memory() as memory:
        report = memory.verify()
    call.answer(report, lambda screen: _show(screen, report))
    raise typer.Exit(int(not report["ok"]))


def _show(screen: Screen, report: dict[str, Any]) -> None:
    rows = [("full text", report["fulltext"] or "in step")]
    for each in report["index"].collections:
        differs = f"{len(each.missing)} missing, {len(each.orphaned)} too many, {len(each.wrong)} wrong"
        rows.append((each.collection, each.fault or (f"{each.expected} in step" if each.sound else differs)))
    rows += [(stray, "belongs to nothing") for stray in report["index"].strays]
    screen.table(("part", "found"), rows)
    screen.note("in step" if report["ok"] else "not in step: run `zomem repair`")
