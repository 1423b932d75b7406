"""A dry run of capture: what rules and, where it is asked for, the model would learn; nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.ports import ChatModel, Services
from zomem_graph.nodes.rules.extract import facts_in
from zomem_graph.nodes.rules.keys import is_many, slot
from zomem_graph.nodes.rules.loops import loops_in
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.nodes.steps.observe import would_be_turns
from zomem_graph.nodes.steps.reading import as_facts, read_turns
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.stores.records import Turn

__all__ = ["Previewed", "preview_capture"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewed:
    """What is looked at: messages as they would be stored, whose, and who reads them (nobody: rules only)."""

    messages: Sequence[Said]
    scope: Scope
    session: str | None
    trust: str | None
    redacted: int
    read_again: bool = False
    models: Sequence[ChatModel] = ()


def preview_capture(services: Services, asked: Previewed) -> Flow[CaptureReport]:
    """Return what a capture would store: new turns, facts (each once), loops and how many links (spec F44)."""
    turns: Sequence[Turn] = yield from work(lambda: _new_turns(services, asked))
    found: dict[str, dict[str, Any]] = {}
    for turn in turns:
        for one in _by_rule(turn, services):
            found[slot(one["entity"], one["key"], one["value"], many=is_many(one["key"]))] = one
    skipped: dict[str, int] = {}
    degraded: tuple[str, ...] = ()
    model = "rules"
    if asked.models and any(turn.role == "user" for turn in turns):
        reading = yield from read_turns(services, turns, asked.models)
        facts, refused = as_facts(reading, services, persona=asked.scope.persona, source="dry run")
        for fact in facts:
            address = slot(fact.entity, fact.key, fact.value, many=is_many(fact.key))
            found[address] = _shown(fact.entity, fact.key, fact.value, fact.tier, fact.quote, by="model")
        skipped, model = dict(refused), reading.model or model
        degraded = (f"extraction failed: {reading.failed}",) if reading.failed else ()
    loops = _loops(turns) if services.options.capture.loops else []
    count = len(found)
    return CaptureReport(
        turns=len(turns),
        facts=count,
        loops=len(loops),
        links=min(count * (count - 1) // 2, services.options.capture.link_pairs),
        redacted=asked.redacted,
        skipped=sum(skipped.values()),
        skipped_because=skipped,
        model=model,
        preview=(*found.values(), *loops),
        degraded=degraded,
    )


def _new_turns(services: Services, asked: Previewed) -> list[Turn]:
    with services.stores.read() as unit:
        now = services.clock()
        return would_be_turns(
            unit,
            asked.messages,
            scope=asked.scope,
            session=asked.session,
            now=now,
            trust=asked.trust,
            read_again=asked.read_again,
        )


def _by_rule(turn: Turn, services: Services) -> list[dict[str, Any]]:
    speaker = None if turn.speaker == turn.role else turn.speaker
    return [
        _shown(one.entity, one.key, one.value, one.tier, one.quote, by="rule")
        for one in facts_in(turn.content, speaker=speaker, role=turn.role)
        if one.confidence >= services.options.capture.least_confidence
    ]


def _shown(entity: str, key: str | None, value: str, tier: str, quote: str | None, *, by: str) -> dict[str, Any]:
    return {"entity": entity, "key": key, "value": value, "tier": tier, "quote": quote, "by": by}


def _loops(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    said = [turn.content for turn in turns if turn.role == "user"]
    return [{"loop": loop.title, "kind": loop.kind} for text in said for loop in loops_in(text)]
