"""`zomem metrics`: how memory fares, in numbers."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import TimeZone, instant
from zomem_graph.metrics import as_prometheus

__all__ = ["metrics"]


@command
def metrics(
    call: Call,
    prometheus: Annotated[bool, typer.Option("--prometheus", help="In Prometheus' text format.")] = False,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="What was done since then.")] = None,
    time_zone: TimeZone = None,
) -> None:
    """Show times, hit rates, what the gate decided, captures, and model calls with their cost.

    With --persona only what was done and is kept for that persona; model calls are nobody's in particular.

    Example: zomem metrics --since "7 days ago"
    """
    if prometheus and call.shared.as_json:
        raise typer.BadParameter("cannot go with --json: they are two formats.", param_hint="--prometheus")
    since_when = instant(since, time_zone)
    with call.memory() as memory:
        measured = memory.metrics(since=since_when, persona=call.shared.persona)
    if prometheus:
        call.screen.line(as_prometheus(measured).rstrip("\n"))
        return
    call.answer(measured, lambda screen: _show(screen, measured))


def _show(screen: Screen, measured: Mapping[str, Any]) -> None:
    rows = [
        (name, str(one["count"]), _ms(one["p50_ms"]), _ms(one["p95_ms"]), _share(one["hit_rate"]), str(one["failed"]))
        for name, one in measured["operations"].items()
    ]
    screen.table(("operation", "n", "p50", "p95", "found", "failed"), rows)
    screen.pairs(dict(_gate(measured["gate"])))
    screen.pairs({f"captures: {name}": value for name, value in measured["captures"].items() if value is not None})
    called = [
        (
            one["workload"],
            f"{one['provider']}:{one['model']}",
            str(one["count"]),
            _ms(one["p50_ms"]),
            _ms(one["p95_ms"]),
            f"{one['prompt_tokens']}+{one['completion_tokens']}",
            f"${one['cost_usd']:.4f}",
            str(one["failed"]),
        )
        for one in measured["models"]
    ]
    screen.table(("workload", "model", "n", "p50", "p95", "tokens", "cost", "failed"), called)
    for name, counts in measured["kept"].items():
        screen.pairs({f"{name}: {label}": count for label, count in counts.items()})


def _gate(gate: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "gate: decisions", str(gate["total"])
    if not gate["total"]:
        return
    yield "gate: p50, p95", f"{_ms(gate['p50_ms'])}, {_ms(gate['p95_ms'])}"
    yield "gate: needs met", _share(gate["hit_rate"])
    for method, row in gate["matrix"].items():
        yield f"gate: {method}", ", ".join(f"{decision} {count}" for decision, count in row.items())


def _ms(value: float) -> str:
    return f"{value:.1f} ms"


def _share(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.0%}"
