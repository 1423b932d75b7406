"""Extraction by a model: a durable queue of turns, read in windows, nothing marked done that failed.

A job is settled only in the transaction that stores its facts; a crash, a timeout or a reply that
cannot be read leaves it waiting, with more time before each new try (spec F36-F42, W17).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from zomem_graph.nodes.flow import Flow, Question, work
from zomem_graph.nodes.options import CaptureOptions
from zomem_graph.nodes.ports import ChatModel, Reply, Services
from zomem_graph.nodes.prompts import extraction_ask, repair_ask
from zomem_graph.nodes.rules.quotes import quote_occurs
from zomem_graph.nodes.rules.replies import Extracted, ReplyUnreadable, read_facts
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.tiers import CATEGORIES, TIERS
from zomem_graph.nodes.rules.windows import windows
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.episodes import Learned, tell_learned
from zomem_graph.nodes.steps.remember import NewFact, Stored, store_facts
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.stores.errors import InvalidInput, ModelError
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.records import Extraction, Link, Turn
from zomem_graph.stores.unit import Unit

__all__ = ["extract_due", "extract_now", "queue_extraction"]

_MOST_ATTEMPTS = 5
_FIRST_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    stored: tuple[Stored, ...] = ()
    skipped: Counter[str] | None = None
    model: str = ""
    failed: str | None = None


def queue_extraction(unit: Unit, turns: Sequence[Turn], scope: Scope, source: str, now: datetime) -> int:
    """Queue new turns for the model, in the transaction that stored them; return how many jobs."""
    if not any(turn.role == "user" for turn in turns):
        return 0
    unit.journal.queue(
        Extraction(
            id=new_id(),
            persona=scope.persona,
            thread=scope.thread,
            session=turns[0].session,
            turn_ids=[turn.id for turn in turns],
            source=source,
            status="waiting",
            attempts=0,
            error=None,
            not_before=now,
            created_at=now,
        )
    )
    return 1


def extract_now(services: Services, report: CaptureReport) -> Flow[CaptureReport]:
    """Read what a capture has just queued, before returning (inline capture, spec F48)."""
    done = yield from extract_due(services, limit=10)
    return replace(
        report,
        facts=report.facts + done.facts,
        unchanged=report.unchanged + done.unchanged,
        superseded=report.superseded + done.superseded,
        skipped=report.skipped + done.skipped,
        fact_ids=report.fact_ids + done.fact_ids,
        queued=done.queued,
        model=done.model or report.model,
        degraded=report.degraded + done.degraded,
    )


def extract_due(services: Services, *, limit: int) -> Flow[CaptureReport]:
    """Read up to `limit` waiting jobs; return what they gave. `queued` counts those still waiting."""
    now = services.clock()
    jobs = yield from work(lambda: _due(services, now, limit))
    total = CaptureReport(model="")
    for job, turns in jobs:
        outcome = yield from _read_job(services, job, turns)
        total = _added(total, outcome)
    depth = yield from work(lambda: _depth(services))
    return replace(total, queued=depth)


def _read_job(services: Services, job: Extraction, turns: Sequence[Turn]) -> Flow[_Outcome]:
    model = services.chat("extraction")
    if model is None:
        return _Outcome(failed="no chat model")
    found: list[tuple[Extracted, Turn]] = []
    used = model.identity
    for window in windows(turns, services.options.capture):
        try:
            extracted, used = yield from _ask(model, window)
        except ModelError as error:
            failure = f"{type(error).__name__}: {error}"
            yield from work(partial(_postpone, services, job, failure))
            return _Outcome(failed=failure, model=used)
        found += extracted
    outcome: _Outcome = yield from work(lambda: _settle(services, job, found, used))
    return outcome


def _ask(model: ChatModel, window: Sequence[Turn]) -> Flow[tuple[list[tuple[Extracted, Turn]], str]]:
    """Ask once, and once more with the fault named when the reply cannot be read."""
    ask = extraction_ask(window)
    reply: Reply = yield Question(model, ask)
    try:
        facts = read_facts(reply.text)
    except ReplyUnreadable as fault:
        reply = yield Question(model, repair_ask(ask, reply.text, str(fault)))
        facts = read_facts(reply.text)
    return _quoted(facts, window), f"{reply.provider}:{reply.model}"


def _quoted(facts: Sequence[Extracted], window: Sequence[Turn]) -> list[tuple[Extracted, Turn]]:
    """Pair each fact with the user turn its quote is from; a fact nobody said is paired with none."""
    pairs: list[tuple[Extracted, Turn]] = []
    for fact in facts:
        said = next((t for t in window if t.role == "user" and quote_occurs(fact.quote, t.content)), None)
        pairs.append((fact, said if said is not None else window[0]))
    return pairs


def _settle(services: Services, job: Extraction, found: Sequence[tuple[Extracted, Turn]], model: str) -> _Outcome:
    now = services.clock()
    kept, skipped = _filtered(found, job, services)
    with services.stores.write() as unit:
        there = {turn.id for turn in unit.turns.find(job.turn_ids)}  # one may have been forgotten meanwhile
        known = [fact for fact in kept if fact.turn_id in there]
        read = store_facts(unit, services, known, now=now)
        stored = [one for one in read if one.outcome != "forgotten"]
        if len(stored) < len(kept):
            skipped["forgotten"] += len(kept) - len(stored)
        _link_together(unit, stored, services.options.capture, now)
        new = [one for one in stored if one.outcome != "unchanged"]
        learned = Learned(facts=[one.fact for one in new], superseded=sum(len(one.replaced) for one in new))
        tell_learned(unit, learned, persona=job.persona, session=job.session, source=job.source)
        unit.journal.settle(job.id, status="done", error=None, attempts=job.attempts + 1)
    return _Outcome(stored=tuple(stored), skipped=skipped, model=model)


def _filtered(
    found: Sequence[tuple[Extracted, Turn]], job: Extraction, services: Services
) -> tuple[list[NewFact], Counter[str]]:
    skipped: Counter[str] = Counter()
    kept: list[NewFact] = []
    options = services.options.capture
    for fact, turn in found:
        if fact.confidence < options.least_confidence:
            skipped["too unsure"] += 1
        elif turn.role != "user" or not quote_occurs(fact.quote, turn.content):
            skipped["quote not said by the user"] += 1
        elif looks_secret(fact.value) or looks_secret(f"{fact.key} = {fact.value}"):
            skipped["looks like a secret"] += 1
        else:
            new = _as_fact(fact, turn, job)
            try:
                kept.append(new.checked(services.options.write))
            except InvalidInput:
                skipped["cannot be stored"] += 1
    return kept, skipped


def _as_fact(fact: Extracted, turn: Turn, job: Extraction) -> NewFact:
    return NewFact(
        entity=fact.entity,
        key=fact.key,
        value=fact.value,
        persona=job.persona,
        category=fact.category if fact.category in CATEGORIES else "fact",
        tier=fact.tier if fact.tier in TIERS else "stable",
        confidence=fact.confidence,
        source=f"auto-capture:{job.source}",
        trust=turn.trust,
        turn_id=turn.id,
        quote=fact.quote,
        at=turn.at,
        method="model",
    )


def _link_together(unit: Unit, stored: Sequence[Stored], options: CaptureOptions, now: datetime) -> None:
    """Link facts captured together, nearest first and capped, so that they never swamp the graph (W19)."""
    ids = [one.fact.id for one in stored if one.outcome != "unchanged"]
    pairs = [(a, b) for gap in range(1, len(ids)) for a, b in zip(ids, ids[gap:], strict=False)]
    unit.links.add(
        [
            Link(source_id=a, target_id=b, relation="co-captured", weight=0.5, created_at=now)
            for a, b in pairs[: options.link_pairs]
        ]
    )


def _postpone(services: Services, job: Extraction, failure: str) -> None:
    attempts = job.attempts + 1
    status = "failed" if attempts >= _MOST_ATTEMPTS else "waiting"
    pause = _FIRST_PAUSE * 4 ** (attempts - 1)
    with services.stores.write() as unit:
        unit.journal.settle(
            job.id, status=status, attempts=attempts, error=failure[:500], not_before=services.clock() + pause
        )


def _due(services: Services, now: datetime, limit: int) -> list[tuple[Extraction, list[Turn]]]:
    with services.stores.read() as unit:
        return [(job, unit.turns.find(job.turn_ids)) for job in unit.journal.due(now, limit)]


def _depth(services: Services) -> int:
    with services.stores.read() as unit:
        return unit.journal.queue_depth().get("waiting", 0)


def _added(total: CaptureReport, outcome: _Outcome) -> CaptureReport:
    new = [one for one in outcome.stored if one.outcome != "unchanged"]
    return replace(
        total,
        facts=total.facts + len(new),
        unchanged=total.unchanged + len(outcome.stored) - len(new),
        superseded=total.superseded + sum(len(one.replaced) for one in outcome.stored),
        skipped=total.skipped + sum((outcome.skipped or Counter()).values()),
        fact_ids=total.fact_ids + tuple(one.fact.id for one in new),
        model=outcome.model or total.model,
        degraded=total.degraded + ((f"extraction postponed: {outcome.failed}",) if outcome.failed else ()),
    )
