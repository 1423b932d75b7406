"""How memory fares, in numbers: one document, and the same for Prometheus (spec F81, F148)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from zomem_graph.nodes.rules.measures import decisions_of, gate_matrix, timing
from zomem_graph.nodes.steps.metrics import write_metrics
from zomem_graph.stores.metric_records import ModelCall, Operation

if TYPE_CHECKING:
    from zomem_graph.memory import Memory

__all__ = ["as_prometheus", "take_measure"]

_Sample = tuple[Mapping[str, str], float]


def take_measure(memory: "Memory", *, since: datetime | None = None, persona: str | None = None) -> dict[str, Any]:
    """Return operations, gate, captures, model calls and what is kept; `since` bounds what was done.

    With a persona all but the model calls are that persona's.
    """
    write_metrics(memory)
    with memory.stores.read() as unit:
        operations = unit.metrics.operations(since=since, persona=persona)
        calls = unit.metrics.model_calls(since=since)
        decisions = unit.metrics.decisions(since=since, persona=persona)
        captures = unit.metrics.captures(since=since, persona=persona)
        kept = unit.metrics.kept(persona=persona)
        kept["summaries"] = {"all": unit.summaries.count(persona)}
    matrix = gate_matrix((method, decision) for method, decision, _ in decisions)
    models = _models(calls)
    return {
        "since": since,
        "persona": persona,
        "operations": _operations(operations),
        "gate": {
            **decisions_of(matrix),
            "matrix": matrix,
            **{name: value for name, value in timing(one[2] for one in decisions).items() if name != "count"},
        },
        "captures": _captures(captures),
        "models": models,
        "cost_usd": round(sum(one["cost_usd"] for one in models), 6),
        "kept": kept,
        "call_log": str(memory.call_log),
    }


def as_prometheus(measured: Mapping[str, Any]) -> str:
    """Return a measure in Prometheus' text format; all are gauges, because old rows are cut."""
    return "".join(_lines(measured))


def _operations(operations: Iterable[Operation]) -> dict[str, dict[str, Any]]:
    by_name: dict[str, list[Operation]] = defaultdict(list)
    for one in operations:
        by_name[one.name].append(one)
    return {name: _operation(by_name[name]) for name in sorted(by_name)}


def _operation(done: list[Operation]) -> dict[str, Any]:
    went = [one for one in done if not one.failed]
    found = sum(one.results > 0 for one in went)
    return {
        **timing(one.latency_ms for one in done),
        "failed": len(done) - len(went),
        "hit_rate": round(found / len(went), 4) if went else None,
        "mean_results": round(sum(one.results for one in went) / len(went), 2) if went else 0.0,
        "imagined": sum(one.imagined for one in went),
    }


def _captures(sums: Mapping[str, Any]) -> dict[str, Any]:
    count = sums["captures"]
    return {
        **{name: int(sums[name]) for name in ("captures", "turns", "facts", "skipped", "superseded", "redacted")},
        "mean_ms": round(sums["duration_ms"] / count, 3) if count else 0.0,
        "last": sums["last"],
    }


def _models(calls: Iterable[ModelCall]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str, str], list[ModelCall]] = defaultdict(list)
    for call in calls:
        groups[call.workload, call.provider, call.model].append(call)
    return [
        {
            "workload": workload,
            "provider": provider,
            "model": model,
            **timing(call.latency_ms for call in made),
            "failed": sum(call.failed for call in made),
            "prompt_tokens": sum(call.prompt_tokens for call in made),
            "completion_tokens": sum(call.completion_tokens for call in made),
            "cost_usd": round(sum(call.cost_usd for call in made), 6),
        }
        for (workload, provider, model), made in sorted(groups.items())
    ]


def _lines(measured: Mapping[str, Any]) -> Iterator[str]:
    operations, gate, captures = measured["operations"], measured["gate"], measured["captures"]
    named = [({"operation": name}, one) for name, one in operations.items()]
    yield from _gauge("operations", "What was done.", [(tag, one["count"]) for tag, one in named])
    yield from _gauge("operations_failed", "What failed of it.", [(tag, one["failed"]) for tag, one in named])
    rates = [(tag, one["hit_rate"]) for tag, one in named if one["hit_rate"] is not None]
    yield from _gauge("operation_hit_ratio", "Share that found anything.", rates)
    times = [({**tag, "quantile": q}, one[f"p{q[2:]}_ms"]) for tag, one in named for q in ("0.50", "0.95")]
    yield from _gauge("operation_milliseconds", "How long it took.", times)
    decided = [
        ({"method": method, "decision": decision}, count)
        for method, row in gate["matrix"].items()
        for decision, count in row.items()
    ]
    yield from _gauge("gate_decisions", "What the gate decided, by which method.", decided)
    times = [({"quantile": q}, gate[f"p{q[2:]}_ms"]) for q in ("0.50", "0.95")]
    yield from _gauge("gate_milliseconds", "How long a decision and its block took.", times)
    for name in ("captures", "turns", "facts", "skipped", "superseded", "redacted"):
        label = name if name == "captures" else f"captured_{name}"
        yield from _gauge(label, f"Captures: {name}.", [({}, captures[name])])
    yield from _model_lines(measured["models"])
    for name, label in (("facts", "tier"), ("episodes", "outcome"), ("loops", "status"), ("vectors", "kind")):
        counts = [({label: value}, count) for value, count in measured["kept"][name].items()]
        yield from _gauge(f"kept_{name}", f"How many {name} are kept.", counts)


def _model_lines(models: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    named = [({tag: one[tag] for tag in ("workload", "provider", "model")}, one) for one in models]
    yield from _gauge("model_calls", "Calls of chat models.", [(tag, one["count"]) for tag, one in named])
    yield from _gauge("model_calls_failed", "Calls that failed.", [(tag, one["failed"]) for tag, one in named])
    tokens = [
        ({**tag, "direction": way}, one[f"{word}_tokens"])
        for tag, one in named
        for way, word in (("in", "prompt"), ("out", "completion"))
    ]
    yield from _gauge("model_tokens", "Tokens of these calls.", tokens)
    yield from _gauge(
        "model_cost_usd", "What they cost by list price.", [(tag, one["cost_usd"]) for tag, one in named]
    )


def _gauge(name: str, said: str, samples: Iterable[_Sample]) -> Iterator[str]:
    listed = list(samples)
    if not listed:
        return
    yield f"# HELP zomem_{name} {said}\n# TYPE zomem_{name} gauge\n"
    for tags, value in listed:
        inside = ",".join(f'{tag}="{_escaped(text)}"' for tag, text in tags.items())
        yield f"zomem_{name}{f'{{{inside}}}' if inside else ''} {value:g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
