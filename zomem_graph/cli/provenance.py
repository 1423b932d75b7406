"""`zomem provenance`: where a fact came from, down to turn and quote."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.conflicts import fact_row
from zomem_graph.cli.screen import Screen
from zomem_graph.nodes.values import ProvenanceReport, Said

__all__ = ["provenance"]


@command
def provenance(
    call: Call, fact: Annotated[str, typer.Argument(metavar="ID", help="A fact, as `zomem search` shows it.")]
) -> None:
    """Tell where a fact came from, and the values before and after it. Example: zomem provenance ID."""
    with call.memory() as memory:
        report = memory.provenance(fact, scope=call.scope(memory) if call.shared.persona else None)
    call.answer(report, lambda screen: _show(screen, report))


def _show(screen: Screen, report: ProvenanceReport) -> None:
    fact = report.fact
    named = {"fact": fact.text, "entity": fact.entity, "key": fact.key, "value": fact.value, "state": fact.state}
    screen.pairs({name: value for name, value in named.items() if value})
    screen.line()
    screen.table(("when", "source", "by", "session", "said"), [_row(said) for said in report.said])
    if len(report.chain) > 1:
        screen.line()
        screen.table(("since", "until", "state", "key", "value", "id"), [fact_row(each) for each in report.chain])
    for conflict in report.conflicts:
        screen.line(f"conflict {conflict.id[:8]}: {conflict.conflict_type}, {conflict.resolution}")


def _row(said: Said) -> tuple[str, ...]:
    origin, turn = said.origin, said.turn
    words = origin.quote or (turn.content if turn is not None else "")
    when = f"{origin.captured_at.astimezone():%Y-%m-%d %H:%M}"
    return when, origin.source, origin.capture_method, (turn.session or "") if turn is not None else "", words
