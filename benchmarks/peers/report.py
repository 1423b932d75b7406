"""The results as one table, and who kept which mark."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["marks", "table"]

OURS = ("zomem", "zomem-store")
# Search of ours is to be so many times faster in processor time; recall so many times the best of the others.
FASTER = {"mem0": 10.0, "sqlite-store": 3.0, "chroma": 3.0}
BETTER = 1.3
_HEAD = "| engine | fill, ms CPU a fact | search, ms CPU | search, ms on the clock, p50 | memory, MiB | recall@10 |"


def table(result: Mapping[str, Any]) -> str:
    """Return the Markdown of a result: conditions, one table a shape, the marks, and what could not be run."""
    lines = [f"# {result['workload']}: {result['facts']:,} facts, {result['questions']} questions", ""]
    lines += [f"- {name}: {value}" for name, value in result["conditions"].items()]
    for shape in result["shapes"]:
        lines += ["", f"## {shape['name']} ({shape['users']} users)", "", _HEAD, "|---|---|---|---|---|---|"]
        lines += [_line(row) for row in shape["rows"]]
        lines += ["", *(f"- {said}" for said in marks(shape["rows"]))]
    return "\n".join(lines) + "\n"


def marks(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each mark, what was measured of it, and whether it is met; nothing where a row is missing."""
    measured = {row["engine"]: row for row in rows if "not_run" not in row}
    ours = measured.get("zomem")
    if ours is None:
        return
    for name, factor in FASTER.items():
        if name in measured:
            times = measured[name]["search_cpu_ms"] / max(ours["search_cpu_ms"], 0.001)
            yield f"search beside {name}: {times:.2f} x as fast (mark {factor:g} x: {_kept(times >= factor)})"
    others = [row["recall"]["mean"] for name, row in measured.items() if name not in OURS]
    if others and max(others) > 0:
        times = ours["recall"]["mean"] / max(others)
        yield f"recall@10 beside the best of the others: {times:.2f} x (mark {BETTER:g} x: {_kept(times >= BETTER)})"


def _line(row: Mapping[str, Any]) -> str:
    if "not_run" in row:
        return f"| {row['engine']} | not run: {row['not_run']} | | | | |"
    low, high = row["recall"]["interval"]
    return (
        f"| {row['engine']} | {row['fill_cpu_ms']:.2f} | {row['search_cpu_ms']:.1f} | {row['search_wall_ms']:.1f} "
        f"| {row['resident_mib'] or '-'} | {row['recall']['mean']:.3f} ({low:.3f}-{high:.3f}) |"
    )


def _kept(kept: bool) -> str:
    return "met" if kept else "missed"
