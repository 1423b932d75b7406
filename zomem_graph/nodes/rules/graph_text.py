"""The graph in plain words, in the form of the original's output: ways with arrows, gaps section by section."""

from collections.abc import Iterator, Sequence
from typing import Final

from zomem_graph.nodes.rules.graph import Connection, Cycle, Gap, KnowledgeGaps, Thing
from zomem_graph.stores.records import Link

__all__ = ["arrow", "connection_lines", "cycle_line", "gap_lines", "named", "quoted"]

_LONGEST: Final = 100


def named(thing: Thing) -> str:
    """Return a thing on one line: its label in brackets, then what it says."""
    return f"[{_short(thing.label)}] {quoted(thing.text)}"


def quoted(text: str) -> str:
    """Return a text on one line in quotation marks, cut where it is long."""
    return f'"{_short(text)}"'


def arrow(link: Link, *, forward: bool) -> str:
    """Return the arrow of a link as seen from the thing before it."""
    relation = _short(link.relation)
    return f"-->{relation}" if forward else f"<--{relation}--"


def connection_lines(found: Connection) -> Iterator[str]:
    """Yield a way between two entities, or that there is none and how many links each has."""
    if not found.found:
        ends = f"from {quoted(found.start)} to {quoted(found.end)}"
        yield f"No path found {ends} within {_many(found.max_depth, 'hop')}."
        for name, count in found.direct.items():
            yield f"  {_short(name)}: {_many(count, 'direct link')}"
        return
    yield f"Path found ({_many(len(found.links), 'hop')}):"
    yield ""
    yield f"  {named(found.things[0])}"
    for before, link, thing in zip(found.things, found.links, found.things[1:], strict=False):
        yield f"    {arrow(link, forward=link.source_id == before.id)}"
        yield f"  {named(thing)}"


def gap_lines(gaps: KnowledgeGaps) -> Iterator[str]:
    """Yield every section of the gap analysis (spec F29)."""
    yield "Knowledge Gap Analysis"
    yield "======================"
    yield f"Total facts: {gaps.total}"
    yield f"Linked facts: {gaps.linked} ({gaps.linked_share:.1%})"
    yield f"Orphan facts: {gaps.orphan_count} ({1 - gaps.linked_share if gaps.total else 0:.1%})"
    yield ""
    yield "Dead ends (targets only, never source):"
    yield from _listed([_dead_end(gap) for gap in gaps.dead_ends], gaps.dead_end_count)
    yield ""
    yield "Weakly linked (only 1 connection):"
    yield from _listed([_weak(gap) for gap in gaps.weak], gaps.weak_count)
    yield ""
    yield f"Connected components: {gaps.cluster_count}"
    for number, cluster in enumerate(gaps.clusters, 1):
        others = cluster.size - cluster.facts
        size = _many(cluster.facts, "fact") + (f", {_many(others, 'other')}" if others else "")
        hub = cluster.hub.entity or cluster.hub.label
        yield f"  Cluster {number} ({size}): hub = [{_short(hub)}] ({_many(cluster.links, 'link')})"
    if gaps.cluster_count > len(gaps.clusters):
        yield f"  … and {gaps.cluster_count - len(gaps.clusters)} more"
    if gaps.wanted_count:
        yield ""
        yield "Named in [[links]], nothing known yet:"
        yield from _listed([f"[{_short(thing.label)}]" for thing in gaps.wanted], gaps.wanted_count)
    yield ""
    plural = gaps.connectable != 1
    yield (
        f"Suggested: {gaps.connectable} orphan fact{'s' if plural else ''} share{'' if plural else 's'} entities "
        "with linked facts and could be connected."
    )


def cycle_line(cycle: Cycle) -> str:
    """Return one way round: each entity, the relation to the next, and the first again."""
    ways = (f"[{_short(tie.source)}] -->{_short(tie.relation)}" for tie in cycle.ties)
    return " ".join([*ways, f"[{_short(cycle.entities[0])}]"])


def _dead_end(gap: Gap) -> str:
    return f"{named(gap.thing)} ({gap.inbound} inbound, {gap.outbound} outbound)"


def _weak(gap: Gap) -> str:
    links = gap.inbound + gap.outbound
    return f"{named(gap.thing)} ({_many(links, 'link')}{'' if links == 1 else ' to one neighbour'})"


def _listed(lines: Sequence[str], total: int) -> Iterator[str]:
    yield from (f"  - {line}" for line in lines)
    if not lines:
        yield "  none"
    if total > len(lines):
        yield f"  … and {total - len(lines)} more"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
